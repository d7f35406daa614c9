"""The files of a dataset: which they are, what they hold, and whether they are as they were."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from microagg.core.errors import DataError, ParameterError
from microagg.files.formats import format_of
from microagg.scale.sources.columnar import ArrowFiles, CsvFiles, ParquetFiles
from microagg.scale.sources.spans import Part, Run, Runs, part_sizes
from microagg.scale.storage.shuffle import OURS, ROW
from microagg.scale.storage.urls import Place, Url

FORMATS: dict[str, Any] = {"Parquet": ParquetFiles, "Arrow": ArrowFiles, "CSV": CsvFiles}
# The rows of a file are numbered from its place among all files times this.
FILE_ROWS = 2**40
# Files, and rows of each, that tell how wide rows are.
_FILES_SEEN, _ROWS_SEEN = 8, 1_000
# What hive calls a missing value in the name of a folder.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class FoundFile(NamedTuple):
    """A file of the input by its name there, as it was when the run began.

    `changed` is the time of its last change, or what the file system at a URL has instead.
    """

    name: str
    path: Place
    size: int
    changed: int | str

    @property
    def local(self) -> Path:
        """Its path; a file at a URL has one once it was fetched."""
        assert isinstance(self.path, Path)
        return self.path

    def check_unchanged(self) -> None:
        """Refuse a file whose size or time of change is another than when the run began."""
        try:
            found = _size_and_change(self.path)
        except FileNotFoundError:
            found = None
        if found != (self.size, self.changed):
            raise DataError(
                f"{str(self.path)!r} changed while the dataset was being protected. Start again "
                "when nothing is writing to it."
            )

    @property
    def hive(self) -> tuple[tuple[str, str | None], ...]:
        """Columns that are in the names of its folders, with their values."""
        return tuple(_hive_values(PurePosixPath(self.name).parts[:-1]))


def _size_and_change(place: Place) -> tuple[int, int | str]:
    if isinstance(place, Url):
        return place.size_and_stamp()
    status = os.stat(place)
    return status.st_size, status.st_mtime_ns


class Found(NamedTuple):
    """The files of the input, in the order of their names; all are of one kind."""

    root: Place
    kind: str
    files: tuple[FoundFile, ...]

    @property
    def size(self) -> int:
        """How many bytes they have."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class DatasetFile:
    """A file of a dataset; `path` is what is read of it, which may have been converted."""

    origin: FoundFile
    path: Path
    schema: pa.Schema
    runs: Runs

    @property
    def name(self) -> str:
        """Its name in the dataset."""
        return self.origin.name

    @property
    def hive(self) -> tuple[tuple[str, str | None], ...]:
        """Columns that are in the names of its folders, with their values."""
        return self.origin.hive

    @property
    def n_rows(self) -> int:
        """How many rows it holds."""
        return sum(run.n_rows for run in self.runs)


