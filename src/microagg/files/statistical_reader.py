"""Read SPSS, Stata and SAS files with their labels, codes and formats (extra `files`).

Values are read as codes, not as labels. User-missing codes become nulls, except in columns that are
published unchanged. Empty text becomes null. Numbers become integers if all of them are whole and
their display format shows no decimals.
"""

from collections.abc import Collection
from typing import Any

import polars as pl

from microagg.core.errors import DataError
from microagg.files.annotations import Annotations, Code, Family, Variable, shows_whole_numbers
from microagg.files.dialect import Dialect
from microagg.files.doubles import LARGEST_WHOLE
from microagg.files.own_process import Answer, UnreadableError, read_apart
from microagg.files.reading import InputFile, check_names, select_columns
from microagg.files.statistical_times import time_encoding

FAMILIES = {
    ".sav": Family.SPSS,
    ".zsav": Family.SPSS,
    ".dta": Family.STATA,
    ".sas7bdat": Family.SAS,
    ".xpt": Family.SAS,
}
# The others are never compressed.
_COMPRESSED = (".sav", ".zsav", ".sas7bdat")
# Some systems count records with no larger numbers.
_MOST_RECORDS = 2**31 - 1


class StatisticalReader:
    """An SPSS, Stata or SAS file; `table` reads the records."""

    dialect = None

    def __init__(self, source: InputFile, dialect: Dialect | None = None) -> None:
        self._source = source
        self._encoding = dialect.encoding if dialect else None
        self._family = FAMILIES[source.suffix]
        facts, _ = self._ask("read_facts")
        self.columns: tuple[str, ...] = tuple(name or "" for name in facts["columns"])
        self._types: dict[str, str] = facts["types"]
        check_names(self.columns, source.where)
        if not all(name in self._types for name in self.columns):
            raise self._damaged()
        self._bytes_of_record = max(facts["n_bytes"], 1)
        if source.suffix in _COMPRESSED:
            source.check_expansion((facts["n_records"] or 0) * self._bytes_of_record)
        self.annotations = Annotations(
            self._family, {name: self._variable(name, facts) for name in self.columns}
        )

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file, from a pass over it that must find it as it was when opened."""
        return self._source.sha256

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Read the records of the selected columns (default: all), in file order.

        Columns in `as_text` keep their user-missing codes as values, and `annotations` then say so.
        If such a column has tagged missing values (.a to .z), it is read as text.
        """
        names = select_columns(self.columns, columns, self._source.where)
        most = self._source.most_bytes // self._bytes_of_record
        is_limited = self._source.suffix in _COMPRESSED and most < _MOST_RECORDS
        _, values = self._ask(
            "read_columns",
            names=names,
            as_text=list(as_text),
            most_records=most + 1 if is_limited else 0,
        )
        self._source.check_unchanged()
        if is_limited:  # whatever number of records the file names
            self._source.check_expansion(len(values) * self._bytes_of_record)
        table = pl.DataFrame(
            [
                self._column(name, own, keep_codes=name in as_text)
                for name, own in zip(names, values.get_columns(), strict=True)
            ]
        )
        if table.is_empty():
            raise DataError(f"{self._source.where} has columns but no records.")
        self.annotations = Annotations(self._family, self.annotations.variables, frozenset(as_text))
        return table

    def _ask(self, function: str, **request: Any) -> Answer:
        """Return what a function of `statistical_file` returns in a process of its own."""
        # An absolute path: in a relative one, a tilde would be taken for a home folder.
        path = str(self._source.path.absolute())
        request |= {"path": path, "suffix": self._source.suffix, "encoding": self._encoding}
        try:
            return read_apart(f"statistical_file:{function}", request)
        except UnreadableError:
            raise self._damaged() from None

    def _damaged(self) -> DataError:
        article = "a" if self._family is Family.STATA else "an"
        return DataError(
            f"{self._source.where} should be {article} {self._family} file; it holds something "
            "else or is damaged."
        )

    def _variable(self, name: str, facts: dict[str, Any]) -> Variable:
        measure = facts["measures"].get(name)
        return Variable(
            is_text=self._types[name] == "string",
            label=facts["labels"].get(name) or None,
            value_labels=dict(facts["value_labels"].get(name, ())),
            missing=tuple(map(tuple, facts["missing"].get(name, ()))),
            measure=measure if measure in ("nominal", "ordinal", "scale") else None,
            width=facts["widths"].get(name) or None,
            format=facts["formats"].get(name) or None,
        )

    def _column(self, name: str, values: pl.Series, *, keep_codes: bool) -> pl.Series:
        variable = self.annotations.variables[name]
        column = values.alias(name)
        if variable.is_text:
            entries = column.set(column == "", None)
            return entries if keep_codes else _without_codes(entries, variable.missing)
        if column.dtype == pl.String:  # it has tagged missing values
            return column
        numbers = column if keep_codes else _without_codes(column, variable.missing)
        if encoding := time_encoding(variable.format, self._family):
            return encoding.decode(numbers)
        if shows_whole_numbers(variable.format, self._family) and _are_whole(numbers):
            return numbers.cast(pl.Int64)
        return numbers


def _without_codes(column: pl.Series, codes: tuple[tuple[Code, Code], ...]) -> pl.Series:
    for lowest, highest in codes:
        column = column.set(column.is_between(lowest, highest), None)
    return column


def _are_whole(numbers: pl.Series) -> bool:
    return bool(((numbers.floor() == numbers) & (numbers.abs() <= LARGEST_WHOLE)).all())
