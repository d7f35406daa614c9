"""Folders and files on file systems that fsspec knows, such as s3://bucket/visits."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from microagg.core.errors import ParameterError

_MARK = "://"
_LOCAL = ("file", "local")
# What file systems say of a file that tells whether it was changed, in the order of preference.
_STAMPS = ["ETag", "etag", "checksum", "mtime", "LastModified", "last_modified", "updated"]
_STAMPS += ["modified", "created"]


@dataclass(frozen=True)
class Url:
    """A folder or file at a URL. Who may read and write there is for fsspec to know."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rpartition("/")[2]

    @property
    def hidden(self) -> "Url":
        """Where files are beside this until they get their names."""
        folder, _, name = self.url.rpartition("/")
        return Url(f"{folder}/.{name}.microagg-output")

    @property
    def manifest(self) -> "Url":
        """Where the manifest is, beside this."""
        from microagg.plans.beside import SUFFIX

        return Url(f"{self.url}{SUFFIX}")

    def below(self, name: str) -> "Url":
        """Return a file in this folder."""
        return Url(f"{self.url}/{name}")

    def opened(self) -> tuple[Any, str]:
        """Return the file system, and what this is called there."""
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ParameterError(
                "URLs need the package fsspec. Install it with pip install 'microagg[datasets]'."
            ) from None
        scheme = self.url.partition(_MARK)[0]
        try:
            found: tuple[Any, str] = url_to_fs(self.url)
        except ImportError as error:
            raise ParameterError(
                f"URLs with {scheme}{_MARK} need another package: {error}"
            ) from None
        except ValueError:
            raise ParameterError(
                f"fsspec knows no file system for {scheme}{_MARK}. Correct {self.url!r}."
            ) from None
        return found

    def exists(self) -> bool:
        """Whether there is something here."""
        files, path = self._fresh()
        return bool(files.exists(path))

    def is_dir(self) -> bool:
        """Whether this is a folder."""
        files, path = self._fresh()
        return bool(files.isdir(path))

    def files(self) -> Iterator[str]:
        """Return the names of the files in this folder and those below it."""
        files, path = self._fresh()
        for found in files.find(path):
            name = found.removeprefix(path).lstrip("/")
            if name and not name.endswith("/"):  # an object may stand for an empty folder
                yield name

    def size_and_stamp(self) -> tuple[int, str]:
        """Return how large a file is, and what tells whether it was changed."""
        files, path = self._fresh()
        found = files.info(path)
        stamp = next((str(found[key]) for key in _STAMPS if found.get(key) is not None), "")
        return int(found["size"]), stamp

    def fetch(self, path: Path) -> None:
        """Copy this file to a path."""
        files, own = self.opened()
        files.get_file(own, str(path))

    def send(self, path: Path) -> None:
        """Copy a file from a path to here."""
        files, own = self.opened()
        files.makedirs(files._parent(own), exist_ok=True)
        files.put_file(str(path), own)

    def move(self, other: "Url") -> None:
        """Give this file another place on the same file system."""
        files, own = self.opened()
        path = other.opened()[1]
        files.makedirs(files._parent(path), exist_ok=True)
        files.mv(own, path)

    def remove(self) -> None:
        """Remove this and all that is below, if it is there."""
        files, own = self._fresh()
        if files.exists(own):
            files.rm(own, recursive=True)

    def is_around(self, other: "Url") -> bool:
        """Whether the other is this, or below it."""
        (own_files, own), (files, path) = self.opened(), other.opened()
        own, path = own.rstrip("/"), path.rstrip("/")
        return own_files == files and f"{path}/".startswith(f"{own}/")

    def _fresh(self) -> tuple[Any, str]:
        """Return the file system without what it remembers of earlier looks."""
        files, path = self.opened()
        files.invalidate_cache()
        return files, path


Place = Path | Url


def place_of(given: str | PathLike[str]) -> Place:
    """Return what was given as a path, or as a URL if it is one of another file system."""
    text = fspath(given)
    scheme, mark, _ = text.partition(_MARK)
    if not mark:
        return Path(text)
    if scheme in _LOCAL:
        return Path(url2pathname(urlsplit(text).path))
    if urlsplit(text).password is not None:
        raise ParameterError(
            f"a URL must not hold a password, which messages would show; got one with "
            f"{scheme}{_MARK}. Put it into the configuration of fsspec."
        )
    url = text.rstrip("/")
    if _MARK not in url:
        raise ParameterError(f"the URL {text!r} names no folder or file. Name one.")
    return Url(url)
