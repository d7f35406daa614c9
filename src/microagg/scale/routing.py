"""Third pass: every row goes to its region. Also the sums of strata that may have to be merged."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats
from microagg.scale.fitted import Fitted
from microagg.scale.layout import Layout
from microagg.scale.setting import Setting
from microagg.scale.shuffle import Slices, row_numbers, write_sorted
from microagg.scale.statistics import work_table
from microagg.scale.work import WorkFolder
from microagg.tables.frames import open_frame

ROUTE, UNMERGED = "route", "unmerged"


def route(work: WorkFolder, run: int) -> list[tuple[int, Slices, int]]:
    """Task: write the rows of a run, each part to a file that is sorted by region.

    Returns the number of every part, where the rows of each region are in its file, and the bytes
    that its rows take.
    """
    setting, fitted, layout = Setting.of(work), Fitted.of(work), Layout.of(work, 1)
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
    """The sums of the records of every stratum in the space of comparison."""

    sums: Floats

    def merge(self, other: "StrataSums") -> "StrataSums":
        """Return the sums of both parts."""
        return StrataSums(self.sums + other.sums)


def sum_strata(work: WorkFolder, run: int) -> StrataSums:
    """Task: sum up the records of every stratum."""
    from microagg.scale.types import merged

    setting: Setting = Setting.of(work)
    fitted: Fitted = work.facts(UNMERGED)
    assert fitted.strata is not None
    n_strata = len(fitted.strata.home)

    def of_part(part: object) -> StrataSums:
        frame = open_frame(work_table(setting, setting.opened(part)[0]))
        X, strata = fitted.matrix(frame), fitted.strata_of(frame)
        sums = np.zeros((n_strata, X.shape[1]))
        np.add.at(sums, strata, X)
        return StrataSums(sums)

    found: StrataSums = merged(
        of_part(part) for _, part in setting.listing.read(run, setting.needed)
    )
    return found
