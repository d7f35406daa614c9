"""An original table and what was made of it, record by record: what risk and utility measure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import DataError, ParameterError
from microagg.tables.columns import Coded, Column, ColumnType
from microagg.tables.dates import is_written_as
from microagg.tables.encoding import encode_pair
from microagg.tables.frames import Frame, open_frame, polars_column
from microagg.tables.numerals import as_numbers
from microagg.tables.roles import Names, as_names, check_named
from microagg.tables.typed import ColumnOptions, open_column, order_of, types_of


@dataclass(frozen=True, eq=False)
class PairedColumn:
    """A column before and after; equal numbers mean equal values on both sides.

    `categories`, `unit` and `step` say what the numbers mean, as in `Column`.
    """

    name: str
    type: ColumnType
    before: Values
    after: Values
    categories: Sequence[Any] = ()
    unit: str = ""
    step: int = 1

    @classmethod
    def of(cls, column: Column, before: Values, after: Values) -> "PairedColumn":
        """Return two sides of a column whose numbers mean what those of `column` do."""
        meaning = (column.categories, column.unit, column.step)
        return cls(column.name, column.type, before, after, *meaning)

    @property
    def is_scaled(self) -> bool:
        """Whether differences of the numbers mean anything: numbers, dates, ordered categories."""
        return self.type not in (ColumnType.NOMINAL, ColumnType.BOOLEAN)

    @property
    def is_changed(self) -> bool:
        """Whether any record has another value after than before."""
        before, after = self.before, self.after
        if not np.array_equal(before.numbers, after.numbers):
            return True
        if before.missing is None or after.missing is None:
            return before.n_missing != after.n_missing
        return not np.array_equal(before.missing, after.missing)

    def take(self, rows: NDArray[np.intp]) -> "PairedColumn":
        """Return the column of these records."""
        return replace(self, before=self.before.take(rows), after=self.after.take(rows))


@dataclass(frozen=True, eq=False)
class Pair:
    """Records before and after protection.

    `columns` are the quasi-identifiers, what an intruder may know; `sensitive` what he wants to
    know. `dropped` are columns of the original that the protected table does not have, `unmatched`
    counts records of the original that it does not have; `assumed` are sensitive only because
    nothing in them was changed.
    """

    columns: dict[str, PairedColumn]
    sensitive: dict[str, PairedColumn] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    unmatched: int = 0

    @property
    def n_records(self) -> int:
        """How many records are there on both sides."""
        return len(next(iter(self.columns.values())).before.numbers)

    @cached_property
    def spaces(self) -> tuple[Floats, Floats]:
        """The records before and after in one space, in units of the original's deviations."""
        return encode_pair([(c.before, c.after, c.is_scaled) for c in self.columns.values()])

    @cached_property
    def classes(self) -> Labels:
        """The class of every record: those that show the same after protection have the same."""
        return classes_of([column.after for column in self.columns.values()])

    def take(self, rows: NDArray[np.intp]) -> "Pair":
        """Return the pair of these records."""
        return replace(
            self,
            columns={name: column.take(rows) for name, column in self.columns.items()},
            sensitive={name: column.take(rows) for name, column in self.sensitive.items()},
        )


def classes_of(columns: Iterable[Values]) -> Labels:
    """Number the records by what they show, equal for equal; a missing value is a value."""
    labels: Labels | None = None
    for values in columns:
        _, places = np.unique(values.numbers, return_inverse=True)
        codes = places.reshape(-1) + 1
        if values.missing is not None:
            codes = np.where(values.missing, 0, codes)
        if labels is None:
            labels = codes
        else:
            _, labels = np.unique(labels * (int(codes.max()) + 1) + codes, return_inverse=True)
            labels = labels.reshape(-1)
    assert labels is not None
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def released_pair(
    frame: Frame,
    columns: Mapping[str, Column],
    released: Mapping[str, Values],
    strata: Mapping[str, tuple[Coded, Values]] | None = None,
    sensitive: Sequence[str] = (),
    decimal: str | None = None,
) -> Pair:
    """Pair the columns of a table with what is released of them; strata are what anybody may know.

    Sensitive columns of types that cannot be measured, such as lists, are left out. Those of a CSV
    file are text, whatever they hold; its `decimal` mark says how to read their numbers.
    """
    shown = {name: PairedColumn.of(c, c.values, released[name]) for name, c in columns.items()}
    for name, (coded, values) in (strata or {}).items():
        shown[name] = PairedColumn(name, ColumnType.NOMINAL, coded.values, values, coded.categories)
    measurable = [c for c in sensitive if c in frame.columns and types_of(frame, c)]
    kept = []
    for name in measurable:
        own = frame
        if decimal is not None and frame[name].dtype == nw.String:
            read = as_numbers(polars_column(frame[name]), decimal).alias(name)
            own = nw.from_native(read.to_frame(), eager_only=True)
        kept.append(open_column(own, name, ColumnOptions()))
    return Pair(
        {name: shown[name] for name in frame.columns if name in shown},
        {column.name: PairedColumn.of(column, column.values, column.values) for column in kept},
    )


