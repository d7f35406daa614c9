"""Two tables -> a pair: which record of one is which of the other, and what each column is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import narwhals as nw
import numpy as np
import polars as pl

from microagg.core.arrays import Floats, Labels, Order
from microagg.core.errors import DataError, ParameterError
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.date_texts import find_writing, parsed
from microagg.tables.frames import Frame, open_frame, polars_column, type_name
from microagg.tables.judging import judge_type
from microagg.tables.pairs import OriginalColumn, Pair, PairedColumn
from microagg.tables.roles import Names, Roles, as_names, check_named, no_such_column, shown_column
from microagg.tables.typed import is_number, open_column, order_of, types_of
from microagg.tables.units import Units
from microagg.tables.weighting import record_weights

_TIMES = (ColumnType.DATE, ColumnType.DATETIME)


def open_pair(
    original: object,
    protected: object,
    *,
    key: str | None = None,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    column_options: Mapping[str, ColumnOptions] | None = None,
    unit: str | None = None,
    weights: str | None = None,
    order: Order | None = None,
) -> Pair:
    """Pair the records of two tables: in their order, or by a key that both have.

    `order` are the original rows of protected records that were shuffled, if that is known.

    Quasi-identifiers are the columns named as such, or else all that were changed; unchanged
    columns without a role are sensitive. `identifiers` are left out, and so is the `unit`, which
    says in the original whom a record is about. The `weights` are those of the original; whether
    they are measured is said by the other roles.
    """
    before, after = open_frame(original), open_frame(protected)
    said = column_options or {}
    known = tuple(dict.fromkeys((*before.columns, *after.columns)))
    left_out = {*as_names("identifiers", identifiers), *([] if key is None else [key])}
    if unit in known:  # it may be in the index
        left_out.add(unit)
    named = check_named(
        known,
        quasi_identifiers=quasi_identifiers,
        identifiers=sorted(left_out),
        sensitive=sensitive,
    )
    check_named(known, quasi_identifiers=tuple(said))  # they must be columns
    common = _common_columns(before, after, left_out)
    _check_released(common, named)
    if key is None and order is None:
        _check_indexes(before, after)
    rows = _matched(before, after, key, order)
    units = None if unit is None else _units(before, rows, unit)
    keys = _random_keys(before, after, common, named)
    measured = [name for name in common if name not in keys]
    paired = {name: paired_column(before, after, rows, name, said) for name in measured}
    changed = [name for name in measured if paired[name].is_changed]
    if keys and not changed:  # they are all that was changed, so they are not keys
        paired |= {name: paired_column(before, after, rows, name, said) for name in keys}
        measured, changed, keys = common, keys, []
    chosen, assumed = _chosen_columns(measured, changed, named)
    sensitive = [name for name in measured if name in (*named.sensitive, *assumed)]
    for name in sensitive:  # as in a release, their numbers have an order, few or many
        if is_number(before, name) and paired[name].type is ColumnType.NOMINAL:
            paired[name] = paired_column(before, after, rows, name, said, is_amount=True)
    return Pair(
        {name: paired[name] for name in measured if name in chosen},
        {name: paired[name] for name in sensitive},
        (*_not_released(before, after), *keys),
        assumed,
        len(before) - len(after),
        units,
        rows,
        None if weights is None else _weights(before, rows, weights),
    )


def _not_released(before: Frame, after: Frame) -> list[str]:
    released = set(after.columns)
    return [name for name in before.columns if name not in released]


def _weights(before: Frame, rows: Labels | None, name: str) -> Floats:
    """Return the weights of the matched records."""
    if name not in before.columns:
        raise no_such_column(name, before.columns)
    weights = record_weights(before, name)
    return weights if rows is None else weights[rows]


def _units(before: Frame, rows: Labels | None, unit: str) -> Units:
    """Return whom the matched records are about."""
    units = Units.in_table(before, unit)
    if rows is not None:
        units = units.take(rows)
    if not units.count:
        raise DataError(
            f"the unit {unit!r} is missing in every record, so nobody can be counted. Choose "
            "another column, or none."
        )
    return units


def _chosen_columns(
    measured: Sequence[str], changed: Sequence[str], named: Roles
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the quasi-identifiers, and the columns that are assumed to be sensitive."""
    chosen = named.quasi_identifiers or tuple(c for c in changed if c not in named.sensitive)
    rest = tuple(c for c in measured if c not in (*chosen, *named.sensitive))
    if not chosen and not rest:
        raise ParameterError(
            "there is no quasi-identifier to measure: every column is sensitive or left out. Take "
            "one out of those roles."
        )
    return (chosen, rest) if chosen else (rest, ())


