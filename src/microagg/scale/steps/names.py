"""Columns that may name somebody: how many of their values are in one row, and in several."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Hashes, Mask
from microagg.plans.plan import Plan
from microagg.release.cautions import (
    warn_of_days,
    warn_of_order,
    warn_of_serial_numbers,
    warn_of_unique_values,
)
from microagg.release.exposure import NEARLY_ALL, is_order_telling
from microagg.release.records import refuse_shared
from microagg.scale.steps.statistics import Judged
from microagg.scale.steps.types import Facts
from microagg.scale.storage.hashing import can_be_hashed, hashed
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import part_bytes
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import DatasetSetting, arrow_column, named_units
from microagg.tables.columns import ColumnType
from microagg.tables.frames import Frame, open_frame
from microagg.tables.polars_columns import as_polars

NAMES, COUNT = "names", "count"
# Values that are looked at together, about.
_BUCKET = 2_000_000


class Repeats(NamedTuple):
    """How many values of a column are in one row only, and how many in several.

    `squares` is the sum of the squares of how many rows each is in.
    """

    once: int
    shared: int
    squares: float

    @property
    def different(self) -> int:
        """How many values there are."""
        return self.once + self.shared


class Counting(NamedTuple):
    """The columns whose values are counted, by what they must not do.

    Those of `naming` say whom records are about, and must not repeat or are counted as units;
    `published` must not name records, and `numbered` must not number them.
    """

    naming: tuple[str, ...]
    published: tuple[str, ...]
    numbered: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.naming, *self.published, *self.numbered)


def columns_to_count(setting: DatasetSetting, facts: Facts, judged: Judged) -> Counting:
    """Return the columns to count; if records are about units, published ones must name these."""
    found = _whole_numbers(facts, judged)
    serial = [n for n, own in found.items() if own.count_records and n in setting.roles.assumed]
    if setting.roles.unit is not None:
        return Counting((setting.roles.unit,), (), tuple(serial))
    identifiers = () if setting.plan.counts_rows else setting.roles.identifiers
    return Counting(tuple(identifiers), published_values(setting), tuple(serial))


def published_values(setting: DatasetSetting) -> tuple[str, ...]:
    """Return the columns that are published unchanged and can be compared."""
    schema = setting.listing.files[0].schema
    return tuple(
        name
        for name in setting.roles.unchanged
        if name in schema.names and can_be_hashed(schema.field(name).type)
    )


def _whole_numbers(facts: Facts, judged: Judged) -> dict[str, Any]:
    """Return what is known of the columns that are protected as whole numbers."""
    return {
        name: own.whole
        for name, own in facts.columns.items()
        if own.whole is not None and judged.types[name].type is ColumnType.INTEGER
    }


def warn_of_dates_as_numbers(plan: Plan, facts: Facts, judged: Judged) -> None:
    """Warn of numbers that seem to be dates, as for a table, unless the plan gives their type."""
    for name, own in _whole_numbers(facts, judged).items():
        named = plan.columns.get(name)
        if own.are_days and (named is None or named.type is None):
            warn_of_days(name)


def hash_names(work: WorkFolder, run: int) -> None:
    """Task: write the values of these columns as sorted numbers, for every part of a run."""
    setting, counting = DatasetSetting.of(work), work.facts(NAMES)
    for number, table in setting.listing.read(run, counting.columns):
        frame = open_frame(table)
        for at, name in enumerate(counting.columns):
            values = hashed_values(frame, name, naming=name in counting.naming)
            numbers = np.sort(values.numbers[values.present])
            save_numbers(work, NAMES, place_of(number, at, setting), numbers)


class HashedValues(NamedTuple):
    """A number for every value of a column, and which are there."""

    numbers: Hashes
    present: Mask


def hashed_values(frame: Frame, name: str, *, naming: bool) -> HashedValues:
    """Return the values of a column; those that name somebody are alike however they are stored."""
    values = named_units(frame, name) if naming else as_polars(arrow_column(frame, name))
    return HashedValues(hashed(values), values.is_not_null().to_numpy())


def place_of(part: int, column: int, setting: DatasetSetting) -> int:
    """Return the number of the file that has the values of a column in a part."""
    return column * len(setting.listing.parts) + part


def save_numbers(work: WorkFolder, name: str, number: int, numbers: NDArray[Any]) -> None:
    """Write an array into the work folder."""

    def write(path: object) -> None:
        with open(path, "wb") as stream:  # type: ignore[call-overload]
            np.save(stream, numbers)

    work.write(work.place(name, number, "npy"), write)


def in_bucket(numbers: Hashes, bucket: int, n_buckets: int) -> slice:
    """Return where the numbers of a bucket are among sorted ones."""
    ends = [np.uint64(min(2**64 - 1, at * (2**64 // n_buckets))) for at in (bucket, bucket + 1)]
    start, stop = np.searchsorted(numbers, ends)
    return slice(int(start), len(numbers) if bucket == n_buckets - 1 else int(stop))


def n_buckets(n_rows: int) -> int:
    """Return into how many buckets the values of a column go."""
    return max(1, -(-n_rows // _BUCKET))


def count_bucket(work: WorkFolder, number: int) -> Repeats:
    """Task: count the values of a column that are in one bucket."""
    setting = DatasetSetting.of(work)
    column, bucket = divmod(number, setting.name_buckets)
    own = []
    for part in range(len(setting.listing.parts)):
        path = work.place(NAMES, place_of(part, column, setting), "npy")
        numbers = np.load(path, mmap_mode="r")
        own.append(np.array(numbers[in_bucket(numbers, bucket, setting.name_buckets)]))
    _, counts = np.unique(np.concatenate(own), return_counts=True)
    squares = float(np.square(counts.astype(np.float64)).sum())
    n_once = int(np.count_nonzero(counts == 1))
    return Repeats(n_once, len(counts) - n_once, squares)


def check_names(passes: Passes, setting: DatasetSetting, facts: Facts, judged: Judged) -> int:
    """Refuse identifiers that repeat; warn of columns that name or number records.

    If records are about units, warn of an order that shows which belong together.

    Returns how many units there are, 0 if no column names them.
    """
    counting = columns_to_count(setting, facts, judged)
    if not counting.columns:
        return 0
    listing, n_columns = setting.listing, len(counting.columns)
    passes.work.keep(NAMES, counting)
    each = part_bytes(listing, n_columns)
    passes.run(NAMES, hash_names, len(listing.runs), bytes_each=each)
    each = min(_BUCKET, listing.n_rows) * 16
    passes.run(COUNT, count_bucket, n_columns * setting.name_buckets, bytes_each=each)
    passes.work.forget(NAMES)
    found = dict(zip(counting.columns, _totals(passes, setting, n_columns), strict=True))
    n_rows = listing.n_rows
    for name in counting.numbered:
        if found[name].different >= NEARLY_ALL * n_rows:
            warn_of_serial_numbers(name)
    if setting.roles.unit is not None:
        units = found[setting.roles.unit]
        if is_order_telling(facts.n_following / n_rows, units.squares / n_rows**2):
            warn_of_order(setting.roles.unit, "Shuffle the records first.")
        return units.different
    refuse_shared({name: found[name].shared for name in counting.naming if found[name].shared})
    for name in counting.published:
        if found[name].once >= NEARLY_ALL * n_rows:
            warn_of_unique_values(name, is_weight=name == setting.roles.weights)
    return 0


def _totals(passes: Passes, setting: DatasetSetting, n_columns: int) -> Iterator[Repeats]:
    n = setting.name_buckets
    each = [*passes.results(COUNT, n_columns * n)]
    for column in range(n_columns):
        own = each[column * n : (column + 1) * n]
        sums = (sum(r.once for r in own), sum(r.shared for r in own), sum(r.squares for r in own))
        yield Repeats(*sums)
