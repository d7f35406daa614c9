"""The intruder who knows that groups are runs of the sorted values."""

import warnings
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

from microagg import protect
from microagg.core.errors import ParameterError, PrivacyWarning
from microagg.kernels.attacks.ranges import count_rows_in_ranges
from microagg.measures.risk.informed import informed
from microagg.partitions import Univariate
from microagg.tables.matching import open_pair


def grouped_by_column(X, k):
    """Every column by itself, optimally: what it was and the means of its groups."""
    Z = np.empty_like(X, dtype=float)
    for j, column in enumerate(X.T):
        labels = Univariate(k=k).fit_predict(column.astype(float))
        Z[:, j] = (np.bincount(labels, column) / np.bincount(labels))[labels]
    return Z


def paired(X, Z):
    names = [f"c{j}" for j in range(X.shape[1])]
    return open_pair(
        pl.DataFrame(X, schema=names), pl.DataFrame(Z, schema=names), quasi_identifiers=names
    )


def slow_candidates(X, Z, reach=0):
    """For every record, the released records that fit in every column, centre by centre."""
    found = []
    for x in X:
        fits = set(range(len(Z)))
        for j in range(X.shape[1]):
            centres = sorted(set(Z[:, j].tolist()))
            below = [i for i, c in enumerate(centres) if c < x[j]]
            above = [i for i, c in enumerate(centres) if c > x[j]]
            low = (below[-1] if below else 0) - reach
            high = (above[0] if above else len(centres) - 1) + reach
            possible = {centres[i] for i in range(len(centres)) if low <= i <= high}
            fits = {r for r in fits if Z[r, j] in possible}
        found.append(fits)
    return found


def check_against_slow(X, Z, reach=0):
    found = informed(paired(X, Z), reach=reach)
    sets = slow_candidates(X, Z, reach)
    sizes, own = [len(s) for s in sets], [i in s for i, s in enumerate(sets)]
    assert found.mean_candidates == pytest.approx(np.mean(sizes))
    assert found.least_candidates == min(sizes)
    assert found.consistent == pytest.approx(np.mean(own))
    assert found.linked == pytest.approx(np.mean([o / max(s, 1) for o, s in zip(own, sizes)]))
    assert found.single == pytest.approx(np.mean([o and s == 1 for o, s in zip(own, sizes)]))
    return found


@pytest.mark.parametrize("reach", [0, 1, 3])
@pytest.mark.parametrize("d", [1, 3])
def test_candidates_are_those_of_a_search_one_by_one(d, reach):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(70, d))
    check_against_slow(X, grouped_by_column(X, 3), reach)
    # Whatever was released: noise, with ties
    check_against_slow(X.round(1), (X + rng.normal(size=X.shape)).round(0), reach)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_groups_of_each_column_are_among_what_is_possible(k):
    rng = np.random.default_rng(k)
    for X in (rng.normal(size=(200, 4)), rng.integers(0, 12, (200, 4)).astype(float)):
        found = informed(paired(X, grouped_by_column(X, k)))
        assert found.consistent == 1.0
        assert all(column.consistent == 1.0 for column in found.columns.values())
        assert found.least_candidates >= 1


def test_four_columns_undo_what_each_of_them_protects():
    X = np.random.default_rng(0).normal(size=(300, 4))
    Z = grouped_by_column(X, 5)
    found = informed(paired(X, Z))
    assert found.single > 0.9
    assert found.linked > 0.95
    alone = informed(paired(X[:, :1], Z[:, :1]))
    assert alone.linked < 1 / 5
    assert alone.mean_candidates == pytest.approx(alone.columns["c0"].possible)


def test_values_that_equal_a_centre_may_belong_to_the_next():
    X = np.array([[5.0], [5.0], [5.0], [5.0], [7.0], [9.0], [20.0], [21.0], [22.0]])
    Z = np.array([[5.0], [5.0], [5.0], [7.0], [7.0], [7.0], [21.0], [21.0], [21.0]])
    found = check_against_slow(X, Z)
    assert found.consistent == 1.0  # the fourth 5 is in the group of 7
    # 5: the first two groups; 7 and 21: also those next to them; 20: both sides; 22: the last
    assert found.mean_candidates == pytest.approx((4 * 6 + 9 + 6 + 6 + 6 + 3) / 9)


