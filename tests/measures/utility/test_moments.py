"""Summary statistics before and after."""

import datetime

import numpy as np
import polars as pl
import pytest

from microagg.measures.utility import correlations
from microagg.measures.utility.moments import moments
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(9)


def with_gaps(T, share):
    gone = RNG.random(T.shape) < share
    return np.where(gone, np.nan, T)


def table(T):
    return pl.DataFrame(T, schema=[f"x{i}" for i in range(T.shape[1])]).fill_nan(None)


def test_columns_by_numpy():
    X = with_gaps(RNG.gamma(2.0, 3.0, (50, 2)), 0.2)
    Z = with_gaps(RNG.gamma(2.0, 2.0, (50, 2)), 0.3)
    result = moments(open_pair(table(X), table(Z)))
    for at, column in enumerate(result.columns.values()):
        x, z = X[:, at][~np.isnan(X[:, at])], Z[:, at][~np.isnan(Z[:, at])]
        assert (column.n_before, column.n_after) == (len(x), len(z))
        assert column.mean_before == pytest.approx(x.mean())
        assert column.mean_after == pytest.approx(z.mean())
        assert column.mean_change == pytest.approx((z.mean() - x.mean()) / x.std(ddof=1))
        assert column.mean_relative_change == pytest.approx(z.mean() / x.mean() - 1)
        assert column.sd_relative_change == pytest.approx(z.std(ddof=1) / x.std(ddof=1) - 1)
        assert column.variance_after == pytest.approx(z.var(ddof=1))
        assert column.variance_relative_change == pytest.approx(z.var(ddof=1) / x.var(ddof=1) - 1)
        wanted = (np.quantile(z, [0.05, 0.25, 0.5, 0.75, 0.95]) - x.mean()) / x.std(ddof=1)
        assert list(column.quantiles_after.values()) == pytest.approx(wanted)
        moved = np.abs(wanted - list(column.quantiles_before.values())).max()
        assert column.largest_quantile_change == pytest.approx(moved)


@pytest.mark.parametrize("block", [7, 1 << 16])
def test_correlations_pair_by_pair(monkeypatch, block):
    monkeypatch.setattr(correlations, "_BLOCK", block)
    X = with_gaps(RNG.normal(1e7, 1, (50, 1)) + RNG.normal(size=(50, 4)), 0.2)
    Z = with_gaps(RNG.normal(1e7, 1, (50, 1)) + RNG.normal(size=(50, 4)), 0.1)
    changes = {}
    for i in range(4):
        for j in range(i):
            before, after = (
                np.corrcoef(T[~np.isnan(T[:, i] + T[:, j])][:, [i, j]].T)[0, 1] for T in (X, Z)
            )
            changes[f"x{j}", f"x{i}"] = abs(after - before)
    pearson = moments(open_pair(table(X), table(Z))).pearson
    assert pearson.largest == pytest.approx(max(changes.values()))
    assert pearson.mean == pytest.approx(np.mean(list(changes.values())))
    assert pearson.most_changed == max(changes, key=changes.get)
    assert abs(pearson.after - pearson.before) == pytest.approx(pearson.largest)
    assert (pearson.n_pairs, pearson.n_lost) == (6, 0)


def test_rank_correlations_by_scipy():
    from scipy.stats import spearmanr

    X, Z = RNG.integers(0, 9, (40, 3)), RNG.integers(0, 9, (40, 3))
    wanted = np.abs(spearmanr(X).statistic - spearmanr(Z).statistic)[np.triu_indices(3, 1)]
    spearman = moments(open_pair(table(X), table(Z))).spearman
    assert spearman.mean == pytest.approx(wanted.mean())
    assert spearman.largest == pytest.approx(wanted.max())


def test_a_correlation_that_is_lost_is_counted():
    X = RNG.normal(size=(10, 3))
    Z = X.copy()
    Z[:, 1] = X[:, 1].mean()
    pearson = moments(open_pair(table(X), table(Z), quasi_identifiers=["x0", "x1", "x2"])).pearson
    assert (pearson.n_lost, pearson.n_pairs) == (2, 1)
    assert pearson.largest == pytest.approx(0, abs=1e-12)


def test_dates_and_what_has_no_deviation():
    days = [datetime.date(2000, 1, day) for day in (1, 3, 5)]
    before = pl.DataFrame({"d": days, "c": [4, 4, 4], "s": ["a", "b", "c"], "g": [1.0, 2.0, 4.0]})
    after = pl.DataFrame({"d": days[1:2] * 3, "c": [4, 4, 5], "s": ["a"] * 3, "g": [None] * 3})
    result = moments(open_pair(before, after))
    assert list(result.columns) == ["d", "c", "g"]
    date, constant, gone = result.columns.values()
    assert date.mean_change == 0
    assert date.mean_relative_change is None
    assert date.sd_before == 2
    assert date.sd_relative_change == -1
    assert constant.sd_relative_change is constant.quantiles_after is None
    assert constant.mean_relative_change == pytest.approx(1 / 12)
    assert (gone.n_after, gone.mean_after, gone.quantiles_after) == (0, None, None)


def test_two_records_and_one_column():
    tiny = pl.DataFrame({"x": [1.0, None]})
    result = moments(open_pair(tiny, pl.DataFrame({"x": [None, 1e200]})))
    assert result.columns["x"].sd_before is None
    assert result.pearson.largest is None
