"""A running app, a browser to look at it, and rules that every page keeps."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.app.running import RunningApp


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[RunningApp]:
    """An app that the tests of a file share."""
    running = RunningApp.start(tmp_path_factory.mktemp("app"))
    yield running
    running.end()


@contextmanager
def watched(browser, **options):
    """Yield a browser context; no page in it asks another host, or does what the policy forbids."""
    context = browser.new_context(**options)
    asked, violations = [], []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda said: violations.append(said.text) if is_violation(said) else None)
    context.on("weberror", lambda error: violations.append(str(error.error)))
    yield context
    context.close()
    hosts = {
        urlsplit(url).hostname for url in asked if urlsplit(url).scheme not in ("data", "blob")
    }
    assert hosts <= {"127.0.0.1", "localhost"}, hosts
    assert not violations, violations


def is_violation(said) -> bool:
    return said.type == "error" and "Content Security Policy" in said.text


@pytest.fixture
def context(browser):
    with watched(browser) as context:
        yield context
