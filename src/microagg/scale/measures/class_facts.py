"""Classes of a whole dataset: their sizes, the units behind them, and what they reveal.

Rows that show the same after protection meet in one bucket, and rows that were the same before it
in another. Values are compared by their hashes, of 64 bits.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Counts, Hashes
from microagg.measures.risk.attributes import ColumnDisclosure
from microagg.measures.risk.classes import THRESHOLDS, ClassSizes
from microagg.measures.risk.individual import GlobalRisk, IndividualRisk
from microagg.measures.risk.units import UnitClasses
from microagg.scale.checks import checking
from microagg.scale.measures.class_buckets import Looking, count_owners, look_at
from microagg.scale.measures.class_sorting import (
    AFTER,
    BEFORE,
    CLASSES,
    OWNERS,
    Asked,
    ClassValueCounts,
    SortedFile,
    ValueOrder,
    sort_file,
)
from microagg.scale.measures.pairing import Paired
from microagg.scale.storage.shuffle import Sources
from microagg.scale.tasks.opened import COPIES, part_bytes
from microagg.scale.tasks.passes import Passes

# Units that are counted at a time.
_AT_A_TIME = 2**22
Buckets = Callable[[], Iterator[Any]]


@dataclass(frozen=True, eq=False)
class ClassFacts:
    """What is known of the classes and units of all records.

    `of_sampled` and `unit_sizes` are the sizes of the classes, and of the units, of the records in
    the sample; `largest_units` those of the units with most records.
    """

    classes: ClassSizes
    attributes: dict[str, ColumnDisclosure]
    are_exact: Mapping[str, bool]
    units: UnitClasses | None
    individual: IndividualRisk | None
    of_sampled: Counts
    n_units: int
    records_without: int
    unit_sizes: Counts | None
    largest_units: Counts


def find_classes(
    passes: Passes,
    paired: Paired,
    shown: tuple[str, ...],
    sensitive: Mapping[str, ValueOrder],
    n_largest: int = 0,
) -> ClassFacts:
    """Find the classes of all records, and the sizes of so many of the largest units."""
    work, n_files = passes.work, len(paired.after.files)
    n = max(1, -(-paired.n_records // checking.BUCKET_ROWS))
    work.keep(CLASSES, Asked(shown, dict(sensitive), n))
    each = part_bytes(paired.after, sum(map(len, paired.columns)))
    passes.run(CLASSES, sort_file, n_files, bytes_each=each)
    files = [own for own in passes.results(CLASSES, n_files) if own is not None]
    values: dict[str, ClassValueCounts] = {}
    for file in files:
        for name, own in file.values.items():
            values[name] = values[name].merge(own) if name in values else own
    exact = {name: own.is_complete for name, own in values.items()}
    used = {
        name: own if own.is_complete else _all_of([file.sampled[name] for file in files])
        for name, own in values.items()
    }
    classes = np.concatenate([file.classes for file in files])
    different, of = np.unique(classes, return_inverse=True)
    after = _looked(passes, files, 0, AFTER, n, different, used, sensitive)
    before = _looked(passes, files, 1, BEFORE, n, different[:0], {}, {})
    of_sampled = np.sum([own.sampled for own in after()], axis=0)[of.reshape(-1)]
    n_without = sum(file.n_without for file in files)
    n_units, units, sizes, largest = 0, None, None, np.zeros(0, dtype=np.int64)
    if paired.unit is not None:
        n_units, sizes, largest = _owners(passes, files, n, n_largest)
        units = _unit_classes(after, before, n_units)
    found = _class_sizes(after, before, paired.n_records)
    for name in (AFTER, BEFORE, OWNERS):
        work.forget(name)
    return ClassFacts(
        found,
        {name: _column_disclosure(after, name, found.n_classes) for name in sensitive},
        exact,
        units,
        _individual(after, before, paired),
        of_sampled,
        n_units,
        n_without,
        sizes,
        largest,
    )


def _looked(
    passes: Passes,
    files: list[SortedFile],
    place: int,
    name: str,
    n: int,
    sampled: Hashes,
    values: Mapping[str, ClassValueCounts],
    sensitive: Mapping[str, ValueOrder],
) -> Buckets:
    """Look at all buckets of classes; what is found is read as often as it is asked for."""
    sources = Sources.of([own for file in files for own in file.slices[place]], n)
    done = f"{name}-looked"
    passes.work.keep(done, Looking(sources, sampled, values, sensitive))
    most = int(sources.sizes.max(initial=0)) * 8 * (4 + len(sensitive)) * COPIES
    passes.run(done, partial(look_at, done), n, bytes_each=most)
    return lambda: (own for own in passes.results(done, n) if own is not None)


def _owners(
    passes: Passes, files: list[SortedFile], n: int, n_largest: int
) -> tuple[int, Counts, Counts]:
    """Return how many units there are, the sizes of sampled records' ones, and the largest."""
    sampled = np.concatenate([file.units for file in files])
    different, of = np.unique(sampled, return_inverse=True)
    sources = Sources.of([own for file in files for own in file.slices[2]], n)
    done = f"{OWNERS}-looked"
    passes.work.keep(done, Looking(sources, different, {}, {}, n_largest))
    most = int(sources.sizes.max(initial=0)) * 16 * COPIES
    passes.run(done, count_owners, n, bytes_each=most)
    each = [own for own in passes.results(done, n) if own is not None]
    sizes = np.sum([own.sampled for own in each], axis=0)[of.reshape(-1)]
    largest = np.sort(np.concatenate([own.largest for own in each]))[::-1][:n_largest]
    return sum(own.n_units for own in each), sizes, largest


