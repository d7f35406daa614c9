"""Every page of a method has its drawing, cost and source; benchmarks have plots."""

import re

import pytest

from docs.builder import drawings, figures
from docs.builder.errors import BuildError
from docs.builder.tables import tables
from docs.drawings.of_benchmarks import PLOTS
from microagg.core.registry import METHODS

METHODS_PAGES = figures.ROOT / "docs" / "methods"
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


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_drawings_are_figures(page):
    with figures.styled():
        figure = drawings.DRAWINGS[page]()
        axes = figure.get_axes()
        assert any(panel.get_title() or panel.get_title(loc="left") for panel in axes)
        assert all(panel.has_data() for panel in axes)


def test_methods_are_on_a_page():
    everything = "\n".join(text_of(page) for page in [*PAGES, "index"])
    assert [name for name in METHODS if f"`{name}`" not in everything] == []


@pytest.mark.parametrize("name", PLOTS)
def test_plots_of_benchmarks_are_drawn_and_shown(name):
    with figures.styled():
        axes = drawings.plot(name).get_axes()
        assert all(panel.has_data() for panel in axes)
    shown = re.findall(
        r"^!\[([^\]]+)\]\(drawings/benchmarks-([\w-]+)\.svg\)$",
        drawings.BENCHMARKS.read_text("utf-8"),
        re.MULTILINE,
    )
    (words,) = (text for text, own in shown if own == name)
    assert len(words.split()) > 20


def test_plots_have_the_figures_of_the_page():
    text = drawings.BENCHMARKS.read_text("utf-8")
    with figures.styled():
        last = tables(text)["MDAV on n x 10 normal records, k = 5"].rows[-1]["microagg (s)"]
        changed = text.replace(f"| {last} |", "| 3.5 |")
        figure = PLOTS["speed"](tables(changed), changed)
        (line,) = (own for own in figure.axes[0].lines if own.get_label() == "microagg")
        assert line.get_ydata()[-1] == 3.5


def test_a_table_that_is_not_there_stops_the_build():
    table = tables("## Cost\n\n| n | s |\n|---|---|\n| 9 | 1.5 |\n")["Cost"]
    assert table.numbers("s", n="9") == [1.5]
    with pytest.raises(BuildError, match="no column seconds"):
        table.numbers("seconds")
    with pytest.raises(BuildError, match="no row with"):
        table.numbers("s", n="8")
