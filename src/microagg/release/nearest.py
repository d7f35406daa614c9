"""New records get the released values of the group that they are nearest to."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from microagg.aggregates.choices import Missing
from microagg.core.arrays import Floats, Rows
from microagg.core.errors import DataError
from microagg.kernels.neighbours.blocks import make_blocks, nearest_to_each
from microagg.release.grouping import drawn_centers
from microagg.release.protect import Stages
from microagg.tables.frames import open_frame
from microagg.tables.later_records import FittedSpace


@dataclass(frozen=True, eq=False)
class NearestGroups:
    """The groups of a release: their centres in the space of comparison, and what they release.

    `table` has a row for each group. It keeps no record, but categories that occurred and, with
    the scale 'rank', numbers that did.
    """

    space: FittedSpace
    centers: Floats
    table: Any
    missing: Missing

    @classmethod
    def of(cls, stages: Stages) -> Self:
        """Return the groups of a release without strata or further blocks."""
        (block,), (part,), (labels,) = (
            stages.records.blocks,
            stages.groups.parts,
            stages.groups.labels,
        )
        columns = [stages.records.columns[name] for name in block.names]
        _, firsts = np.unique(labels, return_index=True)
        return cls(
            FittedSpace.of(block.encoding, columns, block.X),
            np.ascontiguousarray(drawn_centers(part.fitted), dtype=np.float64),
            open_frame(stages.with_all_categories)[firsts].to_native(),
            stages.records.missing,
        )

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.type.name for column in self.space.columns]

    def nearest(self, table: Any) -> Rows:
        """Return the nearest group of every record; of several, the one with the lowest number."""
        values = self.space.read(open_frame(table))
        if self.missing is Missing.ERROR:
            absent = {name: own.n_missing for name, own in values.items() if own.n_missing}
            if absent:
                listing = ", ".join(f"{name!r} ({count})" for name, count in absent.items())
                raise DataError(
                    f"values are missing in {listing} (records in brackets), and missing='error' "
                    "refuses missing values (NaN or null). Use missing='value' or 'impute'."
                )
        points = np.ascontiguousarray(self.space.place(list(values.values())))
        found = np.empty(len(points), dtype=np.intp)
        every = np.arange(len(self.centers), dtype=np.intp)
        nearest_to_each(make_blocks(self.centers, every), points, found)
        return found

    def released_for(self, table: Any) -> Any:
        """Return the released values of the nearest group of every record."""
        return open_frame(self.table)[self.nearest(table)].to_native()