def open_pair(
    original: object,
    protected: object,
    *,
    key: str | None = None,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    column_options: Mapping[str, ColumnOptions] | None = None,
) -> Pair:
    """Pair the records of two tables: in their order, or by a key that both have.

    Quasi-identifiers are the columns that were named, or else all that were changed; those that
    were not are sensitive. `identifiers` are left out.
    """
    before, after = open_frame(original), open_frame(protected)
    column_options = column_options or {}
    left_out = {*as_names("identifiers", identifiers), *([] if key is None else [key])}
    both = dict.fromkeys((*before.columns, *after.columns))
    named = check_named(
        tuple(both),
        quasi_identifiers=quasi_identifiers,
        identifiers=sorted(left_out),
        sensitive=sensitive,
    )
    check_named(tuple(both), quasi_identifiers=tuple(column_options))  # they must be columns
    common = _common(before, after, left_out)
    for name in (*named.quasi_identifiers, *named.sensitive):
        if name not in common:
            raise DataError(
                f"the protected table has no column {name!r}, which is to be measured. Leave it "
                "out."
            )
    _check_indexes(before, after, key)
    rows = _matched(before, after, key)
    given = {*named.quasi_identifiers, *named.sensitive}
    keys = [
        name
        for name in common
        if not given.intersection((name, *named.quasi_identifiers))
        and _is_random_key(polars_column(before[name]), polars_column(after[name]))
    ]
    others = [name for name in common if name not in keys]
    paired = {name: _paired(before, after, rows, name, column_options) for name in others}
    changed = [name for name in others if paired[name].is_changed]
    if keys and not changed:  # then these are what was changed
        paired |= {name: _paired(before, after, rows, name, column_options) for name in keys}
        others, changed, keys = common, keys, []
    common = others
    assumed: tuple[str, ...] = ()
    chosen = named.quasi_identifiers
    if not chosen:
        chosen = tuple(c for c in changed if c not in named.sensitive)
        rest = tuple(c for c in common if c not in (*chosen, *named.sensitive))
        chosen, assumed = (chosen, rest) if chosen else (rest, ())
    else:
        assumed = tuple(c for c in common if c not in (*chosen, *named.sensitive))
    if not chosen:
        raise ParameterError(
            "there is no quasi-identifier to measure: every column is sensitive or left out. Take "
            "one out of those roles."
        )
    return Pair(
        {name: paired[name] for name in common if name in chosen},
        {name: paired[name] for name in common if name in (*named.sensitive, *assumed)},
        (*(name for name in before.columns if name not in after.columns), *keys),
        assumed,
        len(before) - len(after),
    )


def _common(before: Frame, after: Frame, left_out: set[str]) -> list[str]:
    """Return the columns that both have, if the protected table has no other."""
    new = [c for c in after.columns if c not in before.columns and c not in left_out]
    if new:
        listing = ", ".join(map(repr, new[:12]))
        raise DataError(
            f"the protected table has columns that the original does not have: {listing}. Rename "
            "them, or leave them out (--identifier)."
        )
    common = [c for c in before.columns if c in after.columns and c not in left_out]
    if not common:
        raise DataError("the two tables have no column in common. Are they the right ones?")
    return common


def _matched(before: Frame, after: Frame, key: str | None) -> Labels | None:
    """Return the record of the original behind every protected one; None if in their order."""
    if not len(before) or not len(after):
        raise DataError("a table has no records.")
    if key is None:
        if len(before) != len(after):
            raise DataError(
                "both tables must have the same records in the same order; the original has "
                f"{len(before):,} and the protected one {len(after):,}. Name a column that tells "
                "which record is which (--key)."
            )
        return None
    ids = []
    for word, frame in (("original", before), ("protected", after)):
        if key not in frame.columns:
            raise ParameterError(f"the {word} table has no column {key!r} to match records by.")
        column = polars_column(frame[key]).alias("key")
        if column.null_count() or column.n_unique() < len(column):
            raise DataError(
                f"the key {key!r} must be there and different in every record; in the {word} table "
                "it is not. Choose another."
            )
        ids.append(column)
    ids = _alike(ids, key)
    places = ids[0].to_frame().with_row_index("row")
    found = ids[1].to_frame().join(places, on="key", how="left", maintain_order="left")["row"]
    if missing := found.null_count():
        raise DataError(
            f"{missing:,} records of the protected table have a key {key!r} that the original does "
            "not have. Are they the right tables?"
        )
    return found.cast(pl.Int64).to_numpy().astype(np.intp)


