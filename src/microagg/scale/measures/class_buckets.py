"""Classes and units in one bucket: their sizes, the units behind them, and what they reveal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Counts, Hashes, Labels, Rows
from microagg.measures.risk.attributes import (
    Cells,
    cells_of,
    nominal_distances,
    ordered_distances,
)
from microagg.measures.risk.classes import THRESHOLDS
from microagg.measures.risk.individual import expected_reciprocals
from microagg.scale.measures.class_sorting import (
    CLASS,
    OWNERS,
    UNIT,
    WEIGHT,
    ClassValueCounts,
    ValueOrder,
)
from microagg.scale.storage.shuffle import Sources
from microagg.scale.storage.work import WorkFolder


@dataclass(frozen=True, eq=False)
class Looking:
    """What a task looks for in a bucket: the sampled classes or units, and values of the whole."""

    sources: Sources
    sampled: Hashes  # different ones, sorted
    values: Mapping[str, ClassValueCounts]
    sensitive: Mapping[str, ValueOrder]
    n_largest: int = 0


class Bucket(NamedTuple):
    """What is found in a bucket of classes.

    `rare` are the units with a record in a class of fewer units than a threshold.
    """

    sizes: dict[int, int]
    sampled: Counts
    disclosed: dict[str, "Disclosed"]
    fewest: int | None
    largest_share: float
    rare: dict[int, Hashes]
    expected: float
    largest_risk: float
    weight: float


class Disclosed(NamedTuple):
    """What classes reveal of a sensitive column; means are sums over classes here."""

    smallest_distinct: int
    distinct: float
    homogeneous_classes: int
    homogeneous_records: int
    smallest_entropy: float
    entropy: float
    largest_distance: float
    distance: float


def look_at(name: str, work: WorkFolder, number: int) -> Bucket | None:
    """Task: look at the classes of a bucket; None if there are none."""
    looking: Looking = work.facts(name)
    table = looking.sources.read(work, [number])
    if table is None:
        return None
    hashes, classes, sizes = np.unique(
        table.column(CLASS).to_numpy(), return_inverse=True, return_counts=True
    )
    classes = classes.reshape(-1)
    found, counts = np.unique(sizes, return_counts=True)
    fewest, share, rare = None, 0.0, dict[int, Hashes]()
    if UNIT in table.column_names:
        fewest, share, rare = _units(classes, sizes, table.column(UNIT))
    expected = largest = weight = 0.0
    if WEIGHT in table.column_names:
        weights = table.column(WEIGHT).to_numpy()
        totals = np.bincount(classes, weights=weights).astype(np.float64)
        risks = expected_reciprocals(sizes, totals)
        expected, largest, weight = float(sizes @ risks), float(risks.max()), float(weights.sum())
    return Bucket(
        dict(zip(found.tolist(), counts.tolist(), strict=True)),
        _looked_up(looking.sampled, hashes, sizes),
        {
            column: _disclosed(
                classes, table.column(column).to_numpy(), looking.values[column], order is not None
            )
            for column, order in looking.sensitive.items()
        },
        fewest,
        share,
        rare,
        expected,
        largest,
        weight,
    )


def _looked_up(sampled: Hashes, hashes: Hashes, sizes: Counts) -> Counts:
    """Return the sizes of the sampled classes that are here, and 0 for the others."""
    found = np.zeros(len(sampled), dtype=np.int64)
    places = np.minimum(np.searchsorted(sampled, hashes), max(0, len(sampled) - 1))
    is_sampled = sampled[places] == hashes if len(sampled) else np.zeros(len(hashes), dtype=bool)
    found[places[is_sampled]] = sizes[is_sampled]
    return found


def _units(classes: Labels, sizes: Counts, column: Any) -> tuple[int, float, dict[int, Hashes]]:
    """Return the fewest units behind a class, the largest share, and units in rare classes."""
    known = ~np.asarray(column.is_null())
    owners, codes = np.unique(column.drop_null().to_numpy(), return_inverse=True)
    width = max(1, len(owners))
    keys, counts = np.unique(classes[known] * width + codes.reshape(-1), return_counts=True)
    of, unit = keys // width, keys % width
    behind = np.bincount(of, minlength=len(sizes))
    share = float((counts / sizes[of]).max(initial=0.0))
    rare = {k: owners[np.unique(unit[behind[of] < k])] for k in THRESHOLDS}
    return int(behind.min()), share, rare


def _disclosed(
    classes: Labels, values: NDArray[Any], whole: ClassValueCounts, ordered: bool
) -> Disclosed:
    """Return what classes reveal of a column that has these values in the whole dataset."""
    own = np.unique(values, return_inverse=True)[1].reshape(-1)
    cells = cells_of(classes, Values(own))
    distinct = np.bincount(cells.classes)
    shares = cells.shares
    entropy = np.exp(-cells.total(shares * np.log(shares)))
    alone = distinct == 1
    m = len(whole.values)
    keys, counts = np.unique(classes * m + _places(values, whole.values), return_counts=True)
    near = Cells(keys // m, keys % m, counts, cells.class_sizes, whole.counts)
    if ordered:
        has_missing = bool(np.isnan(whole.values[-1:]).any())
        distances = ordered_distances(near, has_missing=has_missing)
    else:
        distances = nominal_distances(near)
    return Disclosed(
        int(distinct.min()),
        float(distinct.sum()),
        int(np.count_nonzero(alone)),
        int(cells.class_sizes[alone].sum()),
        float(entropy.min()),
        float(entropy.sum()),
        float(distances.max()),
        float(distances.sum()),
    )


def _places(values: NDArray[Any], whole: NDArray[Any]) -> Rows:
    """Return which of the values of the whole each is, or the next one."""
    return np.minimum(np.searchsorted(whole, values), len(whole) - 1).astype(np.intp)


class OwnerBucket(NamedTuple):
    """Units of a bucket: how many, the largest ones, and how many records sampled ones have."""

    n_units: int
    largest: Counts
    sampled: Counts


def count_owners(work: WorkFolder, number: int) -> OwnerBucket | None:
    """Task: count the units of a bucket; None if there are none."""
    looking: Looking = work.facts(f"{OWNERS}-looked")
    table = looking.sources.read(work, [number])
    if table is None:
        return None
    hashes, sizes = np.unique(table.column(UNIT).to_numpy(), return_counts=True)
    largest = np.sort(sizes)[len(sizes) - min(len(sizes), looking.n_largest) :]
    return OwnerBucket(len(hashes), largest, _looked_up(looking.sampled, hashes, sizes))
