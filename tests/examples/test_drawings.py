"""Every page of a method has its drawing, cost and source, and the figures of the benchmarks."""

import re

import pytest

from docs.builder import drawings, figures
from microagg.core.registry import METHODS

METHODS_PAGES = figures.ROOT / "docs" / "methods"
BENCHMARKS = (figures.ROOT / "docs" / "benchmarks.md").read_text("utf-8")
WITHOUT_A_METHOD = {"index", "bounds", "accuracy"}
PAGES = sorted({path.stem for path in METHODS_PAGES.glob("*.md")} - WITHOUT_A_METHOD)


def text_of(page):
    return (METHODS_PAGES / f"{page}.md").read_text("utf-8")


def test_every_page_has_a_drawing():
    assert sorted(drawings.DRAWINGS) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_its_drawing_in_words_too(page):
    found = re.findall(r"^!\[([^\]]+)\]\(drawings/([\w-]+)\.svg\)$", text_of(page), re.MULTILINE)
    assert [name for _, name in found] == [page]
    assert len(found[0][0].split()) > 8


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_cost_and_source(page):
    assert re.search(r"\*\*Cost\.\*\*|Time O\(", text_of(page))
    assert re.search(r"\*\*Sources?\.\*\*|Source: ", text_of(page))


@pytest.mark.parametrize("page", PAGES)
def test_drawings_are_figures(page):
    with figures.styled():
        figure = drawings.DRAWINGS[page]()
        axes = figure.get_axes()
        assert any(panel.get_title() or panel.get_title(loc="left") for panel in axes)
        assert all(panel.has_data() for panel in axes)


@pytest.mark.parametrize("page", ["auto", "icsm", "mdav", "ordered", "reporder"])
def test_figures_are_those_of_the_benchmarks(page):
    table = re.search(r"\*\*Figures\.\*\*.*?\n\n((?:\|[^\n]*\n)+)", text_of(page), re.DOTALL)[1]
    numbers = re.findall(r"\d+\.\d+|\b21\b", table)
    assert len(numbers) == 18
    known = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", BENCHMARKS)}
    rounded = {round(number, 2) for number in known}
    missing = [number for number in numbers if float(number) not in known | rounded]
    assert not missing


def test_methods_are_on_a_page():
    everything = "\n".join(text_of(page) for page in [*PAGES, "index"])
    assert [name for name in METHODS if f"`{name}`" not in everything] == []
