"""Datasets that are only read: opened, hashed, and read side by side with another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from microagg.core.errors import DataError, ParameterError
from microagg.files.dialect import Dialect
from microagg.files.reading import sha256_of
from microagg.plans.beside import manifest_at, manifest_path
from microagg.plans.manifest import Manifest
from microagg.scale.sources.delimited import CSV_BYTES, CsvSetting, first_dialect, keep_as_text
from microagg.scale.sources.listing import Found, Listing, find_files, list_files
from microagg.scale.storage.hashing import sha256_of_files
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.passes import Passes

# How many times the bytes of its rows a task takes.
COPIES = 8


def part_bytes(listing: Listing, n_columns: int) -> int:
    """Return how many bytes a task takes that reads parts of this many columns."""
    most = max(part.n_rows for part in listing.parts)
    return int(most * max(listing.width, 10.0 * n_columns) * COPIES)


def region_bytes(n_records: int, n_columns: int) -> int:
    """Return how many bytes a task takes that groups this many records of as many columns."""
    return n_records * (10 * n_columns * COPIES + 2000)


def row_bytes(listing: Listing, n_columns: int) -> float:
    """Return about how many bytes this many columns of a row take."""
    size = sum(file.origin.size for file in listing.files) / max(1, listing.n_rows)
    return max(size, 10.0 * n_columns)


class _Hashed(NamedTuple):
    found: Found


@dataclass(frozen=True, eq=False)
class OpenedDataset:
    """A folder of files, or one file, that is read in parts; those of CSV files are text.

    `name` is that of the passes which read it.
    """

    passes: Passes
    found: Found
    dialect: Dialect | None
    name: str

    @classmethod
    def at(cls, passes: Passes, path: str | PathLike[str], given: Dialect, name: str) -> Any:
        """Open the files, whose CSV files are written as `given`."""
        place = Path(path)
        if not place.exists():
            raise ParameterError(f"the input {str(place)!r} does not exist.")
        found = find_files(place)
        if found.kind == "CSV":
            dialect = replace(given, sheet=None, max_expanded=None)
            return cls(passes, found, first_dialect(found.files[0].local, dialect)[0], name)
        for option in ("delimiter", "decimal", "encoding"):
            if getattr(given, option) is not None:
                raise ParameterError(
                    f"{found.kind} files do not take --{option} ({option}=). Leave it out."
                )
        return cls(passes, found, None, name)

    @cached_property
    def listing(self) -> Listing:
        """The files as they are read."""
        if self.dialect is None:
            return list_files(self.found)
        work, paths = self.passes.work, tuple(file.local for file in self.found.files)
        columns = first_dialect(paths[0], self.dialect)[1]
        work.keep(self.name, CsvSetting(paths, self.dialect, columns, frozenset(columns)))
        keep = partial(keep_as_text, self.name)
        self.passes.run(self.name, keep, len(paths), bytes_each=CSV_BYTES)
        places = [work.place(self.name, at, "arrow") for at in range(len(paths))]
        return list_files(self.found, places)

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers in text."""
        return "." if self.dialect is None else self.dialect.decimal or "."

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file, or of the list of those of all files."""
        name, n_files = f"{self.name}-sha256", len(self.found.files)
        self.passes.work.keep(name, _Hashed(self.found))
        self.passes.run(name, partial(_hash_file, name), n_files)
        names = [file.name for file in self.found.files]
        return sha256_of_files(self.found.root, names, [*self.passes.results(name, n_files)])

    @property
    def manifest_path(self) -> Path | None:
        """The manifest beside it, whether it belongs to it or not; None if there is none."""
        place = manifest_path(str(self.found.root))
        return place if place.exists() else None

    def manifest(self) -> Manifest | None:
        """Return the manifest beside it if it belongs to it, and warn if it does not."""
        if (place := self.manifest_path) is None:
            return None
        found = manifest_at(place, str(self.found.root), lambda: self.sha256, self.what)
        if found is not None and found.output is not None and found.output.formulas_escaped:
            raise ParameterError(
                "formulas are escaped in this file, which cannot be undone in parts. Leave the "
                "options of datasets out (--memory, memory=)."
            )
        return found

    @property
    def what(self) -> str:
        """What it is called."""
        return "folder" if self.found.root.is_dir() else "file"


def _hash_file(name: str, work: WorkFolder, number: int) -> str:
    file = work.facts(name).found.files[number]
    file.check_unchanged()
    digest = sha256_of(file.path)
    file.check_unchanged()
    return digest


def check_same_rows(before: Listing, after: Listing) -> None:
    """Refuse datasets of which one is not the other, file by file and row by row."""
    one, other = ([(f.name, f.n_rows) for f in own.files] for own in (before, after))
    if len(one) == len(other) == 1:
        one, other = ([("", own[0][1])] for own in (one, other))
    if one != other:
        raise DataError(
            "the files of the original do not have the names and rows of the protected ones. Give "
            "the dataset that was protected."
        )


def read_together(
    lead: Listing,
    columns: Sequence[str],
    other: Listing | None,
    other_columns: Sequence[str],
    number: int,
) -> Iterator[tuple[int, pa.Table, pa.Table | None]]:
    """Read a file of two datasets in the parts of the first, each with its number."""
    if other is None:
        yield from ((at, own, None) for at, own in _parts(lead, number, columns))
        return
    beside = _parts(other, number, other_columns)
    held: pa.Table | None = None
    for at, own in _parts(lead, number, columns):
        while held is None or held.num_rows < own.num_rows:
            _, more = next(beside)
            held = more if held is None else pa.concat_tables([held, more])
        yield at, own, held.slice(0, own.num_rows)
        held = held.slice(own.num_rows)


def _parts(listing: Listing, number: int, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
    for run, (file, _) in enumerate(listing.runs):
        if file == number:
            yield from listing.read(run, columns)
