"""Fourth pass: output files that mirror the input files, in a private folder beside the target."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from microagg.core.arrays import Wholes
from microagg.core.errors import GuaranteeError
from microagg.files.reading import sha256_of
from microagg.scale.sources.columnar import with_views
from microagg.scale.sources.listing import FILE_ROWS, FORMATS, DatasetFile
from microagg.scale.steps.keys import keys_of
from microagg.scale.storage.shuffle import Sources, row_numbers
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import DatasetSetting
from microagg.tables.used_categories import encoded, entries_of, of_arrow, used_entries

WRITING = "writing"


class Writing(NamedTuple):
    """Where the output goes until it is finished, and what is released of every part."""

    staging: Path
    sources: Sources


class Written(NamedTuple):
    """A finished file."""

    n_rows: int
    sha256: str


def write_file(work: WorkFolder, number: int) -> Written:
    """Task: write the output of an input file, part by part."""
    setting, writing = DatasetSetting.of(work), work.facts(WRITING)
    file = setting.listing.files[number]
    target = writing.staging / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{secrets.token_hex(6)}.{target.name}")
    try:
        n_rows = _write(work, setting, writing, number, beside)
        with beside.open("r+b") as stream:
            os.fsync(stream.fileno())
        digest = sha256_of(beside)
        os.replace(beside, target)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return Written(n_rows, digest)


def _write(
    work: WorkFolder, setting: DatasetSetting, writing: Writing, number: int, path: Path
) -> int:
    file = setting.listing.files[number]
    schema = output_schema(setting, file)
    entries, n_rows = _entries(work, setting, writing, number, schema), 0
    files = FORMATS[setting.listing.kind]
    stored = files.as_stored(file.path, schema)
    with files.writing(path, stored, setting.dialect) as write:
        for at, table in _input_parts(setting, number):
            released = writing.sources.read(work, [at])
            rows = row_numbers(table)
            if released is None or not np.array_equal(row_numbers(released), rows):
                raise GuaranteeError(
                    "some rows were released twice or not at all; nothing was written. This is a "
                    "bug in microagg: please report it."
                )
            if setting.key is not None:
                released = released.append_column(setting.key, _keys(setting, number, rows))
            write(with_views(_joined(table, released, schema, entries), stored))
            n_rows += len(rows)
    return n_rows


def _keys(setting: DatasetSetting, number: int, rows: Wholes) -> Any:
    """Return the random keys of rows of a file."""
    before = sum(file.n_rows for file in setting.listing.files[:number])
    positions = rows - number * FILE_ROWS + before
    return pa.array(keys_of(positions, setting.listing.n_rows, setting.secret))


def output_schema(setting: DatasetSetting, file: DatasetFile) -> pa.Schema:
    """Return the columns of an output file: those of the input that are published."""
    fields = [
        pa.field(
            field.name,
            pa.int64() if field.name == setting.key else field.type,
            field.nullable,
        )
        for field in file.schema
        if field.name not in setting.dropped
    ]
    return pa.schema(fields)


def _input_parts(setting: DatasetSetting, number: int) -> Iterator[tuple[int, pa.Table]]:
    """Read the columns of a file that are published unchanged."""
    listing = setting.listing
    shown = {*setting.roles.shown, *setting.roles.unpublished}
    kept = [name for name in listing.files[number].schema.names if name not in shown]
    for run, (file, _) in enumerate(listing.runs):
        if file == number:
            yield from listing.read(run, kept)


def _entries(
    work: WorkFolder, setting: DatasetSetting, writing: Writing, number: int, schema: pa.Schema
) -> dict[str, Any]:
    """Return what dictionaries list that all parts of a file share: what is released there.

    An Arrow file has one dictionary for all of them. In a Parquet file each has its own; these
    share one if its entries have an order, which is that of the input.
    """
    is_arrow = setting.listing.kind == "Arrow"
    kinds = {field.name: field.type for field in schema if pa.types.is_dictionary(field.type)}
    kinds = {name: kind for name, kind in kinds.items() if is_arrow or kind.ordered}
    if not kinds:
        return {}
    released: dict[str, list[Any]] = {name: [] for name in kinds}
    for at, table in _input_parts(setting, number):
        found = writing.sources.read(work, [at])
        for name, kind in kinds.items():
            column = (table if found is None or name not in found.column_names else found)[name]
            values = column.cast(kind.value_type).combine_chunks()
            released[name].append(used_entries(values, None))
    listed = _listed(setting, number, [name for name, kind in kinds.items() if kind.ordered])
    return {
        name: used_entries(_joint(own, kinds[name].value_type), listed.get(name))
        for name, own in released.items()
    }


def _listed(setting: DatasetSetting, number: int, names: Sequence[str]) -> dict[str, Any]:
    """Return the entries that these columns of an input file list, in their order."""
    listing, found = setting.listing, dict[str, list[Any]]()
    for run, (file, _) in enumerate(listing.runs):
        if names and file == number:
            for _, table in listing.read(run, names):
                for name in names:
                    found.setdefault(name, []).append(entries_of(table[name]))
    return {name: used_entries(_joint(own, own[0].type), None) for name, own in found.items()}


def _joint(arrays: Sequence[Any], kind: pa.DataType) -> Any:
    return pa.chunked_array(arrays, kind).combine_chunks()


def _joined(
    table: pa.Table, released: pa.Table, schema: pa.Schema, entries: dict[str, Any]
) -> pa.Table:
    columns = []
    for field in schema:
        column = (released if field.name in released.column_names else table)[field.name]
        if pa.types.is_dictionary(field.type):
            columns.append(_categories(column, field.type, entries.get(field.name)))
        else:
            columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.table(columns, schema=schema)


def _categories(column: Any, kind: pa.DataType, entries: Any) -> Any:
    """Return a column in the type of its input, whose dictionary lists only what is released."""
    if entries is None and pa.types.is_dictionary(column.type):
        return of_arrow(column)
    values = column.cast(kind.value_type).combine_chunks()
    return encoded(values, kind, used_entries(values, None) if entries is None else entries)
