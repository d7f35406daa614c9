"""The order of categories in a browser: with the mouse, with the keyboard, and as text."""

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.app.steward import Steward

pytestmark = pytest.mark.slow
SIZES = ["L", "M", "S", "XL"]  # as they are listed at first: in the order of letters


@pytest.fixture
def steward(context, app, tmp_path):
    """The step Roles with the options of a column of sizes open."""
    sizes = [("S", "M", "L", "XL")[at % 4] for at in range(60)]
    pl.DataFrame({"size": sizes, "age": range(20, 80)}).write_csv(tmp_path / "shirts.csv")
    steward = Steward.enter(context, app)
    steward.open(tmp_path / "shirts.csv")
    steward.go("roles")
    steward.set_role("size", "quasi-identifier")
    steward.page.get_by_role("button", name="Options of size").click()
    steward.see("#order-list")
    assert shown(steward) == SIZES
    return steward


def shown(steward):
    return steward.page.locator("#order-list .name").all_inner_texts()


def shows(steward, *order):
    """Wait for an order to be shown in the list, in the field, and in the plan."""
    steward.page.wait_for_function(
        "order => [...document.querySelectorAll('#order-list .name')]"
        ".map(own => own.innerText).join() === order",
        arg=",".join(order),
    )
    assert shown(steward) == list(order)
    expect(typed(steward)).to_have_value(", ".join(order))
    steward.unfold("#command")
    assert f"size={','.join(order)}" in steward.text("#command")


def entry(steward, name):
    return steward.page.locator("#order-list li", has=steward.page.get_by_text(name, exact=True))


def typed(steward):
    return steward.page.get_by_label("Order as text")


def test_by_dragging(steward):
    entry(steward, "S").drag_to(entry(steward, "L"))
    shows(steward, "S", "L", "M", "XL")
    entry(steward, "L").drag_to(entry(steward, "M"))
    shows(steward, "S", "M", "L", "XL")
    entry(steward, "S").drag_to(entry(steward, "XL"))
    shows(steward, "M", "L", "XL", "S")
    steward.page.click("#undo")
    shows(steward, "S", "M", "L", "XL")


def test_what_is_dropped_elsewhere_changes_nothing(steward):
    steward.page.click("#take-order")
    shows(steward, *SIZES)
    entry(steward, "S").drag_to(steward.page.locator("h1"))
    entry(steward, "S").drag_to(entry(steward, "S"))
    shows(steward, *SIZES)
    entry(steward, "S").drag_to(entry(steward, "L"))
    shows(steward, "S", "L", "M", "XL")


def test_with_the_keyboard(steward):
    page = steward.page
    up = page.get_by_role("button", name="Move S up")
    up.focus()
    page.keyboard.press("Enter")
    shows(steward, "L", "S", "M", "XL")
    page.get_by_role("button", name="Move S up").press("Space")
    shows(steward, "S", "L", "M", "XL")
    page.get_by_role("button", name="Move L down").press("Enter")
    shows(steward, "S", "M", "L", "XL")
    assert page.get_by_role("button", name="Move S up").is_disabled()


def test_the_focus_stays_on_the_arrow_of_an_entry(steward):
    page = steward.page
    steward.unfold("#command")  # takes the focus
    page.get_by_role("button", name="Move L down").focus()
    for order in (("M", "L", "S", "XL"), ("M", "S", "L", "XL"), ("M", "S", "XL", "L")):
        page.keyboard.press("Enter")
        shows(steward, *order)
    focused = "() => document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "Move L up", "it cannot go farther down"
    page.keyboard.press("Enter")
    shows(steward, "M", "S", "L", "XL")


def test_by_typing(steward):
    typed(steward).click()
    steward.page.keyboard.type("S, M, L, XL")
    steward.page.keyboard.press("Tab")
    shows(steward, "S", "M", "L", "XL")
    typed(steward).fill("S, M, M")
    steward.page.keyboard.press("Tab")
    steward.page.locator(".error", has_text="every value once").wait_for()
    assert typed(steward).input_value() == "S, M, M", "what was refused stays, to be corrected"
    assert shown(steward) == ["S", "M", "L", "XL"]
