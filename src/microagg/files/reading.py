"""What every reader shares: an input file that is hashed as read, and errors in plain words."""

import errno
import hashlib
import os
import stat
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from microagg.core.errors import DataError, ParameterError
from microagg.files.expansion import DEFAULT_LIMIT, expanded_limit, too_large
from microagg.files.regular import irregular_kind, similar_file

if TYPE_CHECKING:  # the command line lists formats without loading polars
    import polars as pl

    from microagg.files.annotations import Annotations
    from microagg.files.dialect import Dialect

STANDARD_INPUT = "standard input"


class Reader(Protocol):
    """An open table file: its columns are known, and `table` reads the records."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in file order."""

    @property
    def dialect(self) -> "Dialect | None":
        """Delimiter, decimal mark and encoding of a CSV file; None for other formats."""

    @property
    def annotations(self) -> "Annotations | None":
        """Labels, codes and display formats of an SPSS, Stata or SAS file; None for others.

        Once `table` has been called, they also say which columns kept their missing-value codes.
        """

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file, as it was when read; None for standard input."""

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> "pl.DataFrame":
        """Read the records of the selected columns (default: all), in file order.

        Columns in `as_text` are kept as written: CSV fields stay text, and SPSS, Stata and SAS
        columns keep the codes that elsewhere become nulls.
        """


class InputFile:
    """A file to be read, or standard input; it must exist and be readable.

    `most_bytes` is what it may expand to if it is compressed; never less than the file itself, so
    that one that is not compressed is never too large.

    `read_all` hashes the bytes it returns. For a reader that leaves the reading to a library,
    `sha256` takes a pass of its own over the file, and `check_unchanged` makes sure that both saw
    the same content.
    """

    def __init__(
        self,
        path: str,
        suffix: str,
        *,
        is_standard_input: bool = False,
        max_expanded: int | str | None = None,
    ) -> None:
        self.path = Path(path)
        self.suffix = suffix
        self.where = STANDARD_INPUT if is_standard_input else repr(path)
        self._is_standard_input = is_standard_input
        self._sha256: str | None = None
        self._limit = DEFAULT_LIMIT if max_expanded is None else expanded_limit(max_expanded)
        self.most_bytes = self._limit
        if not is_standard_input:
            status = check_readable(self.path)
            self._opened_as = _fingerprint(status)
            self.most_bytes = max(self._limit, status.st_size)

    def read_all(self) -> bytes:
        """Return the whole content."""
        if self._is_standard_input:
            return _standard_bytes()
        data = _bytes_of(self.path)
        self._sha256 = hashlib.sha256(data).hexdigest()
        return data

    def check_expansion(self, n_bytes: int) -> None:
        """Refuse a compressed file if the bytes that it expands to are too many."""
        if n_bytes > self.most_bytes:
            raise too_large(self._limit, self.where)

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the content that was read; None for standard input."""
        if self._sha256 is None and not self._is_standard_input:
            with _reading(self.path):
                digest = sha256_of(self.path)
            self.check_unchanged()
            self._sha256 = digest
        return self._sha256

    def check_unchanged(self) -> None:
        """Refuse a file whose size or modification time has changed since it was opened."""
        with _reading(self.path):
            now = _fingerprint(os.stat(self.path))
        if now != self._opened_as:
            raise DataError(
                f"{self.where} changed while it was being read. Try again when nothing is writing "
                "to it."
            )


def _fingerprint(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_readable(path: Path) -> os.stat_result:
    """Return the status of an input file; refuse one that is missing or cannot be read."""
    with _reading(path):
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError
        if kind := irregular_kind(status.st_mode):
            raise ParameterError(
                f"the input {str(path)!r} is {kind}, not a regular file. Pipe it into standard "
                "input instead, which is called -."
            )
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return status


def select_columns(names: Sequence[str], columns: Collection[str] | None, where: str) -> list[str]:
    """Return the selected names in file order, all of them for None; refuse an unknown one.

    >>> select_columns(["a", "b", "c"], {"c", "a"}, "'t.csv'")
    ['a', 'c']
    """
    if columns is None:
        return list(names)
    known, wanted = set(names), set(columns)
    if unknown := [name for name in columns if name not in known]:
        raise ParameterError(f"{where} has no column {unknown[0]!r}.")
    return [name for name in names if name in wanted]


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse columns without a name, and two of the same name."""
    if repeated := next((name for name, count in Counter(names).items() if count > 1), None):
        # Not quoted: in a file without a header, these are the values of a record.
        places = [str(at) for at, name in enumerate(names, start=1) if name == repeated]
        raise DataError(
            f"columns {', '.join(places[:-1])} and {places[-1]} of {where} have the same name. "
            "Rename them first, or add a header line if there is none."
        )
    if not all(name.strip() for name in names):
        position = next(j for j, name in enumerate(names, start=1) if not name.strip())
        raise DataError(f"column {position} of {where} has no name. Name or remove it first.")


def _standard_bytes() -> bytes:
    if sys.stdin is None:
        raise ParameterError("standard input is closed. Pipe a table into it, or name a file.")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise ParameterError(f"standard input cannot be read: {error.strerror}.") from None


def _bytes_of(path: Path) -> bytes:
    with _reading(path):
        return path.read_bytes()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except IsADirectoryError:
        raise ParameterError(f"the input {str(path)!r} is a folder. Name a file in it.") from None
    except FileNotFoundError:
        hint = similar_file(path)
        raise ParameterError(f"the input {str(path)!r} does not exist.{hint}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ParameterError(f"the input {str(path)!r} cannot be read: {reason}.") from None
