"""Strata: parts of a table that are grouped separately."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Categories, Floats, Labels, Rows
from microagg.core.errors import DataError
from microagg.tables.columns import Coded

SMALL_STRATA = ("error", "merge")


@dataclass(frozen=True, eq=False)
class Strata:
    """The stratum of every record, numbered in the order of their values.

    `released` are the values of the columns that define them, as codes: values that count as equal
    are released as one, and a small stratum that joined another has the values of the other;
    `n_merged` is how many did.
    """

    of_record: Labels
    released: Mapping[str, Values] = field(default_factory=dict)
    n_merged: int = 0

    def rows(self) -> list[Labels]:
        """Return the records of every stratum."""
        ends = np.bincount(self.of_record).cumsum()[:-1]
        return [part for part in np.split(self.of_record.argsort(kind="stable"), ends) if len(part)]


def find_strata(
    columns: Mapping[str, Coded],
    k: int,
    *,
    small: str,
    X: Floats,
    units: Rows | None = None,
) -> Strata:
    """Return the strata that the columns define, if each holds at least k records, or k `units`.

    With `small="merge"` those with fewer join others, smallest first: each joins the stratum whose
    mean in X is nearest (the first, in a tie) and is released with its values.
    """
    codes = np.column_stack([_with_missing(coded.values) for coded in columns.values()])
    kinds, of_record = np.unique(codes, axis=0, return_inverse=True)
    of_record = of_record.reshape(-1).astype(np.intp)
    members = _Members(of_record, units)
    sizes = members.sizes.astype(np.intp)
    if small == "error" and sizes.min() < k:
        raise too_small(sizes, k, list(columns), members.noun)
    counts = np.bincount(of_record).astype(np.float64)
    sums = np.zeros((len(counts), X.shape[1]))
    np.add.at(sums, of_record, X)
    joined = join_small(sums, counts, members, k)
    moved = joined[of_record]
    released = {
        name: Values.of(np.maximum(0, kinds[moved, j]), kinds[moved, j] < 0)
        for j, name in enumerate(columns)
    }
    return Strata(moved, released, int(np.count_nonzero(joined != np.arange(len(sizes)))))


def _with_missing(values: Values) -> Categories:
    """Return the codes, and -1 for a missing value, which is a stratum too."""
    numbers = values.numbers.astype(np.int64)
    return numbers if values.missing is None else np.where(values.missing, -1, numbers)


class Members(Protocol):
    """How many members each stratum has that count for k, also after strata were merged."""

    sizes: Floats

    def merge(self, one: int, other: int) -> None:
        """Move the members of one stratum to another."""
        ...


class RecordCounts:
    """Strata whose records count, by their numbers."""

    def __init__(self, sizes: Floats) -> None:
        self.sizes = sizes.astype(np.float64)

    def merge(self, one: int, other: int) -> None:
        """Move the records of one stratum to another."""
        self.sizes[other] += self.sizes[one]
        self.sizes[one] = 0


class _Members:
    """How many records each stratum holds, or how many units, also after strata were merged."""

    def __init__(self, of_record: Labels, units: Rows | None) -> None:
        self.of_record = of_record
        self.noun = "records" if units is None else "units"
        self.sizes = np.bincount(of_record).astype(np.float64)
        self._units: list[set[int]] | None = None
        if units is not None:
            self._units = [set() for _ in self.sizes]
            pairs = np.unique(np.stack((of_record, units)), axis=1).T
            for stratum, unit in pairs[pairs[:, 1] >= 0].tolist():
                self._units[stratum].add(unit)
            self.sizes = np.array([len(own) for own in self._units], dtype=np.float64)

    def merge(self, one: int, other: int) -> None:
        """Move the members of one stratum to another; a unit may be in both."""
        if self._units is None:
            self.sizes[other] += self.sizes[one]
        else:
            small, large = sorted((self._units[one], self._units[other]), key=len)
            large |= small
            self._units[one], self._units[other] = set(), large
            self.sizes[other] = len(large)
        self.sizes[one] = 0


def too_small(
    sizes: Labels,
    k: int,
    columns: Sequence[str],
    noun: str = "records",
    *,
    may_merge: bool = True,
) -> DataError:
    """Return the error that some strata hold fewer than k."""
    small = np.flatnonzero(sizes < k)
    listed = ", ".join(f"stratum {at + 1} holds {sizes[at]}" for at in small[:5].tolist())
    more = f", and {len(small) - 5} others are too small" if len(small) > 5 else ""
    by = ", ".join(repr(name) for name in columns)
    does = "does" if len(small) == 1 else "do"
    what_to_do = "Lower k, or use coarser strata."
    if may_merge:
        what_to_do = (
            "Lower k, use coarser strata, or merge them (--small-strata merge, or "
            "small_strata='merge' in Python)."
        )
    return DataError(
        f"every stratum must hold at least k={k} {noun}; {len(small)} of the {len(sizes)} strata "
        f"by {by} {does} not: {listed}{more} (numbered in the order of their values). {what_to_do}"
    )


def join_small(sums: Floats, counts: Floats, members: Members, k: int) -> Labels:
    """Return, for every stratum, the one it is released as.

    `sums` and `counts` are of its records in the space of comparison; both are changed.
    """
    home = np.arange(len(counts))
    while True:
        present = counts > 0
        small = int(np.where(present, members.sizes, np.inf).argmin())
        if members.sizes[small] >= k or np.count_nonzero(present) == 1:
            return home
        means = sums / np.maximum(counts, 1.0)[:, None]
        distances = np.square(means - means[small]).sum(axis=1)
        distances[~present | (np.arange(len(counts)) == small)] = np.inf
        nearest = int(distances.argmin())
        sums[nearest] += sums[small]
        counts[nearest] += counts[small]
        counts[small] = 0
        home[home == small] = nearest
        members.merge(small, nearest)
