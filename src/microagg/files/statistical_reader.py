"""Read SPSS, Stata and SAS files with their labels, codes and formats (extra `files`).

Values are read as codes, not as labels. User-missing codes become nulls, except in columns that are
published unchanged. Empty text becomes null. Numbers become integers if all of them are whole and
their display format shows no decimals.
"""

from collections.abc import Collection
from typing import Any

import polars as pl
import pyreadstat

from microagg.core.errors import DataError
from microagg.files.annotations import Annotations, Code, Family, Variable, shows_whole_numbers
from microagg.files.dialect import Dialect
from microagg.files.reading import InputFile, select_columns
from microagg.files.statistical_times import time_encoding

FAMILIES = {
    ".sav": Family.SPSS,
    ".zsav": Family.SPSS,
    ".dta": Family.STATA,
    ".sas7bdat": Family.SAS,
    ".xpt": Family.SAS,
}
_FUNCTIONS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
# Floats hold every whole number up to this one.
LARGEST_WHOLE = 2**53


class StatisticalReader:
    """An SPSS, Stata or SAS file; `table` reads the records."""

    dialect = None

    def __init__(self, source: InputFile, dialect: Dialect | None = None) -> None:
        self._source = source
        self._encoding = dialect.encoding if dialect else None
        self._family = FAMILIES[source.suffix]
        _, metadata = self._read(metadataonly=True)
        self.columns: tuple[str, ...] = tuple(metadata.column_names)
        self._types: dict[str, str] = metadata.readstat_variable_types
        self.annotations = Annotations(
            self._family, {name: self._variable(name, metadata) for name in self.columns}
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
        values, metadata = self._read(usecols=names)
        self._source.check_unchanged()
        table = pl.DataFrame(
            [
                self._column(
                    name,
                    values.pop(name),
                    keep_codes=name in as_text,
                    is_tagged=name in metadata.missing_user_values,
                )
                for name in names
            ]
        )
        if table.is_empty():
            raise DataError(f"{self._source.where} has columns but no records.")
        self.annotations = Annotations(self._family, self.annotations.variables, frozenset(as_text))
        return table

    def _read(self, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        suffix = self._source.suffix
        read = getattr(pyreadstat, _FUNCTIONS[suffix])
        if suffix != ".xpt":
            options["user_missing"] = True
        try:
            # An absolute path: in a relative one, a tilde would be taken for a home folder.
            return read(  # type: ignore[no-any-return]
                self._source.path.absolute(),
                output_format="dict",
                disable_datetime_conversion=True,
                encoding=self._encoding,
                **options,
            )
        except Exception:  # the message may quote values
            article = "a" if self._family is Family.STATA else "an"
            raise DataError(
                f"{self._source.where} should be {article} {self._family} file; it holds something "
                "else or is damaged."
            ) from None

    def _variable(self, name: str, metadata: Any) -> Variable:
        measure = metadata.variable_measure.get(name)
        ranges = metadata.missing_ranges.get(name, ())
        return Variable(
            is_text=self._types[name] == "string",
            label=metadata.column_names_to_labels.get(name) or None,
            value_labels=dict(metadata.variable_value_labels.get(name, {})),
            missing=tuple((codes["lo"], codes["hi"]) for codes in ranges),
            measure=measure if measure in ("nominal", "ordinal", "scale") else None,
            width=metadata.variable_display_width.get(name) or None,
            format=metadata.original_variable_types.get(name) or None,
        )

    def _column(
        self, name: str, values: list[Any], *, keep_codes: bool, is_tagged: bool
    ) -> pl.Series:
        variable = self.annotations.variables[name]
        if variable.is_text:
            entries = pl.Series(name, values, dtype=pl.String)
            entries = entries.set(entries == "", None)
            return entries if keep_codes else _without_codes(entries, variable.missing)
        if is_tagged:
            if keep_codes:
                return pl.Series(name, [_as_text(value) for value in values], dtype=pl.String)
            values = [None if isinstance(value, str) else value for value in values]
        dtype = pl.Int64 if self._types[name].startswith("int") else pl.Float64
        numbers = pl.Series(name, values, dtype=dtype)
        if not keep_codes:
            numbers = _without_codes(numbers, variable.missing)
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


def _as_text(value: float | str | None) -> str | None:
    """Return a number as text, and a letter as the tagged missing value that it stands for."""
    if value is None:
        return None
    return f".{value}" if isinstance(value, str) else str(value)
