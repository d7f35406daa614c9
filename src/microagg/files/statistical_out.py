"""SPSS and Stata files out, with what the input said about the columns (extra `files`)."""

import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import polars as pl

from microagg.core.errors import AnnotationWarning, ParameterError
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
from microagg.files.clocks import DATE_FORMAT, DATETIME_FORMAT, clock_of
from microagg.files.statistical import FAMILIES, LARGEST_WHOLE, library
from microagg.tables.numerals import as_numbers

# Beyond these, Stata takes a number for a missing value.
_STATA_LONG = (-2_147_483_647, 2_147_483_620)
_STATA_LARGEST = 8.98e307
_STATA_LONGEST_NAME = 32
_SPSS_LONGEST_TEXT = 32_767


def check_statistical(table: pl.DataFrame, suffix: str) -> None:
    """Refuse names, types and values that the format cannot hold."""
    family = FAMILIES[suffix]
    if family is Family.SAS:
        raise ParameterError(
            "SAS files cannot be written. Name an output that ends in .sav, .dta, .csv or .parquet."
        )
    package = library()
    unfit = [name for name, dtype in table.schema.items() if not _can_hold(dtype)]
    if unfit:
        raise ParameterError(
            f"{family} files hold text, numbers, dates and datetimes only, unlike {listed(unfit)}. "
            "Convert these columns, drop them as identifiers, or write to .parquet."
        )
    _check_names(table.columns, suffix, package)
    for column in table.get_columns():
        if problem := _problem(column, family):
            raise ParameterError(
                f"{family} files cannot hold {problem} as in {column.name!r}. Convert the column, "
                "or write to .parquet."
            )


def _can_hold(dtype: pl.DataType) -> bool:
    if hasattr(dtype, "ext_name"):
        return False
    text = dtype in (pl.String, pl.Categorical, pl.Enum)
    return dtype.is_numeric() or text or dtype in (pl.Boolean, pl.Date, pl.Datetime, pl.Null)


def _check_names(names: list[str], suffix: str, package: Any) -> None:
    """Let the library try the names, for it knows the rules and the reserved words."""
    family = FAMILIES[suffix]
    refused: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "names"
        if not _takes(package, names, target, suffix):
            refused = [name for name in names if not _takes(package, [name], target, suffix)]
    if refused:
        raise ParameterError(
            f"{family} files cannot have columns named {listed(refused)}. Rename them: a letter "
            "first, then letters, digits and underscores, 32 at most, and no word of the language."
        )
    if family is Family.SPSS and len({name.casefold() for name in names}) < len(names):
        raise ParameterError(
            "two columns have names that differ in capitals only, which SPSS takes for the same. "
            "Rename one of them."
        )


def _takes(package: Any, names: list[str], target: Path, suffix: str) -> bool:
    try:
        _write(package, pl.DataFrame({name: [0.0] for name in names}), target, suffix)
    except Exception:
        return False
    return True


def _write(package: Any, table: pl.DataFrame, target: Path, suffix: str, **options: Any) -> None:
    path = target.absolute()  # a tilde in a relative path would be taken for a home folder
    if suffix == ".dta":
        # For Stata 14 and later: the newest format is for more columns than most versions open.
        package.write_dta(table, path, version=14, **options)
    elif suffix == ".zsav":
        package.write_sav(table, path, compress=True, **options)
    else:
        package.write_sav(table, path, row_compress=True, **options)


def _problem(column: pl.Series, family: Family) -> str | None:
    dtype = column.dtype
    if dtype.is_integer() and (_largest(column) > LARGEST_WHOLE):
        return "whole numbers beyond 2^53"
    if dtype.is_float() or dtype.is_decimal():
        largest = _largest(column.drop_nans() if dtype.is_float() else column)
        if largest > (_STATA_LARGEST if family is Family.STATA else 1.79e308):
            return "infinite or as large numbers"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        entries = column.cast(pl.String)
        if entries.str.contains("\0", literal=True).any():
            return "text with a zero byte"
        longest = entries.str.len_bytes().max() or 0
        if family is Family.SPSS and longest > _SPSS_LONGEST_TEXT:  # type: ignore[operator]
            return f"text of more than {_SPSS_LONGEST_TEXT} bytes"
    return None


def _largest(column: pl.Series) -> Any:
    """Return the largest absolute value; 0 if there is none."""
    ends: list[Any] = [end for end in (column.min(), column.max()) if end is not None]
    return max((abs(end) for end in ends), default=0)


def write_statistical(
    table: pl.DataFrame, target: Path, suffix: str, annotations: Annotations | None = None
) -> None:
    """Write the table with what its annotations say, as far as the format can hold it.

    What it cannot hold is named in an `AnnotationWarning`.
    """
    sheet = _Sheet(FAMILIES[suffix], annotations or NOTHING)
    for column in table.get_columns():
        sheet.add(column)
    for message, names in sheet.left_out.items():
        warnings.warn(f"{message}: {listed(names)}.", AnnotationWarning, stacklevel=2)
    try:
        _write(library(), pl.DataFrame(sheet.columns), target, suffix, **sheet.options())
    except Exception:  # also how the library reports a full disk; its message may quote values
        raise OSError from None


