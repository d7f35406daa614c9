"""Cells of text files that a spreadsheet would run as formulas: escaped, and read back.

A cell is escaped by an apostrophe before it. So is one that has apostrophes before a formula
already, so that different cells stay different and reading back takes off exactly what was added.
Numbers such as -5 are not formulas. A spreadsheet that takes another delimiter for that of the file
splits cells where it finds it: what would begin a cell then is escaped as well.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from microagg.files.reading import Reader

if TYPE_CHECKING:
    from microagg.files.annotations import Annotations
    from microagg.files.dialect import Dialect

_APOSTROPHE = "'"
# The signs that formulas begin with, also in full width. Spreadsheets pass over blanks and
# characters that nobody sees, and a tab or a line end may put what follows into a cell of its own.
_BLANK, _SIGN = r"\s\p{C}", r"[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
_FORMULA = rf"^(?:[\t\r\n]|[{_BLANK}]*{_SIGN})"
_NUMBER = r"^\s*[+-]?(?:[0-9.,]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?|nan))\s*$"
# What spreadsheets may take for the end of a cell, and a formula after it. A comma before a digit
# is none: no formula begins there, but a decimal comma may be part of one, as in -1,5+A1.
_END = re.compile(r"([;|\t\r\n]|,(?!\d))")
# A quotation mark that begins a cell there is not part of it: what follows is.
_LATER_FORMULA = rf'^["{_BLANK}]*{_SIGN}'
_FORMULA_WITHIN = rf"""[,;|\t\r\n]'*["{_BLANK}]*{_SIGN}"""


def escaped(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with an apostrophe before formulas in its text and its column names.

    >>> escaped(pl.DataFrame({"a": ["=1+1", "-5", "'=1+1"]})).get_column("a").to_list()
    ["'=1+1", '-5', "''=1+1"]
    >>> escaped(pl.DataFrame({"a": ["x;=1+1", "x;-5"]})).get_column("a").to_list()
    ["x;'=1+1", 'x;-5']
    """
    columns = [_escaped(column) if _is_text(column) else column for column in table.get_columns()]
    names = _escaped(pl.Series(table.columns, dtype=pl.String))
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


def _is_text(column: pl.Series) -> bool:
    return column.dtype in (pl.String, pl.Categorical, pl.Enum)


def _escaped(column: pl.Series) -> pl.Series:
    return _marked(_within(column.cast(pl.String).alias(""), _marked))


def _unescaped(column: pl.Series) -> pl.Series:
    return _within(_unmarked(column), _unmarked)


def _marked(text: pl.Series, formula: str = _FORMULA) -> pl.Series:
    marked = _APOSTROPHE + text
    return pl.select(pl.when(_is_formula(text, formula)).then(marked).otherwise(text)).to_series()


def _unmarked(text: pl.Series, formula: str = _FORMULA) -> pl.Series:
    is_marked = _is_formula(text, formula) & text.str.starts_with(_APOSTROPHE)
    bare = text.str.slice(1)
    return pl.select(pl.when(is_marked).then(bare).otherwise(text)).to_series()


def _within(text: pl.Series, change: Callable[[pl.Series, str], pl.Series]) -> pl.Series:
    """Change what follows a possible end of a cell, in those texts that have a formula there."""
    concerned = text.str.contains(_FORMULA_WITHIN).fill_null(value=False).arg_true()
    if concerned.is_empty():
        return text
    parts = [_END.split(each) for each in text.gather(concerned)]  # every other one is an end
    later = pl.Series([part for own in parts for part in own[2::2]], dtype=pl.String)
    changed = iter(change(later, _LATER_FORMULA))
    for own in parts:
        own[2::2] = [next(changed) for _ in own[2::2]]
    return text.scatter(concerned, pl.Series(["".join(own) for own in parts], dtype=pl.String))


def _is_formula(text: pl.Series, formula: str) -> pl.Series:
    """Whether each text is a formula, or one after apostrophes."""
    bare = text.str.strip_chars_start(_APOSTROPHE)
    return bare.str.contains(formula) & ~bare.str.contains(_NUMBER)


@dataclass(frozen=True, eq=False)
class Unescaped:
    """A text file whose formulas were escaped, read as it was before."""

    file: Reader

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in file order."""
        return tuple(self._written)

    @property
    def dialect(self) -> "Dialect | None":
        """Delimiter, decimal mark and encoding."""
        return self.file.dialect

    @property
    def annotations(self) -> "Annotations | None":
        """None, as of any text file."""
        return self.file.annotations

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file as it is on disk."""
        return self.file.sha256

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Read the records of the selected columns (default: all), in file order."""
        table = self.file.table(
            as_text=self._names(as_text), columns=None if columns is None else self._names(columns)
        )
        before = {written: name for name, written in self._written.items()}
        each = {
            before[column.name]: _unescaped(column.alias("")) if _is_text(column) else column
            for column in table.get_columns()
        }
        return pl.DataFrame(each)

    @property
    def _written(self) -> dict[str, str]:
        """The columns as they are named in the file, by the names they had before."""
        names = pl.Series(self.file.columns, dtype=pl.String)
        return dict(zip(_unescaped(names).to_list(), self.file.columns, strict=True))

    def _names(self, columns: Iterable[str]) -> list[str]:
        written = self._written
        return [written.get(name, name) for name in columns]
