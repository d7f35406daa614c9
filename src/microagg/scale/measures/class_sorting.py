"""Rows of a dataset sorted into buckets: by what they show, by what they were, and by unit.

Values are compared by their hashes, of 64 bits.
"""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from microagg.core.arrays import Counts, Hashes
from microagg.scale.measures.bases import as_numbers, comparable
from microagg.scale.measures.pairing import PAIRED, Paired
from microagg.scale.storage.hashing import hashed, hashed_rows
from microagg.scale.storage.shuffle import OURS, ROW, Slices, write_sorted
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import named_units
from microagg.tables.frames import Frame
from microagg.tables.weighting import record_weights

CLASSES, AFTER, BEFORE, OWNERS = "classes", "class-after", "class-before", "class-units"
CLASS, UNIT, WEIGHT = f"{OURS}class", f"{OURS}unit", f"{OURS}weight"
ValueOrder = tuple[Any, ...] | None
# Different values of a sensitive column that are counted in the whole dataset.
_MOST_VALUES = 2**16


class Asked(NamedTuple):
    """The quasi-identifiers, and the sensitive columns with the order of their values.

    That is None if they have none, and empty for numbers and times.
    """

    shown: tuple[str, ...]
    sensitive: dict[str, ValueOrder]
    n_buckets: int


class ClassValueCounts(NamedTuple):
    """The different values of a sensitive column, sorted, and how many records have each.

    NaN, for missing numbers, comes last; `is_complete` if all values are there.
    """

    values: NDArray[Any]
    counts: Counts
    is_complete: bool

    @classmethod
    def of(cls, values: NDArray[Any], counts: NDArray[Any] | None = None) -> "ClassValueCounts":
        """Return the values of a part."""
        found, places = np.unique(values, return_inverse=True)
        totals = np.bincount(places.reshape(-1), weights=counts).astype(np.int64)
        return cls(found[:_MOST_VALUES], totals[:_MOST_VALUES], len(found) <= _MOST_VALUES)

    def merge(self, other: "ClassValueCounts") -> "ClassValueCounts":
        """Return the values of both sets of records."""
        both = np.concatenate((self.values, other.values))
        found = ClassValueCounts.of(both, np.concatenate((self.counts, other.counts)))
        complete = self.is_complete and other.is_complete and found.is_complete
        return found._replace(is_complete=complete)


class SortedFile(NamedTuple):
    """Where rows are by bucket (after, before, by unit), sensitive values, and the sampled rows."""

    slices: tuple[tuple[tuple[str, Slices], ...], ...]
    values: dict[str, ClassValueCounts]
    sampled: dict[str, NDArray[Any]]
    classes: Hashes
    units: Hashes
    n_without: int


def sensitive_values(frame: Frame, name: str, order: ValueOrder) -> NDArray[Any]:
    """Return the values of a sensitive column: numbers, or hashes of what is not ordered."""
    if order is None:
        return hashed(comparable(frame, name))
    if not order:
        return as_numbers(frame, name)
    places = {str(entry): float(place) for place, entry in enumerate(order)}
    texts = comparable(frame, name).cast(pl.String)
    found = texts.replace_strict(places, default=None, return_dtype=pl.Float64)
    return found.fill_null(np.nan).to_numpy()


def sort_file(work: WorkFolder, number: int) -> SortedFile | None:
    """Task: sort the rows of a file by what they show, by what they were, and by unit."""
    paired: Paired = work.facts(PAIRED)
    asked: Asked = work.facts(CLASSES)
    slices: list[list[tuple[str, Slices]]] = [[], [], []]
    values: dict[str, ClassValueCounts] = {}
    sampled: dict[str, list[NDArray[Any]]] = {name: [] for name in asked.sensitive}
    classes, units, n_without = [], [], 0
    for at, rows, before, after in paired.frames(number):
        shown = hashed_rows([comparable(after, name) for name in asked.shown])
        were = hashed_rows([comparable(before, name) for name in asked.shown])
        extra: dict[str, Any] = {}
        if paired.unit is not None:
            who = named_units(before, paired.unit)
            n_without += who.null_count()
            known = pl.Series(hashed(who)).set(who.is_null(), None)
            extra[UNIT] = known.to_arrow()
        if paired.known.weights is not None:
            extra[WEIGHT] = pa.array(record_weights(before, paired.known.weights))
        disclosed = {
            name: sensitive_values(after, name, order) for name, order in asked.sensitive.items()
        }
        for name, own in disclosed.items():
            found = ClassValueCounts.of(own)
            values[name] = values[name].merge(found) if name in values else found
        row = pa.array(rows)
        tables = {
            AFTER: ({CLASS: shown, **extra, **disclosed, ROW: row}, shown),
            BEFORE: ({CLASS: were, **extra, ROW: row}, were),
        }
        mine = np.isin(rows, paired.sampled, assume_unique=True)
        classes.append(shown[mine])
        for name, own in disclosed.items():
            sampled[name].append(own[mine])
        if paired.unit is not None:
            has = ~who.is_null().to_numpy()
            owners = hashed(who)
            tables[OWNERS] = ({UNIT: owners[has], ROW: row.filter(pa.array(has))}, owners[has])
            units.append(np.where(has, owners, 0)[mine])
        for place, (name, (columns, keys)) in enumerate(tables.items()):
            path = work.place(name, at, "arrow")
            buckets = (keys % np.uint64(asked.n_buckets)).astype(np.intp)
            found_at = write_sorted(work, path, pa.table(columns), buckets)
            slices[place].append((path.relative_to(work.path).as_posix(), found_at))
    if not classes:
        return None
    nobody = np.zeros(0, dtype=np.uint64)
    return SortedFile(
        tuple(map(tuple, slices)),
        values,
        {name: np.concatenate(own) for name, own in sampled.items()},
        np.concatenate(classes),
        np.concatenate(units) if units else nobody,
        n_without,
    )
