"""Who may talk to the app: the browser that was opened with its one-time address, and nobody else.

Every request, for a page, a file or the websocket, must name this machine as its host, come from a
page of the app if it comes from a page at all, and carry the cookie that the one-time address sets.
A site that is open in the same browser fails the second, a program of another user the third.
Browsers send cookies to every port of a host, so to servers of other users on this machine as well.
The app is therefore in a folder that nobody can guess, and so is its cookie.
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_DROPPED = 200_000_000  # bytes of a dropped file
TOO_LARGE = (
    f"A dropped file may have {MOST_DROPPED // 1_000_000} MB at most. Open it by its path "
    "instead: then it is neither copied nor limited."
)
STOPPED_MESSAGE = "microagg-stopped"  # the custom message that a page gets before the app stops
_REFUSED_SOCKET = 1008
_GOING_AWAY = 1001

# Everything comes from the app itself. Scripts are files, or those in the page that Shiny puts
# there, by their hashes; none is made from text. Shiny and Bootstrap set style attributes, and
# carry a few icons as data.
_POLICY = {
    "default-src": "'none'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), usb=()",
    "cache-control": "no-store",
}
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8">{head}<title>microagg</title>'
    "<p>{text}</p></html>"
)


class Guard:
    """Lets requests through to an app that prove where they come from.

    `page` is the HTML of the app's page, whose scripts may run. `announce` is called with the next
    one-time address whenever one was used, so that a browser that was closed can be opened again.
    """

    def __init__(
        self,
        app: App,
        port: int,
        *,
        page: str = "",
        announce: Callable[[str], object] | None = None,
    ) -> None:
        self._app = app
        self._announce = announce
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._security = _security_headers(self._hosts, hashes_of_scripts(page))
        self._cookie_name = f"microagg-{port}"
        self._folder = f"/{secrets.token_urlsafe(16)}"
        self._cookie = secrets.token_urlsafe(32)
        self._token = secrets.token_urlsafe(32)
        self._sockets: set[_Socket] = set()
        self.last_used = time.monotonic()

    @property
    def address(self) -> str:
        """The address that opens the app, once."""
        return f"http://{self._hosts[0]}/?token={self._token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._request(scope, receive, send)

    async def stop(self, notice: str) -> None:
        """Tell every open page that the app stops, and why."""
        for socket in list(self._sockets):
            await socket.say_goodbye(notice)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        if (refusal := self._refusal(headers, needs_origin=scope["method"] != "GET")) is not None:
            await _answer(send, 403, refusal)
            return
        if scope["method"] not in ("GET", "HEAD", "POST"):
            await _answer(send, 405, "This is not supported.")
            return
        token = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token")
        if token is not None and scope["path"] == "/" and scope["method"] == "GET":
            await self._enter(token[0], send)
            return
        inner = self._inner(scope)
        if inner is None or not self._has_cookie(headers) or not _is_from_here(headers):
            await _answer(send, 403, self._how_to_enter())
            return
        self.last_used = time.monotonic()
        if _says_too_much(headers):
            await _answer_plainly(send, 413, TOO_LARGE)
            return
        try:
            await self._app(inner, _limited(receive), self._with_headers(send))
        except TooLargeError:  # nothing was answered yet: the app was still reading
            await _answer_plainly(send, 413, TOO_LARGE)

    async def _enter(self, token: str, send: Send) -> None:
        """Exchange the token for the cookie.

        The answer is a page that leads to the app. A browser that was opened from elsewhere would
        not send the new cookie along with a redirect, but does when this page asks for the next.
        """
        if not _equal(token, self._token):
            await _answer(send, 403, f"This address was used before. {self._how_to_enter()}")
            return
        self._token = secrets.token_urlsafe(32)
        self.last_used = time.monotonic()
        cookie = (
            f"{self._cookie_name}={self._cookie}; Path={self._folder}/; HttpOnly; SameSite=Strict"
        )
        head = f'<meta http-equiv="refresh" content="0;url={self._folder}/">'
        text = f'Opening <a href="{self._folder}/">microagg</a>.'
        await _answer(send, 200, text, head=head, also={"set-cookie": cookie})
        if self._announce is not None:
            self._announce(self.address)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        refusal, inner = self._refusal(headers, needs_origin=True), self._inner(scope)
        if refusal is not None or inner is None or not self._has_cookie(headers):
            await receive()  # the request to connect, which is declined: 403
            await send({"type": "websocket.close", "code": _REFUSED_SOCKET})
            return
        socket = _Socket(self, receive, send)
        self._sockets.add(socket)
        try:
            await self._app(inner, socket.receive, socket.send)
        finally:
            self._sockets.discard(socket)

    def _refusal(self, headers: dict[str, list[str]], *, needs_origin: bool) -> str | None:
        """Say why a request cannot be one of this app's pages, if it cannot."""
        host, origin = headers.get("host", []), headers.get("origin", [])
        if len(host) != 1 or host[0] not in self._hosts:
            return f"The app is at http://{self._hosts[0]}/ only."
        if (needs_origin or origin) and origin != [f"http://{host[0]}"]:
            return "Only the app's own pages may send requests."
        return None

    def _inner(self, scope: Scope) -> Scope | None:
        """Return a request to the folder of the app as the app sees it; None for any other."""
        path = str(scope["path"])
        if not path.startswith(f"{self._folder}/"):
            return None
        raw = scope.get("raw_path") or path.encode()
        cut = len(self._folder)
        return {**scope, "path": path[cut:], "raw_path": raw[cut:]}

    def _has_cookie(self, headers: dict[str, list[str]]) -> bool:
        for text in headers.get("cookie", []):
            try:
                found = SimpleCookie(text).get(self._cookie_name)
            except CookieError:
                continue
            if found is not None and _equal(found.value, self._cookie):
                return True
        return False

    def _how_to_enter(self) -> str:
        return (
            "Open the app with the address that is shown in its terminal; each address works "
            "once. If there is none, start it again with: microagg app"
        )

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.encode() for name in (*_HEADERS, "content-security-policy")}
                kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in own]
                message = {**message, "headers": [*kept, *self._security]}
            await send(message)

        return sending


