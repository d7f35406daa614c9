"""Who gets in: forged requests of every kind against an app as it is served."""

import http.client

import pytest

from microagg.app import guard
from tests.app.running import RunningApp


@pytest.fixture(scope="module")
def cookie(app):
    return app.cookie()


def test_the_address_sets_a_cookie_that_scripts_and_other_sites_cannot_use(app):
    answer = app.enter()
    assert len(app.base) > 20
    cookie = answer.headers["set-cookie"]
    assert cookie.endswith(f"; Path={app.base}/; HttpOnly; SameSite=Strict")
    assert f'content="0;url={app.base}/"' in answer.text


def test_the_cookie_belongs_to_a_folder_that_other_ports_do_not_have(app, cookie):
    """Browsers send a cookie for / to every port of this machine."""
    for place in ("/?", "/?x=/", f"/?{app.base}"):
        assert app.request(place, cookie=cookie).status == 403
    inside, app.base = app.base, "/guessed"
    try:
        assert app.request("/", cookie=cookie).status == 403
        assert app.upgrade(origin=app.origin, cookie=cookie) == 403
    finally:
        app.base = inside


def test_an_address_works_once(app):
    used = app.token
    app.enter()
    again = app.request("/?token=" + used)
    assert again.status == 403
    assert "was used before" in again.text
    assert "set-cookie" not in again.headers
    assert app.lines[-1].startswith("microagg: To open it in another browser: ")


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=guessed", "/lib/", "/session/x/upload/y"]
)
def test_nothing_is_shown_without_the_cookie(app, path):
    answer = app.request(path)
    assert answer.status == 403
    assert "script" not in answer.text


def test_a_guessed_cookie_is_refused(app):
    name = f"microagg-{app.port}"
    assert app.request("/", cookie=f"{name}=guessed").status == 403
    assert app.request("/", cookie=f"{name}=").status == 403
    assert app.request("/", cookie="; ;=;\x7f").status == 403


def test_the_page_is_shown_with_the_cookie(app, cookie):
    answer = app.request("/", cookie=cookie)
    assert answer.status == 200
    assert "<title>microagg</title>" in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_another_host_is_refused(app, cookie, host):
    host = host.format(port=app.port)
    assert app.request("/", host=host, cookie=cookie).status == 403
    assert app.upgrade(host=host, origin=f"http://{host}", cookie=cookie) == 403
    token = app.token
    assert app.request("/?token=" + token, host=host).status == 403
    assert app.token == token, "a refused request must not use up the address"


def test_two_hosts_are_refused(app, cookie):
    own = f"127.0.0.1:{app.port}"
    assert app.request("/", host=[own, "evil.example"], cookie=cookie).status in (400, 403)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_another_origin_is_refused(app, cookie, origin):
    origin = origin.format(port=app.port)
    assert app.request("/", origin=origin, cookie=cookie).status == 403
    assert app.request("/lib/x.js", origin=origin, cookie=cookie).status == 403
    assert (
        app.request("/session/a/upload/b", "POST", b"x", origin=origin, cookie=cookie).status == 403
    )
    assert app.upgrade(origin=origin, cookie=cookie) == 403


def test_what_changes_something_needs_an_origin(app, cookie):
    assert app.request("/session/a/upload/b", "POST", b"x", cookie=cookie).status == 403
    assert app.upgrade(cookie=cookie) == 403


def test_the_websocket_needs_the_cookie(app, cookie):
    assert app.upgrade(origin=app.origin) == 403
    assert app.upgrade(origin=app.origin, cookie=f"microagg-{app.port}=guessed") == 403
    assert app.upgrade(origin=app.origin, cookie=cookie) == 101


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_elsewhere_cannot_ask_even_with_the_cookie(app, cookie, site):
    assert app.request("/", sec_fetch_site=site, cookie=cookie).status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(app, cookie, method):
    assert app.request("/", method, origin=app.origin, cookie=cookie).status == 405


def test_headers_of_every_answer(app, cookie):
    for path, sent in {"/": cookie, "/lib/": cookie, "/nothing": "none=1"}.items():
        headers = app.request(path, cookie=sent).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ")
        scripts = policy.partition("script-src ")[2].partition(";")[0]
        assert "'unsafe-inline'" not in scripts
        assert "unsafe-eval" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_files_outside_the_package_are_not_served(app, cookie):
    for path in ("/lib/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/lib/%2e%2e/%2e%2e/x"):
        assert app.request(path, cookie=cookie).status == 404


def test_a_dropped_file_that_is_too_large_is_refused_before_it_is_sent(app, cookie):
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=20)
    connection.putrequest("POST", f"{app.base}/session/a/upload/b")
    for name, value in {"Origin": app.origin, "Cookie": cookie}.items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(guard.MOST_DROPPED + 1))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert "Open it by its path instead" in answer.read().decode()
    connection.close()


def run(coroutine):
    """Drive a coroutine that never waits for anything."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


def test_a_dropped_file_of_unknown_size_is_cut_off(monkeypatch):
    monkeypatch.setattr(guard, "MOST_DROPPED", 10)
    sent, taken = [], []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"123456", "more_body": True}

    async def read_all(_scope, receive, _send):
        while True:
            taken.append((await receive())["body"])

    guarded = guard.Guard(read_all, 80)
    headers = {"host": "127.0.0.1:80", "origin": "http://127.0.0.1:80"}
    headers["cookie"] = f"{guarded._cookie_name}={guarded._cookie}"
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"{guarded._folder}/session/a/upload/b",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    run(guarded(scope, receive, send))
    assert taken == [b"123456"]
    assert sent[0]["status"] == 413


@pytest.mark.slow
def test_two_apps_do_not_share_cookies(cookie, tmp_path):
    other = RunningApp.start(tmp_path)
    try:
        assert other.request("/", cookie=cookie).status == 403
    finally:
        other.end()