class _Sheet:
    """What is handed to the library, gathered column by column."""

    def __init__(self, family: Family, said: Annotations) -> None:
        self.family = family
        self.said = said
        self.columns: list[pl.Series] = []
        self.left_out: dict[str, list[str]] = {}
        self._labels: dict[str, str] = {}
        self._value_labels: dict[str, dict[Code, str]] = {}
        self._formats: dict[str, str] = {}
        self._missing: dict[str, list[dict[str, Code]]] = {}
        self._measures: dict[str, str] = {}
        self._widths: dict[str, int] = {}
        self._tags: dict[str, list[str]] = {}

    def options(self) -> dict[str, Any]:
        """Return what the library takes for this family of files."""
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
        """Add a column with what is said about it."""
        name = column.name
        column, tags = self._without_tags(_plain(column))
        variable = self.said.of(name, is_text=column.dtype == pl.String)
        original = self.said.variables.get(name, variable)
        if original.is_text != variable.is_text and (original.value_labels or original.missing):
            self._leave_out("value labels and codes of another type are left out in", name)
        stored, format_ = self._stored(column, variable)
        if format_ is not None:
            self._formats[name] = format_
        self._add_labels(name, variable)
        if self.family is Family.STATA:
            stored = self._with_tags(stored, tags)
        if variable.missing:
            self._add_missing(stored, variable)
        if self.said.family is Family.SPSS:
            self._measures |= {name: variable.measure} if variable.measure else {}
            self._widths |= {name: variable.width} if variable.width else {}
        self.columns.append(stored)

    def _leave_out(self, message: str, name: str) -> None:
        self.left_out.setdefault(message, []).append(name)

    def _stored(self, column: pl.Series, variable: Variable) -> tuple[pl.Series, str | None]:
        """Return the column as it is stored, and its display format."""
        if column.dtype == pl.String:
            both = self.family is self.said.family is Family.SPSS
            return (_as_wide(column, variable.format) if both else column), None
        if column.dtype.is_temporal():
            default = DATE_FORMAT if column.dtype == pl.Date else DATETIME_FORMAT
            own = variable.format if self.said.family is self.family else None
            format_ = own if clock_of(own, self.family) else default[self.family]
            clock = clock_of(format_, self.family)
            assert clock is not None
            return clock.write(column), format_
        is_whole = column.dtype.is_integer()
        format_ = translated_format(
            variable.format, self.said.family, self.family, is_whole=is_whole
        )
        as_long = self.family is Family.STATA and is_whole
        if as_long and column.drop_nulls().is_between(*_STATA_LONG).all():
            return column.cast(pl.Int32), format_
        # Without a format, Stata shows and we read large whole numbers as others.
        return column.cast(pl.Float64), format_ or ("%16.0f" if as_long else None)

    def _add_labels(self, name: str, variable: Variable) -> None:
        if variable.label is not None:
            self._labels[name] = fitting_label(variable.label, self.family)
            if self._labels[name] != variable.label:
                self._leave_out(f"labels too long for {self.family} were cut in", name)
        labels = fitting_value_labels(variable, self.family)
        # The library names a set of labels after its column, with a number behind.
        too_long = len(f"{name}{len(self._value_labels)}") > _STATA_LONGEST_NAME
        if self.family is Family.STATA and too_long:
            labels = {}
        if labels != variable.value_labels:
            self._leave_out(f"not all value labels fit into files of {self.family} in", name)
        if labels:
            self._value_labels[name] = labels

    def _add_missing(self, stored: pl.Series, variable: Variable) -> None:
        name = stored.name
        if self.family is Family.STATA:
            self._leave_out("Stata has no user-missing codes; they are no longer declared in", name)
        elif name not in self.said.coded and _meets(stored, variable.missing):
            # Codes are nulls there; a mean that meets one must not be taken for it.
            self._leave_out("values fall on user-missing codes, no longer declared in", name)
        else:
            self._missing[name] = [
                {"lo": lowest, "hi": highest} for lowest, highest in variable.missing
            ]

    def _without_tags(self, column: pl.Series) -> tuple[pl.Series, pl.Series | None]:
        """Part text of numbers and tagged missing values, as Stata columns may come, into both."""
        original = self.said.variables.get(column.name)
        if original is None or original.is_text or column.dtype != pl.String:
            return column, None
        if not self.family is self.said.family is Family.STATA:
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


def _as_wide(column: pl.Series, format_: str | None) -> pl.Series:
    """Return text that is stored with the width of the format, as SPSS pads it with blanks."""
    if column.is_empty() or not (found := re.fullmatch(r"A(\d+)", format_ or "")):
        return column
    first = column[0] or ""
    return column.clone().scatter(0, first + " " * (int(found[1]) - len(first.encode())))


def _meets(column: pl.Series, codes: tuple[tuple[Code, Code], ...]) -> bool:
    return any(column.is_between(lowest, highest).any() for lowest, highest in codes)


def _plain(column: pl.Series) -> pl.Series:
    """Return the column in one of the types that are stored."""
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
