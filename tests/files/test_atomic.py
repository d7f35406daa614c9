"""A file is written whole or not at all."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from microagg.core.errors import ParameterError
from microagg.files import atomic, temporary
from microagg.files.atomic import Private, atomic_write_all, check_target


def _write(target, *, force=False, then=lambda: None):
    def write(place):
        place.write_bytes(b"whole")
        if isinstance(happened := then(), BaseException):
            raise happened

    atomic_write_all({target: write}, force=force)


def test_the_file_appears_at_the_end(tmp_path):
    target = tmp_path / "out.csv"
    there = []
    _write(target, then=lambda: there.append(target.exists()))
    assert there == [False]
    assert target.read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("existing", [True, False])
def test_nothing_is_left_behind(tmp_path, failure, existing):
    target = tmp_path / "out.csv"
    if existing:
        target.write_bytes(b"old")
    with pytest.raises(failure):
        _write(target, force=True, then=failure)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == ([b"old"] if existing else [])


def test_a_file_made_in_the_meantime_is_kept(tmp_path):
    target = tmp_path / "out.csv"
    with pytest.raises(ParameterError, match="already exists"):
        _write(target, force=False, then=lambda: target.write_bytes(b"theirs"))
    assert target.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.fixture
def calls(monkeypatch):
    """What the system is asked to do: bytes are synced, names are given."""
    made = []
    for name in ("fsync", "replace", "link"):
        real = getattr(os, name)

        def record(*args, name=name, real=real):
            made.append("sync" if name == "fsync" else f"name {args[1].name}")
            return real(*args)

        monkeypatch.setattr(os, name, record)
    return made


@pytest.mark.parametrize("force", [True, False])
def test_the_bytes_reach_the_disk_before_the_name(tmp_path, calls, force):
    _write(tmp_path / "out.csv", force=force)
    assert calls[:2] == ["sync", "name out.csv"]


def test_checking_leaves_nothing(tmp_path):
    check_target(tmp_path / "out.csv", force=False)
    assert os.listdir(tmp_path) == []


def test_any_name_that_the_system_takes_can_be_written(tmp_path):
    target = tmp_path / f"{'x' * 251}.csv"
    check_target(target, force=False)
    _write(target)
    assert target.read_bytes() == b"whole"


def test_force_allows_an_existing_file_but_never_the_source(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("in")
    target.write_text("out")
    with pytest.raises(ParameterError, match="already exists"):
        check_target(target, force=False, source=source)
    check_target(target, force=True, source=source)
    target.unlink()
    target.symlink_to(source)
    with pytest.raises(ParameterError, match="never overwritten"):
        check_target(target, force=True, source=source)


def test_an_open_descriptor_is_a_source_too(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("in")
    with source.open() as stream:
        with pytest.raises(ParameterError, match="never overwritten"):
            check_target(source, force=True, source=stream.fileno())
        check_target(tmp_path / "out.csv", force=True, source=stream.fileno())
    check_target(source, force=True, source=987_654)  # a descriptor that is not open


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_replaced(tmp_path, there):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "file.csv", tmp_path / "link.csv"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    _write(link, force=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"whole"
    assert sorted(os.listdir(tmp_path)) == ["far", "link.csv"]
    assert os.listdir(tmp_path / "far") == ["file.csv"]


def test_a_replaced_file_passes_on_its_permissions(tmp_path):
    target = tmp_path / "out.csv"
    target.write_bytes(b"old")
    target.chmod(0o640)
    _write(target, force=True)
    assert target.stat().st_mode & 0o777 == 0o640


def test_system_errors_are_worded(tmp_path, monkeypatch):
    def refuse(*_args):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ParameterError, match="Read-only file system"):
        check_target(tmp_path / "out.csv", force=False)


def _text(content):
    return lambda path: path.write_text(content)


def _failing(*_args):
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("force", [True, False])
def test_several_files_appear_together_and_the_last_last(tmp_path, calls, force):
    both = {tmp_path / "m.json": _text("m"), tmp_path / "a.csv": _text("a")}
    atomic_write_all(both, force=force)
    assert calls[:4] == ["sync", "sync", "name m.json", "name a.csv"]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "m.json": "m",
        "a.csv": "a",
    }


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_renamings_waits_for_the_last(tmp_path, monkeypatch, sent):
    """The earlier manifest beside the new table would be that of another file."""

    def interrupted(*names):
        real(*names)
        signal.raise_signal(sent)

    def end(*_):
        raise KeyboardInterrupt

    both = {tmp_path / "a.csv": _text("old"), tmp_path / "m.json": _text("old")}
    atomic_write_all(both, force=True)
    real = os.replace
    monkeypatch.setattr(os, "replace", interrupted)
    before = signal.signal(sent, end)
    try:
        with pytest.raises(KeyboardInterrupt):
            atomic_write_all(dict.fromkeys(both, _text("new")), force=True)
        assert signal.getsignal(sent) is end
    finally:
        signal.signal(sent, before)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.csv": "new",
        "m.json": "new",
    }


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_writer_that_fails_leaves_no_file_at_all(tmp_path, failure):
    def write(_path):
        raise failure

    (tmp_path / "m").write_text("old")
    with pytest.raises(failure):
        atomic_write_all({tmp_path / "m": _text("new"), tmp_path / "a": write}, force=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"m": "old"}


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("existing", [True, False])
def test_a_name_that_cannot_be_taken_undoes_the_others(tmp_path, monkeypatch, existing, links):
    if existing:
        (tmp_path / "m").write_text("old")
    (tmp_path / "a").write_text("old")
    real = os.replace
    monkeypatch.setattr(
        os, "replace", lambda a, b: _failing() if b == tmp_path / "a" else real(a, b)
    )
    if not links:
        monkeypatch.setattr(os, "link", _failing)
    with pytest.raises(ParameterError, match="Input/output error"):
        atomic_write_all({tmp_path / "m": _text("new"), tmp_path / "a": _text("new")}, force=True)
    expected = {"a": "old"}
    if existing:
        expected["m"] = "old" if links else "new"  # without links there is no way back
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == expected


def test_what_replaces_leaves_no_spare(tmp_path):
    for name in ("m", "a"):
        (tmp_path / name).write_text("old")
    atomic_write_all({tmp_path / "m": _text("new"), tmp_path / "a": _text("new")}, force=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"m": "new", "a": "new"}


def test_one_of_several_that_exists_already_stops_all(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(ParameterError, match="already exists"):
        atomic_write_all({tmp_path / "m": _text("m"), tmp_path / "a": _text("a")}, force=False)
    assert os.listdir(tmp_path) == ["a"]


def test_two_outputs_in_one_file_are_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(ParameterError, match="same file"):
        atomic_write_all({tmp_path / "a": _text("x"), tmp_path / "link": _text("y")}, force=True)


def test_what_waits_to_be_renamed_can_be_told_by_its_name(tmp_path):
    names = []
    _write(tmp_path / "out.csv", then=lambda: names.extend(os.listdir(tmp_path)))
    (name,) = names
    assert name.startswith(".microagg-")
    assert name.endswith(".tmp")


def _mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("existing", [None, 0o644, 0o400])
def test_a_private_file_is_private_from_its_first_byte(tmp_path, existing):
    target = tmp_path / "audit.csv"
    if existing is not None:
        target.write_bytes(b"old")
        target.chmod(existing)
    modes = []

    def write(place):
        modes.append(_mode(place))
        place.write_bytes(b"who is who")

    atomic_write_all({target: Private(write)}, force=True)
    assert modes == [0o600]
    assert _mode(target) == 0o600


def test_a_temporary_file_is_no_looser_than_the_finished_one(tmp_path):
    target, modes = tmp_path / "out.csv", []
    target.write_bytes(b"old")
    target.chmod(0o640)
    _write(
        target,
        force=True,
        then=lambda: modes.extend(_mode(p) for p in tmp_path.iterdir() if p != target),
    )
    assert modes == [0o640]


@pytest.mark.parametrize("links", [True, False])
def test_of_two_runs_that_take_one_name_the_first_wins(tmp_path, monkeypatch, links):
    """The other run comes after the last check, which only the system itself can tell."""
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: _failing())
    both = {tmp_path / "m": _text("ours"), tmp_path / "a": _text("ours")}
    monkeypatch.setattr(
        "microagg.files.atomic._sync", lambda _beside: (tmp_path / "a").write_text("theirs")
    )
    monkeypatch.setattr("microagg.files.atomic._check_replaceable", lambda *_, **__: None)
    with pytest.raises(ParameterError, match="already exists"):
        atomic_write_all(both, force=False)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "theirs"}


def test_undoing_keeps_the_file_of_another_run(tmp_path, monkeypatch):
    def fail_late(_beside, path):
        if path.name == "a":
            (tmp_path / "m").unlink()
            (tmp_path / "m").write_text("theirs")
            raise OSError(5, "Input/output error")
        real(_beside, path)

    real = atomic.rename_to_free_name
    monkeypatch.setattr(atomic, "rename_to_free_name", fail_late)
    with pytest.raises(ParameterError, match="Input/output error"):
        atomic_write_all({tmp_path / "m": _text("m"), tmp_path / "a": _text("a")}, force=False)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"m": "theirs"}


@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("kind", ["pipe", "socket", "link to a device"])
def test_only_regular_files_are_replaced(tmp_path, kind, force):
    target = tmp_path / "out.csv"
    with socket.socket(socket.AF_UNIX) as listener:
        if kind == "pipe":
            os.mkfifo(target)
        elif kind == "socket":
            listener.bind(str(target))
        else:
            target.symlink_to("/dev/null")
        for attempt in (lambda: check_target(target, force=force), lambda: _write(target)):
            with pytest.raises(ParameterError, match="only regular files are replaced"):
                attempt()
    assert os.listdir(tmp_path) == ["out.csv"]


def _killed(folder):
    """Leave a temporary file behind, as a run that is killed does."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from microagg.files.temporary import temporary_file\n"
        "with temporary_file(Path(sys.argv[1]), 0o600):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(folder)], check=False)
    (left,) = folder.glob(".microagg-*.tmp")
    return left


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path, monkeypatch):
    left = _killed(tmp_path)
    _write(tmp_path / "first.csv")
    assert left.exists()  # so young that a run may be about to lock it
    monkeypatch.setattr(temporary, "_SECONDS_YOUNG", -1.0)
    (tmp_path / ".microagg-notes.tmp").write_text("somebody else's")
    _write(tmp_path / "second.csv")
    assert sorted(os.listdir(tmp_path)) == [".microagg-notes.tmp", "first.csv", "second.csv"]


