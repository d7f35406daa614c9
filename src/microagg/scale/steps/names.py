"""Columns that may name somebody: how many of their values are in one row, and in several."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from microagg.core.arrays import Hashes
from microagg.release.cautions import warn_of_order, warn_of_unique_values
from microagg.release.exposure import NEARLY_ALL, is_order_telling
from microagg.release.records import refuse_shared
from microagg.scale.steps.types import Facts
from microagg.scale.storage.hashing import hashed
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import part_bytes
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import DatasetSetting, arrow_column, named_units
from microagg.tables.frames import open_frame
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


def columns_to_count(setting: DatasetSetting) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the identifiers that must not repeat, and the columns that must not name records.

    If records are about units, these are counted, and nothing else.
    """
    if setting.roles.unit is not None:
        return (setting.roles.unit,), ()
    schema = setting.listing.files[0].schema
    identifiers = () if setting.plan.counts_rows else setting.roles.identifiers
    published = tuple(
        name
        for name in setting.roles.unchanged
        if name in schema.names and not pa.types.is_nested(schema.field(name).type)
    )
    return tuple(identifiers), published


def hash_names(work: WorkFolder, run: int) -> None:
    """Task: write the values of these columns as sorted numbers, for every part of a run."""
    setting = DatasetSetting.of(work)
    identifiers, published = columns_to_count(setting)
    for number, table in setting.listing.read(run, [*identifiers, *published]):
        frame = open_frame(table)
        for at, name in enumerate((*identifiers, *published)):
            if name in identifiers:
                values = named_units(frame, name)
            else:
                values = as_polars(arrow_column(frame, name))
            numbers = np.sort(hashed(values.drop_nulls()))
            _save(work, _place(number, at, setting), numbers)


def _place(part: int, column: int, setting: DatasetSetting) -> int:
    return column * len(setting.listing.parts) + part


def _save(work: WorkFolder, number: int, numbers: Hashes) -> None:
    def write(path: object) -> None:
        with open(path, "wb") as stream:  # type: ignore[call-overload]
            np.save(stream, numbers)

    work.write(work.place(NAMES, number, "npy"), write)


def n_buckets(n_rows: int) -> int:
    """Return into how many buckets the values of a column go."""
    return max(1, -(-n_rows // _BUCKET))


def count_bucket(work: WorkFolder, number: int) -> Repeats:
    """Task: count the values of a column that are in one bucket."""
    setting = DatasetSetting.of(work)
    column, bucket = divmod(number, n := setting.name_buckets)
    ends = [np.uint64(min(2**64 - 1, at * (2**64 // n))) for at in (bucket, bucket + 1)]
    own = []
    for part in range(len(setting.listing.parts)):
        path = work.place(NAMES, _place(part, column, setting), "npy")
        numbers = np.load(path, mmap_mode="r")
        start, stop = np.searchsorted(numbers, ends)
        own.append(np.array(numbers[start : len(numbers) if bucket == n - 1 else stop]))
    _, counts = np.unique(np.concatenate(own), return_counts=True)
    squares = float(np.square(counts.astype(np.float64)).sum())
    n_once = int(np.count_nonzero(counts == 1))
    return Repeats(n_once, len(counts) - n_once, squares)


def check_names(passes: Passes, setting: DatasetSetting, facts: Facts) -> int:
    """Refuse identifiers that repeat, and warn of published columns that name records.

    If records are about units, warn of an order that shows which belong together.

    Returns how many units there are, 0 if no column names them.
    """
    identifiers, published = columns_to_count(setting)
    if not (identifiers or published):
        return 0
    names, listing = (*identifiers, *published), setting.listing
    each = part_bytes(listing, len(names))
    passes.run(NAMES, hash_names, len(listing.runs), bytes_each=each)
    each = min(_BUCKET, listing.n_rows) * 16
    passes.run(COUNT, count_bucket, len(names) * setting.name_buckets, bytes_each=each)
    found = dict(zip(names, _totals(passes, setting, len(names)), strict=True))
    n_rows = setting.listing.n_rows
    if setting.roles.unit is not None:
        units = found[setting.roles.unit]
        if is_order_telling(facts.n_following / n_rows, units.squares / n_rows**2):
            warn_of_order(setting.roles.unit, "Shuffle the records first.")
        return units.different
    refuse_shared({name: found[name].shared for name in identifiers if found[name].shared})
    for name in published:
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
