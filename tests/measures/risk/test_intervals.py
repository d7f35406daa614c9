"""Interval disclosure, and dRisk of sdcMicro."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from microagg.core.errors import ParameterError
from microagg.measures.risk.drisk import drisk
from microagg.measures.risk.intervals import interval_disclosure
from microagg.partitions import MDAV
from microagg.tables.matching import open_pair

WIDTHS = (0.01, 0.05, 0.3)


def plain_rank(values, v):
    return sum(x < v for x in values) + sum(x == v for x in values) / 2


@pytest.mark.parametrize("kind", ["normal", "ties"])
def test_shares_are_those_of_a_plain_loop(numbers_pair, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) if kind == "normal" else rng.integers(0, 6, (60, 2)) * 1.0
    Z = X + rng.normal(size=X.shape) * 0.2 * (rng.random(X.shape) < 0.7)
    result = interval_disclosure(numbers_pair(X, Z), widths=WIDTHS)
    for p in WIDTHS:
        by_deviation, by_rank = np.zeros((60, 2), dtype=bool), np.zeros((60, 2), dtype=bool)
        for i in range(60):
            for j in range(2):
                by_deviation[i, j] = abs(X[i, j] - Z[i, j]) <= p * X[:, j].std(ddof=1)
                ranks = [plain_rank(X[:, j], M[i, j]) for M in (X, Z)]
                by_rank[i, j] = abs(ranks[0] - ranks[1]) <= p * 60
        for j in range(2):
            assert result.by_deviation[f"x{j}"][p] == pytest.approx(by_deviation[:, j].mean())
            assert result.by_rank[f"x{j}"][p] == pytest.approx(by_rank[:, j].mean())
        assert result.every_by_deviation[p] == pytest.approx(by_deviation.all(axis=1).mean())
        assert result.every_by_rank[p] == pytest.approx(by_rank.all(axis=1).mean())


def test_hand_computed():
    # Deviation of 0, 2, 4 is 2. Ranks 0.5, 1.5, 2.5; the releases 0.2, 3 and 4 have 1, 2 and 2.5.
    before = pl.DataFrame({"x": [0.0, 2.0, 4.0], "c": ["a", "b", "a"]})
    after = pl.DataFrame({"x": [0.2, 3.0, 4.0], "c": ["a", "a", "a"]})
    result = interval_disclosure(open_pair(before, after), widths=[0.05, 0.11, 1 / 6, 0.5])
    assert list(result.by_deviation) == ["x"]
    assert list(result.by_deviation["x"].values()) == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1])
    assert list(result.by_rank["x"].values()) == pytest.approx([1 / 3, 1 / 3, 1, 1])


def test_missing_values_are_disclosed_if_released_as_missing():
    before = pl.DataFrame({"x": [1.0, None, None, 4.0, 5.0]})
    after = pl.DataFrame({"x": [1.0, None, 1.0, None, 9.0]})
    pair = open_pair(before, after)
    result = interval_disclosure(pair, widths=[0.1])
    assert result.by_deviation["x"] == result.by_rank["x"] | {0.1: 2 / 5} == {0.1: 2 / 5}
    assert drisk(pair, widths=[0.1]).share == {0.1: 2 / 5}


def test_dates_and_ordered_categories_count_and_a_nominal_column_does_not():
    size = pl.Enum(["small", "medium", "large"])
    before = pl.DataFrame(
        {
            "day": pl.Series(["2020-01-01", "2020-01-11", "2020-01-21"]).str.to_date(),
            "size": pl.Series(["small", "medium", "large"], dtype=size),
            "town": ["a", "b", "c"],
        }
    )
    after = before.with_columns(
        pl.Series("day", ["2020-01-02", "2020-01-11", "2020-01-21"]).str.to_date(), town=pl.lit("a")
    )
    names = ["day", "size", "town"]
    result = interval_disclosure(open_pair(before, after, quasi_identifiers=names), widths=[0.09])
    assert result.by_deviation["day"] == {0.09: pytest.approx(2 / 3)}  # 1 of 10 days
    assert "town" not in result.by_deviation
    assert result.every_by_deviation == {0.09: pytest.approx(2 / 3)}


def test_drisk_takes_deviations_of_the_released_columns(numbers_pair):
    X = np.array([[0.0], [10.0], [20.0]])
    Z = np.array([[1.0], [1.0], [21.0]])
    # Deviations: 10 before, 11.547 after; changes 1, 9, 1.
    pair = numbers_pair(X, Z)
    assert drisk(pair, widths=[0.09, 0.8]).share == {0.09: pytest.approx(2 / 3), 0.8: 1.0}
    assert interval_disclosure(pair, widths=[0.09]).every_by_deviation == {0.09: 0.0}


def test_a_value_at_the_end_of_the_interval_is_in_it(numbers_pair):
    X, Z = np.array([[0.0], [2.0], [4.0]]), np.array([[1.0], [2.0], [4.0]])
    assert interval_disclosure(numbers_pair(X, Z), widths=[0.5]).every_by_deviation == {0.5: 1.0}
    assert drisk(numbers_pair(Z, X), widths=[0.5]).share == {0.5: 1.0}


@pytest.mark.parametrize(
    ("name", "k", "p", "share"),
    [
        ("census", 3, 0.1, 0.00278),
        ("tarragona", 3, 0.05, 0.04556),
        ("tarragona", 3, 0.1, 0.25899),
        ("eia", 5, 0.05, 0.53861),
    ],
)
def test_drisk_is_that_of_sdcmicro(numbers_pair, raw_table, standardised, name, k, p, share):
    labels = MDAV(k=k).fit_predict(standardised(name))
    X, sizes = raw_table(name), np.bincount(labels)
    means = np.column_stack([np.bincount(labels, column) / sizes for column in X.T])
    assert drisk(numbers_pair(X, means[labels])).share[p] == pytest.approx(share, abs=5e-6)


def test_wider_intervals_hold_more(numbers_pair):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    result = interval_disclosure(numbers_pair(X, X + rng.normal(size=X.shape) * 0.1))
    for shares in (*result.by_deviation.values(), *result.by_rank.values(), result.every_by_rank):
        assert list(shares.values()) == sorted(shares.values())


def test_awkward_tables(awkward):
    for result in (interval_disclosure(awkward), drisk(awkward)):
        assert json.dumps(dataclasses.asdict(result), allow_nan=False) != "{}"


def test_widths_are_checked(numbers_pair):
    with pytest.raises(ParameterError, match="widths"):
        drisk(numbers_pair(np.eye(3), np.eye(3)), widths=[-0.1])
