"""The process that does the work may crash, be killed or be interrupted: one line says so."""

import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

from microagg.cli.main import OUT_OF_MEMORY

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one process")

# Runs the command line as a process of its own does, with other work than that of a command.
SCRIPT = """
import os, signal, subprocess, sys, time
from microagg.cli import main as entry
def work(*_):
{work}
    return 0
entry._run = work
sys.argv = ["microagg", *{arguments!r}]
entry.main()
"""
SAVING = (
    "Choose --effort fast or another --method, --drop columns, use fewer records, or use a machine "
    "with more memory.\n"
)


def command(work, arguments=("protect", "t.csv")):
    indented = "".join(f"    {line}\n" for line in work.splitlines())
    return [sys.executable, "-c", SCRIPT.format(work=indented, arguments=list(arguments))]


def done(work, arguments=("protect", "t.csv"), **options):
    return subprocess.run(
        command(work, arguments), capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    ("work", "happened"),
    [
        ("os.abort()", "a library crashed"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "a library crashed"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "the process was killed"),
        ("os._exit(1)", "a library crashed"),  # as OpenBLAS does
    ],
)
def test_a_crash_is_one_line_with_what_to_do(work, happened):
    noise = "os.write(2, b'memory allocation of 8 bytes failed\\nstack backtrace:\\n')"
    ended = done(f"{noise}\n{work}")
    assert (ended.returncode, ended.stdout) == (OUT_OF_MEMORY, "")
    reason = "as happens when memory runs out; no output is half-written"
    assert ended.stderr == f"microagg: {happened}, {reason}. {SAVING}"


def test_commands_that_write_nothing_say_nothing_of_output():
    ended = done("os.abort()", ("verify", "t.csv"))
    assert ended.stderr == (
        "microagg: a library crashed, as happens when memory runs out. Use fewer "
        "columns or records, or a machine with more memory.\n"
    )


def test_an_interrupt_that_openblas_makes_is_a_lack_of_memory():
    ended = done(
        "os.write(2, b'OpenBLAS blas_thread_init: pthread_create failed for thread 1 of 2')\n"
        "signal.raise_signal(signal.SIGINT)\ntime.sleep(60)"
    )
    assert ended.returncode == OUT_OF_MEMORY
    said = "microagg: there is not enough memory; nothing was written. "
    assert ended.stderr == said + SAVING


@pytest.mark.parametrize("code", [0, 2, 4])
def test_exit_codes_and_what_libraries_print_are_passed_on(code):
    panic = (
        "\\nthread 'main' panicked at src/lib.rs:1:1:\\nno\\nnote: run with `RUST_BACKTRACE=1`\\n"
    )
    ended = done(
        f"print('said', file=sys.stderr)\nos.write(2, b\"a library\\n{panic}\")\n"
        f"subprocess.run(['sh', '-c', 'echo a process >&2'])\nreturn {code}"
    )
    assert (ended.returncode, ended.stderr) == (code, "said\na library\na process\n")


def test_a_crash_after_the_end_is_none():
    ended = done("import atexit\natexit.register(os.abort)\nprint('all done')\nreturn 3")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "all done\n", "")


def test_a_defect_still_has_its_traceback():
    ended = done("raise TypeError('a defect')")
    assert ended.returncode == 1
    assert ended.stderr.startswith("Traceback")
    assert ended.stderr.endswith("TypeError: a defect\n")


def test_standard_input_and_output_are_those_of_the_command():
    ended = done("sys.stdout.write(sys.stdin.read().upper())", input="some text")
    assert (ended.returncode, ended.stdout) == (0, "SOME TEXT")


# Counts interrupts until none has come for a second.
COUNTING = """
n, waits = 0, 30
while True:
    try:
        if waits == 30:
            print("ready", flush=True)
        time.sleep(waits)
        break
    except KeyboardInterrupt:
        n, waits = n + 1, 1
print("interrupts:", n, flush=True)"""


def started(work, **options):
    return subprocess.Popen(command(work), stdout=subprocess.PIPE, text=True, **options)


@pytest.mark.slow
def test_a_signal_to_the_process_comes_once():
    process = started(COUNTING)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate()[0] == "interrupts: 1\n"


@pytest.mark.slow
def test_a_signal_to_the_process_group_comes_once():
    process = started(COUNTING, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate()[0] == "interrupts: 1\n"


def shown(terminal, wanted):
    """Read from a terminal until `wanted` appears."""
    text, deadline = b"", time.monotonic() + 60
    while wanted not in text and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            text += os.read(terminal, 4096)
    assert wanted in text, text


@pytest.fixture
def at_terminal():
    """Start the counting process as a shell does, on a terminal of its own."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, command(COUNTING))
    shown(terminal, b"ready")
    yield process, terminal
    os.close(terminal)
    os.waitpid(process, 0)


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_comes_once(at_terminal):
    _, terminal = at_terminal
    os.write(terminal, b"\x03")
    shown(terminal, b"interrupts: 1")


@pytest.mark.slow
def test_a_stopped_worker_stops_the_process_and_both_go_on():
    """As with Ctrl-Z; in a test there is no shell that the terminal could go back to."""
    process = started(COUNTING)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTSTP)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    assert process.communicate()[0] == "interrupts: 1\n"


def test_the_worker_dies_with_the_process():
    process = started("print(os.getpid(), flush=True)\ntime.sleep(60)")
    assert int(process.stdout.readline()) != process.pid
    process.kill()
    assert process.communicate()[0] == ""  # all that hold standard output have ended
    assert process.returncode == -signal.SIGKILL


def test_a_signal_that_nobody_handles_ends_both_alike():
    process = started("print('ready', flush=True)\ntime.sleep(60)", stderr=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGHUP)
    assert process.communicate() == ("", "")
    assert process.returncode == -signal.SIGHUP


def test_a_second_sigterm_does_not_disturb_cleaning_up():
    process = started(
        "try:\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "finally:\n    print('cleaning', flush=True)\n    time.sleep(0.5)\n    print('clean')",
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    assert process.stdout.readline() == "cleaning\n"
    process.terminate()
    assert process.communicate()[0] == "clean\n"
    assert process.returncode == 143


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_are_not_taken_for_something_else(closed):
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command("return 3")],
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 3
