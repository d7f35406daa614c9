"""The optimum of one column: against every partition, and on twenty million values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numba import njit

from microagg.core.errors import DataError
from microagg.partitions import Univariate
from tests.references import best_partition


def columns(count):
    rng = np.random.default_rng(0)
    for case in range(count):
        n = int(rng.integers(1, 8))
        k = int(rng.integers(1, n + 1))
        column = [
            lambda n=n: rng.normal(size=n),
            lambda n=n: rng.integers(-4, 5, n).astype(float),
            lambda n=n: rng.integers(-100, 100, n).astype(float),
            lambda n=n: rng.standard_cauchy(n).round(3) * 100,
        ][case % 4]()
        yield column[:, None], k


@pytest.mark.slow
def test_no_partition_is_better():
    for X, k in columns(1500):
        assert Univariate(k=k).fit(X).sse_ == pytest.approx(
            best_partition(X, k), rel=1e-12, abs=1e-9
        )


@pytest.mark.slow
def test_no_partition_is_better_in_whole_numbers():
    for X, k in columns(1500):
        whole = np.round(X)
        best = best_partition(whole, k, integer=True)
        assert Univariate(k=k, integer=True).fit(whole).sse_ == best


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("n", [9, 10])
def test_no_partition_of_nine_or_ten_is_better(n, integer):
    rng = np.random.default_rng(n)
    for k in (2, 3, 4):
        X = rng.integers(-30, 30, (n, 1)).astype(float)
        best = best_partition(X, k, integer)
        assert Univariate(k=k, integer=integer).fit(X).sse_ == pytest.approx(best, abs=1e-9)


@njit
def exact_optimum(values, k, multiple):
    """Cheapest cut in exact integers: costs times a common multiple of all group sizes."""
    n = values.shape[0]
    cost = np.full(n + 1, np.int64(1) << 62)
    cost[0] = 0
    for end in range(k, n + 1):
        total = np.int64(0)
        squares = np.int64(0)
        for size in range(1, min(2 * k, end + 1)):
            gap = values[end - size] - values[end - 1]
            total += gap
            squares += gap * gap
            if size >= k and cost[end - size] < np.int64(1) << 62:
                error = multiple * squares - (multiple // size) * total * total
                cost[end] = min(cost[end], cost[end - size] + error)
    return cost[n]


def exact_error(values, labels, multiple):
    """Squared error of the groups times a multiple of all their sizes, in Python integers."""
    sizes = np.bincount(labels)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    gaps = values - values[starts[labels]]
    totals = np.add.reduceat(gaps, starts[:-1])
    squares = np.add.reduceat(gaps * gaps, starts[:-1])
    return int((multiple * squares - (multiple // sizes) * totals * totals).sum())


@pytest.mark.parametrize("n", [10_000, pytest.param(20_000_000, marks=pytest.mark.slow)])
def test_exact_on_millions_of_values(n):
    """The cost of our cut equals that of a dynamic program in exact integers, to the last unit."""
    k = 10
    multiple = int(np.lcm.reduce(np.arange(k, 2 * k)))
    values = np.random.default_rng(0).integers(-n // 2, n // 2, n)
    values.sort()
    model = Univariate(k=k).fit(values)
    optimum = exact_optimum(values, k, multiple)
    assert exact_error(values, model.labels_, multiple) == optimum
    assert model.sse_ == pytest.approx(optimum / multiple, rel=1e-13)


def test_row_order_and_ties():
    model = Univariate(k=2).fit([5, 1, 5, 1, 5, 1])
    assert model.labels_.tolist() == [0, 1, 0, 1, 0, 1]


def test_several_columns_are_refused():
    with pytest.raises(DataError, match="one column is expected; got 2"):
        Univariate(k=2).fit(np.zeros((4, 2)))


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda column: column.astype(np.uint64),
        lambda column: column.astype(object),
        lambda column: pd.DataFrame({"a": column}, dtype="Int64"),
        lambda column: pl.DataFrame({"a": column}),
        pl.Series,
        lambda column: column.tolist(),
    ],
    ids=["int64", "uint64", "object", "pandas", "polars", "series", "list"],
)
def test_whole_numbers_beyond_floats(convert):
    column = np.array([0, 1, 2, 3, 50, 51], dtype=np.int64) + 2**60
    model = Univariate(k=2, integer=True).fit(convert(column))
    assert model.labels_.tolist() == [0, 0, 1, 1, 2, 2]
    assert (model.centers_.ravel() - 2**60).tolist() == [1, 3, 51]


def test_outliers_do_not_spoil_the_rest():
    """Costs of 1e24 beside costs of 1e-4: the small ones still decide."""
    column = np.sort(np.random.default_rng(0).normal(size=3000))
    alone = Univariate(k=3).fit(column)
    for far in (1e7, 1e9, 1e12):
        labels = Univariate(k=3).fit_predict(np.append([-far, -1.1 * far, -1.3 * far], column))
        assert (labels[3:] - 1).tolist() == alone.labels_.tolist()


def test_overflow_is_refused():
    with pytest.raises(DataError, match="could exceed 64-bit integers"):
        Univariate(k=2, integer=True).fit([0, 1, 2**40, 2**41])
