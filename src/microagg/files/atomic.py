"""Write a whole file or nothing: to a temporary file beside the target, which is then renamed.

Temporary files are named `.microagg-*.tmp`. One that remains when nothing is running was left by a
run that was killed, and can be deleted.
"""

import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from microagg.core.errors import ParameterError

# Writes a file to the path it is given.
Writer = Callable[[Path], object]


def check_target(path: Path, *, force: bool, source: Path | int | None = None) -> None:
    """Refuse a target that cannot or must not be written, before any long work.

    An existing file is replaced only with `force`. The `source` (a path or an open descriptor) is
    never replaced, whatever name or link leads to it.
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
                f"the folder of the output {str(path)!r} does not exist. Create it first."
            )
        _open_beside(_followed(path)).unlink()


def check_distinct(paths: Collection[Path]) -> None:
    """Refuse outputs that lead to the same file."""
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise ParameterError("two outputs lead to the same file. Give each its own name.")


def atomic_write_all(writers: Mapping[Path, Writer], *, force: bool) -> None:
    r"""Write several files, or none of them; each writer gets a path to write to.

    First all files are written beside their targets and synced, in reverse order, so that an
    earlier file can describe a later one. Then they are renamed in the order given, so put last
    the file that must never appear without the others. A failure before the first renaming leaves
    nothing behind. A later failure is undone: new files are removed, and replaced files are
    restored if the file system has hard links. A symbolic link stays a link, and the file it leads
    to is replaced; a replaced file keeps its permissions.

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
    """Yield an empty file beside each path; they are renamed when the block succeeds."""
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
    """Rename in order; if one fails, undo those before it."""
    with ExitStack() as spares, ExitStack() as undoing:
        for path, beside in zip(paths, besides, strict=True):
            with _writing(path):
                target = _followed(path)
                # After the last there is nothing to undo.
                undo = None if path is paths[-1] else _undo_for(target, spares)
                os.replace(beside, target)
                if undo is not None:
                    undoing.callback(_attempt, undo)
        undoing.pop_all()


def _attempt(undo: Callable[[], object]) -> None:
    with suppress(OSError):  # the first error is the one to report
        undo()


def _undo_for(target: Path, spares: ExitStack) -> Callable[[], object] | None:
    """Return a function that restores the target to its present state, None if impossible."""
    if not target.exists():
        return target.unlink
    spare = _name_beside(target)
    try:
        os.link(target, spare)
    except OSError:  # no hard links on this file system
        return None
    spares.callback(spare.unlink, missing_ok=True)
    return lambda: os.replace(spare, target)


def _followed(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _is_same(path: Path, source: Path | int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.stat(source))
    except OSError:  # the descriptor is closed
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
    # Not tempfile, whose files only their owner can read.
    os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    return beside


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the disk may be full, or the format may not hold a type"
        raise ParameterError(
            f"the output {str(path)!r} cannot be written: {reason}. Choose another place."
        ) from None


def _sync(path: Path) -> None:
    with path.open("r+b") as stream:
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the new names survive a power cut, if the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
