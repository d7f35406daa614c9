"""Write a whole file or nothing: to a temporary file beside the target, which is then renamed.

No temporary file can be read by anyone who may not read the finished one. Of several runs that
write to one name without `force`, exactly one succeeds.
"""

import os
import signal
import stat
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from microagg.core.errors import ParameterError
from microagg.files.regular import irregular_kind
from microagg.files.temporary import (
    one_run_at_a_time,
    remove_leftovers,
    temporary_file,
    temporary_name,
)

# Writes a file to the path it is given.
Writer = Callable[[Path], object]


@dataclass(frozen=True)
class Private:
    """A writer of a file that only its owner may read, from its first byte."""

    write: Writer

    def __call__(self, path: Path) -> object:
        """Write the file."""
        return self.write(path)


# Permissions of a file that only its owner may read.
_PRIVATE = 0o600
_ANYONE = 0o666  # less what the process's mask takes away


def check_target(path: Path, *, force: bool, source: Path | int | None = None) -> None:
    """Refuse a target that cannot or must not be written, before any long work.

    An existing file is replaced only with `force`, and only if it is a regular file. The `source`
    (a path or an open descriptor) is never replaced, whatever name or link leads to it.
    """
    with _writing(path):
        if source is not None and path.exists() and _is_same(path, source):
            raise ParameterError(
                f"the output {str(path)!r} is the input itself, which is never overwritten. "
                "Choose another output."
            )
        if path.is_dir():
            raise ParameterError(f"the output {str(path)!r} is a folder. Name a file in it.")
        _check_replaceable(path, force=force)
        if not path.parent.is_dir():
            raise ParameterError(
                f"the folder of the output {str(path)!r} does not exist. Create it first."
            )
        with temporary_file(_followed(path).parent, _PRIVATE):
            pass


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
    restored if the file system has hard links. An interrupt that comes between two renamings waits
    for the last. A symbolic link stays a link, and the file it leads to is replaced; a replaced
    file keeps its permissions, unless the new one is `Private`.

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
    folders = {_followed(path).parent for path in writers}
    for folder in folders:
        remove_leftovers(folder)
    with ExitStack() as temporary:
        besides: dict[Path, Path] = {}
        for path, write in writers.items():
            _check_replaceable(path, force=force)
            with _writing(path):
                beside = temporary_file(_followed(path).parent, _mode_for(path, write) | _PRIVATE)
                besides[path] = temporary.enter_context(beside)
        for path, write in reversed(list(writers.items())):
            with _writing(path):
                write(besides[path])
        with one_run_at_a_time(folders):
            for path, write in writers.items():
                with _writing(path):
                    if isinstance(write, Private) or path.exists():
                        besides[path].chmod(_mode_for(path, write))
                    _sync(besides[path])
                    # Another run may have written it in the meantime.
                    _check_replaceable(path, force=force)
            with _signals_put_off():
                _rename(besides, force=force)
    for folder in folders:
        _sync_folder(folder)


def _rename(besides: Mapping[Path, Path], *, force: bool) -> None:
    """Rename in order; if one fails, undo those before it."""
    last = [*besides][-1:]
    with ExitStack() as spares, ExitStack() as undoing:
        for path, beside in besides.items():
            with _writing(path):
                target = _followed(path)
                # After the last there is nothing to undo.
                undo = None if path in last else _undo_for(target, beside, spares)
                if force:
                    os.replace(beside, target)
                else:
                    rename_to_free_name(beside, path)
                if undo is not None:
                    undoing.callback(_attempt, undo)
        undoing.pop_all()


@contextmanager
def _signals_put_off() -> Iterator[None]:
    """Let signals that ask for an end wait: between two renamings they would leave half a set."""
    if threading.current_thread() is not threading.main_thread():  # which alone can be interrupted
        yield
        return
    came: list[int] = []
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    handled = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in numbers
        if signal.getsignal(number) is not None  # else it is not Python's, and cannot be restored
    }
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def rename_to_free_name(beside: Path, path: Path) -> None:
    """Rename a file unless the name is taken, in one step that no other run can come between."""
    try:
        try:
            os.link(beside, path)
        except FileExistsError:
            raise
        except OSError:  # no hard links on this file system: take the name, then replace it
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE))
            try:
                os.replace(beside, path)
            except BaseException:
                path.unlink()  # a name alone is no output
                raise
        else:
            beside.unlink()
    except FileExistsError:
        raise _taken(path) from None


def _attempt(undo: Callable[[], object]) -> None:
    with suppress(OSError):  # the first error is the one to report
        undo()


def _undo_for(target: Path, beside: Path, spares: ExitStack) -> Callable[[], object] | None:
    """Return a function that restores the target to its present state, None if impossible."""
    if not target.exists():
        written = beside.stat()

        def remove() -> None:
            if os.path.samestat(target.stat(), written):  # not another run's
                target.unlink()

        return remove
    spare = temporary_name(target.parent)
    spares.callback(spare.unlink, missing_ok=True)  # first, as a signal may come at any time
    try:
        os.link(target, spare)
    except OSError:  # no hard links on this file system
        return None
    return lambda: os.replace(spare, target)


def _followed(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _is_same(path: Path, source: Path | int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.stat(source))
    except OSError:  # the descriptor is closed
        return False


def _mode_for(path: Path, write: Writer) -> int:
    """Return the permissions of a new file: those of the file it replaces, unless it is private."""
    if isinstance(write, Private):
        return _PRIVATE
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return _ANYONE


def _check_replaceable(path: Path, *, force: bool) -> None:
    """Refuse what exists, unless it may be replaced: a regular file, with `force`."""
    with suppress(OSError):
        if kind := irregular_kind(path.stat().st_mode):
            raise ParameterError(
                f"the output {str(path)!r} is {kind}, and only regular files are replaced. Name a "
                "file, or - for standard output."
            )
    if not force and os.path.lexists(path):
        raise _taken(path)


def _taken(path: Path) -> ParameterError:
    return ParameterError(
        f"the output {str(path)!r} already exists. Choose another, or replace it (--force, or "
        "force=True in Python)."
    )


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
