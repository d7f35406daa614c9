"""The app in a process of its own, as a user starts it, and requests as anybody could make them."""

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

SECONDS_TO_START = 60


def private_folders(folder: Path) -> dict[str, str]:
    """Return an environment in which an app has its private folders here."""
    return {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}


@dataclass
class RunningApp:
    """An app, and what it has said on its terminal so far."""

    process: subprocess.Popen
    folder: Path
    lines: list[str] = field(default_factory=list)
    base: str = ""  # the folder of the app, once it was entered

    @classmethod
    def start(cls, folder: Path, *arguments: str, **environment: str) -> "RunningApp":
        env = {**os.environ, **private_folders(folder), **environment}
        command = [sys.executable, "-m", "microagg", "app", "--no-browser", *arguments]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
        app = cls(process, folder)
        threading.Thread(target=app._listen, daemon=True).start()
        app.wait_for(r"The app is open at")
        return app

    def _listen(self) -> None:
        for line in self.process.stderr:
            self.lines.append(line)

    def wait_for(self, pattern: str, seconds: float = SECONDS_TO_START) -> str:
        """Return the first line with this pattern, once it is there."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for line in list(self.lines):
                if re.search(pattern, line):
                    return line
            if self.process.poll() is not None and not self.process.stderr.closed:
                time.sleep(0.1)  # what it said last is still on its way
            time.sleep(0.02)
        raise AssertionError(f"no line with {pattern!r} in {self.lines}")

    @property
    def address(self) -> str:
        """The latest address that opens the app."""
        return re.findall(r"http://\S+", "".join(self.lines))[-1]

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.address)[1])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def workspaces(self) -> list[Path]:
        """The private folders of running apps, and what killed ones left behind."""
        return [path for path in (self.folder / "cache").glob("*/app-*") if path.is_dir()]

    def enter(self):
        """Use the one-time address; returns the answer, once the next address is known."""
        used, end = self.token, time.monotonic() + 10
        answer = self.request("/?token=" + used)
        assert answer.status == 200
        self.base = re.search(r'url=(/[^"]+)/"', answer.text)[1]
        while self.token == used:
            assert time.monotonic() < end, "no other address was given"
            time.sleep(0.01)
        return answer

    def cookie(self) -> str:
        """Return the cookie that the one-time address gives."""
        return self.enter().headers["set-cookie"].partition(";")[0]

    def request(self, path: str, method: str = "GET", body: bytes = b"", **headers: str):
        """Ask for something with these headers and no others; underscores stand for hyphens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        place = path if path.startswith("/?") else self.base + path
        connection.putrequest(method, place, skip_host=True, skip_accept_encoding=True)
        for name, value in {"host": f"127.0.0.1:{self.port}", **headers}.items():
            for one in value if isinstance(value, list) else [value]:
                connection.putheader(name.replace("_", "-"), one)
        connection.endheaders(body or None)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def upgrade(self, **headers: str) -> int:
        """Ask for the websocket; 101 is a yes."""
        asked = {
            "connection": "Upgrade",
            "upgrade": "websocket",
            "sec_websocket_version": "13",
            "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
            **headers,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        place = f"{self.base}/websocket/"
        connection.putrequest("GET", place, skip_host=True, skip_accept_encoding=True)
        for name, value in {"host": f"127.0.0.1:{self.port}", **asked}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        return status

    def end(self, number: int = signal.SIGINT) -> int:
        """End the app, as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
