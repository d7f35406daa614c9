"""Paths as people enter them."""

from pathlib import Path
from urllib.request import url2pathname

from microagg.core.errors import ParameterError


def entered_path(text: str) -> Path:
    """Return the absolute path of a file that was entered, with ~ for the home folder.

    >>> entered_path(' "/data/people.csv" ').as_posix()
    '/data/people.csv'
    >>> entered_path("file:///data/my%20people.csv").as_posix()
    '/data/my people.csv'
    """
    name = text.strip().strip('"')
    if name.startswith("file://"):  # as file managers copy it
        name = url2pathname(name.removeprefix("file://"))
    try:
        name.encode()
        if "\0" in name:
            raise ValueError
        return Path(name).expanduser().absolute()
    except (ValueError, RuntimeError):  # ~ and a name that no user has
        raise ParameterError(f"{name!r} is not the path of a file. Enter another.") from None


def is_there(path: str | Path) -> bool:
    """Whether something is at a path, as far as it can be looked at."""
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long, a folder that may not be entered
        return False


def stamp_of(path: str) -> tuple[int, int] | None:
    """Return what changes when a file is written."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
