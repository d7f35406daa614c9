"""What SPSS and Stata files cannot hold: names, types and values (extra `files`)."""

import tempfile
from pathlib import Path

import polars as pl

from microagg.core.errors import ParameterError
from microagg.files.annotations import Family, listed
from microagg.files.doubles import LARGEST_WHOLE, largest_size
from microagg.files.statistical_reader import FAMILIES
from microagg.files.statistical_writer import write_with_pyreadstat
from microagg.files.years import BEYOND, is_beyond

# Stata takes larger numbers for missing values.
_STATA_LARGEST = 8.98e307
_SPSS_LARGEST = 1.79e308
_SPSS_LONGEST_TEXT = 32_767


def check_statistical(table: pl.DataFrame, suffix: str) -> None:
    """Refuse names, types and values that the format cannot hold."""
    family = FAMILIES[suffix]
    unfit = [name for name, dtype in table.schema.items() if not _can_hold(dtype)]
    if unfit:
        raise ParameterError(
            f"{family} files hold only text, numbers, dates and datetimes, unlike {listed(unfit)}. "
            "Convert these columns, drop them as identifiers, or write to .parquet."
        )
    _check_names(table.columns, suffix)
    for column in table.get_columns():
        if problem := _problem(column, family):
            raise ParameterError(
                f"{family} files cannot hold {problem} as in {column.name!r}. Convert the column, "
                "or write to .parquet."
            )


def _can_hold(dtype: pl.DataType) -> bool:
    if hasattr(dtype, "ext_name"):
        return False
    is_text = dtype in (pl.String, pl.Categorical, pl.Enum)
    return dtype.is_numeric() or is_text or dtype in (pl.Boolean, pl.Date, pl.Datetime, pl.Null)


def _check_names(names: list[str], suffix: str) -> None:
    """Try the names on pyreadstat, which knows the rules and the reserved words."""
    family = FAMILIES[suffix]
    refused: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "names"
        if not _are_valid(names, target, suffix):
            refused = [name for name in names if not _are_valid([name], target, suffix)]
    if refused:
        raise ParameterError(
            f"{family} files cannot have columns named {listed(refused)}. Rename them: a letter, "
            "then letters, digits and underscores, 32 characters at most, and not a reserved word."
        )
    if family is Family.SPSS and len({name.casefold() for name in names}) < len(names):
        raise ParameterError(
            "two columns have names that differ only in case, which SPSS does not tell apart. "
            "Rename one of them."
        )


def _are_valid(names: list[str], target: Path, suffix: str) -> bool:
    if any("\0" in name for name in names):  # pyreadstat would write what comes before it
        return False
    try:
        write_with_pyreadstat(pl.DataFrame({name: [0.0] for name in names}), target, suffix)
    except Exception:
        return False
    return True


def _problem(column: pl.Series, family: Family) -> str | None:
    dtype = column.dtype
    if dtype.is_integer() and (largest_size(column) > LARGEST_WHOLE):
        return "whole numbers beyond 2^53"
    if dtype.is_float() or dtype.is_decimal():
        largest = largest_size(column.drop_nans() if dtype.is_float() else column)
        if largest > (_STATA_LARGEST if family is Family.STATA else _SPSS_LARGEST):
            return "infinite or nearly infinite numbers"
    if is_beyond(column):
        return BEYOND
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        entries = column.cast(pl.String)
        if entries.str.contains("\0", literal=True).any():
            return "text with a zero byte"
        longest = entries.str.len_bytes().max() or 0
        if family is Family.SPSS and longest > _SPSS_LONGEST_TEXT:  # type: ignore[operator]
            return f"text of more than {_SPSS_LONGEST_TEXT} bytes"
    return None
