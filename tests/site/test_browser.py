"""The built site in Chromium, from its folder: no errors, no requests, readable on a phone."""

import re

import pytest

pytestmark = pytest.mark.slow
PHONE, DESKTOP = {"width": 390, "height": 800}, {"width": 1280, "height": 900}
# One page of every kind; the tests of the built site look at all of them without a browser.
SHOWN = (
    *("index.html", "start/python.html", "guides/release.html", "guides/compare.html"),
    *("methods/index.html", "methods/mdav.html", "reference/protect.html"),
    *("reference/figures.html", "reference/risk.html", "reference/methods.html"),
    *("reference/command-line.html", "reference/schemas.html", "benchmarks.html"),
)


class Visit:
    """A page that notes what goes wrong, and what it asks other hosts for."""

    def __init__(self, browser, size, **settings):
        self.page = browser.new_page(viewport=size, **settings)
        self.wrong, self.requests = [], []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", self.note)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def note(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def remote(self):
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_pages_open_without_errors_and_fit_the_screen(browser, built, size):
    visit = Visit(browser, size)
    for name in SHOWN:
        visit.page.goto((built / name).as_uri())
        visit.page.wait_for_load_state("load")
        width = visit.page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], f"{name} is {width} pixels wide"
        smallest = visit.page.evaluate(
            "Math.min(...[...document.querySelectorAll('article p, article li')]"
            ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        assert smallest >= 12, f"{name} has letters of {smallest} pixels"
    assert not visit.wrong
    assert not visit.remote()
    visit.page.close()


def test_search_works_from_a_folder(browser, built):
    visit = Visit(browser, DESKTOP)
    visit.page.goto((built / "index.html").as_uri())
    visit.page.keyboard.press("Control+k")
    visit.page.keyboard.type("l-diversity", delay=20)
    visit.page.get_by_text(re.compile(r"^[1-9]\d* results?$")).first.wait_for(timeout=60_000)
    assert not visit.wrong
    assert not visit.remote()
    visit.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_light_or_dark_as_the_system_is(browser, built, scheme):
    visit = Visit(browser, DESKTOP, color_scheme=scheme)
    visit.page.goto((built / "index.html").as_uri())
    visit.page.wait_for_function("document.body.getAttribute('data-md-color-media')")
    background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    red = int(background.partition("(")[2].partition(",")[0])
    assert (red > 128) == (scheme == "light")
    visit.page.close()


def test_formulas_are_set_in_the_font_that_the_site_brings(browser, built):
    visit = Visit(browser, DESKTOP)
    visit.page.goto((built / "reference/risk.html").as_uri())
    visit.page.evaluate("document.fonts.ready.then(() => true)")
    assert visit.page.evaluate("document.querySelectorAll('math').length") > 15
    assert visit.page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")
    visit.page.close()
