"""The guide to a whole table: what it says of the app gives the file that its command gives."""

import re

import pytest

from docs.builder.blocks import blocks
from docs.builder.staging import DOCS
from tests.app.conftest import watched
from tests.app.running import RunningApp
from tests.app.steward import Steward
from tests.site.running import Reader

pytestmark = pytest.mark.slow
TEXT = (DOCS / "guides" / "whole-table.md").read_text("utf-8")
ROLES = {
    "patient": "unit",
    "sex": "quasi-identifier",
    "district": "quasi-identifier",
    "diagnosis": "sensitive",
}


def roles_in(step):
    """Return the roles that a step of the guide names, by column."""
    found = {}
    for role, columns in re.findall(r"\*([a-z-]+)\*\s+for\s+((?:`\w+`(?: and )?)+)", step):
        found |= dict.fromkeys(re.findall(r"`(\w+)`", columns), role)
    return found


@pytest.fixture
def page(browser, tmp_path, monkeypatch):
    """The app on the table of the guide, which is made as the guide says, with its release."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    reader = Reader({})
    first, command = (own for own in list(blocks(TEXT))[:2])
    reader.run(first)
    reader.run(command)
    app = RunningApp.start(tmp_path, "stays.csv")
    with watched(browser) as context:
        yield Steward.enter(context, app)
    app.end()


def test_the_steps_in_the_app_give_the_file_of_the_command(page, tmp_path):
    (step,) = re.findall(r"2\. \*\*Roles\.\*\*(.*?)3\. ", TEXT, re.DOTALL)
    assert roles_in(step) == ROLES
    page.see("#card-described")
    page.go("roles")
    for column, role in ROLES.items():
        page.set_role(column, role)
    page.page.wait_for_selector("#blocked", state="detached")
    offered = page.page.locator("#constraint-proposals li", has_text="room + care = total")
    offered.get_by_role("button").click()
    page.see("#constraints")
    page.go("protect")
    assert page.see("#option-k").input_value() == "5"
    page.page.select_option("#new-requirement", label="l-diversity of diagnosis")
    page.page.fill("#requirement-value", "3")
    page.page.click("#add-requirement")
    page.see("#remove-requirement-0")
    page.set_option("random_state", "1")
    page.run()
    page.has_release()
    page.write(tmp_path / "app.csv")
    assert (tmp_path / "app.csv").read_bytes() == (tmp_path / "stays-safe.csv").read_bytes()


@pytest.mark.parametrize("page", ["index.md", "start/index.md", "guides/index.md"])
def test_the_guide_is_one_click_away(page):
    assert "whole-table.md)" in (DOCS / page).read_text("utf-8")