def test_what_a_living_run_writes_is_not_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "_SECONDS_YOUNG", -1.0)
    _write(tmp_path / "out.csv", then=lambda: _write(tmp_path / "other.csv"))
    assert sorted(os.listdir(tmp_path)) == ["other.csv", "out.csv"]


def test_a_lock_that_is_never_released_does_not_stop_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "_SECONDS_TO_WAIT", 0.05)
    with temporary.one_run_at_a_time([tmp_path]):
        _write(tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_a_name_that_was_taken_for_nothing_is_given_up(tmp_path, monkeypatch, failure):
    def fail(*_args):
        raise failure

    monkeypatch.setattr(os, "link", lambda *_: _failing())
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises((ParameterError, KeyboardInterrupt)):
        _write(tmp_path / "out.csv")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("call", ["open", "close"])
def test_a_signal_just_after_a_temporary_file_was_made_leaves_none(tmp_path, monkeypatch, call):
    real = getattr(os, call)

    def interrupted(*args):
        real(*args)
        raise KeyboardInterrupt

    made = temporary.temporary_file(tmp_path, 0o600)
    with monkeypatch.context() as patched:
        patched.setattr(os, call, interrupted)
        with pytest.raises(KeyboardInterrupt), made:
            pass
    assert not list(tmp_path.iterdir())