def _class_sizes(after: Buckets, before: Buckets, n_records: int) -> ClassSizes:
    sizes: dict[int, int] = {}
    for own in after():
        for size, count in own.sizes.items():
            sizes[size] = sizes.get(size, 0) + count
    sizes = dict(sorted(sizes.items()))
    n_classes = sum(sizes.values())
    below = {k: sum(s * c for s, c in sizes.items() if s < k) / n_records for k in THRESHOLDS}
    return ClassSizes(
        smallest=min(sizes),
        n_classes=n_classes,
        mean_size=n_records / n_classes,
        classes_by_size=sizes,
        unique_before=sum(own.sizes.get(1, 0) for own in before()) / n_records,
        unique_after=below[2],
        records_below=below,
    )


def _unit_classes(after: Buckets, before: Buckets, n_units: int) -> UnitClasses:
    below = {k: _n_different(after, k) / n_units for k in THRESHOLDS}
    return UnitClasses(
        fewest=min(own.fewest for own in after()),
        largest_share=max(own.largest_share for own in after()),
        units_below=below,
        unique_before=_n_different(before, 2) / n_units,
        unique_after=below[2],
    )


def _n_different(buckets: Buckets, k: int) -> int:
    """Count the different units in rare classes of all buckets, some at a time."""
    total = sum(len(own.rare[k]) for own in buckets())
    n_turns = 1 + total // _AT_A_TIME
    count = 0
    for turn in range(n_turns):
        own = [found.rare[k][found.rare[k] % n_turns == turn] for found in buckets()]
        count += len(np.unique(np.concatenate(own)))
    return count


def _individual(after: Buckets, before: Buckets, paired: Paired) -> IndividualRisk | None:
    if paired.known.weights is None:
        return None
    n = paired.n_records
    risks = []
    for buckets in (before, after):
        expected = sum(own.expected for own in buckets())
        risks.append(GlobalRisk(expected, expected / n, max(o.largest_risk for o in buckets())))
    return IndividualRisk(n, sum(own.weight for own in after()), *risks)


def _column_disclosure(after: Buckets, name: str, n_classes: int) -> ColumnDisclosure:
    each = [own.disclosed[name] for own in after()]
    return ColumnDisclosure(
        smallest_distinct=min(own.smallest_distinct for own in each),
        mean_distinct=sum(own.distinct for own in each) / n_classes,
        homogeneous_classes=sum(own.homogeneous_classes for own in each),
        homogeneous_records=sum(own.homogeneous_records for own in each),
        smallest_entropy=min(own.smallest_entropy for own in each),
        mean_entropy=sum(own.entropy for own in each) / n_classes,
        largest_distance=max(own.largest_distance for own in each),
        mean_distance=sum(own.distance for own in each) / n_classes,
    )


def _all_of(sampled: list[NDArray[Any]]) -> ClassValueCounts:
    """Return the values of the sample, where those of all records are too many to count."""
    values, counts = np.unique(np.concatenate(sampled), return_counts=True)
    return ClassValueCounts(values, counts, is_complete=False)
