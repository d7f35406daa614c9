"""What `microagg app` does: the app in this process, on this machine's own address, until it ends.

The app ends with Ctrl-C, or after an hour without use: no page has sent anything, no job is under
way, and no release waits to be written. Its private folder goes with it.
"""

import asyncio
import contextlib
import errno
import math
import os
import signal
import socket
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.core.errors import ParameterError
from microagg.core.words import counted, printable
from microagg.files.formats import STANDARD
from microagg.release.saving import check_source

if TYPE_CHECKING:
    import uvicorn

    from microagg.app.guard import Guard
    from microagg.app.workspace import Workspace

LOOPBACK = "127.0.0.1"
IDLE_MINUTES = 60
_LARGEST_PORT = 65_535
_SECONDS_BETWEEN_LOOKS = 1.0
_MOST_MESSAGE = 4 << 20  # bytes that a page sends in one message


def serve(
    file: str | None,
    port: int | None,
    browser: bool,
    *,
    idle_minutes: float = IDLE_MINUTES,
) -> None:
    """Serve the app until it is stopped; `port` None is a free one."""
    _check_environment()
    if file is not None:
        if file == STANDARD:
            raise ParameterError("the app opens files, not standard input. Name a file.")
        check_source(file)
        file = str(Path(file).absolute())
    if not 0 < idle_minutes < math.inf:
        raise ParameterError(
            f"--idle-minutes must be a number of minutes above 0; got {idle_minutes}."
        )
    from microagg.app.workspace import Workspace

    with _bound(port) as listening, Workspace() as workspace:
        # Shiny puts uploads where Python puts temporary files.
        tempfile.tempdir = str(workspace.dropped)
        guard = build(workspace, file, port=listening.getsockname()[1], announce=_announce)
        _say(f"The app is open at {guard.address}")
        _say("This address works once, on this machine. Stop the app with Ctrl-C.")
        if browser:
            _open_browser(guard.address, workspace.folder)
        _run(guard, listening, workspace, idle_minutes)


def build(
    workspace: "Workspace",
    opened: str | None,
    *,
    port: int = 0,
    announce: Callable[[str], object] | None = None,
) -> "Guard":
    """Return the guarded app, ready to be served on a port of the loopback address."""
    from microagg.app.guard import Guard
    from microagg.app.page import app

    shown = app(workspace, opened)
    if callable(shown.ui):
        raise TypeError("the page must be the same for everyone, so that its scripts are known")
    return Guard(shown, port, page=shown.ui["html"], announce=announce)


def _check_environment() -> None:
    """Refuse what would open the app to others, and what would report to others."""
    try:
        import shiny  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise ParameterError(
            "the app needs Shiny for Python. Install it with pip install 'microagg[app]'."
        ) from None
    for name in ("SHINY_TESTMODE", "SHINY_AUTORELOAD_PORT"):
        if os.environ.get(name):
            raise ParameterError(
                f"the environment variable {name} is set: it would let pages look inside the "
                f"app. Remove it: unset {name}"
            )
    os.environ["SHINY_OTEL_COLLECT"] = "none"


def _bound(port: int | None) -> socket.socket:
    """Return a socket on the loopback address, with this port or a free one."""
    if port is not None and not 1 <= port <= _LARGEST_PORT:
        raise ParameterError(f"--port must be a number from 1 to {_LARGEST_PORT}; got {port}.")
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would allow two apps on one port
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((LOOPBACK, port or 0))
        found.listen()
    except OSError as error:
        found.close()
        why = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
        raise ParameterError(
            f"port {port} {why}. Choose another with --port, or leave it out for a free one."
        ) from None
    return found


def _run(
    guard: "Guard", listening: socket.socket, workspace: "Workspace", idle_minutes: float
) -> None:
    import uvicorn

    config = uvicorn.Config(
        guard,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=_MOST_MESSAGE,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt):  # the way to stop it
        asyncio.run(_served(server, guard, listening, workspace, 60.0 * idle_minutes))
    _say("The app has stopped; its private files are removed.")


async def _served(
    server: "uvicorn.Server",
    guard: "Guard",
    listening: socket.socket,
    workspace: "Workspace",
    idle_seconds: float,
) -> None:
    """Serve until somebody stops it, or nobody uses it."""

    async def watch() -> None:
        while True:
            await asyncio.sleep(min(_SECONDS_BETWEEN_LOOKS, idle_seconds / 4))
            if await asyncio.to_thread(workspace.is_busy):
                guard.last_used = time.monotonic()
            if time.monotonic() - guard.last_used >= idle_seconds:
                notice = f"The app stopped after {_minutes(idle_seconds)} without use."
                await guard.stop(notice)
                _say(notice)
                server.should_exit = True
                return

    _end_with_terminal(server)
    watching = asyncio.create_task(watch())
    try:
        await server.serve(sockets=[listening])
    finally:
        watching.cancel()


def _end_with_terminal(server: "uvicorn.Server") -> None:
    """Have a terminal that is closed stop the app as Ctrl-C does; `nohup` keeps it running."""

    def stop() -> None:
        server.should_exit = True

    number = getattr(signal, "SIGHUP", None)
    if number is not None and signal.getsignal(number) is signal.SIG_DFL:
        asyncio.get_running_loop().add_signal_handler(number, stop)


def _minutes(seconds: float) -> str:
    return counted(round(seconds / 60), "minute") if seconds >= 60 else f"{seconds:g} seconds"


def _announce(address: str) -> None:
    _say(f"To open it in another browser: {address}")


def _open_browser(address: str, folder: Path) -> None:
    """Open the browser by a private page: other users can see the commands that are run."""
    page = folder / "open.html"
    target = escape(address, quote=True)
    refresh = f'<meta http-equiv="refresh" content="0;url={target}">'
    text = f"<!doctype html>{refresh}<title>microagg</title>"
    page.touch(0o600)
    page.write_text(text, encoding="utf-8")
    with contextlib.suppress(webbrowser.Error):  # the address is on the terminal
        webbrowser.open(page.as_uri())


def _say(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody is listening any more
        sys.stderr.write(f"microagg: {printable(line)}\n")
        sys.stderr.flush()
