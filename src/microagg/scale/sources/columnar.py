"""Parquet and Arrow files, read in runs of row groups or batches and written part by part."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from microagg.core.errors import DataError
from microagg.files.dialect import Dialect
from microagg.scale.sources import delimited
from microagg.scale.sources.spans import Batches, Runs, runs_of
from microagg.tables.used_categories import in_type

# Rows that are decoded at a time, and bytes of a column that are read ahead.
_ROWS_AT_A_TIME, _BUFFER = 65_536, 1 << 20


@contextmanager
def guarded(path: Path, kind: str) -> Iterator[None]:
    """Say that a file is damaged; the library's message may quote values."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError):
        raise DataError(f"{str(path)!r} is a damaged {kind} file.") from None
    except FileNotFoundError:
        raise DataError(f"{str(path)!r} is gone. Put it back, or start again.") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise DataError(f"{str(path)!r} is a damaged {kind} file.") from None


class ParquetFiles:
    """How Parquet files are read and written."""

    kind = "Parquet"

    @staticmethod
    def schema_and_runs(path: Path) -> tuple[pa.Schema, Runs]:
        """Return the columns of a file, and its row groups in runs."""
        with guarded(path, "Parquet"), pq.ParquetFile(path) as file:
            found = file.metadata
            sizes = [found.row_group(at).num_rows for at in range(found.num_row_groups)]
            return _as_read(file.schema_arrow), runs_of(sizes)

    @staticmethod
    def as_stored(path: Path, schema: pa.Schema) -> pa.Schema:
        """Return the columns of an output file in the types that an input file has."""
        with guarded(path, "Parquet"), pq.ParquetFile(path) as file:
            return _in_types_of(file.schema_arrow, schema)

    @staticmethod
    def batches(path: Path, run: tuple[int, int], columns: Sequence[str], n_rows: int) -> Batches:
        """Read the rows of a run of row groups, at most so many at a time."""
        with (
            guarded(path, "Parquet"),
            pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file,
        ):
            for batch in file.iter_batches(
                min(_ROWS_AT_A_TIME, n_rows),
                row_groups=[*range(*run)],
                columns=[*columns],
                use_threads=False,
            ):
                yield _batch_as_read(batch)

    @staticmethod
    @contextmanager
    def writing(path: Path, schema: pa.Schema, _dialect: Dialect | None) -> Iterator[Any]:
        """Write a file, a row group for every table."""
        with pq.ParquetWriter(path, schema) as writer:
            yield lambda table: writer.write_table(table, row_group_size=max(1, table.num_rows))


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column as it is read: text by offsets, for which Arrow has more casts.

    >>> _without_views(pa.dictionary(pa.int8(), pa.string_view()))
    DictionaryType(dictionary<values=large_string, indices=int8, ordered=0>)
    """
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def _without_view(column: pa.Array) -> pa.Array:
    kind = _without_views(column.type)
    if not pa.types.is_dictionary(kind):
        return column.cast(kind)
    entries = column.dictionary.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(column.indices, entries, ordered=kind.ordered)


def _as_read(schema: pa.Schema) -> pa.Schema:
    fields = [field.with_type(_without_views(field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def _batch_as_read(batch: Any) -> Any:
    for place, column in enumerate(batch.columns):
        if column.type != _without_views(column.type):
            batch = batch.set_column(place, batch.schema.names[place], _without_view(column))
    return batch


def _in_types_of(stored: pa.Schema, schema: pa.Schema) -> pa.Schema:
    """Return a schema with text in views where it was read from such; a key has its own type."""
    own = {field.name: field.type for field in stored}
    return pa.schema(
        field.with_type(own[field.name]) if _without_views(own[field.name]) == field.type else field
        for field in schema
    )


def with_views(table: pa.Table, stored: pa.Schema) -> pa.Table:
    """Return a table with text in views where it is stored so."""
    columns = [
        column if column.type == field.type else _in_views(column, field.type)
        for column, field in zip(table.columns, stored, strict=True)
    ]
    return pa.table(columns, schema=stored)


def _in_views(column: Any, kind: pa.DataType) -> Any:
    if not pa.types.is_dictionary(kind):
        return in_type(column, kind)
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices, in_type(chunk.dictionary, kind.value_type), ordered=kind.ordered
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, type=kind)


class ArrowFiles:
    """How Arrow IPC files, also known as Feather version 2, are read and written."""

    kind = "Arrow"

    @staticmethod
    def schema_and_runs(path: Path) -> tuple[pa.Schema, Runs]:
        """Return the columns of a file, and its batches in runs."""
        with guarded(path, "Arrow"), pa.OSFile(str(path)) as source:
            file = pa.ipc.open_file(source)
            sizes = [file.get_batch(at).num_rows for at in range(file.num_record_batches)]
            return _as_read(file.schema), runs_of(sizes)

    @staticmethod
    def as_stored(path: Path, schema: pa.Schema) -> pa.Schema:
        """Return the columns of an output file in the types that an input file has."""
        with guarded(path, "Arrow"), pa.OSFile(str(path)) as source:
            return _in_types_of(pa.ipc.open_file(source).schema, schema)

    @staticmethod
    def batches(path: Path, run: tuple[int, int], columns: Sequence[str], _n: int) -> Batches:
        """Read the rows of a run of batches, a batch at a time."""
        with guarded(path, "Arrow"), pa.OSFile(str(path)) as source:
            every = pa.ipc.open_file(source)
            places = [every.schema.get_field_index(name) for name in columns]
            options = pa.ipc.IpcReadOptions(included_fields=sorted(places), use_threads=False)
            file = pa.ipc.open_file(source, options=options)
            for at in range(*run):
                yield _batch_as_read(file.get_batch(at).select([*columns]))

    @staticmethod
    @contextmanager
    def writing(path: Path, schema: pa.Schema, _dialect: Dialect | None) -> Iterator[Any]:
        """Write a file, a batch for every table."""
        is_feather = path.suffix == ".feather" or ".feather" in path.name
        options = pa.ipc.IpcWriteOptions(
            compression="lz4" if is_feather else None, unify_dictionaries=True
        )
        with (
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, schema, options=options) as writer,
        ):
            yield writer.write_table


class CsvFiles:
    """How CSV files are read, once they were converted to Arrow files, and written."""

    kind = "CSV"
    schema_and_runs = ArrowFiles.schema_and_runs
    batches = ArrowFiles.batches

    @staticmethod
    def as_stored(_path: Path, schema: pa.Schema) -> pa.Schema:
        """Return the columns as they are: text has one form only."""
        return schema

    @staticmethod
    @contextmanager
    def writing(path: Path, schema: pa.Schema, dialect: Dialect | None) -> Iterator[Any]:
        """Write a file, some rows at a time."""
        with delimited.writing(path, schema, dialect or Dialect()) as write:
            yield write
