"""Bins: round edges, and never a few records in one."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.report.grids import (
    counts_between,
    date_grid,
    is_skewed,
    log_grid,
    merged_starts,
    number_grid,
    trimmed_range,
)
from microagg.report.rounding import DAY, round_step

COUNTS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=25)


@given(COUNTS, st.integers(1, 9))
def test_no_merged_bin_has_few_records_and_none_is_lost(pairs, least):
    counts = np.array(pairs).T
    starts = merged_starts(counts, least)
    if not starts:
        total = counts.sum(axis=1)
        assert ((total > 0) & (total < least)).any()
        return
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    joined = np.add.reduceat(counts, starts, axis=1)
    assert ((joined == 0) | (joined >= least)).all()
    assert (joined.sum(axis=1) == counts.sum(axis=1)).all()


def test_bins_that_are_large_enough_stay():
    assert merged_starts(np.array([[5, 6, 0, 7], [5, 0, 5, 8]]), 5) == [0, 1, 2, 3]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(4, 24))
def test_edges_are_multiples_of_a_round_step_within_the_range(low, width, bins):
    grid = number_grid(low, low + width, bins, whole=False)
    assume(grid is not None)
    digits = f"{grid.step:.0e}"[0]
    assert digits in "125"
    assert np.allclose(grid.edges / grid.step, np.rint(grid.edges / grid.step), atol=1e-6)
    assert grid.edges.min() >= low - 1e-9 * grid.step * max(1, abs(low / grid.step))
    assert len(grid.edges) <= bins + 1


def test_whole_numbers_of_few_values_have_a_bin_each():
    values = np.sort(np.repeat(np.arange(6.0), 10))
    grid = number_grid(0.0, 5.0, 12, whole=True)
    assert counts_between(values, grid.edges).tolist() == [10] * 6


@pytest.mark.parametrize(("width", "step"), [(1.0, 1.0), (1.01, 2.0), (0.21, 0.5), (5001, 10_000)])
def test_round_steps(width, step):
    assert round_step(width) == pytest.approx(step)


@pytest.mark.parametrize(
    ("days", "first"), [(9, "1970-01-02"), (900, "1970-02"), (9_000, "1972"), (90_000, "1990")]
)
def test_dates_have_edges_of_the_calendar(days, first):
    grid = date_grid(0.5 * DAY, days * DAY, 20, shortest=DAY)
    assert grid.word(grid.edges[0]).startswith(first[:4])
    assert len(grid.word(grid.edges[0])) == len(first)
    moments = grid.edges.astype("datetime64[s]")
    assert (moments == moments.astype("datetime64[D]")).all()


def test_the_ends_of_a_grid_are_no_records():
    values = np.sort(np.random.default_rng(1).normal(size=500))
    low, high = trimmed_range(values, 5)
    assert low not in values
    assert high not in values
    assert (values < low).sum() >= 5
    assert (values > high).sum() >= 5


def test_no_grid_for_what_has_no_width():
    assert number_grid(3.0, 3.0, 10, whole=False) is None
    assert number_grid(-1.7e308, 1.7e308, 10, whole=False) is None
    assert number_grid(1e17, 1e17 + 64, 10, whole=False) is None
    assert date_grid(5.0, 5.0, 10) is None


class TestSkewedAmounts:
    RNG = np.random.default_rng(8)

    @pytest.mark.parametrize(
        ("values", "skewed"),
        [
            (RNG.normal(size=500), False),
            (RNG.uniform(size=500), False),
            (RNG.exponential(size=20_000), False),
            (RNG.lognormal(9, 0.5, 500), False),
            (RNG.lognormal(9, 1.2, 500), True),
            (1e6 + RNG.lognormal(0, 1.2, 500), False),  # far from zero: no factors to show
            (np.concatenate([np.zeros(400), RNG.lognormal(9, 1.2, 500)]), True),
            (RNG.lognormal(9, 1.2, 500) * RNG.choice([-1, 1], 500), True),
            (np.zeros(50), False),
            (np.append(np.arange(1.0, 200.0), 1e12), False),  # one outlier decides nothing
        ],
    )
    def test_quantiles_decide(self, values, skewed):
        assert is_skewed(np.sort(values)) is skewed

    @pytest.mark.parametrize("shape", ["positive", "zeros", "signed", "whole"])
    def test_places_rise_with_the_edges(self, shape):
        values = self.RNG.lognormal(5, 1.5, 900)
        if shape != "positive":
            values[:200] = 0.0
        if shape == "signed":
            values[200:500] *= -1
        whole = shape == "whole"
        values = np.sort(np.floor(values) if whole else values)
        grid = log_grid(values, 5, 20, whole=whole)
        assert (np.diff(grid.edges) > 0).all()
        assert (np.diff(grid.place(grid.edges)) > 0).all()
        assert (np.diff(grid.place(values)) >= 0).all()
        assert len(grid.edges) <= 21
        # Edges are 1, 2 or 5 times a power of ten: not taken from any record.
        digits = {f"{abs(edge):e}".split("e")[0] for edge in grid.edges}
        assert digits <= {"1.000000", "2.000000", "5.000000"}
        assert grid.place(np.array(0.0)) == 0.0
        assert (0.0 in grid.ticks) is (shape != "positive")
        if shape == "signed":
            assert grid.edges.tolist() == (-grid.edges[::-1]).tolist()
        if whole:
            assert grid.edges[0] >= 1.0

    def test_amounts_of_one_sign_have_no_other_side(self):
        values = np.sort(-self.RNG.lognormal(5, 1.5, 900))
        grid = log_grid(values, 5, 20, whole=False)
        assert (grid.edges < 0).all()
        few = np.sort(np.append(-values, [-7.0, -8.0, 0.0]))  # too few to show that they exist
        assert log_grid(few, 5, 20, whole=False).edges.min() > 0
        assert 0.0 not in log_grid(few, 5, 20, whole=False).ticks

    def test_equal_factors_are_equal_distances(self):
        values = np.sort(self.RNG.lognormal(5, 2, 900))
        place = log_grid(values, 5, 20, whole=False).place(np.array([1e2, 1e3, 1e4, 1e5]))
        assert np.diff(place) == pytest.approx(1.0)
