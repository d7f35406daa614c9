"""A dataset before and after protection: what is known of its columns, and a sample of its rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from microagg.core.arrays import Labels, Wholes
from microagg.measures.subject import KnownColumns, pair_of
from microagg.scale.sources.delimited import as_judged
from microagg.scale.sources.drawing import drawn_rows
from microagg.scale.sources.listing import Listing
from microagg.scale.storage.shuffle import row_numbers
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import part_bytes, read_together
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import arrow_column
from microagg.tables.columns import ColumnType
from microagg.tables.frames import Frame, open_frame
from microagg.tables.markers import without_entries
from microagg.tables.pairs import Pair
from microagg.tables.polars_columns import as_polars
from microagg.tables.units import naming_column

PAIRED, SAMPLE = "paired", "sample"


@dataclass(frozen=True, eq=False)
class Paired:
    """Two datasets of the same rows, the columns that are read of each, and how.

    `texts` says for either whether it consists of text files, whose numbers have these `decimals`;
    `numbers` are the columns that are numbers in the sample. `sampled` are the numbers of the rows
    in the sample.
    """

    before: Listing
    after: Listing
    known: KnownColumns
    unit: str | None
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    texts: tuple[bool, bool]
    decimals: tuple[str, str]
    sampled: Wholes
    numbers: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        before: Listing,
        after: Listing,
        known: KnownColumns,
        unit: str | None,
        texts: tuple[bool, bool],
        decimals: tuple[str, str],
        most: int,
    ) -> "Paired":
        """Pair datasets of which this is known, with a sample of at most so many rows."""
        common = [name for name in before.columns if name in after.columns]
        measured = tuple(name for name in common if name not in (*known.left_out, unit))
        extra = (known.weights, unit)
        wanted = [*measured, *(name for name in extra if name is not None)]
        own = tuple(dict.fromkeys(name for name in wanted if name in before.columns))
        sampled = drawn_rows(after, most)
        return cls(before, after, known, unit, (own, measured), texts, decimals, sampled)

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return self.after.n_rows

    @property
    def is_sample(self) -> bool:
        """Whether the sample is less than the whole."""
        return len(self.sampled) < self.n_records

    def frames(self, number: int) -> Iterable[tuple[int, Labels, Frame, Frame]]:
        """Read a file on both sides in parts, each with its number and those of its rows."""
        read = read_together(self.after, self.columns[1], self.before, self.columns[0], number)
        for at, after, before in read:
            rows = row_numbers(after)
            yield at, rows, self.typed(before, 0), self.typed(after, 1)

    def typed(self, table: Any, side: int) -> Frame:
        """Return rows with numbers where a text file has them, and what means missing as such."""
        frame = open_frame(table)
        columns = {name: arrow_column(frame, name) for name in self.columns[side]}
        frame = open_frame(pa.table(columns))
        plan = self.known.plan
        if plan is not None and side == 0:
            names = [name for name in columns if name not in plan.unchanged]
            frame, _ = without_entries(frame, names, plan.na)
        numbers = [name for name in self.numbers if name in columns] if self.texts[side] else []
        if not numbers:
            return frame
        own = {name: frame.get_column(name).to_native() for name in columns}
        for name in numbers:
            read = as_judged(own[name], self.decimals[side])
            own[name] = read.cast(pl.Float64, strict=False).to_arrow()
        return open_frame(pa.table(own))


def open_sample(passes: Passes, paired: Paired) -> tuple[Paired, Pair]:
    """Return the rows of the sample as a pair, and which columns of text files are numbers."""
    work, n_files = passes.work, len(paired.after.files)
    work.keep(PAIRED, paired)
    each = part_bytes(paired.after, sum(map(len, paired.columns)))
    passes.run(SAMPLE, _sample_file, n_files, bytes_each=each)
    found = [own for own in passes.results(SAMPLE, n_files) if own is not None]
    sides = [_joined([own[side] for own in found]) for side in (0, 1)]
    sides = _with_numbers(paired, sides)
    frames = [open_frame(side) for side in sides]
    known = paired.known.within((*paired.columns[0], *paired.columns[1]))
    pair = pair_of(frames[0], frames[1], known, paired.unit, paired.columns[1])
    dropped = [name for name in paired.before.columns if name not in paired.after.columns]
    numbers = {c.name for side in sides for c in side.get_columns() if c.dtype.is_numeric()}
    typed = replace(paired, numbers=frozenset(numbers - {paired.unit}))
    work.keep(PAIRED, typed)
    return typed, replace(pair, dropped=tuple(dropped))


def _with_numbers(paired: Paired, sides: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """Return both sides with numbers where text files have them; units stay as they are.

    Categories are numbers on both sides or on neither: what was never released may be text.
    """
    found = [_judged(paired, side, table) for side, table in enumerate(sides)]
    for name in _known_texts(paired.known):
        own = [columns[name] for columns in found if name in columns]
        kinds = {column.dtype for column in own if column.null_count() < len(column)}
        if not all(kind.is_numeric() for kind in kinds):
            for columns, table in zip(found, sides, strict=True):
                if name in columns:
                    columns[name] = table.get_column(name)
        elif kinds:
            for columns in found:
                if name in columns:
                    columns[name] = columns[name].cast(pl.Float64)
    return [pl.DataFrame(list(columns.values())) for columns in found]


def _judged(paired: Paired, side: int, table: pl.DataFrame) -> dict[str, pl.Series]:
    columns = {column.name: column for column in table.get_columns()}
    if not paired.texts[side]:
        return columns
    return {
        name: own
        if name == paired.unit
        else as_judged(own.to_arrow(), paired.decimals[side]).alias(name)
        for name, own in columns.items()
    }


def _known_texts(known: KnownColumns) -> Iterable[str]:
    """Return columns whose type is known to be none of numbers."""
    kinds = (ColumnType.CONTINUOUS, ColumnType.INTEGER)
    for name, own in known.column_options.items():
        if own.type is not None and own.type not in kinds:
            yield name


def _sample_file(work: WorkFolder, number: int) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Task: return the rows of a file that are in the sample, before and after."""
    paired: Paired = work.facts(PAIRED)
    parts = []
    for _, rows, before, after in paired.frames(number):
        places = np.minimum(np.searchsorted(paired.sampled, rows), len(paired.sampled) - 1)
        mine = np.flatnonzero(paired.sampled[places] == rows)
        parts.append([_taken(side, mine, paired.unit) for side in (before, after)])
    if not parts:
        return None
    return _joined([own[0] for own in parts]), _joined([own[1] for own in parts])


def _taken(frame: Frame, rows: Labels, unit: str | None) -> pl.DataFrame:
    """Return some rows as polars holds them; units as text, if they must be."""
    columns = []
    for name in frame.columns:
        column = (
            naming_column(frame, name)
            if name == unit
            else as_polars(frame.get_column(name).to_native())
        )
        columns.append(column.gather(rows).alias(name))
    return pl.DataFrame(columns)


def _joined(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join parts whose columns may be numbers in one and, for want of any, text in another."""
    columns = []
    for name in parts[0].columns:
        each = [part.get_column(name) for part in parts]
        kinds = {own.dtype for own in each if own.null_count() < len(own)}
        if len(kinds) > 1:
            numeric = all(kind.is_numeric() for kind in kinds)
            each = [own.cast(pl.Float64 if numeric else pl.String) for own in each]
        elif kinds:
            each = [own.cast(next(iter(kinds))) for own in each]
        columns.append(pl.concat(each).alias(name))
    return pl.DataFrame(columns)