def _check_indexes(before: Frame, after: Frame, key: str | None) -> None:
    """Refuse pandas tables whose indexes say that their records come in another order."""
    if key is not None or not all(f.implementation.is_pandas_like() for f in (before, after)):
        return
    first, second = (frame.to_native().index for frame in (before, after))
    same = len(first) == len(second) and not first.equals(second)
    if same and first.is_unique and first.isin(second).all():
        raise DataError(
            "both tables have the same index, in another order: records are paired by their order. "
            "Sort one of them, as in protected.loc[original.index]."
        )


def _is_random_key(before: pl.Series, after: pl.Series) -> bool:
    """Whether a column told every record from others, and was replaced by the numbers from 1 on."""
    if not after.dtype.is_integer() or after.null_count() or before.null_count():
        return False
    if before.dtype == after.dtype and before.equals(after):
        return False
    tells_apart = before.n_unique() == len(before)
    return tells_apart and after.sort().to_list() == list(range(1, len(after) + 1))


def _paired(
    before: Frame,
    after: Frame,
    matches: Labels | None,
    name: str,
    column_options: Mapping[str, ColumnOptions],
) -> PairedColumn:
    """Code both sides of a column together, so that equal values have equal numbers."""
    sides = [polars_column(frame[name]).alias("") for frame in (before, after)]
    if matches is not None:
        sides[0] = sides[0].gather(matches)
    both = pl.concat(_alike(sides, name))
    frame = nw.from_native(both.alias(name).to_frame(), eager_only=True)
    if not types_of(frame, name):
        raise DataError(
            f"column {name!r} is stored as {both.dtype}, which cannot be measured. Leave it out "
            "(--identifier)."
        )
    options = column_options.get(name, ColumnOptions())
    if options.type is None and options.order is None:
        options = ColumnOptions(order=order_of(before, name), type=_type_of_text(frame, name))
    column = open_column(frame, name, options)
    n = len(sides[1])
    numbers = column.values.numbers
    if numbers.dtype.kind == "f" and np.isinf(numbers).any():
        raise DataError(f"column {name!r} holds infinite numbers. Remove or replace them.")
    rows = np.arange(2 * n)
    return PairedColumn.of(column, column.values.take(rows[:n]), column.values.take(rows[n:]))


def _type_of_text(frame: Frame, name: str) -> ColumnType | None:
    """Return what text is if all of it is dates, or dates with times; None if it is not."""
    if frame[name].dtype != nw.String:
        return None
    series = frame[name].drop_nulls()
    kinds = (ColumnType.DATE, ColumnType.DATETIME)
    return next((kind for kind in kinds if len(series) and is_written_as(series, kind)), None)


def _alike(sides: list[pl.Series], name: str) -> list[pl.Series]:
    """Return both sides in one type, if both are numbers, text, or times."""
    # Decimals are numbers, and of what is missing everywhere nothing is known.
    sides = [s.cast(pl.Float64) if s.dtype.is_decimal() else s for s in sides]
    types = [side.dtype for side in sides]
    if types[0] == types[1] == pl.Null:
        return [side.cast(pl.Float64) for side in sides]
    if types[0] == types[1] and not isinstance(types[0], pl.Categorical):
        return sides
    if pl.Null in types:  # nothing is there
        other = types[1] if types[0] == pl.Null else types[0]
        return [side.cast(other) for side in sides]
    if all(dtype.is_numeric() for dtype in types):
        whole = all(dtype.is_integer() and dtype != pl.UInt64 for dtype in types)
        return [side.cast(pl.Int64 if whole else pl.Float64) for side in sides]
    texts = (pl.String, pl.Categorical, pl.Enum)
    if all(isinstance(dtype, texts) for dtype in types):
        return [side.cast(pl.String) for side in sides]
    if all(isinstance(dtype, (pl.Date, pl.Datetime)) for dtype in types):
        zones = {getattr(dtype, "time_zone", None) for dtype in types}
        if len(zones) == 1:
            return [side.cast(pl.Datetime("us", zones.copy().pop())) for side in sides]
    raise DataError(
        f"column {name!r} is of {_word(types[0])} in the original and of {_word(types[1])} in the "
        "protected table. Convert one of them, or leave the column out (--identifier)."
    )


def _word(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "numbers"
    return "text" if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)) else str(dtype)
