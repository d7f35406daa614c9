"""Whether the first line of a file names its columns or is a record, which no message may quote."""

from collections.abc import Sequence
from typing import NoReturn

import polars as pl

from microagg.core.errors import DataError
from microagg.tables.date_texts import is_laid_out_as_date
from microagg.tables.numerals import first_entry
from microagg.tables.roles import is_numeral

# Records that are looked at before anybody names columns.
N_SAMPLED = 100


def check_no_record(columns: Sequence[pl.Series], where: str) -> None:
    """Refuse a header that must be the first record: a date on top of dates, or text that recurs.

    Names may be numbers, such as years; only next to text that recurs, they are values as well.
    """
    of_numbers = [c for c in columns if c.dtype.is_numeric() and is_numeral(c.name)]
    texts = [column for column in columns if column.dtype == pl.String]
    dated = [column for column in texts if is_laid_out_as_date(column.name)]
    is_record = any(is_laid_out_as_date(first_entry(column) or "") for column in dated)
    if is_record or (of_numbers and any(map(_recurs, texts))):
        _refuse(where)


def check_first_records(names: Sequence[str], records: Sequence[Sequence[str]], where: str) -> None:
    """Refuse a header that must be a record, by the first records as they are written.

    A column may have the name of one of its values, but hardly each in which several values repeat.
    A name on top of numbers is a name.
    """
    whole = [record for record in records if len(record) == len(names)]
    entries = [[entry for entry in own if entry] for own in zip(*whole, strict=True)]
    columns = [_column(name, own) for name, own in zip(names, entries, strict=False)]
    check_no_record(columns, where)
    repeating = [
        name in own
        for name, own in zip(names, entries, strict=False)
        if 1 < len(set(own)) < len(own) and not is_numeral(name)
    ]
    has_names = any(
        own and not is_numeral(name) and all(map(is_numeral, own))
        for name, own in zip(names, entries, strict=False)
    )
    if len(repeating) > 1 and all(repeating) and not has_names:
        _refuse(where)


def _column(name: str, entries: Sequence[str]) -> pl.Series:
    """Return a column of text, or of numbers under a number."""
    if is_numeral(name) and all(map(is_numeral, entries)):
        return pl.Series(name, [0.0])
    return pl.Series(name, entries, pl.String)


def _recurs(column: pl.Series) -> bool:
    return bool((column == column.name).any())


def _refuse(where: str) -> NoReturn:
    raise DataError(
        f"the first line of {where} should name the columns; it looks like a record. Add a "
        "header line first, or rename columns whose names are also values in them."
    )
