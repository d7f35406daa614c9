"""Figures: well-formed, in proportion, with names escaped."""

import xml.etree.ElementTree as ET

import pytest

from microagg.app import plots
from microagg.app.answers import Bars, Correlations, Histogram
from microagg.app.estimates import _MEASURED, estimate
from microagg.app.steps.protect import n_axes, n_protected
from microagg.core.registry import METHODS
from tests.app.table import do, with_roles

HISTOGRAM = Histogram(
    places=(1.0, 2.0, 3.0),
    outer=(1.0, 2.0),
    before=(0.1, 0.5, 0.3, 0.1),
    after=(0.0, 0.6, 0.4, 0.0),
    ticks=((1.0, "1"), (2.0, "2"), (9.0, "outside")),
)


def parsed(svg):
    return ET.fromstring(svg)


def test_histogram():
    found = parsed(plots.histogram(HISTOGRAM, "a < b"))
    texts = [own.text for own in found.iter("text")]
    assert texts == ["1", "2"]
    drawn = [*found.iter("polygon"), *found.iter("polyline")]
    points = [point for own in drawn for point in own.get("points").split()]
    heights = [float(point.split(",")[1]) for point in points]
    assert min(heights) == 8.0, "the largest density fills the figure"
    assert found.get("aria-label") == "a < b"


def test_a_side_may_be_missing():
    one = HISTOGRAM.model_copy(update={"before": None})
    assert parsed(plots.histogram(one, "one side")).find("polygon") is None


def test_bars():
    names = ("<script>", "a name that is much longer than the room beside the bars", "all others")
    found = parsed(
        plots.bars(Bars(names=names, before=(0.5, 0.3, 0.2), after=(0.4, 0.4, 0.2)), "b")
    )
    widths = [float(own.get("width")) for own in found.iter("rect")]
    assert widths[0] == max(widths)
    assert widths[2] == pytest.approx(0.6 * widths[0], abs=0.2)
    assert "<script>" in [own.text for own in found.iter("text")]


def test_a_long_name_keeps_both_ends():
    names = ("Officer-involved shooting", "Death")
    drawn = plots.bars(Bars(names=names, before=None, after=(0.4, 0.6)), "Types")
    assert ">Officer…shooting<title>Officer-involved shooting" in drawn
    assert ">Death<title>" in drawn


@pytest.mark.parametrize(
    "sizes", [{"5": 3}, {"5": 10, "6": 4, "9": 1}, {str(i): i for i in range(3, 900)}]
)
def test_group_sizes(sizes):
    found = parsed(plots.group_sizes(sizes, 5, "sizes"))
    assert 1 <= len(list(found.iter("rect"))) <= 40


def test_heatmap():
    names = ("one", "two", "a long name of a column that goes on")
    one = ((None, 0.5, -0.04), (0.5, None, 0.9), (-0.04, 0.9, None))
    found = parsed(plots.heatmap(Correlations(names=names, before=one, after=one), "c"))
    cells = [own for own in found.iter("text") if "small" in (own.get("class") or "")]
    assert [own.text for own in cells] == [".5", ".0", ".5", ".9", ".0", ".9"]


def test_long_names_beside_a_heatmap_keep_both_ends():
    names = ("satisfaction_with_roads", "satisfaction_with_schools")
    cells = ((None, 0.5), (0.5, None))
    drawn = plots.heatmap(Correlations(names=names, before=cells, after=cells), "c")
    assert drawn.count("…ith_roads<title>satisfaction_with_roads<") == 2
    assert drawn.count("…h_schools<title>satisfaction_with_schools<") == 2


@pytest.mark.parametrize(("name", "least"), [("income", 40), ("日本語の名前", 66)])
def test_names_beside_a_heatmap_have_room(name, least):
    """Widths in the fonts of the browsers that it was looked at with."""
    cells = ((None, 0.5), (0.5, None))
    found = parsed(plots.heatmap(Correlations(names=(name, "b"), before=cells, after=cells), "c"))
    assert float(next(found.iter("text")).get("x")) >= least


def test_marks_of_the_map_can_be_chosen():
    rows = [
        {"method": m, "k": k, "information_loss": loss, "linkage": risk, "efficient": best}
        for m, k, loss, risk, best in [
            ("mdav", 3, 5.0, 30.0, False),
            ("auto", 3, 4.0, 31.0, True),
            ("auto", 5, 8.0, 20.0, True),
        ]
    ]
    found = parsed(plots.risk_utility_map(rows, ("auto", 5)))
    marks = [own for own in found.iter("g") if own.get("data-do") == "adopt"]
    assert [(own.get("data-method"), own.get("data-k")) for own in marks] == [
        ("mdav", "3"), ("auto", "3"), ("auto", "5")
    ]  # fmt: skip
    assert all(own.get("role") == "button" and own.get("tabindex") == "0" for own in marks)
    assert ["chosen" in own.get("class") for own in marks] == [False, False, True]
    assert "loses 4 %" in marks[1].get("aria-label")


def test_estimates_grow_and_say_how_rough_they_are():
    small, large = (estimate("auto", "balanced", n, 10).seconds for n in (1_000, 1_000_000))
    assert small < 30 < large
    assert estimate("auto", "fast", 10**6, 10, time_budget=5).seconds < 150
    assert estimate("fcm", "balanced", 1000, 5).seconds is not None
    assert "memory" in estimate("tclose-first", "balanced", 1000, 5).words
    assert " to " in estimate("auto", "best", 100_000, 20).words


def test_estimates_count_the_axes_of_categories_and_units(tmp_path):
    plain = estimate("auto", "fast", 2_000, 10).seconds
    assert estimate("auto", "fast", 2_000, 10, n_axes=10).seconds == plain
    assert estimate("auto", "fast", 2_000, 10, n_axes=73).seconds > plain + 1
    assert estimate("auto", "fast", 2_000, 10, has_units=True).seconds > plain
    desk = with_roles(tmp_path, town=[f"Town {i % 12}" for i in range(40)])
    do(desk, "set_role", column="town", value="quasi-identifier")
    numbers = n_protected(desk.state, desk.described) - 2
    sizes = {own.name: own.distinct for own in desk.described.columns}
    assert n_axes(desk.state, desk.described) == numbers + sizes["size"] + 12
    do(desk, "set_column_option", column="town", keyword="type", value="ordinal")
    assert n_axes(desk.state, desk.described) == numbers + sizes["size"] + 1


def test_measured_methods_exist():
    assert {name.partition(",")[0] for name in _MEASURED} <= METHODS.keys()
