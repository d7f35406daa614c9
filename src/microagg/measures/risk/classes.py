"""k-anonymity and uniqueness: how many records share their quasi-identifiers."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Labels
from microagg.tables.pairs import Pair, classes_of

THRESHOLDS = (2, 3, 5, 10)


@dataclass(frozen=True)
class ClassSizes:
    """Sizes of the classes of released records with equal quasi-identifiers.

    `classes_by_size` counts the classes of each size. `unique_before` and `unique_after` are the
    shares of records that are unique, `records_below` the shares in classes smaller than a
    threshold.
    """

    smallest: int
    n_classes: int
    mean_size: float
    classes_by_size: dict[int, int]
    unique_before: float
    unique_after: float
    records_below: dict[int, float]


def class_sizes(pair: Pair) -> ClassSizes:
    """Return the k for which the released table is k-anonymous, and how many records are unique.

    A class is a maximal set of records that are equal in every quasi-identifier; a missing value is
    equal only to other missing values. The size of the smallest class is the k of k-anonymity. Time
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
    """Return the share of records in classes of fewer than k.

    >>> share_below(np.array([0, 1, 1, 1]), 2)
    0.25
    """
    sizes = np.bincount(classes)
    return float(sizes[sizes < k].sum() / len(classes))
