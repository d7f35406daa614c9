"""Columns of text -> columns of numbers, if every entry is a number.

The rules do not depend on how some version of a library guesses types.
"""

from collections.abc import Collection, Sequence

import polars as pl

from microagg.core.errors import DataError
from microagg.core.missing import MARKERS

# Codes such as postcodes, which would lose their zeros as numbers.
LEADING_ZERO = r"^\s*[+-]?0[0-9]"

# The first entries give most columns of text away.
_N_FIRST, _N_GLANCE = 500, 20
_OTHER = {".": ",", ",": "."}
_WORDS = {".": "points", ",": "commas"}
_SAY_DECIMAL = "Give the decimal mark (--decimal, or decimal= in Python)."


def as_numbers(
    column: pl.Series, decimal: str = ".", markers: Collection[str] = MARKERS
) -> pl.Series:
    """Return the entries as numbers if every one is a number, otherwise the column as it is.

    An entry with a leading zero is a code, not a number. Thousands separators are not allowed.
    Among numbers, a marker such as NA is a missing value.

    >>> as_numbers(pl.Series(["1,5", "-2"]), decimal=",").to_list()
    [1.5, -2.0]
    >>> as_numbers(pl.Series(["1.234,5", "2"]), decimal=",").to_list()
    ['1.234,5', '2']
    >>> as_numbers(pl.Series(["1.5", "NA", "-"])).to_list()
    [1.5, None, None]
    """
    bare = column.alias("")  # polars may take a name for a pattern
    numbers = _numbers_among(bare, decimal, markers)
    return column if numbers is None else numbers.alias(column.name)


def _numbers_among(column: pl.Series, decimal: str, markers: Collection[str]) -> pl.Series | None:
    if (first := first_entry(column, markers)) and first[0].isalpha() and first[0] not in "iInN":
        return None  # "inf" and "nan" are left to polars
    if column.len() > _N_FIRST and _is_text(column.head(_N_FIRST), decimal, markers):
        return None
    numbers = _numbers(column, decimal)
    # Polars takes NaN for a number.
    is_doubtful = numbers is None or (numbers.dtype.is_float() and numbers.is_nan().any())
    if is_doubtful and (marked := is_marked(column, markers)).any():
        numbers = _numbers(nulled(column, marked), decimal)
    return numbers


def first_entry(column: pl.Series, markers: Collection[str] = MARKERS) -> str | None:
    """Return the first text that is not a marker, without blanks; None if the first are markers.

    >>> first_entry(pl.Series(["NA", None, " 31.12.2024", "-"]))
    '31.12.2024'
    """
    glance = (text.strip() for text in column.head(_N_GLANCE).to_list() if text is not None)
    return next((text for text in glance if text and text not in markers), None)


def is_marked(column: pl.Series, markers: Collection[str] = MARKERS) -> pl.Series:
    """Return which entries are markers of a missing value."""
    bare = column.alias("").str.strip_chars()
    return bare.is_in(list(markers)).fill_null(False)


def nulled(column: pl.Series, marked: pl.Series) -> pl.Series:
    """Return a column without the marked entries."""
    return column.set(marked, None)


def with_decimal(
    columns: Sequence[pl.Series],
    others: Sequence[pl.Series],
    delimiter: str,
    where: str,
    markers: Collection[str] = MARKERS,
) -> tuple[list[pl.Series], str]:
    """Return the columns as numbers if they are, and the decimal mark that they use.

    Columns that only make sense with decimal points next to columns that only make sense with
    decimal commas are refused, and so are marks that may all be thousands separators. The `others`,
    which stay text, only count if the columns show no mark; if nothing does, it is a comma in files
    with semicolons.
    """
    read = [_read_either_way(column, markers) for column in columns]
    marks = [_mark(column, numbers) for column, numbers in zip(columns, read, strict=True)]
    if decimal := _agreed(columns, marks, delimiter, where):
        return read, decimal
    shown = {_mark(column, _read_either_way(column, markers)) for column in others} - {None}
    if len(shown) == 1:
        return read, str(shown.pop())
    return read, "," if delimiter == ";" else "."


