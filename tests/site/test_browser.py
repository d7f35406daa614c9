"""The built site in Chromium, from its folder: no errors, no requests, readable on a phone."""

import re
from io import BytesIO

import pytest
from PIL import Image

pytestmark = pytest.mark.slow
PHONE, DESKTOP = {"width": 390, "height": 800}, {"width": 1280, "height": 900}
# One page of every kind; on a phone, where width is scarce, all pages are opened.
SHOWN = (
    *("index.html", "start/python.html", "guides/release.html", "guides/compare.html"),
    *("methods/index.html", "methods/mdav.html", "reference/protect.html"),
    *("reference/figures.html", "reference/risk.html", "reference/methods.html"),
    *("reference/command-line.html", "reference/schemas.html", "benchmarks.html"),
)
_SMALLEST = """Math.min(...[...document.querySelectorAll('article p, article li')]
  .map(element => parseFloat(getComputedStyle(element).fontSize)))"""
# An image that is there has a width; one that cannot be seen has a text.
_BAD_IMAGES = """[...document.images].filter(
  image => !image.complete || !image.naturalWidth || !image.alt.trim()).map(image => image.src)"""


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


def look_at(visit, address, width):
    """Open a page, and return what is wrong with it."""
    visit.page.goto(address)
    visit.page.wait_for_load_state("load")
    wide = visit.page.evaluate("document.documentElement.scrollWidth")
    small = visit.page.evaluate(_SMALLEST)
    bad = visit.page.evaluate(_BAD_IMAGES)
    found = [*visit.wrong, *visit.remote()]
    found += [f"{wide} pixels wide"] * (wide > width)
    found += [f"letters of {small} pixels"] * (small is not None and small < 12)
    found += [f"no picture or no text: {own}" for own in bad]
    visit.wrong.clear()
    visit.requests.clear()
    return found


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_pages_open_without_errors_and_fit_the_screen(browser, built, size):
    """No error or warning, nothing from another host, no sideways scrolling, text for images."""
    every = {path.relative_to(built).as_posix() for path in built.rglob("*.html")}
    every.remove("404.html")  # which only a server shows
    assert set(SHOWN) < every
    visit = Visit(browser, size)
    shown = sorted(every) if size is PHONE else SHOWN
    wrong = {name: look_at(visit, (built / name).as_uri(), size["width"]) for name in shown}
    visit.page.close()
    assert {name: found for name, found in wrong.items() if found} == {}


def test_sentences_in_tables_are_not_squeezed_on_a_phone(browser, built):
    """No row is higher than half of the screen: the table scrolls sideways instead."""
    visit = Visit(browser, PHONE)
    visit.page.goto((built / "reference/figures.html").as_uri())
    tallest = "Math.max(...[...document.querySelectorAll('article tr')].map(r => r.offsetHeight))"
    assert visit.page.evaluate(tallest) <= PHONE["height"] / 2
    visit.page.close()


@pytest.mark.parametrize("name", ["methods/mdav.html", "gallery/idea.html", "benchmarks.html"])
def test_figures_are_dark_in_the_dark(browser, built, name):
    """The lightness of a figure's corner is that of the page, and its text stands out."""
    for scheme in ("light", "dark"):
        visit = Visit(browser, DESKTOP, color_scheme=scheme)
        visit.page.goto((built / name).as_uri())
        visit.page.wait_for_function("document.body.getAttribute('data-md-color-media')")
        figure = visit.page.locator(".md-content img[src$='.svg']").first
        figure.scroll_into_view_if_needed()
        with Image.open(BytesIO(figure.screenshot())) as shot:
            grey = shot.convert("L")
            corner, (darkest, lightest) = grey.getpixel((3, 3)), grey.getextrema()
        assert (corner > 128) == (scheme == "light")
        assert lightest - darkest > 120
        visit.page.close()


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("l-diversity", "gallery/l-diversity.html"),
        ("publish a table", "guides/whole-table.html"),
        ("units totals sensitive", "guides/whole-table.html"),
    ],
)
def test_search_works_from_a_folder(browser, built, words, first):
    visit = Visit(browser, DESKTOP)
    visit.page.goto((built / "index.html").as_uri())
    visit.page.keyboard.press("Control+k")
    visit.page.keyboard.type(words, delay=20)
    visit.page.get_by_text(re.compile(r"^[1-9]\d* results?$")).first.wait_for(timeout=60_000)
    found = visit.page.locator("a[href*='?h=']").first.get_attribute("href")
    assert found.partition("?")[0].endswith(first)
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
