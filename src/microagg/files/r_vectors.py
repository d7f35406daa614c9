"""Vectors of an R data frame -> columns, with their classes and attributes (extra `r`).

NA and NaN are missing values in every type. Factors become categories in the order of their levels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from rdata.parser import CharFlags, RObject, RObjectType

from microagg.files.annotations import Code, Variable
from microagg.files.doubles import LARGEST_WHOLE

# NA of 64-bit integers, a class of the package bit64.
_NA_64 = -(2**63)
_DAY = 86_400
# The first and the last day of the calendar, from 1970; the last with a day to spare for its zone.
_YEAR_1, _YEAR_9999 = -719_161, 2_932_895
_KINDS = {
    RObjectType.VEC: "a list",
    RObjectType.CPLX: "of the type complex",
    RObjectType.RAW: "of the type raw",
}


class NotAColumnError(ValueError):
    """What a vector is, in words, if it does not have one plain value for each record."""


def column_of(name: str, vector: RObject, encoding: str) -> pl.Series:
    """Return a vector of a data frame as a column."""
    kind, classes = vector.info.type, classes_of(vector)
    if "dim" in attributes_of(vector):
        raise NotAColumnError("a matrix")
    if kind is RObjectType.STR:
        return pl.Series(name, texts_of(vector, encoding), dtype=pl.String)
    if kind is RObjectType.LGL:
        return _masked(name, vector.value, pl.Boolean)
    if kind is RObjectType.INT and "factor" in classes:
        return _factor(name, vector, encoding)
    if kind not in (RObjectType.INT, RObjectType.REAL):
        raise NotAColumnError(_KINDS.get(kind, "of another type"))
    if "integer64" in classes:
        whole = np.asarray(vector.value, dtype=np.float64).view(np.int64)
        return pl.Series(name, whole).set(pl.Series(whole == _NA_64), None)
    is_whole = kind is RObjectType.INT
    numbers = _masked(name, vector.value, pl.Int64 if is_whole else pl.Float64)
    if "Date" in classes:
        return _within(_finite(numbers).floor(), 1).cast(pl.Int32).cast(pl.Date)
    if "POSIXct" in classes:
        return _instants(_within(_finite(numbers), _DAY), _zone(vector, encoding))
    return numbers if is_whole else _as_whole(numbers.fill_nan(None))


def variable_of(vector: RObject, format_key: str | None, encoding: str) -> Variable:
    """Return what the attributes of a vector say: labels as haven and labelled store them."""
    attributes = attributes_of(vector)
    kind, is_ordered = vector.info.type, "ordered" in classes_of(vector)
    is_factor = "factor" in classes_of(vector)
    bare = Variable(
        is_text=is_factor or kind is RObjectType.STR, measure="ordinal" if is_ordered else None
    )
    try:
        label = _first(attributes.get("label"), encoding)
        format_ = _first(attributes.get(format_key or ""), encoding)
        names = texts_of(attributes_of(attributes.get("labels")).get("names"), encoding)
        codes = _codes(attributes.get("labels"), encoding)
        single = [(code, code) for code in _codes(attributes.get("na_values"), encoding)]
        ends = _codes(attributes.get("na_range"), encoding)
    except UnicodeError:  # labels are not worth refusing the file
        return bare
    return replace(
        bare,
        label=label,
        format=format_,
        value_labels={
            code: name for code, name in zip(codes, names, strict=False) if name is not None
        },
        missing=(*single, *([(ends[0], ends[1])] if len(ends) == 2 else [])),
    )


def attributes_of(found: RObject | None) -> dict[str, RObject]:
    """Return the attributes of an object by name."""
    return {} if found is None or found.attributes is None else pairs_of(found.attributes)


def pairs_of(found: RObject) -> dict[str, RObject]:
    """Return the entries of a pairlist that have a name."""
    return dict(_entries(found))


def _entries(found: RObject) -> Iterator[tuple[str, RObject]]:
    while found.info.type is RObjectType.LIST:
        first, rest = found.value
        if found.tag is not None:
            symbol = found.tag.referenced_object or found.tag
            yield symbol.value.value.decode("utf-8", errors="replace"), first
        found = rest


def classes_of(found: RObject) -> list[str | None]:
    """Return the classes of an object."""
    return texts_of(attributes_of(found).get("class"), "latin-1")


def texts_of(vector: RObject | None, encoding: str) -> list[str | None]:
    """Return a character vector as text; none for anything else."""
    if vector is None or vector.info.type is not RObjectType.STR:
        return []
    return [_text(char, encoding) for char in vector.value]


def chars_of(texts: Sequence[RObject], absent: Sequence[bool]) -> list[RObject]:
    """Return elements of a character vector, without those that are absent."""
    return [
        replace(text, value=None) if is_absent else text
        for text, is_absent in zip(texts, absent, strict=True)
    ]


def _text(char: RObject, encoding: str) -> str | None:
    if char.value is None:
        return None
    known = {CharFlags.UTF8: "utf-8", CharFlags.LATIN1: "cp1252", CharFlags.ASCII: "ascii"}
    marked = next((own for flag, own in known.items() if char.info.gp & flag), encoding)
    text: str = char.value.decode(marked)
    return text


def _first(vector: RObject | None, encoding: str) -> str | None:
    return next(iter(texts_of(vector, encoding)), None) or None


def _codes(vector: RObject | None, encoding: str) -> list[Code]:
    """Return the values that have labels, or that mean a missing value."""
    if vector is None:
        return []
    if vector.info.type is RObjectType.STR:
        return [text or "" for text in texts_of(vector, encoding)]
    if vector.info.type not in (RObjectType.INT, RObjectType.REAL):
        return []
    return [float(number) for number in np.ma.filled(vector.value.astype(float), np.nan)]


def _masked(name: str, values: Any, dtype: Any) -> pl.Series:
    column = pl.Series(name, np.ma.getdata(values)).cast(dtype)
    mask = np.ma.getmaskarray(np.ma.asarray(values))
    return column.set(pl.Series(mask), None) if mask.any() else column


def _factor(name: str, vector: RObject, encoding: str) -> pl.Series:
    levels = texts_of(attributes_of(vector).get("levels"), encoding)
    codes = np.ma.filled(np.ma.asarray(vector.value), 0)
    if len(codes) and not (codes.min() >= 0 and codes.max() <= len(levels)):
        raise NotAColumnError("a factor without all of its levels")
    texts = pl.Series([None, *levels], dtype=pl.String)
    listed = [level for level in dict.fromkeys(levels) if level is not None]
    return texts.gather(pl.Series(codes)).cast(pl.Enum(listed)).alias(name)


def _finite(numbers: pl.Series) -> pl.Series:
    floats = numbers.cast(pl.Float64)
    return floats.set(~floats.is_finite().fill_null(True), None)


def _within(times: pl.Series, per_day: int) -> pl.Series:
    """Return days or seconds since 1970, if all of them are in the calendar."""
    if times.drop_nulls().is_between(_YEAR_1 * per_day, _YEAR_9999 * per_day).all():
        return times
    raise NotAColumnError("beyond the years 1 to 9999")


def _as_whole(numbers: pl.Series) -> pl.Series:
    """Return whole numbers if all are: R does not write 2 and 2L differently."""
    is_whole = (numbers == numbers.round()) & (numbers.abs() < LARGEST_WHOLE)
    has_any = numbers.null_count() < len(numbers)
    return numbers.cast(pl.Int64) if has_any and is_whole.all() else numbers


def _instants(seconds: pl.Series, zone: str) -> pl.Series:
    moments = (seconds * 1e6).round().cast(pl.Int64)
    return moments.cast(pl.Datetime("us")).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _zone(vector: RObject, encoding: str) -> str:
    """Return the time zone of instants; without a known one, UTC."""
    named = _first(attributes_of(vector).get("tzone"), encoding)
    try:
        return "UTC" if named is None else ZoneInfo(named).key
    except (ValueError, OSError, LookupError):
        return "UTC"
