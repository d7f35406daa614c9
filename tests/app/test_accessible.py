"""Everybody can use it: axe-core finds nothing, the keyboard alone is enough, phones suffice."""

import pytest

from tests.app.conftest import watched
from tests.app.steward import Steward
from tests.app.test_way import write_people

pytestmark = pytest.mark.slow
ROLES = {"name": "identifier", "town": "quasi-identifier", "illness": "sensitive"}
STEPS = ("data", "roles", "protect", "explore", "release")
SCREENS = {
    "desktop, light": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "desktop, dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone, light": {"viewport": {"width": 390, "height": 800}, "color_scheme": "light"},
    "phone, dark": {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def released(browser, app, tmp_path_factory):
    """A page with a release, a comparison and everything that can be unfolded."""
    with watched(browser) as context:
        steward = Steward.enter(context, app)
        violations(steward, "before a table is open")
        steward.open(write_people(tmp_path_factory.mktemp("data") / "people.csv"))
        steward.go("roles")
        for column, role in ROLES.items():
            steward.set_role(column, role)
        steward.page.fill("#new-constraint", "age >= 0")
        steward.page.click("#add-constraint")
        steward.see("#remove-constraint-0")
        steward.go("protect")
        steward.set_option("effort", "fast")
        steward.run()
        steward.has_release()
        yield steward


def violations(steward, where):
    """What axe-core finds wrong with the page as it is shown."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(steward.page).response["violations"]
    told = [(own["id"], [node["html"] for node in own["nodes"]][:3]) for own in found]
    assert not told, f"{where}: {told}"


def unfold_everything(steward):
    steward.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing(released, screen):
    options = SCREENS[screen]
    released.page.set_viewport_size(options["viewport"])
    # Colours that are on their way to others are not what is judged.
    released.page.emulate_media(color_scheme=options["color_scheme"], reduced_motion="reduce")
    for step in STEPS:
        released.go(step)
        unfold_everything(released)
        violations(released, f"{step}, {screen}")
        wide = released.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, f"{step} is {wide} pixels too wide on a {screen}"


def test_reasons_are_not_squeezed_on_a_phone(released):
    released.page.set_viewport_size(SCREENS["phone, light"]["viewport"])
    released.go("data")
    rows = released.page.locator("#columns tbody tr")
    heights = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert 0 < max(heights) < 120, heights


def test_axe_finds_nothing_where_something_was_refused(released, tmp_path):
    released.ask_for(tmp_path / "none.csv")
    released.see(".error:visible")
    violations(released, "a refused file")


def press_until(page, key, is_there, most=150):
    """Press a key until the focus is where it should be."""
    for _ in range(most):
        if page.evaluate(f"(({is_there}))(document.activeElement)"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {is_there}")


def focus(page, name):
    press_until(page, "Tab", f"element => element.id === {name!r}")


def test_the_keyboard_alone_is_enough(context, app, tmp_path):
    """From the path to the written file; the mouse is not touched."""
    source = write_people(tmp_path / "people.csv", n=60)
    steward = Steward.enter(context, app)
    page = steward.page
    focus(page, "path")
    page.keyboard.type(str(source))
    page.keyboard.press("Enter")
    steward.see("#card-described")
    focus(page, "step-roles")
    page.keyboard.press("Enter")
    steward.see("#body > [data-step=roles]")
    for column, role in ROLES.items():
        label = f"Role of {column}"
        press_until(page, "Tab", f"e => e.getAttribute('aria-label') === {label!r}")
        page.keyboard.type(role)
        page.keyboard.press("Tab")
        field = page.get_by_role("combobox", name=label, exact=True)
        page.wait_for_function(
            "([e, role]) => e.value === role", arg=[field.element_handle(), role]
        )
    focus(page, "to-protect")
    page.keyboard.press("Enter")
    steward.see("#body > [data-step=protect]")
    focus(page, "option-effort")
    page.keyboard.type("fast")
    focus(page, "run")
    page.keyboard.press("Enter")
    steward.has_release()
    focus(page, "step-release")
    page.keyboard.press("Space")
    steward.see("#target")
    focus(page, "save")
    page.keyboard.press("Enter")
    steward.see("#saved")
    assert (tmp_path / "people-protected.csv").exists()


def test_undo_by_key_is_of_the_plan_unless_text_is_edited(context, app, tmp_path):
    steward = Steward.enter(context, app)
    page = steward.page
    steward.open(write_people(tmp_path / "people.csv", n=60))
    steward.go("protect")
    steward.unfold("#option-hybrid")
    page.check("#option-hybrid")
    page.wait_for_selector("#k-means:has-text('Hybrid')")
    page.focus("#option-k")
    page.keyboard.press("Control+z")
    page.focus("#option-hybrid")
    assert "Hybrid" in steward.text("#k-means"), "a field of text has an undo of its own"
    page.keyboard.press("Control+z")
    page.wait_for_selector("#k-means:not(:has-text('Hybrid'))")
    assert not page.is_checked("#option-hybrid")


def test_the_focus_is_always_seen(released):
    released.page.set_viewport_size(SCREENS["desktop, light"]["viewport"])
    released.go("protect")
    seen = set()
    for _ in range(25):
        released.page.keyboard.press("Tab")
        shown = released.page.evaluate(
            """() => {
                const own = getComputedStyle(document.activeElement);
                return document.activeElement === document.body  // past the last element
                    || own.outlineStyle !== 'none' && parseFloat(own.outlineWidth) > 0
                    || own.boxShadow !== 'none' ? '' : document.activeElement.outerHTML;
            }"""
        )
        seen.add(shown)
    assert seen == {""}, seen
