"""Write a file whole or not at all: beside the target first, then renamed."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from microagg.errors import ParameterError


def check_target(path: Path, *, force: bool, source: Path | int | None = None) -> None:
    """Refuse a target that cannot or must not be written, before any long work.

    An existing file is replaced only with `force`; the `source` (a path or an open descriptor),
    by whatever name or link, never.
    """
    with _writing(path):
        if source is not None and path.exists() and _is_same(path, source):
            raise ParameterError(
                f"the output {str(path)!r} is the input itself, which is never overwritten. "
                "Choose another output."
            )
        if path.is_dir():
            raise ParameterError(f"the output {str(path)!r} is a folder. Name a file in it.")
        _check_absent(path, force=force)
        if not path.parent.is_dir():
            raise ParameterError(
                f"the folder of the output {str(path)!r} does not exist. Make it first."
            )
        probe, stream = _open_beside(_followed(path))
        stream.close()
        probe.unlink()


@contextmanager
def atomic_write(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file beside `path` to write to; it takes the name `path` when the block succeeds.

    If the block fails or is interrupted, nothing is left behind and `path` is as it was. A link
    stays a link: the file that it leads to is replaced. A file that is replaced passes on its
    permissions.
    """
    _check_absent(path, force=force)
    with _writing(path):
        target = _followed(path)
        beside, stream = _open_beside(target)
        try:
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            # Another run may have written it in the meantime.
            _check_absent(path, force=force)
            with suppress(FileNotFoundError):
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
        _sync_folder(target.parent)


def _followed(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _is_same(path: Path, source: Path | int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.stat(source))
    except OSError:  # a closed descriptor is no file
        return False


def _check_absent(path: Path, *, force: bool) -> None:
    if not force and os.path.lexists(path):
        raise ParameterError(
            f"the output {str(path)!r} exists already. Choose another, or replace it (--force, "
            "or force=True in Python)."
        )


def _open_beside(path: Path) -> tuple[Path, BinaryIO]:
    beside = path.with_name(f".microagg-{secrets.token_hex(8)}.tmp")
    # Not tempfile: its files are for their owner only, and the result would be too.
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _O_BINARY, 0o666)
    return beside, os.fdopen(descriptor, "wb")


_O_BINARY: int = getattr(os, "O_BINARY", 0)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the disk may be full, or a type does not fit the format"
        raise ParameterError(
            f"the output {str(path)!r} cannot be written: {reason}. Choose another place."
        ) from None


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
