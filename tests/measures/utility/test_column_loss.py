"""IL of the released values, overall and by column."""

import numpy as np
import polars as pl
import pytest

from microagg import information_loss
from microagg.measures.utility.column_loss import column_loss
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(3)


def mixed(n=60):
    before = pl.DataFrame(
        {
            "x": RNG.normal(1e6, 3, n),
            "y": [None if v < 2 else v for v in RNG.integers(0, 20, n).tolist()],
            "c": RNG.choice(list("abcd"), n),
        }
    )
    after = before.with_columns(
        x=pl.col("x").mean(), y=pl.col("y").fill_null(7), c=pl.Series(RNG.choice(list("abe"), n))
    )
    return open_pair(before, after)


def test_it_is_the_error_in_the_spaces_of_the_pair():
    pair = mixed()
    X, Z = pair.points_before(), pair.points_after()
    loss = column_loss(pair)
    sse = sum((X[i, j] - Z[i, j]) ** 2 for i in range(60) for j in range(X.shape[1]))
    assert loss.sse == pytest.approx(sse)
    assert loss.sst == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())
    assert loss.information_loss == pytest.approx(100 * loss.sse / loss.sst)


def test_columns_one_by_one():
    loss = column_loss(mixed())
    assert loss.columns["x"] == pytest.approx(100)  # only the mean is left
    assert 0 < loss.columns["y"] < loss.columns["c"]


def test_means_of_groups_lose_what_the_groups_lose():
    labels = np.repeat(np.arange(10), 3)
    X = RNG.normal(size=(30, 2))
    S = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    means = np.array([X[labels == g].mean(axis=0) for g in labels])
    pair = open_pair(pl.DataFrame(X), pl.DataFrame(means))
    assert column_loss(pair).information_loss == pytest.approx(information_loss(S, labels))


def test_rounding_counts_though_no_group_is_there():
    before = pl.DataFrame({"x": [0.4, 1.6, 2.4]})
    loss = column_loss(open_pair(before, before.select(pl.col("x").round()))).information_loss
    assert loss == pytest.approx(
        100 * 3 * 0.4**2 / np.square([0.4 - 22 / 15, 2 / 15, 14 / 15]).sum()
    )


def test_what_does_not_vary():
    constant = pl.DataFrame({"x": [5.0, 5.0]})
    assert column_loss(open_pair(constant, constant)).information_loss == 0
    gone = pl.DataFrame({"x": [5.0, None]})
    assert column_loss(open_pair(constant, gone)).columns == {"x": None}
    for before, after in (([5.0, 5.0], [5.0, 7.0]), (["a", "a"], ["a", "b"])):
        found = column_loss(open_pair(pl.DataFrame({"x": before}), pl.DataFrame({"x": after})))
        assert found.columns == {"x": None}
        assert found.information_loss is None