class _Socket:
    """A page that is connected; what it sends counts as use."""

    def __init__(self, guard: Guard, receive: Receive, send: Send) -> None:
        self._guard = guard
        self._receive = receive
        self._send = send
        self._is_open = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._guard.last_used = time.monotonic()
        if message["type"] == "websocket.disconnect":
            self._is_open = False
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._is_open = True
        elif message["type"] == "websocket.close":
            self._is_open = False
        await self._send(message)

    async def say_goodbye(self, notice: str) -> None:
        """Send a custom message, as Shiny does, and close."""
        if self._is_open:
            text = json.dumps({"custom": {STOPPED_MESSAGE: notice}})
            await self.send({"type": "websocket.send", "text": text})
            await self.send({"type": "websocket.close", "code": _GOING_AWAY})


class TooLargeError(Exception):
    """More was sent than a dropped file may have."""


def _says_too_much(headers: dict[str, list[str]]) -> bool:
    """Whether a request announces more than a dropped file may have."""
    sizes = headers.get("content-length", [])
    return any(not size.isdecimal() or int(size) > MOST_DROPPED for size in sizes)


def _limited(receive: Receive) -> Receive:
    """Return a `receive` that fails when more has come, whatever was announced."""
    taken = 0

    async def receiving() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MOST_DROPPED:
            raise TooLargeError
        return message

    return receiving


def _headers(scope: Scope) -> dict[str, list[str]]:
    """Return all values of each header: two of one that must be unique are a forgery."""
    found: dict[str, list[str]] = {}
    for name, value in scope.get("headers", []):
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _is_from_here(headers: dict[str, list[str]]) -> bool:
    """Whether the browser says that a page of the app asks, or the user by hand.

    Browsers that do not say are old, and hold back the cookie all the same.
    """
    return set(headers.get("sec-fetch-site", [])) <= {"same-origin", "none"}


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def hashes_of_scripts(page: str) -> list[str]:
    """Return the hashes of the scripts within a page, as a policy lists them.

    >>> hashes_of_scripts('<script src="a.js"></script><script>run()</script>')
    ["'sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ='"]
    """
    texts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def _security_headers(
    hosts: tuple[str, ...] = (), hashes: Sequence[str] = ()
) -> list[tuple[bytes, bytes]]:
    policy = {
        **_POLICY,
        "script-src": " ".join(("'self'", *hashes)),
        "connect-src": " ".join(("'self'", *(f"ws://{host}" for host in hosts))),
    }
    text = "; ".join(f"{name} {value}" for name, value in policy.items())
    pairs = {**_HEADERS, "content-security-policy": text}
    return [(name.encode(), value.encode()) for name, value in pairs.items()]


async def _answer_plainly(send: Send, code: int, text: str) -> None:
    """Answer with text alone, which the page shows as it is."""
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    start = {"type": "http.response.start", "status": code}
    await send({**start, "headers": [*headers, *_security_headers()]})
    await send({"type": "http.response.body", "body": body})


async def _answer(
    send: Send, code: int, text: str, *, head: str = "", also: dict[str, str] | None = None
) -> None:
    body = _PAGE.format(head=head, text=text).encode()
    own = {"content-type": "text/html; charset=utf-8", "content-length": str(len(body))}
    headers = [(name.encode(), value.encode()) for name, value in {**own, **(also or {})}.items()]
    await send(
        {
            "type": "http.response.start",
            "status": code,
            "headers": [*headers, *_security_headers()],
        }
    )
    await send({"type": "http.response.body", "body": body})
