"""Regular files, and what else a name may lead to, which is neither read nor replaced."""

import errno
import os
import stat
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

_KINDS = {
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISSOCK: "a socket",
}


def irregular_kind(mode: int) -> str | None:
    """Return what is there, by its mode, if it is neither a regular file nor a folder."""
    return next((words for holds, words in _KINDS.items() if holds(mode)), None)


def text_of_small_file(path: Path, most_bytes: int) -> str:
    """Return the text of a small file in UTF-8, if it is regular and at most `most_bytes` large.

    Anything else is an OSError whose `strerror` says why, or a UnicodeDecodeError. Nothing waits:
    a named pipe without a writer would never end.
    """
    # Not every system has pipes that make opening wait.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as stream:
        if kind := irregular_kind(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, f"it is {kind}, not a regular file")
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes >> 20} MiB")
    return data.decode("utf-8")


def similar_file(path: Path) -> str:
    """Suggest a file in the same folder with the same suffix and a similar name, if any."""
    stems: dict[str, str] = {}
    with suppress(OSError):
        siblings = (Path(name) for name in sorted(os.listdir(path.parent)))
        stems = {file.stem: file.name for file in siblings if file.suffix == path.suffix}
    close = get_close_matches(path.stem, stems, n=1, cutoff=0.8)
    return f" Did you mean {stems[close[0]]!r}?" if close else ""
