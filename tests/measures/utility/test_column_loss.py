"""IL of the released values, overall and by column."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from microagg import information_loss
from microagg.measures.utility.column_loss import column_loss
from microagg.tables.matching import open_pair
from tests.indicators import coordinates

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


def plain(pair, name):
    """The loss of one column on axes that are written out."""
    X, Z = coordinates(replace(pair, columns={name: pair.columns[name]}))
    sse = sum((X[i, j] - Z[i, j]) ** 2 for i in range(len(X)) for j in range(X.shape[1]))
    return 100 * sse / ((X - X.mean(axis=0)) ** 2).sum()


def test_it_is_the_average_of_the_errors_of_the_columns():
    pair = mixed()
    loss = column_loss(pair)
    each = {name: plain(pair, name) for name in "xyc"}
    assert loss.columns == pytest.approx(each)
    assert loss.information_loss == pytest.approx(sum(each.values()) / 3)
    assert loss.information_loss == pytest.approx(100 * loss.sse / loss.sst)
    assert loss.sst == pytest.approx(3 * 59)
    assert list(loss.worst_columns) == sorted(each, key=lambda name: -each[name])


def test_columns_count_by_their_weights():
    pair = mixed()
    each = {name: plain(pair, name) for name in "xyc"}
    weights = {"x": 3.0, "y": 0.5, "c": 0.0}
    weighted = {n: replace(pair.columns[n], weight=w) for n, w in weights.items()}
    loss = column_loss(replace(pair, columns=weighted))
    assert loss.columns == pytest.approx(each)
    assert loss.information_loss == pytest.approx((3 * each["x"] + 0.5 * each["y"]) / 3.5)
    nothing = {"c": weighted["c"]}
    assert column_loss(replace(pair, columns=nothing)).information_loss is None


def test_a_record_of_weight_two_counts_as_two():
    pair = mixed()
    weights = RNG.integers(1, 4, 60)
    loss = column_loss(replace(pair, weights=weights.astype(float)))
    repeated = column_loss(pair.take(np.repeat(np.arange(60), weights)))
    for name in "xc":
        assert loss.columns[name] == pytest.approx(repeated.columns[name], rel=1e-12)
    assert loss.columns["y"] == pytest.approx(repeated.columns["y"], rel=0.01)  # ddof = 1


@pytest.mark.parametrize("n_categories", [3, 33, 150, 400])
def test_any_number_of_categories_is_exact(n_categories):
    rng = np.random.default_rng(n_categories)
    before, after = rng.integers(0, n_categories, (2, 2000)).astype(str)
    after[:1500] = before[:1500]
    pair = open_pair(pl.DataFrame({"c": before}), pl.DataFrame({"c": after}))
    assert column_loss(pair).information_loss == pytest.approx(plain(pair, "c"), rel=1e-12)


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
