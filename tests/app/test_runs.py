"""Runs in a browser: stopped, cancelled, reloaded, left alone; and two tabs at once."""

import re
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import polars as pl
import pytest

from tests.app.running import RunningApp
from tests.app.steward import TO_RUN, Steward
from tests.app.table import write_people
from tests.app.test_jobs import group_of, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes in /proc"),
]


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    """A table whose search takes minutes."""
    path = tmp_path_factory.mktemp("data") / "normal.csv"
    values = np.random.default_rng(1).normal(size=(4_000, 6)).round(4)
    pl.DataFrame(values, schema=list("abcdef")).write_csv(path)
    return path


@pytest.fixture
def steward(context, app):
    return Steward.enter(context, app)


def started(steward, table):
    """Start a run, and wait for its search."""
    steward.open(table)
    steward.go("protect")
    steward.set_option("effort", "best")
    steward.run()
    searching(steward)


def searching(steward):
    words = re.compile(r"searching.*loss so far \d")
    steward.page.locator("#progress-words-protect", has_text=words).wait_for(timeout=TO_RUN)


def job_folders(app):
    return {path for workspace in app.workspaces for path in workspace.glob("job-*")}


def leaders(app):
    """The processes of jobs of this app that are under way."""
    names = {str(folder).encode() for folder in job_folders(app)}
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"microagg.app.worker" in words and names & set(words):
            found.append(int(path.parent.name))
    return found


def test_stop_keeps_the_best_so_far(steward, long_table):
    started(steward, long_table)
    steward.page.click("#stop")
    steward.has_release()
    for step in ("protect", "explore", "release"):
        steward.go(step)
        assert "search was ended by hand" in steward.text("#ended")
        assert steward.page.inner_text("#body").count("best groups") == 1, "it is said once"
    steward.go("explore")
    assert "k = 5" in steward.text("#verdict")


def test_cancel_leaves_nothing_within_a_second(steward, app, long_table):
    before = job_folders(app)
    started(steward, long_table)
    (leader,) = leaders(app)
    began = time.monotonic()
    steward.page.click("#cancel-protect")
    wait_until(lambda: not group_of(leader), seconds=1)
    steward.see("#run")
    assert time.monotonic() - began < 2, "with the way from the page and back"
    assert "Cancelled" in steward.text("#said")
    steward.page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    place, height = steward.see("#said").bounding_box(), steward.page.viewport_size["height"]
    assert 0 < place["y"] < place["y"] + place["height"] < height, "in sight, wherever one is"
    kept = job_folders(app) - before
    assert not [folder for folder in kept if (folder / "release.pickle").exists()]
    assert leaders(app) == []
    steward.set_option("effort", "fast")
    assert steward.page.is_enabled("#run"), "another run can be started"


def test_a_reloaded_page_finds_its_run_and_its_choices(steward, long_table):
    started(steward, long_table)
    steward.page.reload()
    steward.is_ready()
    searching(steward)
    steward.go("protect")
    assert steward.page.input_value("#option-effort") == "best"
    steward.page.click("#stop")
    steward.has_release()


def test_a_run_goes_on_without_a_page(steward, context, app, long_table):
    started(steward, long_table)
    steward.page.close()
    assert len(leaders(app)) == 1
    another = Steward.another_tab(context, app)
    another.see("#take-over").click()
    searching(another)
    another.page.click("#stop")
    another.go("protect")
    another.has_release()


def test_two_tabs_have_choices_of_their_own(steward, context, app, long_table, tmp_path):
    steward.open(long_table)
    pl.DataFrame({"x": range(50), "y": range(50)}).write_csv(tmp_path / "other.csv")
    other = Steward.another_tab(context, app)
    other.open(tmp_path / "other.csv")
    other.go("protect")
    other.set_option("k", "9")
    steward.go("protect")
    assert steward.page.input_value("#option-k") == "5"
    assert "4,000 records" in steward.text("#k-means")
    assert "50 records" in other.text("#k-means")


def test_pages_say_that_the_app_has_stopped(browser, tmp_path):
    app = RunningApp.start(tmp_path, "--idle-minutes", "0.05")
    context = browser.new_context()
    steward = Steward.enter(context, app)
    steward.page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    assert "stopped after 3 seconds without use" in steward.text("#gone")
    place = steward.see("#gone").bounding_box()
    assert 0 <= place["y"] < steward.page.viewport_size["height"] / 2, "in sight, wherever one is"
    on_top = "gone => gone.contains(document.elementFromPoint(innerWidth / 2, %d))"
    middle = place["y"] + place["height"] / 2
    assert steward.see("#gone").evaluate(on_top % middle), "above the veil"
    assert app.process.wait(20) == 0
    context.close()


def test_a_busy_app_is_not_idle(browser, tmp_path, long_table):
    app = RunningApp.start(tmp_path, "--idle-minutes", "0.05")
    context = browser.new_context()
    try:
        steward = Steward.enter(context, app)
        started(steward, long_table)
        steward.page.wait_for_timeout(6_000)
        assert app.process.poll() is None
        searching(steward)
    finally:
        context.close()
        app.end()
    assert app.workspaces == []


def test_a_duplicated_tab_keeps_its_own_choices_when_it_is_reloaded(steward, context, tmp_path):
    steward.open(write_people(tmp_path))
    with context.expect_page() as opened:  # the browser copies what the tab has stored
        steward.page.evaluate("void window.open(location.href)")
    other = Steward(opened.value)
    other.is_ready()
    other.see("#card-described")
    other.go("protect")
    other.page.fill("#option-k", "9")
    other.page.press("#option-k", "Tab")
    other.page.wait_for_selector("#k-means:has-text('1 time in 9')")
    other.page.reload()
    other.is_ready()
    assert other.see("#option-k").input_value() == "9"
    steward.go("protect")
    assert steward.see("#option-k").input_value() == "5"


def test_a_server_on_another_port_gets_no_cookie(steward):
    """Other users of this machine can have one."""
    got = []

    class Listening(BaseHTTPRequestHandler):
        def do_GET(self):
            got.append(self.headers.get("cookie"))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Listening) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        steward.page.goto(f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
    assert got
    assert set(got) == {None}
