"""Figures: as text, alike in every run and every thread, and whatever is in them."""

import re
from concurrent.futures import ThreadPoolExecutor

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from microagg.report import labels, plots
from microagg.report.bars import Bars
from microagg.report.correlations import Correlations
from microagg.report.summaries import Histogram, summary_of
from microagg.tables.matching import open_pair

HISTOGRAM = Histogram(
    np.array([10.0, 20.0, 40.0]),
    np.array([10.0, 20.0, 40.0]),
    (10.0, 20.0),
    np.array([0.1, 0.4, 0.3, 0.2]),
    np.array([0.0, 0.5, 0.4, 0.1]),
    ((10.0, "10"), (20.0, "20"), (1000.0, "far away")),
)


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_text_stays_text_and_ticks_stay_within():
    assert texts(plots.histogram(HISTOGRAM, "age", "a")) == ["10", "20"]


def test_areas_are_shares():
    svg = plots.histogram(HISTOGRAM, "age", "a")
    path = re.search(r'd="([^"]+)"[^>]*stroke: #d55e00', svg)[1]
    points = np.array([[float(v) for v in pair] for pair in re.findall(r"([\d.]+) ([\d.]+)", path)])
    base = points[:, 1].max()  # a share of 0 lies on the axis
    widths, heights = np.diff(points[:, 0])[::2], base - points[::2, 1]
    areas = widths * heights
    assert areas / areas.sum() == pytest.approx(HISTOGRAM.after, abs=0.01)


def test_settings_of_others_stay_and_threads_do_not_disturb_each_other():
    settings = dict(mpl.rcParams)
    alone = plots.histogram(HISTOGRAM, "age", "a")
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: plots.histogram(HISTOGRAM, "age", "a"), range(8)))
    assert set(drawn) == {alone}
    assert dict(mpl.rcParams) == settings


def test_bars_name_their_categories():
    names = ("a & b", "x" * 60, "other")
    shares = np.array([0.5, 0.3, 0.2])
    found = texts(plots.bars(Bars(names, shares, shares[::-1].copy()), "c", "b"))
    assert "a &amp; b" in found
    assert any("…" in text for text in found)
    assert sum("50 %" in text for text in found) == 2


@pytest.mark.parametrize(
    ("sizes", "low"),
    [({"5": 9}, False), ({"2": 3, "5": 1}, True), ({str(s): 1 for s in range(5, 500)}, False)],
)
def test_small_groups_stand_out(sizes, low):
    svg = plots.group_sizes(sizes, 5, "sizes", "s")
    assert ("fill: #d55e00" in svg) == low
    assert svg.count("fill: #0072b2") <= 45


@pytest.mark.parametrize("n", [2, 12, 25])
def test_correlations_below_and_above_the_diagonal(n):
    before, after = np.full((n, n), -0.31), np.full((n, n), 0.82)
    before[1, 0] = np.nan
    found = Correlations(tuple(f"c{i}" for i in range(n)), before, after, 0.1, 0.2)
    words = texts(plots.heatmap(found, "r", "r"))
    pairs = n * (n - 1) // 2
    if n <= 16:
        assert words.count("\N{MINUS SIGN}.3") == pairs - 1
        assert words.count(".8") == pairs
    assert {f"c{i}" for i in range(n)} <= set(words)


def test_labels_neither_overlap_nor_are_cut_off():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = rng.integers(1, 9)
        places = np.sort(rng.random(n))
        texts = ["9" * rng.integers(1, 14) for _ in range(n)]
        reach, taken = 0.04, -1.0
        for place, (text, side) in zip(
            places, labels.apart(list(zip(places, texts, strict=True))), strict=True
        ):
            width = len(text) * labels.LETTER / labels.CARD
            begin = place - {"left": 0.0, "center": 0.5, "right": 1.0}[side] * width
            if text:
                assert begin > taken
                assert begin >= -reach
                assert begin + width <= 1 + reach
                taken = begin + width


@pytest.mark.parametrize("name", ["W" * 60, "北京市" * 20, "a b" * 30, "ä" * 40])
def test_names_fit_beside_the_bars(name):
    short = labels.shortened(name)
    assert labels.width_of(short) <= 27
    assert "…" in short
    assert (short[0], short[-1]) == (name[0], name[-1])


def test_a_logarithmic_axis_starts_at_zero_and_explains_itself():
    rng = np.random.default_rng(2)
    amounts = np.append(np.zeros(100), rng.lognormal(8, 1.3, 400))
    table = pl.DataFrame({"x": amounts})
    found = summary_of(
        open_pair(table, table, quasi_identifiers=["x"]).columns["x"], 5, public=True
    )
    assert found.figure.is_logarithmic
    assert found.figure.ticks[0] == (0.0, "0")
    assert found.figure.places[0] == found.figure.outer[0]
    assert "logarithmic" in found.note
    assert "around 0" in found.note
    assert texts(plots.histogram(found.figure, "x", "s"))[0] == "0"


def test_labels_of_the_map_keep_off_its_line():
    axes = Figure(figsize=(6.0, 4.2)).add_subplot(xlim=(0, 1), ylim=(0, 1))
    point = (0.5, 0.5)
    flat, steep = (0.7, 0.54), (0.3, 0.65)
    # Right of the point there is the flat part of the line, left of it the steep one.
    right, below = (5.0, 2.5), (5.0, -8.0)
    assert plots._beside(axes, [point], ["mdav 5"], [point], [steep, point]) == [right]
    assert plots._beside(axes, [point], ["mdav 5"], [point], [steep, point, flat]) == [below]
