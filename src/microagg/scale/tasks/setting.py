"""What all tasks of a run know from the start: the plan, the files and the roles of columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pyarrow as pa

from microagg.core.arrays import Floats
from microagg.files.dialect import Dialect
from microagg.plans.plan import Plan
from microagg.scale.sources.listing import Listing
from microagg.scale.storage.shuffle import ROW
from microagg.scale.storage.work import WorkFolder
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.frames import Frame, open_frame
from microagg.tables.judging import Judgement
from microagg.tables.markers import without_entries
from microagg.tables.polars_columns import as_polars
from microagg.tables.roles import Roles
from microagg.tables.units import naming_column
from microagg.tables.weighting import weights_in

SETTING = "setting"


@dataclass(frozen=True, eq=False)
class DatasetSetting:
    """The plan with its seed, the files, the roles, and how many records a region holds.

    `seed` is that of the plan, or one that was drawn; the values of columns that may name somebody
    are counted in `name_buckets`.
    """

    plan: Plan
    listing: Listing
    roles: Roles
    seed: int
    region_size: int
    name_buckets: int = 1
    dialect: Dialect | None = None  # of CSV files
    markers: Mapping[str, int] = field(default_factory=dict)  # found when these were converted
    secret: bytes = b""  # that random keys depend on

    @classmethod
    def of(cls, work: WorkFolder) -> "DatasetSetting":
        """Return the setting of a run."""
        found: DatasetSetting = work.facts(SETTING)
        return found

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers in text."""
        return "." if self.dialect is None else self.dialect.decimal or "."

    @property
    def key(self) -> str | None:
        """The identifier that is replaced by random keys, the first in the order of the columns."""
        return self.roles.identifiers[0] if self.plan.keep_key else None

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that the output does not have."""
        return tuple(name for name in self.roles.unpublished if name != self.key)

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose distribution in a group is compared with that in the dataset."""
        return self.plan.compared_columns

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that grouping takes: those to protect, and those that say how."""
        roles = self.roles
        wanted = {*roles.shown, *self.plan.judged_columns, roles.weights, roles.unit}
        return tuple(name for name in self.listing.columns if name in wanted)

    def opened(self, table: pa.Table) -> tuple[Frame, dict[str, int]]:
        """Return rows without entries that mean a missing value, and how many each column had."""
        unchanged = {*self.plan.unchanged, ROW}
        names = [name for name in table.column_names if name not in unchanged]
        return without_entries(open_frame(table), names, self.plan.na)

    def options_of(self, name: str, judged: Mapping[str, Judgement]) -> ColumnOptions:
        """Return what is said of a quasi-identifier, with the type that it was judged to have."""
        from dataclasses import replace

        said = self.plan.column_options.get(name, ColumnOptions())
        return replace(said, type=ColumnType(judged[name].type), dates=self.plan.dates)

    def weights_in(self, frame: Frame, unit: float) -> Floats | None:
        """Return the weights of rows in this unit, if they have any."""
        if self.roles.weights is None:
            return None
        return weights_in(frame, self.roles.weights) / unit


def named_units(frame: Frame, name: str) -> pl.Series:
    """Return whom rows are about, as text that is the same for the same unit in every part.

    Numbers are written in one way, so that 7 and 7.0 are one; blanks and NA name nobody.
    """
    from microagg.tables.numerals import LEADING_ZERO, is_marked, nulled

    column = naming_column(frame, name)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype != pl.String:
        return column.cast(pl.String)
    bare = column.str.strip_chars()
    named = nulled(bare, (bare == "").fill_null(False) | is_marked(bare))
    numbers = named.cast(pl.Float64, strict=False)
    is_number = numbers.is_not_null() & (numbers.abs() < 2**53)
    is_number &= ~named.str.contains(LEADING_ZERO)
    return named.zip_with(~is_number.fill_null(False), numbers.cast(pl.String))


def polars_frame(table: pa.Table) -> pl.DataFrame:
    """Return Arrow columns as polars holds them."""
    return pl.DataFrame({name: as_polars(table[name]) for name in table.column_names})


def arrow_column(frame: Frame, name: str) -> Any:
    """Return a column as Arrow holds it, with plain values in place of a dictionary."""
    column = frame.get_column(name).to_native()
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column
