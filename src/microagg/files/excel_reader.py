"""Read one sheet of an Excel workbook (extra `files`).

The first row names the columns, and every row below it is a record; blank rows at the end do not
count. Cells have types of their own, so a column has the type of its cells: numbers, dates, true or
false, text. Formulas count by the results that Excel stored with them.
"""

import io
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from zipfile import ZipFile

import openpyxl
import polars as pl

from microagg.core.errors import DataError, ParameterError
from microagg.core.missing import MARKERS
from microagg.core.words import counted
from microagg.files.annotations import listed
from microagg.files.dialect import Dialect
from microagg.files.excel_columns import ERRORS, column_of, with_control_characters
from microagg.files.headers import N_SAMPLED, check_first_records
from microagg.files.reading import InputFile, check_names, select_columns

# What begins files with a password, and those of Excel 2003 and earlier.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A cell with a formula and nothing after it: Excel has never calculated it.
_NO_RESULT = re.compile(
    rb"<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*(?:/>|></(?:\w+:)?v>)\s*)?</(?:\w+:)?c>"
)
# What a cell takes at least, in a row of cells.
_N_BYTES = 8
_SAY_SHEET = "Name one (--sheet, or sheet= in Python)."

Row = Sequence[Any]


class ExcelReader:
    """One sheet of an Excel workbook, read from disk once; `table` reads the records."""

    dialect = None
    annotations = None

    def __init__(self, source: InputFile, dialect: Dialect | None = None) -> None:
        given = dialect or Dialect()
        self._source = source
        self._data = source.read_all()
        self._markers = frozenset((*MARKERS, *given.na))
        self.markers: dict[str, int] = {}
        _check_is_workbook(self._data, source.where)
        self._check_expansion()
        with self._opened() as workbook:
            self.sheet: str = _chosen(workbook, given.sheet, source.where)
            header, *first = [*islice(_rows(workbook[self.sheet]), N_SAMPLED + 1)] or [()]
        self._where = f"the sheet {self.sheet!r} of {source.where}"
        self._places = _named_places(header, self._where)
        # Before anybody names columns: what is taken for their names may be values.
        places = self._places.values()
        records = [[_text_at(row, place) for place in places] for row in first]
        check_first_records(self.columns, records, self._where)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in file order."""
        return tuple(self._places)

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file as it was on disk."""
        return self._source.sha256

    def table(
        self,
        *,
        as_text: Collection[str] = (),  # noqa: ARG002 (types stay as they are)
        columns: Collection[str] | None = None,
    ) -> pl.DataFrame:
        """Read the records of the selected columns (default: all), in file order."""
        names = select_columns(self.columns, columns, self._source.where)
        with self._opened() as workbook:
            cells = self._cells(workbook[self.sheet], [self._places[name] for name in names])
        self._check_results()
        found = []
        for name, own in zip(names, cells, strict=True):
            column, n_marked = column_of(name, own, self._markers)
            self.markers |= {name: n_marked} if n_marked else {}
            found.append(column)
        return pl.DataFrame(found)

    def _cells(self, sheet: Any, places: Sequence[int]) -> list[list[Any]]:
        """Return the cells of some columns; every row is checked."""
        named = self._places.values()
        width = max(named) + 1
        unnamed = [place for place in range(width) if place not in named]
        records: list[Row] = []
        n_bytes = 0
        blank_since: int | None = None
        rows = _rows(sheet)
        next(rows)
        for number, row in enumerate(rows, start=2):
            if _is_blank(row):
                blank_since = blank_since or number
                continue
            if blank_since is not None:
                self._refuse_blank_row(blank_since)
            full = (*row, *[None] * (width - len(row)))
            if not (_is_blank(full[width:]) and _is_blank([full[place] for place in unnamed])):
                self._refuse_unnamed(number)
            # A few bytes of XML may name the last of thousands of cells, or a long text again.
            n_bytes += _N_BYTES * width + sum(len(cell) for cell in row if isinstance(cell, str))
            self._source.check_expansion(n_bytes)
            records.append(full)
        if not records:
            raise DataError(f"{self._where} has a header but no records.")
        return [[row[place] for row in records] for place in places]

    def _check_expansion(self) -> None:
        """Refuse a workbook whose parts expand to too much; none can to more than it says."""
        with self._guarded(), ZipFile(io.BytesIO(self._data)) as archive:
            self._source.check_expansion(sum(part.file_size for part in archive.infolist()))

    def _refuse_blank_row(self, number: int) -> None:
        raise DataError(
            f"row {number} of {self._where} is blank, and more rows follow. Remove blank rows, and "
            "whatever is not part of the table."
        )

    def _refuse_unnamed(self, number: int) -> None:
        raise DataError(
            f"row {number} of {self._where} has values in a column without a name. Column names go "
            "in the first row, one in each cell: remove titles above them, and split merged cells."
        )

    def _check_results(self) -> None:
        """Refuse formulas without a result: they would all be missing values."""
        with self._guarded(), ZipFile(io.BytesIO(self._data)) as archive:
            sheets = [name for name in archive.namelist() if "worksheets/" in name]
            if not any(_NO_RESULT.search(archive.read(name)) for name in sheets):
                return
        with self._opened() as results, self._opened(data_only=False) as formulas:
            both = (book[self.sheet].iter_rows() for book in (results, formulas))
            count = sum(
                formula.data_type == "f" and result.value is None and result.data_type == "n"
                for rows in zip(*both, strict=True)
                for result, formula in zip(*rows, strict=True)
            )
        if count:
            raise DataError(
                f"{self._where} has {counted(count, 'formula')} without a result. Open it in "
                "Excel or LibreOffice and save it, so that results are stored."
            )

    @contextmanager
    def _opened(self, *, data_only: bool = True) -> Iterator[Any]:
        """Open the workbook, with the results of formulas or with the formulas."""
        with self._guarded(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of features that do not matter here
            yield openpyxl.load_workbook(
                io.BytesIO(self._data), read_only=True, data_only=data_only
            )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Say that the file is damaged if it cannot be read, whatever the library says."""
        try:
            yield
        except (DataError, ParameterError, MemoryError):
            raise
        except Exception:  # the message may quote values
            raise DataError(f"{self._source.where} is a damaged Excel workbook.") from None


def _check_is_workbook(data: bytes, where: str) -> None:
    if not data:
        raise DataError(f"{where} is empty.")
    if data.startswith(_OLE):
        raise DataError(
            f"{where} has a password or is in the format of Excel 2003. Save it as .xlsx without a "
            "password first."
        )
    if not data.startswith(b"PK"):
        raise DataError(f"{where} should be an Excel workbook; it holds something else.")


def _chosen(workbook: Any, wanted: str | None, where: str) -> str:
    """Return the sheet that is wanted, or the only one that is neither hidden nor blank."""
    sheets: dict[str, Any] = {sheet.title: sheet for sheet in workbook.worksheets}
    if wanted is not None:
        if wanted not in sheets:
            raise ParameterError(f"{where} has no sheet {wanted!r}, only {listed(sheets)}.")
        return wanted
    shown = [name for name, sheet in sheets.items() if sheet.sheet_state == "visible"]
    filled = [name for name in shown if not all(map(_is_blank, _rows(sheets[name])))]
    if len(filled) > 1:
        raise DataError(f"{where} has the sheets {listed(filled)}. {_SAY_SHEET}")
    if not filled:
        hidden = [name for name in sheets if name not in shown]
        are = "is" if len(hidden) == 1 else "are"
        rest = f"; {listed(hidden)} {are} hidden. {_SAY_SHEET}" if hidden else "."
        raise DataError(f"{where} has no sheet with values{rest}")
    return filled[0]


def _rows(sheet: Any) -> Iterator[Row]:
    sheet.reset_dimensions()  # those that other programs write may be wrong
    return iter(sheet.iter_rows(values_only=True))


def _named_places(header: Row, where: str) -> dict[str, int]:
    """Return the place of each column by its name; columns without one are left out."""
    if _is_blank(header):
        raise DataError(
            f"the first row of {where} should name the columns; it is blank. Remove the rows above "
            "the names."
        )
    cells = {place: cell for place, cell in enumerate(header) if _has_value(cell)}
    if not any(isinstance(cell, str) and cell not in ERRORS for cell in cells.values()):
        # Not quoted: in a sheet without a header, these are the values of a record.
        raise DataError(
            f"the first row of {where} should name the columns; it holds no text. Add a row of "
            "names first."
        )
    names = tuple(with_control_characters(str(cell)) for cell in cells.values())
    check_names(names, where)
    return dict(zip(names, cells, strict=True))


def _text_at(row: Row, place: int) -> str:
    cell = row[place] if place < len(row) else None
    return with_control_characters(str(cell)) if _has_value(cell) else ""


def _has_value(cell: object) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def _is_blank(row: Row) -> bool:
    return not any(map(_has_value, row))
