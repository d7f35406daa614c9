"""Write files whole or not at all: beside the target first, then renamed.

The files beside a target are named `.microagg-*.tmp`; one that is there without a run was left by a
run that was killed, and may be removed.
"""

import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from microagg.core.errors import ParameterError

# What writes a file, given the path to write to.
Writer = Callable[[Path], object]


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
        _open_beside(_followed(path)).unlink()


@contextmanager
def atomic_write(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file beside `path` to write to; it takes the name `path` when the block succeeds.

    If the block fails or is interrupted, nothing is left behind and `path` is as it was. A link
    stays a link: the file that it leads to is replaced. A file that is replaced passes on its
    permissions.
    """
    with _staged([path], force=force) as (beside,), _writing(path), beside.open("wb") as stream:
        yield stream


def check_distinct(paths: Collection[Path]) -> None:
    """Refuse outputs of which two are the same file."""
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise ParameterError("two outputs lead to the same file. Give each a name of its own.")


def atomic_write_all(writers: Mapping[Path, Writer], *, force: bool) -> None:
    r"""Write several files together, or none of them; each writer gets a path to write to.

    All files are written and synced beside their targets first, the last one first, so that those
    before it can speak of it. Then they take their names in the order given: put last what must
    never be there without the others. What fails before the first
    takes its name leaves nothing behind. What fails later is undone: new files are removed, and
    replaced ones come back where the file system has hard links. As with `atomic_write`, links stay
    links and permissions are passed on.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> atomic_write_all(
    ...     {
    ...         folder / "manifest.json": lambda path: path.write_text("{}"),
    ...         folder / "table.csv": lambda path: path.write_text("a\n1\n"),
    ...     },
    ...     force=False,
    ... )
    >>> sorted(path.name for path in folder.iterdir())
    ['manifest.json', 'table.csv']
    """
    check_distinct(writers)
    with _staged(list(writers), force=force) as besides:
        pairs = list(zip(besides, writers.items(), strict=True))
        for beside, (path, write) in reversed(pairs):
            with _writing(path):
                write(beside)


@contextmanager
def _staged(paths: Sequence[Path], *, force: bool) -> Iterator[list[Path]]:
    """Give an empty file beside each path; they take the names when the block succeeds."""
    besides: list[Path] = []
    try:
        for path in paths:
            _check_absent(path, force=force)
            with _writing(path):
                besides.append(_open_beside(_followed(path)))
        yield besides
        for path, beside in zip(paths, besides, strict=True):
            with _writing(path):
                with suppress(FileNotFoundError):
                    beside.chmod(stat.S_IMODE(path.stat().st_mode))
                _sync(beside)
                # Another run may have written it in the meantime.
                _check_absent(path, force=force)
        _rename(paths, besides)
    finally:
        for beside in besides:
            beside.unlink(missing_ok=True)
    for folder in {_followed(path).parent for path in paths}:
        _sync_folder(folder)


def _rename(paths: Sequence[Path], besides: Sequence[Path]) -> None:
    """Rename in order; what was renamed before one that fails is undone."""
    with ExitStack() as spares, ExitStack() as undoing:
        for path, beside in zip(paths, besides, strict=True):
            with _writing(path):
                target = _followed(path)
                # After the last there is nothing to undo.
                undo = None if path is paths[-1] else _way_back(target, spares)
                os.replace(beside, target)
                if undo is not None:
                    undoing.callback(_attempt, undo)
        undoing.pop_all()


def _attempt(undo: Callable[[], object]) -> None:
    with suppress(OSError):  # what went wrong first is what is reported
        undo()


def _way_back(target: Path, spares: ExitStack) -> Callable[[], object] | None:
    """Return what brings back the state of the target as it is now, if anything can."""
    if not target.exists():
        return target.unlink
    spare = _name_beside(target)
    try:
        os.link(target, spare)
    except OSError:  # no hard links here
        return None
    spares.callback(spare.unlink, missing_ok=True)
    return lambda: os.replace(spare, target)


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


def _name_beside(path: Path) -> Path:
    return path.with_name(f".microagg-{secrets.token_hex(8)}.tmp")


def _open_beside(path: Path) -> Path:
    beside = _name_beside(path)
    # Not tempfile: its files are for their owner only, and the result would be too.
    os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    return beside


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the disk may be full, or a type does not fit the format"
        raise ParameterError(
            f"the output {str(path)!r} cannot be written: {reason}. Choose another place."
        ) from None


def _sync(path: Path) -> None:
    with path.open("r+b") as stream:
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the new names survive a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
