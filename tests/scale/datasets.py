"""Small datasets in files, and what a run leaves of them."""

import hashlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

# What `people` has to be told.
ROLES = {"identifiers": "id", "quasi_identifiers": ["job"], "sensitive": "disease"}


def people(n: int, seed: int = 0) -> pl.DataFrame:
    """Numbers, decimals and categories, and a column to publish."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"p{at:06}" for at in range(n)],
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10.0, 0.5, n).round(2),
            "height": rng.normal(170.0, 10.0, n),
            "job": rng.choice(["baker", "cook", "nurse", "clerk"], n),
            "disease": rng.choice(["flu", "cold", "none"], n),
        }
    )


def write_files(
    table: pl.DataFrame | pa.Table, folder: Path, cuts=(), suffix="parquet", rows=500
) -> Path:
    """Write a table to files that end at these rows, in row groups of so many rows."""
    folder.mkdir(parents=True)
    whole = table.to_arrow() if isinstance(table, pl.DataFrame) else table
    ends = [0, *cuts, whole.num_rows]
    for at, (start, stop) in enumerate(pairwise(ends)):
        part, path = whole.slice(start, stop - start), folder / f"part-{at:03}.{suffix}"
        if suffix == "parquet":
            pq.write_table(part, path, row_group_size=rows)
        else:
            options = pa.ipc.IpcWriteOptions(unify_dictionaries=True)
            with (
                pa.OSFile(str(path), "wb") as sink,
                pa.ipc.new_file(sink, part.schema, options=options) as writer,
            ):
                writer.write_table(part, max_chunksize=rows)
    return folder


def read_files(folder: Path) -> pl.DataFrame:
    """Read the files of a folder, in the order of their names, as one table."""
    return pl.DataFrame(pl.from_arrow(pa.concat_tables(arrow_files(folder))))


def arrow_files(folder: Path) -> list[pa.Table]:
    """Read the files of a folder, in the order of their names."""
    return [_read(path) for path in sorted(folder.rglob("*")) if path.is_file()]


def _read(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.ParquetFile(path).read()
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder, by its name there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def sizes_of_classes(table: pl.DataFrame, columns) -> list[int]:
    """Count the records behind every combination, by hand."""
    counts: dict[tuple, int] = {}
    for row in table.select(columns).iter_rows():
        counts[row] = counts.get(row, 0) + 1
    return sorted(counts.values())


def distance(own, whole, *, ordered) -> float:
    """The earth mover's distance by its definition, a missing value last."""
    values = sorted({v for v in whole if v is not None})
    values += [None] if None in whole else []
    p, q = ([list(rows).count(v) / len(rows) for v in values] for rows in (own, whole))
    if not ordered:
        return 0.5 * sum(abs(a - b) for a, b in zip(p, q, strict=True))
    moved = np.abs(np.cumsum(p) - np.cumsum(q))
    return float(moved[:-1].sum() / max(1, len(values) - 1))


def farthest(table: pl.DataFrame, column: str, shown, *, ordered) -> float:
    """Return how far the worst combination is from the whole table, by hand."""
    whole = table[column].to_list()
    each = table.group_by(shown).agg(pl.col(column))[column].to_list()
    return max(distance(own, whole, ordered=ordered) for own in each)
