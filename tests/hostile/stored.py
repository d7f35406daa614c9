"""Files of the trial: written by one library, and what the package wrote read by another.

polars, pyreadstat and xlsxwriter write the package's outputs; so the csv module, pyarrow, pandas,
openpyxl and the plain reader of SPSS files in `spss.py` read them here.
"""

import csv
import gzip
import io
import random
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pyreadstat

from tests.files.r_objects import r_file, r_numbers, r_texts, r_whole
from tests.hostile.spss import read_spss
from tests.hostile.tables import plain

TEXT = (".csv", ".txt", ".tsv", ".tab", ".csv.gz", ".txt.gz", ".tsv.gz", ".tab.gz")
ARROW = (".arrow", ".feather", ".ipc")
WRITABLE = (*TEXT, ".parquet", *ARROW, ".sav", ".zsav", ".dta", ".xlsx")
READABLE = (*WRITABLE, ".xpt", ".rds", ".rdata")

Columns = dict[str, list[Any]]


def write_input(columns: Columns, path: Path, suffix: str, chance: random.Random) -> dict[str, str]:
    """Write a file that somebody might have; returns the dialect of a text file."""
    if suffix in TEXT:
        return _write_text(columns, path, suffix, chance)
    writers: dict[str, Callable[[Columns, Path], None]] = {
        ".parquet": lambda c, p: pa.parquet.write_table(_arrow(c), p),
        ".feather": lambda c, p: pa.feather.write_feather(_arrow(c), p),
        ".sav": _write_pyreadstat(pyreadstat.write_sav),
        ".zsav": _write_pyreadstat(pyreadstat.write_sav, compress=True),
        ".xpt": _write_pyreadstat(pyreadstat.write_xport, file_format_version=8),
        ".dta": _write_stata,
        ".xlsx": _write_excel,
        ".rds": _write_r,
        ".rdata": _write_r,
    }
    writers.get(suffix, _write_arrow)(columns, path)
    return {}


def _write_text(columns: Columns, path: Path, suffix: str, chance: random.Random) -> dict[str, str]:
    tabs = suffix.startswith((".tsv", ".tab"))
    delimiter = "\t" if tabs else chance.choice([",", ",", ";", "|"])
    encoding = chance.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"])
    ending = chance.choice(["\n", "\r\n"])
    decimal = chance.choice([".", ","]) if delimiter == ";" else "."
    quoting = chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_as_text(value, decimal) for value in row])
    raw = stream.getvalue().encode(encoding)
    path.write_bytes(gzip.compress(raw) if suffix.endswith(".gz") else raw)
    return {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}


def _as_text(value: Any, decimal: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).replace(".", decimal)
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


def _arrow(columns: Columns) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _write_arrow(columns: Columns, path: Path) -> None:
    table = _arrow(columns)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _write_pyreadstat(write: Callable[..., None], **options: Any) -> Callable[..., None]:
    return lambda columns, path: write(pl.DataFrame(columns), str(path), **options)


def _write_stata(columns: Columns, path: Path) -> None:
    frame = pd.DataFrame(columns)
    for name, values in columns.items():
        if any(isinstance(value, date) for value in values):
            frame[name] = pd.to_datetime(frame[name])
        elif any(isinstance(value, str) for value in values):
            frame[name] = frame[name].astype("object").fillna("")
    dates = {name: "td" for name in frame if frame[name].dtype.kind == "M"}
    frame.to_stata(path, write_index=False, version=118, convert_dates=dates)


def _write_excel(columns: Columns, path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        book.active.append(list(row))
    for cell in (cell for row in book.active.iter_rows() for cell in row):
        if isinstance(cell.value, str):
            cell.data_type = "s"  # text is never a formula
    book.save(path)


def _write_r(columns: Columns, path: Path) -> None:
    made = {}
    for name, values in columns.items():
        first = next((value for value in values if value is not None), 0.0)
        if isinstance(first, str):
            made[name] = r_texts(*values)
        elif isinstance(first, (date, datetime)):
            days = [
                float("nan") if v is None else float((v - date(1970, 1, 1)).days) for v in values
            ]
            made[name] = r_numbers(*days, **{"class": r_texts("Date")})
        elif isinstance(first, (bool, float)):
            made[name] = r_numbers(*(float("nan") if v is None else float(v) for v in values))
        else:
            made[name] = r_whole(*values)
    r_file(path, made)


def read_output(path: Path, suffix: str, dialect: dict[str, str]) -> Columns:
    """Read what the package wrote with another library than the one that wrote it."""
    if suffix in TEXT:
        return _read_text(path, suffix, dialect)
    if suffix == ".parquet":
        return _of_arrow(pa.parquet.read_table(path))
    if suffix in ARROW:
        with pa.OSFile(str(path), "rb") as source:
            return _of_arrow(pa.ipc.open_file(source).read_all())
    if suffix == ".dta":
        frame = pd.read_stata(path, convert_categoricals=False)
        return {name: [plain(v) for v in frame[name].tolist()] for name in frame}
    if suffix in (".sav", ".zsav"):
        return read_spss(path)
    header, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def _of_arrow(table: pa.Table) -> Columns:
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _read_text(path: Path, suffix: str, dialect: dict[str, str]) -> Columns:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if suffix.endswith(".gz") else raw).decode(
        dialect.get("encoding", "utf-8").replace("utf-8-sig", "utf-8")
    )
    delimiter = "\t" if suffix.startswith((".tsv", ".tab")) else dialect.get("delimiter", ",")
    header, *rows = csv.reader(
        io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, strict=True
    )
    rows = [row or [""] for row in rows]
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def output_dialect(source: str, target: str, dialect: dict[str, str]) -> dict[str, str]:
    """Return how a text file is written, given the suffixes and the dialect of the input."""
    if source not in TEXT:
        return {"delimiter": "\t" if target.startswith(".txt") else ",", "encoding": "utf-8"}
    if dialect["delimiter"] == "\t" and target.startswith(".csv"):
        return {**dialect, "delimiter": ","}
    return dialect


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of different files are the same, as text or as a number."""
    return _comparable(one) == _comparable(other)


def _comparable(value: Any) -> Any:
    value = plain(value)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or (isinstance(value, str) and value in ("true", "false")):
        return float(value in (True, "true"))
    if isinstance(value, datetime) and (value.hour, value.minute) == (0, 0):
        value = value.date()
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    try:
        return float(value.replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return value
