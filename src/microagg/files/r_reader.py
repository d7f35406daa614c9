"""Read a data frame from an R file: .rds holds one object, .rdata any number (extra `r`).

The package rdata takes the file apart; what the parts mean is decided here and in `r_vectors`.
Nothing in the file is ever run.
"""

import codecs
import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import polars as pl
import rdata.parser as parser
from rdata.parser import RObject, RObjectType

from microagg.core.errors import DataError, ParameterError
from microagg.files.annotations import Annotations, Family, Variable, listed
from microagg.files.dialect import Dialect
from microagg.files.r_unpacking import constructors, not_r, unpacked_file
from microagg.files.r_vectors import (
    NotAColumnError,
    attributes_of,
    classes_of,
    column_of,
    pairs_of,
    texts_of,
    variable_of,
)
from microagg.files.reading import InputFile, check_names, select_columns

# haven notes how a column was shown in the program it came from.
_FAMILIES = {
    "format.spss": Family.SPSS,
    "format.stata": Family.STATA,
    "format.sas": Family.SAS,
}


class RReader:
    """A data frame in an R file, read from disk once; `table` makes the columns."""

    dialect = None

    def __init__(self, source: InputFile, dialect: Dialect | None = None) -> None:
        given = dialect or Dialect()
        self._source = source
        data = source.read_all()
        if not data:
            raise DataError(f"{source.where} is empty.")
        parsed = _parsed(data, source)
        self._encoding = given.encoding or _known_encoding(parsed.extra.encoding)
        self.sheet, frame = self._chosen(parsed.object, given.sheet)
        attributes = attributes_of(frame)
        names = self._decoded(attributes.get("names"))
        check_names(names, source.where)
        self._vectors = dict(zip(names, frame.value, strict=True))
        self._check_even(attributes.get("row.names"))
        self.annotations = _annotations(self._vectors, self._encoding)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in file order."""
        return tuple(self._vectors)

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file as it was on disk."""
        return self._source.sha256

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Make the selected columns (default: all), in file order.

        Columns in `as_text` keep their user-missing codes as values, and `annotations` then say so.
        """
        names = select_columns(self.columns, columns, self._source.where)
        table = pl.DataFrame([self._column(name, keep_codes=name in as_text) for name in names])
        known = self.annotations
        self.annotations = Annotations(known.family, known.variables, frozenset(as_text))
        return table

    def _column(self, name: str, *, keep_codes: bool) -> pl.Series:
        try:
            column = column_of(name, self._vectors[name], self._encoding)
        except NotAColumnError as error:
            raise DataError(
                f"column {name!r} of {self._source.where} is {error}, and only numbers, text, "
                "factors, dates and times can be read. Convert it in R, or remove it."
            ) from None
        except UnicodeError:  # the message quotes bytes
            raise _not_decoded(self._source.where, self._encoding) from None
        if not keep_codes:
            for lowest, highest in self.annotations.variables[name].missing:
                column = column.set(column.is_between(lowest, highest), None)
        return column

    def _decoded(self, vector: RObject | None) -> list[str]:
        try:
            return [text or "" for text in texts_of(vector, self._encoding)]
        except UnicodeError:
            raise _not_decoded(self._source.where, self._encoding) from None

    def _chosen(self, found: RObject, wanted: str | None) -> tuple[str | None, RObject]:
        """Return the data frame that is wanted, or the only one, and its name."""
        where = self._source.where
        if _is_frame(found):
            if wanted is not None:
                raise ParameterError(
                    f"{where} holds one data frame without a name; got the sheet {wanted!r}. Leave "
                    "it out."
                )
            return None, found
        frames = {name: each for name, each in self._objects(found).items() if _is_frame(each)}
        if not frames:
            raise DataError(f"{where} holds no data frame. Save one with saveRDS() in R.")
        if wanted is not None:
            if wanted not in frames:
                raise ParameterError(
                    f"{where} has no data frame {wanted!r}, only {listed(frames)}."
                )
            return wanted, frames[wanted]
        if len(frames) > 1:
            raise DataError(
                f"{where} has the data frames {listed(frames)}. Name one (--sheet, or sheet= in "
                "Python)."
            )
        return next(iter(frames.items()))

    def _objects(self, found: RObject) -> dict[str, RObject]:
        """Return the objects of a workspace, or of a list with names."""
        if found.info.type is RObjectType.LIST:
            return pairs_of(found)
        if found.info.type is RObjectType.VEC and (names := attributes_of(found).get("names")):
            return dict(zip(self._decoded(names), found.value, strict=True))
        return {}

    def _check_even(self, row_names: RObject | None) -> None:
        """Refuse a data frame without columns or records, or with columns of several lengths."""
        where = self._source.where
        if not self._vectors:
            raise DataError(f"{where} holds a data frame without columns.")
        lengths = {_length(vector) for vector in self._vectors.values()}
        if row_names is not None and row_names.value is not None:
            lengths.add(_n_rows(row_names.value))
        if len(lengths) > 1:
            raise DataError(f"{where} is damaged: its columns differ in length.")
        if lengths == {0}:
            raise DataError(f"{where} has columns but no records.")


def _parsed(data: bytes, source: InputFile) -> parser.RData:
    content = unpacked_file(data, source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on suffixes, and on objects other than data frames
            return parser.parse_data(content, altrep_constructor_dict=constructors(source))
    except (DataError, MemoryError):
        raise
    except Exception:  # the message may quote values; includes RecursionError
        raise not_r(source.where) from None


def _known_encoding(name: str | None) -> str:
    """Return the encoding that the file names, if Python knows it, or else UTF-8."""
    try:
        return codecs.lookup(name or "utf-8").name
    except LookupError:
        return "utf-8"


def _not_decoded(where: str, encoding: str) -> DataError:
    return DataError(
        f"the text in {where} is not in the encoding {encoding}. Name its encoding (--encoding, or "
        "encoding= in Python)."
    )


def _is_frame(found: RObject) -> bool:
    return found.info.type is RObjectType.VEC and "data.frame" in classes_of(found)


def _length(vector: RObject) -> int:
    """Return the number of records in a column; a matrix or data frame has several values each."""
    attributes = attributes_of(vector)
    if "dim" in attributes:
        return int(attributes["dim"].value[0])
    if _is_frame(vector):
        rows = attributes.get("row.names")
        return 0 if rows is None or rows.value is None else _n_rows(rows.value)
    if "POSIXlt" in classes_of(vector):  # a list of years, months, days
        return max(map(_length, vector.value), default=0)
    return 0 if vector.value is None else len(vector.value)


def _n_rows(row_names: Any) -> int:
    """Return the number of rows; R writes names that are mere numbers as (NA, -n)."""
    is_short = len(row_names) == 2 and np.ma.getmaskarray(np.ma.asarray(row_names))[0]
    return abs(int(row_names[1])) if is_short else len(row_names)


def _annotations(vectors: Mapping[str, RObject], encoding: str) -> Annotations:
    family = Family.SPSS
    variables: dict[str, Variable] = {}
    for name, vector in vectors.items():
        noted = [key for key in _FAMILIES if key in attributes_of(vector)]
        family = _FAMILIES[noted[0]] if noted else family
        variables[name] = variable_of(vector, noted[0] if noted else None, encoding)
    return Annotations(family, variables)