def _check_released(common: Sequence[str], named: Roles) -> None:
    for name in (*named.quasi_identifiers, *named.sensitive):
        if name not in common:
            raise DataError(
                f"the protected table has no column {name!r}, so it cannot be measured. Remove its "
                "role."
            )


def _common_columns(before: Frame, after: Frame, left_out: set[str]) -> list[str]:
    """Return the columns that both have, if the protected table has no other."""
    released = set(after.columns)
    known = {*before.columns, *left_out}
    new = [c for c in after.columns if c not in known]
    if new:
        listing = ", ".join(shown_column(name, after.columns) for name in new[:12])
        raise DataError(
            f"the protected table has columns that the original does not have: {listing}. Rename "
            "them, or name them as identifiers (--identifier, or identifiers= in Python) to leave "
            "them out."
        )
    common = [c for c in before.columns if c in released and c not in left_out]
    if not common:
        raise DataError("the two tables have no column in common. Are these the right tables?")
    return common


def _matched(before: Frame, after: Frame, key: str | None, order: Order | None) -> Labels | None:
    """Return the record of the original behind every protected one; None if in their order.

    `order` are those records, if that is known.
    """
    if not len(before) or not len(after):
        raise DataError("a table has no records.")
    if key is None:
        if len(before) != len(after):
            raise DataError(
                "both tables must have the same records in the same order; the original has "
                f"{len(before):,} and the protected one {len(after):,}. Name a column to match "
                "them by (--key, or key= in Python)."
            )
        return order
    ids = []
    for word, frame in (("original", before), ("protected", after)):
        if key not in frame.columns:
            raise ParameterError(f"the {word} table has no column {key!r} to match records by.")
        column = polars_column(frame[key]).alias("key")
        if column.null_count() or column.n_unique() < len(column):
            raise DataError(
                f"the key {key!r} must be present and different in every record; in the {word} "
                "table it is not. Choose another."
            )
        ids.append(column)
    ids = _alike(ids, key)
    places = ids[0].to_frame().with_row_index("row")
    found = ids[1].to_frame().join(places, on="key", how="left", maintain_order="left")["row"]
    if missing := found.null_count():
        raise DataError(
            f"{missing:,} records of the protected table have a key {key!r} that is not in the "
            "original. Are these the right tables?"
        )
    return found.cast(pl.Int64).to_numpy().astype(np.intp)


def _check_indexes(before: Frame, after: Frame) -> None:
    """Refuse pandas tables with the same index in a different order."""
    if not all(f.implementation.is_pandas_like() for f in (before, after)):
        return
    first, second = (frame.to_native().index for frame in (before, after))
    same = len(first) == len(second) and not first.equals(second)
    if same and first.is_unique and first.isin(second).all():
        raise DataError(
            "both tables have the same index in a different order, but records are matched by "
            "position. Sort one of them, as in protected.loc[original.index]."
        )


def _random_keys(before: Frame, after: Frame, common: Sequence[str], named: Roles) -> list[str]:
    """Return the columns without a role that hold random keys in the protected table."""
    if named.quasi_identifiers:
        return []
    return [
        name
        for name in common
        if name not in named.sensitive
        and _is_random_key(polars_column(before[name]), polars_column(after[name]))
    ]


def _is_random_key(before: pl.Series, after: pl.Series) -> bool:
    """Whether a column was different in every record, and was replaced by the numbers 1 to n."""
    if not after.dtype.is_integer() or after.null_count() or before.null_count():
        return False
    if before.dtype == after.dtype and before.equals(after):
        return False
    is_unique = before.n_unique() == len(before)
    return is_unique and after.sort().to_list() == list(range(1, len(after) + 1))


