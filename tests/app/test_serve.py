"""Starting and ending the app: refusals, idleness, and what is left behind."""

import signal
import socket
import subprocess
import sys

import pytest

from microagg.app.serve import IDLE_MINUTES
from microagg.cli.main import main
from tests.app.running import RunningApp

REFUSED = 2


def refusal(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        main(["app", "--no-browser", *arguments])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return exit_.value.code, lines[0]


def test_a_port_that_is_taken_is_one_sentence(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, line = refusal(capsys, "--port", str(port))
    assert code == REFUSED
    assert line == (
        f"microagg: port {port} is taken. Choose another with --port, or leave it out for a free "
        "one."
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--port", "70000"), "from 1 to 65535"),
        (("--port", "many"), "many"),
        (("--idle-minutes", "0"), "above 0"),
        (("none.csv",), "none.csv"),
        (("people.docx",), "people.docx"),
        (("-",), "not standard input"),
        (("--host", "0.0.0.0"), "--host"),
    ],
)
def test_bad_requests_are_one_sentence(capsys, arguments, expected):
    code, line = refusal(capsys, *arguments)
    assert code == REFUSED
    assert expected in line


def test_the_extra_is_named_if_it_is_missing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shiny", None)
    code, line = refusal(capsys)
    assert code == REFUSED
    assert "pip install 'microagg[app]'" in line


@pytest.mark.parametrize("name", ["SHINY_TESTMODE", "SHINY_AUTORELOAD_PORT"])
def test_what_opens_the_app_to_others_is_refused(capsys, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    code, line = refusal(capsys)
    assert code == REFUSED
    assert f"unset {name}" in line


@pytest.mark.slow
def test_it_listens_to_this_machine_alone(app):
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", app.port))  # another address of this machine


@pytest.mark.slow
def test_it_stops_with_a_notice_when_nobody_uses_it(tmp_path):
    app = RunningApp.start(tmp_path, "--idle-minutes", "0.02")
    assert app.process.wait(20) == 0
    app.wait_for("The app stopped after 1.2 seconds without use")
    assert app.workspaces == []
    assert IDLE_MINUTES == 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 0)]
)
def test_nothing_is_left_when_it_is_ended(tmp_path, number, code):
    app = RunningApp.start(tmp_path)
    assert len(app.workspaces) == 1
    assert app.end(number) == code
    assert app.workspaces == []


@pytest.mark.slow
def test_what_a_kill_leaves_is_removed_by_the_next_app(tmp_path):
    killed = RunningApp.start(tmp_path)
    killed.process.kill()
    killed.process.wait()
    left = killed.workspaces
    assert len(left) == 1
    app = RunningApp.start(tmp_path)
    try:
        assert len(app.workspaces) == 1
        assert app.workspaces != left
    finally:
        app.end()


@pytest.mark.slow
def test_the_browser_is_opened_by_a_private_page(tmp_path, monkeypatch):
    """The address is not on a command line, which every user of the machine can read."""
    seen = tmp_path / "seen"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}; cat "${{1#file://}}" >> {seen}\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "microagg", "app", "--idle-minutes", "0.05"]
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    opened, page = seen.read_text().split("\n", 1)
    assert opened.startswith("file://")
    assert "token" not in opened
    address = done.stderr.partition("The app is open at ")[2].split()[0]
    assert f'content="0;url={address}"' in page