@dataclass(frozen=True)
class Listing:
    """All files of a dataset, in the order of their names, and the parts they are cut into."""

    root: Place
    kind: str
    files: tuple[DatasetFile, ...]
    runs: tuple[tuple[int, Run], ...]  # of all files, each with the number of its file
    parts: tuple[Part, ...]
    width: float  # about how many bytes a row takes in memory

    @property
    def n_rows(self) -> int:
        """How many rows there are in all."""
        return sum(file.n_rows for file in self.files)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all files, those in the names of folders last."""
        first = self.files[0]
        own = tuple(first.schema.names)
        return (*own, *(name for name, _ in first.hive if name not in own))

    @property
    def in_folders(self) -> tuple[str, ...]:
        """The columns whose values name folders."""
        return tuple(name for name, _ in self.files[0].hive)

    def width_of(self, names: Sequence[str]) -> float:
        """Return about how many bytes these columns of a row take in memory."""
        fixed, has_text = _fixed_width(self.files[0].schema, names)
        own = [name for name in names if name in self.files[0].schema.names]
        return max(fixed, _width_of_some(self.kind, self.files, own) if has_text else 0.0)

    def parts_of(self, run: int) -> list[tuple[int, Part]]:
        """Return the parts of a run, each with its number."""
        return [(at, part) for at, part in enumerate(self.parts) if part.run == run]

    def read(self, run: int, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """Read the parts of a run, each with its number; their rows are numbered."""
        at, where = self.runs[run]
        file = self.files[at]
        file.origin.check_unchanged()
        own = [name for name in columns if name in file.schema.names]
        parts = self.parts_of(run)
        most = max(part.n_rows for _, part in parts)
        batches = FORMATS[self.kind].batches(file.path, where.where, own, most)
        yield from self._in_parts(parts, batches, file, columns)
        file.origin.check_unchanged()

    def _in_parts(
        self,
        parts: list[tuple[int, Part]],
        batches: Iterator[Any],
        file: DatasetFile,
        columns: Sequence[str],
    ) -> Iterator[tuple[int, pa.Table]]:
        schema = pa.schema([file.schema.field(n) for n in columns if n in file.schema.names])
        schema = schema.remove_metadata()
        held: list[Any] = []
        n_held = 0
        for number, part in parts:
            while n_held < part.n_rows:
                batch = next(batches, None)
                if batch is None:
                    raise DataError(f"{file.name!r} holds fewer rows than it says.")
                held.append(batch)
                n_held += batch.num_rows
            joined = pa.Table.from_batches(held) if held else schema.empty_table()
            rest = joined.slice(part.n_rows)
            held, n_held = rest.to_batches(), rest.num_rows
            yield number, _numbered(joined.slice(0, part.n_rows), part, file, columns)


def _numbered(table: pa.Table, part: Part, file: DatasetFile, columns: Sequence[str]) -> pa.Table:
    """Return the columns in their order, with those of folders and the numbers of the rows."""
    n = part.n_rows
    from_folders = {name: pa.array([value] * n, pa.string()) for name, value in file.hive}
    arrays = [
        table.column(name) if name in table.column_names else from_folders[name] for name in columns
    ]
    first = part.file * FILE_ROWS + part.first
    rows = pa.array(np.arange(first, first + n))
    return pa.table([*arrays, rows], names=[*columns, ROW])


def find_files(source: Path) -> Found:
    """Find the files of a folder, or the one file; all must be of one format."""
    files = [(source.name, source)]
    if source.is_dir():
        files = [(name, source / name) for name in sorted(_names_in(source))]
        if not files:
            raise ParameterError(f"the folder {str(source)!r} holds no files.")
    elif not is_listed(source.name):
        raise ParameterError(
            "files whose names begin with . or _ are skipped as metadata; got "
            f"{str(source)!r}. Rename it."
        )
    kind = check_kinds(source, [path for _, path in files])
    return Found(source, kind, tuple(_find(name, path) for name, path in files))


def check_kinds(source: Place, files: Sequence[Place]) -> str:
    """Return the format of the files of a folder, if it is the same for all."""
    kinds = {_kind(path) for path in files}
    if len(kinds) > 1:
        raise ParameterError(
            f"the folder {str(source)!r} holds files of several formats ({', '.join(sorted(kinds))}"
            "). Put those of one format into a folder of their own."
        )
    return kinds.pop()


def _find(name: str, path: Path) -> FoundFile:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ParameterError(f"{str(path)!r} is not a regular file. Move it elsewhere.")
    if not status.st_size:
        raise DataError(f"{str(path)!r} is empty: it does not even name columns. Remove it.")
    # Workers may be in another folder than this process.
    return FoundFile(name, path.absolute(), status.st_size, status.st_mtime_ns)


def list_files(found: Found, converted: Sequence[Path] | None = None) -> Listing:
    """Open the files, or what they were `converted` to, and check that they go together."""
    paths = [file.local for file in found.files] if converted is None else converted
    opened = tuple(
        DatasetFile(file, path, *FORMATS[found.kind].schema_and_runs(path))
        for file, path in zip(found.files, paths, strict=True)
    )
    _check_alike(opened)
    if not sum(file.n_rows for file in opened):
        raise DataError(f"{str(found.root)!r} has columns but no records.")
    return _cut(found, opened)


def _names_in(folder: Path) -> Iterator[str]:
    """Return the files in a folder and those below it, without hidden ones and notes of writers."""

    def refuse(error: OSError) -> None:
        raise ParameterError(
            f"the folder {error.filename!r} cannot be read: {error.strerror}. Make it readable, or "
            "move it elsewhere."
        )

    for root, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if is_listed(name)]
        if links := [name for name in folders if (Path(root) / name).is_symlink()]:
            raise ParameterError(
                f"{str(Path(root) / links[0])!r} is a link to a folder, and links may go round in "
                "circles. Put the folder itself there, or remove the link."
            )
        for name in names:
            if is_listed(name):
                yield (Path(root) / name).relative_to(folder).as_posix()


def is_listed(name: str) -> bool:
    """Whether a file belongs to the dataset by its name and those of its folders.

    >>> is_listed("year=2024/0.parquet"), is_listed("_SUCCESS"), is_listed(".tmp/0.parquet")
    (True, False, False)
    """
    return not any(part.startswith((".", "_")) for part in name.split("/"))


def _kind(path: Place) -> str:
    try:
        kind = format_of(str(path)).name
    except ParameterError:
        kind = ""
    if kind not in FORMATS:
        raise ParameterError(
            "datasets consist of Parquet (.parquet), Arrow (.arrow, .feather, .ipc) or CSV files; "
            f"got {str(path)!r}. Move it elsewhere, or convert it."
        )
    return kind


def _hive_values(folders: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    for folder in folders:
        name, sign, value = folder.partition("=")
        if sign and name:
            yield unquote(name), None if value == _NO_VALUE else unquote(value)


def _check_alike(files: Sequence[DatasetFile]) -> None:
    """Refuse files that differ in their columns, types or names of folders."""
    first = files[0]
    own = {field.name: field.type for field in first.schema}
    if len(own) < len(first.schema.names):
        raise DataError(f"{first.name!r} names a column twice. Rename the columns first.")
    keys = [name for name, _ in first.hive]
    for file in files[1:]:
        others = {field.name: field.type for field in file.schema}
        both = f"{first.name!r} and {file.name!r}"
        if missing := [name for name in (*own, *others) if name not in own or name not in others]:
            raise DataError(
                f"the files do not have the same columns: {missing[0]!r} is in only one of {both}. "
                "Make all files alike."
            )
        for name, kind in own.items():
            if others[name] != kind:
                one, other = _types(kind, others[name])
                raise DataError(
                    f"column {name!r} is stored as {one} in {first.name!r} and as {other} in "
                    f"{file.name!r}. Make all files alike."
                )
        if [name for name, _ in file.hive] != keys:
            raise DataError(
                f"the folders of {both} are named by values of different columns. Make all "
                "folders alike."
            )
    if strange := [name for name in (*own, *keys) if name.startswith(OURS)]:
        raise DataError(f"column names must be printable; {strange[0]!r} is not. Rename it first.")
    if twice := [name for name in keys if name in own]:
        raise DataError(
            f"column {twice[0]!r} is in the files and in the names of their folders. Remove one of "
            "them."
        )


def _types(*kinds: pa.DataType) -> list[str]:
    """Return types in a word each, or in full if that does not tell them apart."""
    short = [str(kind).partition("<")[0] for kind in kinds]
    return short if len(set(short)) > 1 else [str(kind) for kind in kinds]


def _cut(found: Found, files: tuple[DatasetFile, ...]) -> Listing:
    """Return the listing with all files cut into runs and parts, by the width of a row."""
    width = _bytes_per_row(found, files)
    runs: list[tuple[int, Run]] = []
    parts: list[Part] = []
    for at, file in enumerate(files):
        first = 0
        for run in file.runs:
            for size in part_sizes(run.n_rows, width):
                parts.append(Part(at, len(runs), first, size))
                first += size
            runs.append((at, run))
    return Listing(found.root, found.kind, files, tuple(runs), tuple(parts), width)


def _bytes_per_row(found: Found, files: Sequence[DatasetFile]) -> float:
    """Return about how many bytes a row takes, by its types, the files, and some rows.

    The largest of these counts: text that repeats takes little in a file, but not in memory.
    """
    names = files[0].schema.names
    fixed, has_text = _fixed_width(files[0].schema, names)
    n_rows = max(1, sum(file.n_rows for file in files))
    seen = _width_of_some(found.kind, files, names) if has_text else 0.0
    return max(fixed, found.size / n_rows, seen)


def _fixed_width(schema: pa.Schema, names: Sequence[str]) -> tuple[float, bool]:
    """Return how many bytes columns of a row take by their types, and whether any is text."""
    fixed, has_text = 0.0, False
    for name in names:
        try:
            fixed += schema.field(name).type.bit_width / 8
        except (KeyError, ValueError):  # the name of a folder, or text and the like
            fixed, has_text = fixed + 24.0, True
    return fixed, has_text


def _width_of_some(kind: str, files: Sequence[DatasetFile], names: Sequence[str]) -> float:
    """Return how many bytes a row takes in the first and last rows of some files, at most."""
    filled = [file for file in files if file.n_rows]
    widths = [0.0]
    for file in filled[:: max(1, len(filled) // _FILES_SEEN)]:
        for run in {file.runs[0], file.runs[-1]}:
            rows = FORMATS[kind].batches(file.path, run.where, names, _ROWS_SEEN)
            if batch := next(rows, None):
                widths.append(batch.nbytes / batch.num_rows)
    return max(widths)
