"""Distances between the distributions of columns."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp, wasserstein_distance

from microagg.measures.utility.distributions import distributions
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(2)


def test_numbers_by_scipy_with_ties_and_gaps():
    x, z = RNG.integers(0, 12, 60).astype(float), RNG.integers(2, 9, 60).astype(float)
    gone_x, gone_z = RNG.random(60) < 0.2, RNG.random(60) < 0.3
    before = pl.DataFrame({"x": np.where(gone_x, np.nan, x)}).fill_nan(None)
    after = pl.DataFrame({"x": np.where(gone_z, np.nan, z)}).fill_nan(None)
    result = distributions(open_pair(before, after))
    column = result.columns["x"]
    x, z = x[~gone_x], z[~gone_z]
    assert column.kolmogorov_smirnov == pytest.approx(ks_2samp(x, z).statistic)
    assert column.wasserstein == pytest.approx(wasserstein_distance(x, z) / x.std(ddof=1))
    assert column.missing_before == gone_x.mean()
    assert column.missing_after == gone_z.mean()
    assert column.total_variation is None
    assert result.largest_kolmogorov_smirnov == column.kolmogorov_smirnov
    assert result.largest_total_variation is None


def test_a_shift_by_one_deviation():
    x = np.arange(100.0)
    before, after = (pl.DataFrame({"x": x + shift}) for shift in (0.0, x.std(ddof=1)))
    assert distributions(open_pair(before, after)).columns["x"].wasserstein == pytest.approx(1)


def test_categories_by_hand():
    before = pl.DataFrame({"c": ["a", "a", "b", None]})
    after = pl.DataFrame({"c": ["a", "c", None, None]})
    column = distributions(open_pair(before, after)).columns["c"]
    assert column.total_variation == pytest.approx((1 + 1 + 1 + 1) / 4 / 2)
    assert (column.missing_before, column.missing_after) == (0.25, 0.5)
    assert column.kolmogorov_smirnov is None


def test_other_records_with_the_same_values_are_no_change():
    before = pl.DataFrame({"x": [1, 2, 5], "c": list("abb")})
    result = distributions(open_pair(before, before[::-1]))
    assert result.largest_kolmogorov_smirnov == result.largest_total_variation == 0
    assert result.largest_wasserstein == 0


def test_nothing_to_measure_by():
    before = pl.DataFrame({"c": [3, 3], "g": [1, 2]})
    after = pl.DataFrame({"c": [3, 4], "g": pl.Series([None, None], dtype=pl.Int64)})
    columns = distributions(open_pair(before, after)).columns
    assert (columns["c"].kolmogorov_smirnov, columns["c"].wasserstein) == (0.5, None)
    assert (columns["g"].kolmogorov_smirnov, columns["g"].missing_after) == (None, 1)
