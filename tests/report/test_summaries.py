"""What may be said of a column, against slow and obvious counts."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.report.bars import Bars
from microagg.report.guarded import is_dominated, moments, safe_quantile
from microagg.report.rare import named_categories
from microagg.report.summaries import Histogram, summary_of
from microagg.tables.matching import open_pair


def summary(before, after=None, *, least=5, public=False):
    tables = [pl.DataFrame({"x": side}) for side in (before, before if after is None else after)]
    pair = open_pair(*tables, quasi_identifiers=["x"])
    return summary_of(pair.columns["x"], least, public=public)


def figures(found):
    return {line.name: (line.before, line.after) for line in found.lines}


@pytest.mark.parametrize(
    ("low", "high", "median", "tick"),
    [(1930, 2005, "1968", "1960"), (1000, 5000, "3,000", "3,000")],
)
def test_years_are_written_without_a_comma(low, high, median, tick):
    found = summary(np.linspace(low, high, 400).round().astype(int))
    assert figures(found)["median"] == (median, median)
    assert tick in [text for _, text in found.figure.ticks]


@given(st.integers(0, 10_000), st.integers(3, 9), st.sampled_from(["normal", "skew", "lumps"]))
def test_every_bin_holds_enough_records_on_both_sides(seed, least, shape):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=200)
    if shape == "skew":
        before = np.exp(2 * before)
    if shape == "lumps":
        before = np.round(before)
    after = before + rng.normal(size=200) * 0.3
    found = summary(before, after, least=least).figure
    assume(found is not None)
    assert isinstance(found, Histogram)
    rounded, sizes = np.unique(before, return_counts=True)
    if np.count_nonzero(sizes < least) <= 4:  # few rare values count as the nearest common one
        common = rounded[sizes >= least]
        before = common[np.abs(before[:, None] - common).argmin(axis=1)]
    for values, shares in ((before, found.before), (after, found.after)):
        limits = [-np.inf, *found.edges, np.inf]
        counts = [((values >= a) & (values < b)).sum() for a, b in pairwise(limits)]
        assert shares * 200 == pytest.approx(counts)
        assert all(count == 0 or count >= least for count in counts)


def test_open_bins_are_drawn_as_wide_as_they_seem_and_show_no_outlier():
    even = np.arange(0.0, 1000.0)
    found = summary(even, least=5).figure
    reach = found.edges[0] - found.outer[0], found.edges[-1] + found.outer[1]
    assert reach == pytest.approx((0.0, 1000.0), abs=51)
    far, farther = (summary(np.append(even, end), least=5).figure for end in (1e5, 1e9))
    assert far.outer == farther.outer


def test_a_quantile_is_the_mean_of_neighbours():
    values = np.sort(np.random.default_rng(0).normal(size=101))
    assert safe_quantile(values, 0.5, 5) == pytest.approx(values[48:53].mean())
    assert safe_quantile(values, 0.25, 4) == pytest.approx(values[23:28].mean())


@pytest.mark.parametrize(("n", "share", "least"), [(16, 0.5, 5), (60, 0.05, 9), (60, 0.95, 9)])
def test_quantiles_of_too_few_are_left_out(n, share, least):
    assert safe_quantile(np.arange(float(n)), share, least) is None


def test_a_quantile_of_equals_but_one_does_not_tell_that_one():
    assert safe_quantile(np.array([0.0] * 60 + [7.0] * 40), 0.25, 5) == 0
    assert safe_quantile(np.array([0.0] * 99 + [5.0, 6.0, 7.0]), 0.95, 5) == 0
    lone = np.array([0.0] * 58 + [9.0, 10.0])
    assert safe_quantile(lone, 0.95, 5) == 0
    few = np.concatenate([np.arange(-54.0, 0.0), [50.0] * 4, [90.0, 91.0]])
    assert safe_quantile(few, 0.95, 5) is None
    assert safe_quantile(lone, 0.95, 5, guarded=False) == pytest.approx(9 / 5)
    assert safe_quantile(np.array([0.0] * 57 + [8.0, 9.0, 10.0]), 0.95, 5) == pytest.approx(17 / 5)


def test_moments_are_those_of_all_and_never_overflow():
    values = np.sort(np.random.default_rng(0).normal(5, 2, size=50))
    assert moments(values) == pytest.approx((values.mean(), values.std(ddof=1)))
    huge = np.array([-1.5e308, 1.5e308])
    assert np.isfinite(moments(huge)[0])
    assert moments(np.array([])) == (None, None)


def test_what_tells_a_single_value_is_left_out():
    outlier = np.append(np.random.default_rng(0).normal(size=99), 1e6)
    assert is_dominated(np.sort(outlier), 5)
    found = figures(summary(outlier, np.zeros(100)))
    assert found["mean"] == ("", "0")
    assert found["standard deviation"] == ("", "0")
    four = np.array([0.0] * 96 + [3.0, 4.0, 5.0, 6.0])
    assert is_dominated(four, 5)
    assert is_dominated(np.append(four, 7.0), 5)  # four of the five make up most of it
    assert not is_dominated(np.append(four, np.full(8, 7.0)), 5)
    two = np.append(np.random.default_rng(0).normal(50, 1, 98), [12_345.0, 12_345.0])
    assert is_dominated(np.sort(two), 5)


def test_a_mean_needs_enough_values():
    before = [None] * 96 + [1.25, 2.5, 3.75, 4.0]
    found = summary(before)
    assert found.figure is None
    assert set(figures(found)) == {"missing"}
    assert "Too few" in found.note


def test_missing_values_of_few_records_are_not_counted():
    values = [*np.arange(97.0), None, None, None]
    assert figures(summary(values))["missing"] == ("fewer than 5", "fewer than 5")
    assert figures(summary([*np.arange(60.0), *[None] * 40]))["missing"] == ("40 %", "40 %")
    assert "missing" not in figures(summary(np.arange(97.0)))


@pytest.mark.parametrize("value", [1.5, 3])
def test_constants(value):
    found = summary([value] * 40)
    assert found.figure is None
    assert "same" in found.note
    assert figures(found)["mean"] == (str(value), str(value))


def test_all_missing():
    for dtype in (pl.Float64, pl.String, pl.Date):
        found = summary(pl.Series([None] * 30, dtype=dtype))
        assert found.figure is None
        assert "missing" in found.note


def test_dates_are_dates():
    days = pl.Series(np.arange(400) * 20).cast(pl.Int32).cast(pl.Date)
    found = summary(days)
    assert figures(found)["median"] == ("1980-12", "1980-12")
    assert figures(found)["standard deviation"][0].endswith("years")
    assert all(len(text) == 4 for _, text in found.figure.ticks)
    times = pl.Series(np.arange(400) * 60_000_000).cast(pl.Datetime("us"))
    assert figures(summary(times))["median"][0] == "1970-01-01 03:20"


@pytest.mark.parametrize(
    ("counts", "kept", "other"),
    [
        ([9, 8, 7], [0, 1, 2], []),
        ([9, 8, 3], [0], [2, 1]),
        ([9, 8, 3, 2], [0, 1], [2, 3]),
        ([4, 3, 2], [], [0, 1, 2]),
        ([9, 4], [], [1, 0]),
        ([9, 0, 9], [0, 2], []),
    ],
)
def test_rare_categories_are_other_and_so_is_the_next(counts, kept, other):
    assert named_categories(np.array([counts]), 5) == (kept, other)


def test_categories_rare_on_one_side_are_other():
    counts = np.array([[20, 20, 20, 4], [20, 37, 3, 4]])
    kept, other = named_categories(counts, 5)
    assert 2 in other
    assert 3 in other
    assert 1 in kept


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=20))
def test_no_bar_has_few_records(pairs):
    counts = np.array(pairs).T
    kept, other = named_categories(counts, 5)
    bars = [counts[:, code] for code in kept]
    if kept:
        bars.append(counts[:, other].sum(axis=1))
    assert all(((bar == 0) | (bar >= 5)).all() for bar in bars)
    assert len(kept) + bool(other) <= 12


def test_public_bars_say_nothing_of_before():
    before = ["a"] * 20 + ["b"] * 20 + ["gone"] * 10
    after = ["a"] * 30 + ["b"] * 20
    found = summary(before, after, public=True).figure
    assert isinstance(found, Bars)
    assert found.before is None
    assert found.names == ("a", "b")
    assert found.after.tolist() == [0.6, 0.4]


def test_public_bins_do_not_depend_on_before():
    rng = np.random.default_rng(3)
    after = rng.normal(size=200)
    one = summary(rng.normal(size=200) * 40, after, public=True)
    other = summary(rng.normal(size=200) + 1e5, after, public=True)
    assert one.figure.edges.tolist() == other.figure.edges.tolist()
    assert one.lines == other.lines
    assert all(not line.before for line in one.lines)


def test_where_k_protects_nobody_no_record_is_shown_either(build):
    page = build.page(pl.DataFrame({"x": np.arange(40.0) * 1.0001234}), k=1)
    assert "at least 3 records" in page
