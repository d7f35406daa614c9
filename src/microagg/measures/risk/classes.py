"""k-anonymity and uniqueness: how many records look the same."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Labels
from microagg.tables.pairs import Pair, classes_of

THRESHOLDS = (2, 3, 5, 10)


@dataclass(frozen=True)
class ClassSizes:
    """Sizes of the classes of released records that show the same quasi-identifiers.

    `classes_by_size` says how many classes there are of each size. The other shares are of
    records: unique in their quasi-identifiers before and after, and, by threshold, in released
    classes of fewer records.
    """

    smallest: int
    n_classes: int
    mean_size: float
    classes_by_size: dict[int, int]
    unique_before: float
    unique_after: float
    records_below: dict[int, float]


def class_sizes(pair: Pair) -> ClassSizes:
    """Return the k that the released table keeps, and how many records stand alone.

    A class is a largest set of records that are equal in every quasi-identifier; a missing value
    is a value, equal to other missing ones only. The smallest class is the k of k-anonymity. Time
    O(n log n). Source: Samarati (2001); Sweeney (2002).
    """
    sizes = np.bincount(pair.classes)
    before = classes_of([column.before for column in pair.columns.values()])
    occurring, counts = np.unique(sizes, return_counts=True)
    return ClassSizes(
        smallest=int(sizes.min()),
        n_classes=len(sizes),
        mean_size=float(sizes.mean()),
        classes_by_size=dict(zip(occurring.tolist(), counts.tolist(), strict=True)),
        unique_before=share_below(before, 2),
        unique_after=share_below(pair.classes, 2),
        records_below={k: share_below(pair.classes, k) for k in THRESHOLDS},
    )


def share_below(classes: Labels, k: int) -> float:
    """Return the share of records that are in classes of fewer than k.

    >>> share_below(np.array([0, 1, 1, 1]), 2)
    0.25
    """
    sizes = np.bincount(classes)
    return float(sizes[sizes < k].sum() / len(classes))
