"""Write SPSS and Stata files with the labels, codes and formats of the input (extra `files`)."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat

from microagg.core.errors import AnnotationWarning, warn
from microagg.files.annotations import (
    NOTHING,
    Annotations,
    Code,
    Family,
    Variable,
    fitting_label,
    fitting_value_labels,
    listed,
    translated_format,
)
from microagg.files.statistical_reader import FAMILIES
from microagg.files.statistical_times import DATE_FORMAT, DATETIME_FORMAT, time_encoding
from microagg.files.writing import WriteOptions
from microagg.tables.numerals import as_numbers

# The range of a Stata long; numbers beyond it stand for missing values.
_STATA_LONG = (-2_147_483_647, 2_147_483_620)
_STATA_LONGEST_NAME = 32
# Where a header has the time of writing, and what is written there instead.
_SPSS_TIME_AT, _SPSS_TIME = 92, b"01 Jan 0000:00:00"
_STATA_TIME_TAG, _STATA_TIME = b"<timestamp>\x11", b"01 Jan 2000 00:00"
_STATA_HEADER = 1024


def write_statistical(table: pl.DataFrame, path: Path, options: WriteOptions) -> None:
    """Write the table with as much of its annotations as the format can hold.

    An `AnnotationWarning` names the columns whose annotations were left out.
    """
    output = _Output(FAMILIES[options.suffix], options.annotations or NOTHING)
    for column in table.get_columns():
        output.add(column)
    for message, names in output.left_out.items():
        warn(f"{message}: {listed(names)}.", AnnotationWarning)
    stored = pl.DataFrame(output.columns)
    try:
        write_with_pyreadstat(stored, path, options.suffix, **output.pyreadstat_options())
        _leave_out_the_time(path, output.family)
    except Exception:  # pyreadstat reports a full disk this way too; the message may quote values
        raise OSError from None


def write_with_pyreadstat(table: pl.DataFrame, path: Path, suffix: str, **options: Any) -> None:
    """Write columns in the types that pyreadstat stores, with its options."""
    path = path.absolute()  # in a relative path, a tilde would be taken for a home folder
    if suffix == ".dta":
        # For Stata 14 and later: most versions cannot open the newer format for more columns.
        pyreadstat.write_dta(table, path, version=14, **options)
    elif suffix == ".zsav":
        pyreadstat.write_sav(table, path, compress=True, **options)
    else:
        pyreadstat.write_sav(table, path, row_compress=True, **options)


def _leave_out_the_time(path: Path, family: Family) -> None:
    """Replace the time of writing in the header, so that the same release is the same bytes."""
    with path.open("r+b") as file:
        if family is Family.SPSS:
            start, fixed = _SPSS_TIME_AT, _SPSS_TIME
        else:
            start = file.read(_STATA_HEADER).find(_STATA_TIME_TAG) + len(_STATA_TIME_TAG)
            fixed = _STATA_TIME
        file.seek(start)
        if len(was := file.read(len(fixed))) == len(fixed) and b":" in was:
            file.seek(start)
            file.write(fixed)


class _Output:
    """The columns and options to hand to pyreadstat, gathered column by column."""

    def __init__(self, family: Family, annotations: Annotations) -> None:
        self.family = family
        self.annotations = annotations
        self.columns: list[pl.Series] = []
        self.left_out: dict[str, list[str]] = {}
        self._labels: dict[str, str] = {}
        self._value_labels: dict[str, dict[Code, str]] = {}
        self._formats: dict[str, str] = {}
        self._missing: dict[str, list[dict[str, Code]]] = {}
        self._measures: dict[str, str] = {}
        self._widths: dict[str, int] = {}
        self._tags: dict[str, list[str]] = {}

    def pyreadstat_options(self) -> dict[str, Any]:
        """Return the options that apply to this family of files."""
        options: dict[str, Any] = {
            "column_labels": self._labels,
            "variable_value_labels": self._value_labels,
            "variable_format": self._formats,
        }
        if self.family is Family.STATA:
            return {**options, "missing_user_values": self._tags}
        return {
            **options,
            "missing_ranges": self._missing,
            "variable_measure": self._measures,
            "variable_display_width": self._widths,
        }

    def add(self, column: pl.Series) -> None:
        """Add a column with its annotations."""
        name = column.name
        column, tags = self._split_tags(_in_stored_type(column))
        variable = self.annotations.of(name, is_text=column.dtype == pl.String)
        original = self.annotations.variables.get(name, variable)
        if original.is_text != variable.is_text and (original.value_labels or original.missing):
            self._leave_out("the type changed, so value labels and codes are left out in", name)
        stored, format_ = self._stored(column, variable)
        if format_ is not None:
            self._formats[name] = format_
        self._add_labels(name, variable)
        if self.family is Family.STATA:
            stored = self._with_tags(stored, tags)
        if variable.missing:
            self._add_missing(stored, variable)
        if self.annotations.family is Family.SPSS:
            self._measures |= {name: variable.measure} if variable.measure else {}
            self._widths |= {name: variable.width} if variable.width else {}
        self.columns.append(stored)

    def _leave_out(self, message: str, name: str) -> None:
        self.left_out.setdefault(message, []).append(name)

    def _stored(self, column: pl.Series, variable: Variable) -> tuple[pl.Series, str | None]:
        """Return the column as it is stored, and its display format."""
        source = self.annotations.family
        if column.dtype == pl.String:
            is_spss = self.family is source is Family.SPSS
            return (_with_width(column, variable.format) if is_spss else column), None
        if column.dtype.is_temporal():
            default = DATE_FORMAT if column.dtype == pl.Date else DATETIME_FORMAT
            own = variable.format if source is self.family else None
            format_ = own if time_encoding(own, self.family) else default[self.family]
            encoding = time_encoding(format_, self.family)
            assert encoding is not None
            return encoding.encode(column), format_
        is_whole = column.dtype.is_integer()
        format_ = translated_format(variable.format, source, self.family, is_whole=is_whole)
        is_stata_whole = self.family is Family.STATA and is_whole
        if is_stata_whole and column.drop_nulls().is_between(*_STATA_LONG).all():
            return column.cast(pl.Int32), format_
        # Without a format, large whole numbers in Stata would be shown and read back as floats.
        return column.cast(pl.Float64), format_ or ("%16.0f" if is_stata_whole else None)

    def _add_labels(self, name: str, variable: Variable) -> None:
        if variable.label is not None:
            self._labels[name] = fitting_label(variable.label, self.family)
            if self._labels[name] != variable.label:
                self._leave_out(f"labels too long for {self.family} were cut in", name)
        labels = fitting_value_labels(variable, self.family)
        # pyreadstat names each set of labels after its column, with a number appended.
        too_long = len(f"{name}{len(self._value_labels)}") > _STATA_LONGEST_NAME
        if self.family is Family.STATA and too_long:
            labels = {}
        if labels != variable.value_labels:
            self._leave_out(f"{self.family} files cannot hold all value labels in", name)
        if labels:
            self._value_labels[name] = labels

    def _add_missing(self, stored: pl.Series, variable: Variable) -> None:
        name = stored.name
        if self.family is Family.STATA:
            self._leave_out("Stata has no user-missing codes; they are no longer declared in", name)
        elif name not in self.annotations.coded and _any_between(stored, variable.missing):
            # The codes became nulls; a mean that equals one must not be taken for it.
            self._leave_out("values equal user-missing codes, no longer declared in", name)
        else:
            self._missing[name] = [
                {"lo": lowest, "hi": highest} for lowest, highest in variable.missing
            ]

    def _split_tags(self, column: pl.Series) -> tuple[pl.Series, pl.Series | None]:
        """Split Stata text with tagged missing values (.a to .z) into numbers and tags."""
        original = self.annotations.variables.get(column.name)
        if original is None or original.is_text or column.dtype != pl.String:
            return column, None
        if not self.family is self.annotations.family is Family.STATA:
            return column, None
        tags = column.str.extract(r"^\.([a-z])$", 1)
        entries = column.set(tags.is_not_null(), None)
        if entries.null_count() == len(entries):
            return entries.cast(pl.Float64), tags
        numbers = as_numbers(entries)
        return (column, None) if numbers is entries else (numbers, tags)

    def _with_tags(self, stored: pl.Series, tags: pl.Series | None) -> pl.Series:
        name = stored.name
        labels = self._value_labels.get(name, {})
        letters = {value for value in labels if isinstance(value, str)}
        letters |= set() if tags is None else set(tags.drop_nulls())
        if not letters:
            return stored
        self._tags[name] = sorted(letters)
        values = stored.to_list()
        if tags is not None:
            values = [
                value if tag is None else tag for value, tag in zip(values, tags, strict=True)
            ]
        return pl.Series(name, values, dtype=pl.Object)


def _with_width(column: pl.Series, format_: str | None) -> pl.Series:
    """Return text that is stored with the width of its format, which SPSS pads with blanks."""
    if column.is_empty() or not (found := re.fullmatch(r"A(\d+)", format_ or "")):
        return column
    first = column[0] or ""
    return column.clone().scatter(0, first + " " * (int(found[1]) - len(first.encode())))


def _any_between(column: pl.Series, codes: tuple[tuple[Code, Code], ...]) -> bool:
    return any(column.is_between(lowest, highest).any() for lowest, highest in codes)


def _in_stored_type(column: pl.Series) -> pl.Series:
    """Convert the column to one of the types that these files store."""
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype == pl.Boolean or column.dtype.is_integer():
        return column.cast(pl.Int64)
    if column.dtype == pl.Null:
        return column.cast(pl.Float64)
    if column.dtype.is_float():
        return column.fill_nan(None)
    if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None:
        return column.dt.replace_time_zone(None)
    return column