def paired_column(
    before: Frame,
    after: Frame,
    matches: Labels | None,
    name: str,
    said: Mapping[str, ColumnOptions],
    *,
    is_amount: bool = False,
) -> PairedColumn:
    """Code both sides of a column together, so that equal values have equal numbers."""
    sides = [polars_column(frame[name]) for frame in (before, after)]
    if matches is not None:
        sides[0] = sides[0].gather(matches)
    options = said.get(name, ColumnOptions())
    if options.stated_type in (None, *_TIMES):
        sides = _written_alike(sides, options.dates)
    both = pl.concat(_alike(sides, name))
    frame = nw.from_native(both.alias(name).to_frame(), eager_only=True)
    if not types_of(frame, name):
        raise DataError(
            f"column {name!r} is stored as {type_name(frame[name].dtype)}, which cannot be "
            "measured. Name it as an identifier (--identifier, or identifiers= in Python) to leave "
            "it out."
        )
    if options.type is None and options.order is None:
        judged = _judged(before, frame, name, is_amount=is_amount, dates=options.dates)
        options = replace(judged, weight=options.weight)
    column = open_column(frame, name, options)
    n = len(sides[1])
    numbers = column.values.numbers
    if numbers.dtype.kind == "f" and np.isinf(numbers).any():
        raise DataError(f"column {name!r} holds infinite numbers. Remove or replace them.")
    rows = np.arange(2 * n)
    before_values, after_values = column.values.take(rows[:n]), column.values.take(rows[n:])
    return OriginalColumn.of(column, before_values).paired(after_values)


def _judged(
    before: Frame, both: Frame, name: str, *, is_amount: bool, dates: str | None
) -> ColumnOptions:
    """Return what the original is judged to be, if the protected values can be of that type.

    Numbers that became means or other numbers were treated as amounts, not as codes. Dates whose
    day cannot be told from the month on either side are text.
    """
    if (order := order_of(before, name)) is not None:
        return ColumnOptions(order=order)
    kind = None
    if types_of(before, name):
        kind = judge_type(before, name, is_amount=is_amount, dates=dates).type
        if kind in _TIMES and both[name].dtype == nw.String:
            judged = judge_type(both, name, dates=dates)
            kind = ColumnType.NOMINAL if judged.is_ambiguous else judged.type
    if is_number(before, name) and is_number(both, name) and judge_type(both, name).type != kind:
        kind = judge_type(both, name, is_amount=True).type
    return ColumnOptions(type=kind if kind in types_of(both, name) else None, dates=dates)


def _alike(sides: list[pl.Series], name: str) -> list[pl.Series]:
    """Return both sides in one type, if both are numbers, text, or times."""
    sides = [s.cast(pl.Float64) if s.dtype.is_decimal() else s for s in sides]
    types = [side.dtype for side in sides]
    if types[0] == types[1] == pl.Null:
        return [side.cast(pl.Float64) for side in sides]
    if types[0] == types[1] and not isinstance(types[0], pl.Categorical):
        return sides
    if pl.Null in types:  # a side without any value takes the type of the other
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
    if (times := _as_times(sides)) is not None:
        return _alike(times, name)
    raise DataError(
        f"column {name!r} holds {_word(types[0])} in the original and {_word(types[1])} in the "
        "protected table. Convert one of them, or leave the column out (--identifier, or "
        "identifiers= in Python)."
    )


def _written_alike(sides: list[pl.Series], order: str | None) -> list[pl.Series]:
    """Return times for columns of text that hold times on both sides, written in different ways."""
    if any(side.dtype != pl.String for side in sides):
        return sides
    found = [find_writing(side, order) for side in sides]
    forms = [own.form for own in found if own is not None and not own.is_ambiguous]
    if len(forms) < 2 or forms[0] == forms[1]:
        return sides
    return [parsed(side, form) for side, form in zip(sides, forms, strict=True)]


def _as_times(sides: list[pl.Series]) -> list[pl.Series] | None:
    """Return both sides as times, if one is and the other is text that consists of times only.

    So a sheet of Excel can be compared with the text file that was made of it.
    """
    texts = [side.dtype == pl.String for side in sides]
    if sum(texts) != 1 or not isinstance(sides[texts.index(False)].dtype, (pl.Date, pl.Datetime)):
        return None
    own = sides[texts.index(True)]
    for times in (
        own.str.to_date("%Y-%m-%d", strict=False),
        own.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False),
    ):
        if times.null_count() == own.null_count():
            return [times if is_text else side for side, is_text in zip(sides, texts, strict=True)]
    return None


def _word(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "numbers"
    return "text" if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)) else str(dtype)