def _read_either_way(column: pl.Series, markers: Collection[str]) -> pl.Series:
    numbers = as_numbers(column, ".", markers)
    return numbers if numbers is not column else as_numbers(column, ",", markers)


def _mark(column: pl.Series, numbers: pl.Series) -> str | None:
    """Return the decimal mark in the column; None for text and integers."""
    if numbers is column:
        return None
    entries = column.alias("").filter(numbers.is_not_null())  # a marker may be a point
    return next((mark for mark in _OTHER if _holds(entries, mark)), None)


def _agreed(
    columns: Sequence[pl.Series], marks: Sequence[str | None], delimiter: str, where: str
) -> str | None:
    marked = {
        mark: [column for column, shown in zip(columns, marks, strict=True) if shown == mark]
        for mark in _OTHER
    }
    if marked["."] and marked[","]:
        raise DataError(
            f"{where} has decimal points in {marked['.'][0].name!r} and decimal commas in "
            f"{marked[','][0].name!r}. {_SAY_DECIMAL}"
        )
    for mark, found in marked.items():
        if not found:
            continue
        doubtful = mark == "," or delimiter == ";"
        if doubtful and all(_may_separate_thousands(column, mark) for column in found):
            raise DataError(
                f"the {_WORDS[mark]} in {found[0].name!r} of {where} may be decimal marks or "
                f"thousands separators. {_SAY_DECIMAL}"
            )
        return mark
    return None


def _may_separate_thousands(column: pl.Series, mark: str) -> bool:
    marked, column = is_marked(column), column.alias("")
    holding = column.filter(column.str.contains(mark, literal=True).fill_null(False) & ~marked)
    return bool(holding.str.contains(rf"^\s*[+-]?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}\s*$").all())


def _holds(column: pl.Series, mark: str) -> bool:
    return bool(column.str.contains(mark, literal=True).any())


def _is_text(entries: pl.Series, decimal: str, markers: Collection[str]) -> bool:
    """Whether some entry is not a number, so the column stays text."""
    bare = _without_blanks(entries.str.replace(decimal, ".", literal=True))
    bare = nulled(bare, is_marked(bare, markers))
    return bare.cast(pl.Float64, strict=False).null_count() > bare.null_count()


def _without_blanks(column: pl.Series) -> pl.Series:
    entries = column.str.strip_chars()
    return entries.set(entries == "", None)


def _numbers(column: pl.Series, decimal: str) -> pl.Series | None:
    if decimal == ",":
        if _holds(column, "."):
            return None
        column = column.str.replace(",", ".", literal=True)
    if (numbers := _cast(column)) is None:
        column = _without_blanks(column)
        numbers = _cast(column)
    return None if numbers is None or _holds_codes(column) else numbers


def _holds_codes(column: pl.Series) -> bool:
    # Looking for candidates first is ten times as fast as the pattern alone.
    suspect = column.str.starts_with("0")
    for beginning in ("-0", "+0", " ", "\t"):
        suspect |= column.str.starts_with(beginning)
    return bool(column.filter(suspect).str.contains(LEADING_ZERO).any())


def _cast(entries: pl.Series) -> pl.Series | None:
    if entries.null_count() == len(entries):
        return None
    if _are_whole(entries.head(_N_FIRST)):
        for dtype in (pl.Int64, pl.UInt64):
            numbers = entries.cast(dtype, strict=False)
            if numbers.null_count() == entries.null_count():
                return numbers
        if _are_whole(entries):
            return None  # beyond 64 bits, and never rounded silently
    numbers = entries.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == entries.null_count() else None


def _are_whole(entries: pl.Series) -> bool:
    return bool(entries.str.contains(r"^[+-]?[0-9]+$").all())
