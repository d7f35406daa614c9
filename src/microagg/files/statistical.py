"""SPSS, Stata and SAS files in, with what they say about their columns (extra `files`).

Values come as codes, not as their labels. User-missing codes are nulls, but for the columns that
are published as they are; an empty text is a null; numbers that are whole by their values and their
format are integers.
"""

import importlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import polars as pl

from microagg.core.errors import DataError, ParameterError
from microagg.files.annotations import Annotations, Code, Family, Variable, shows_whole_numbers
from microagg.files.clocks import clock_of

FAMILIES = {
    ".sav": Family.SPSS,
    ".zsav": Family.SPSS,
    ".dta": Family.STATA,
    ".sas7bdat": Family.SAS,
    ".xpt": Family.SAS,
}
_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
# The largest whole number up to which floats hold all.
LARGEST_WHOLE = 2**53


def library() -> Any:
    """Return the package that reads and writes these files, or say how to get it."""
    try:
        return importlib.import_module("pyreadstat")
    except ImportError:
        raise ParameterError(
            "SPSS, Stata and SAS files need the package pyreadstat. Install it with "
            "pip install 'microagg[files]'."
        ) from None


class StatisticalFile:
    """An SPSS, Stata or SAS file, recognised; `table` reads the records."""

    def __init__(self, path: Path, where: str, suffix: str, *, encoding: str | None = None) -> None:
        self._path = path
        self._where = where
        self._suffix = suffix
        self._encoding = encoding
        self._family = FAMILIES[suffix]
        _, said = self._read(metadataonly=True)
        self.columns: tuple[str, ...] = tuple(said.column_names)
        self._kinds: dict[str, str] = said.readstat_variable_types
        self.annotations = Annotations(
            self._family, {name: self._variable(name, said) for name in self.columns}
        )

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Read the records of the `columns`, in the order of the file.

        In the columns of `as_text` user-missing codes stay values, as the annotations say then. A
        column with tagged missing values (.a to .z) comes as text there.
        """
        names = [name for name in self.columns if columns is None or name in columns]
        values, said = self._read(usecols=names)
        table = pl.DataFrame(
            [
                self._column(
                    name,
                    values.pop(name),
                    as_is=name in as_text,
                    is_tagged=name in said.missing_user_values,
                )
                for name in names
            ]
        )
        if table.is_empty():
            raise DataError(f"{self._where} has columns but no records.")
        self.annotations = Annotations(self._family, self.annotations.variables, frozenset(as_text))
        return table

    def _read(self, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        read = getattr(library(), _READERS[self._suffix])
        if self._suffix != ".xpt":
            options["user_missing"] = True
        try:
            # Absolute: a tilde in a relative path would be taken for a home folder.
            return read(  # type: ignore[no-any-return]
                self._path.absolute(),
                output_format="dict",
                disable_datetime_conversion=True,
                encoding=self._encoding,
                **options,
            )
        except Exception:  # a library's message may quote values
            raise DataError(
                f"{self._where} should be a file of {self._family} ({self._suffix}); its content "
                "is something else or damaged."
            ) from None

    def _variable(self, name: str, said: Any) -> Variable:
        measure = said.variable_measure.get(name)
        return Variable(
            is_text=self._kinds[name] == "string",
            label=said.column_names_to_labels.get(name) or None,
            value_labels=dict(said.variable_value_labels.get(name, {})),
            missing=tuple((part["lo"], part["hi"]) for part in said.missing_ranges.get(name, ())),
            measure=measure if measure in ("nominal", "ordinal", "scale") else None,
            width=said.variable_display_width.get(name) or None,
            format=said.original_variable_types.get(name) or None,
        )

    def _column(self, name: str, values: list[Any], *, as_is: bool, is_tagged: bool) -> pl.Series:
        variable = self.annotations.variables[name]
        if variable.is_text:
            entries = pl.Series(name, values, dtype=pl.String)
            entries = entries.set(entries == "", None)
            return entries if as_is else _without_codes(entries, variable.missing)
        if is_tagged:
            if as_is:
                return pl.Series(name, [_as_text(value) for value in values], dtype=pl.String)
            values = [None if isinstance(value, str) else value for value in values]
        dtype = pl.Int64 if self._kinds[name].startswith("int") else pl.Float64
        numbers = pl.Series(name, values, dtype=dtype)
        if not as_is:
            numbers = _without_codes(numbers, variable.missing)
        if clock := clock_of(variable.format, self._family):
            return clock.read(numbers)
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
    """Return a number as text, and a letter as the missing value that it stands for in Stata."""
    if value is None:
        return None
    return f".{value}" if isinstance(value, str) else str(value)