def test_a_draw_excludes_nothing():
    X = np.random.default_rng(0).normal(size=(50, 3))
    Z = grouped_by_column(X, 3)
    found = informed(paired(X, Z), drawn=["c0", "c1", "c2"])
    assert found.linked == found.guessed == 1 / 50
    assert found.mean_candidates == found.least_candidates == 50
    assert found.consistent == 1.0
    assert found.columns == {}
    assert found.drawn == ("c0", "c1", "c2")
    some = informed(paired(X, Z), drawn="c1")
    assert some.linked == informed(paired(X[:, [0, 2]], Z[:, [0, 2]])).linked


def test_wide_reach_leaves_all_records():
    X = np.random.default_rng(0).normal(size=(50, 3))
    found = informed(paired(X, grouped_by_column(X, 3)), reach=50)
    assert found.mean_candidates == 50


def test_columns_that_cannot_take_part_are_named():
    before = pl.DataFrame(
        {"x": [1, 2, 3, 4], "gone": [1.0, None, 3.0, 4.0], "sex": ["f", "m", "f", "m"]}
    )
    after = before.with_columns(x=pl.Series([1.5, 1.5, 3.5, 3.5]))
    pair = open_pair(before, after, quasi_identifiers=before.columns)
    found = informed(pair)
    assert list(found.columns) == ["x"]
    assert found.left_out == ("gone", "sex")
    nothing = informed(pair, drawn="x")
    assert nothing.linked == 1 / 4


def test_rounding_of_a_centre_is_no_difference():
    X = np.full((6, 1), 0.1)
    X[3:] = 7.0
    Z = X + np.array([[1e-15]])
    assert informed(paired(X, Z)).consistent == 1.0


def test_a_sample_is_near_the_whole_and_threads_change_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(500, 2))
    pair = paired(X, grouped_by_column(X, 5))
    whole = informed(pair)
    part = informed(pair, most=250, seed=1)
    assert part.n_sampled == 250
    assert abs(part.linked - whole.linked) < 4 * part.standard_error < 0.2
    monkeypatch.setattr("microagg.measures.risk.informed._BLOCK_ROWS", 2000)
    assert asdict(informed(pair, n_jobs=3)) == asdict(informed(pair, n_jobs=1)) == asdict(whole)


@pytest.mark.parametrize("n", [1, 2])
def test_small_and_constant_tables(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    found = informed(paired(X, np.tile(X.mean(axis=0), (n, 1))))
    assert found.linked == 1 / n
    assert found.consistent == 1.0


def test_the_source_of_the_kernel_counts_the_same():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (30, 3)).astype(np.int32)
    counts = rng.integers(1, 4, 30)
    lows = rng.integers(0, 4, (8, 3)).astype(np.int32)
    highs = np.minimum(lows + 1, 3).astype(np.int32)
    listed = np.ascontiguousarray(np.argsort(codes, axis=0).T.astype(np.int32))
    begins = np.array([[np.sum(c < v) for v in range(5)] for c in codes.T], dtype=np.int32)
    fits = ((codes >= lows[:, None]) & (codes <= highs[:, None])).all(axis=2)
    for run in (count_rows_in_ranges, count_rows_in_ranges.py_func):
        out = np.zeros(8, dtype=np.int64)
        run(lows, highs, codes, counts, listed, begins, out)
        assert out.tolist() == (fits * counts).sum(axis=1).tolist()


def test_extreme_numbers():
    X = np.array([[-1.7e308], [0.0], [1.7e308]])
    assert informed(paired(X, X)).consistent == 1.0


def test_figures_of_the_page(benchmark_file):
    table = pl.read_csv(benchmark_file("tarragona"))
    with warnings.catch_warnings(action="ignore", category=PrivacyWarning):
        blocks = [[name] for name in table.columns]
        release = protect(table, 5, method="univariate", blocks=blocks, bound="none")
    found = informed(open_pair(table, release.table, quasi_identifiers=table.columns))
    assert found.consistent == 1.0
    assert found.linked == pytest.approx(0.998, abs=0.001)
    two = table.columns[:2]
    found = informed(open_pair(table, release.table, quasi_identifiers=two))
    assert found.linked == pytest.approx(0.926, abs=0.001)


def test_what_makes_no_sense_is_refused():
    pair = paired(np.arange(4.0).reshape(4, 1), np.ones((4, 1)))
    with pytest.raises(ParameterError, match="'c9' is not one"):
        informed(pair, drawn=["c9"])
    with pytest.raises(ParameterError, match="reach"):
        informed(pair, reach=-1)
