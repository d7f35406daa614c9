"""Third pass: every row goes to its region. Also the sums of strata that may have to be merged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl

from microagg.core.arrays import Floats, Hashes, Labels
from microagg.scale.steps.fitted import Fitted
from microagg.scale.steps.layout import Layout
from microagg.scale.steps.statistics import work_table
from microagg.scale.storage.hashing import hashed
from microagg.scale.storage.shuffle import Slices, row_numbers, write_sorted
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import DatasetSetting, named_units
from microagg.tables.frames import open_frame

ROUTE, UNMERGED = "route", "unmerged"


def route(work: WorkFolder, run: int) -> list[tuple[int, Slices, int]]:
    """Task: write the rows of a run, each part to a file that is sorted by region.

    Returns the number of every part, where the rows of each region are in its file, and the bytes
    that its rows take.
    """
    setting, fitted, layout = DatasetSetting.of(work), Fitted.of(work), Layout.of(work, 1)
    found = []
    for number, part in setting.listing.read(run, setting.needed):
        table = work_table(setting, setting.opened(part)[0])
        frame = open_frame(table)
        rows = row_numbers(table)
        regions = layout.route(fitted.matrix(frame), fitted.strata_of(frame), rows)
        slices = write_sorted(work, work.place(ROUTE, number, "arrow"), table, regions)
        found.append((number, slices, table.nbytes))
    return found


@dataclass(frozen=True, eq=False)
class StrataSums:
    """The sums of the records of every stratum in the space of comparison, and some of its units.

    `units` are the k lowest numbers of units in each stratum, or all if there are fewer: more make
    no difference to what is merged. None if it is records that count.
    """

    sums: Floats
    units: tuple[Hashes, ...] | None = None

    def merge(self, other: "StrataSums", k: int) -> "StrataSums":
        """Return the sums of both parts."""
        units = None
        if self.units is not None and other.units is not None:
            both = zip(self.units, other.units, strict=True)
            units = tuple(np.union1d(one, more)[:k] for one, more in both)
        return StrataSums(self.sums + other.sums, units)


class UnitCounts:
    """Strata whose units count, by some of the units of each; a unit may be in several."""

    def __init__(self, units: Sequence[Hashes]) -> None:
        self._units = [set(own.tolist()) for own in units]
        self.sizes: Floats = np.array([len(own) for own in self._units], dtype=np.float64)

    def merge(self, one: int, other: int) -> None:
        """Move the units of one stratum to another."""
        self._units[other] |= self._units[one]
        self._units[one] = set()
        self.sizes[[one, other]] = 0, len(self._units[other])


def sum_strata(work: WorkFolder, run: int) -> StrataSums:
    """Task: sum up the records of every stratum, and count its units."""
    setting: DatasetSetting = DatasetSetting.of(work)
    fitted: Fitted = work.facts(UNMERGED)
    assert fitted.strata is not None
    n_strata, unit, k = len(fitted.strata.home), setting.roles.unit, setting.plan.k

    def of_part(part: object) -> StrataSums:
        frame = open_frame(work_table(setting, setting.opened(part)[0]))
        X, strata = fitted.matrix(frame), fitted.strata_of(frame)
        sums = np.zeros((n_strata, X.shape[1]))
        np.add.at(sums, strata, X)
        units = None if unit is None else _lowest(named_units(frame, unit), strata, n_strata, k)
        return StrataSums(sums, units)

    parts = (of_part(part) for _, part in setting.listing.read(run, setting.needed))
    return added_up(parts, k)


def added_up(each: Iterable[StrataSums], k: int) -> StrataSums:
    """Return the sums of all parts, added up in their order."""
    return reduce(lambda one, other: one.merge(other, k), each)


def _lowest(units: pl.Series, strata: Labels, n_strata: int, k: int) -> tuple[Hashes, ...]:
    """Return the k lowest numbers of units in every stratum; records without one do not count."""
    known = units.is_not_null().to_numpy()
    numbers, of = hashed(units)[known], strata[known]
    order = np.lexsort((numbers, of))
    numbers, of = numbers[order], of[order]
    begins = np.searchsorted(of, np.arange(1, n_strata))
    return tuple(np.unique(own)[:k] for own in np.split(numbers, begins))
