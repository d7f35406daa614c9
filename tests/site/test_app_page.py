"""The page that starts with the app: its steps, done as they are written, end with a release."""

import re

import pytest

from docs.builder.staging import DOCS
from tests.app.conftest import watched
from tests.app.running import RunningApp
from tests.app.steward import Steward

pytestmark = pytest.mark.slow
TEXT = " ".join((DOCS / "start" / "app.md").read_text("utf-8").split())


def named(pattern):
    """Return what the page names in a sentence, which must be there."""
    found = re.search(pattern, TEXT)
    assert found, pattern
    return found.groups()


@pytest.fixture
def page(browser, tmp_path):
    app = RunningApp.start(tmp_path)
    with watched(browser) as context:
        yield Steward.enter(context, app)
    app.end()


def test_the_steps_end_with_a_release(page, tmp_path):
    (sample,) = named(r"Take \*(\w+)\*\.")
    (unit,) = named(r"`(\w+)` is the \*unit\*")
    (sensitive,) = named(r"such as `(\w+)`, is \*sensitive\*")
    card, option, value = named(r"under \*([\w ]+)\*, set \*([\w ]+)\* to \*(\w+)\*")
    (k,) = named(r"Choose k, say (\d+), and run it")
    page.go("data")
    page.page.click(f"#sample-{sample}")
    page.see("#card-described")
    page.go("roles")
    page.set_role(unit, "unit")
    page.set_role(sensitive, "sensitive")
    waiting = page.page.get_by_role("combobox", name=re.compile("^Role of "))
    others = [
        own.get_attribute("aria-label").removeprefix("Role of ")
        for own in waiting.all()
        if own.input_value() == ""
    ]
    for column in others:
        page.set_role(column, "quasi-identifier")
    page.page.wait_for_selector("#blocked", state="detached")
    page.see("#gaps")
    page.page.locator("#card-values", has_text=card).get_by_label(option).select_option(value)
    page.page.wait_for_selector("#gaps", state="detached")
    page.go("protect")
    page.set_option("k", k)
    page.run()
    page.has_release()
    page.write(tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").is_file()
