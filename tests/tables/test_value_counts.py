"""Counts of numbers in bounded memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.aggregates.choices import Aggregate
from microagg.aggregates.values import Values
from microagg.tables.columns import Column, ColumnType
from microagg.tables.encoding import Encoding, encode
from microagg.tables.statistics import ColumnStatistics
from microagg.tables.value_counts import MOST_VALUES, ValueCounts, rounded

RNG = np.random.default_rng(8)


def test_few_values_are_counted_as_they_are():
    counts = ValueCounts.of(np.array([2.5, 1.0, 2.5]), np.array([1.0, 2.0, 4.0]))
    assert counts.values.tolist() == [1.0, 2.5]
    assert counts.weights.tolist() == [2.0, 5.0]
    assert counts.is_exact


@given(
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    dropped=st.integers(0, 48),
)
def test_rounding_moves_no_number_by_more_than_the_dropped_bits(values, dropped):
    values = np.sort(np.array(values))
    got = rounded(values, dropped)
    assert (np.diff(got) >= 0.0).all()
    assert (rounded(got, dropped) == got).all()
    assert ((got == 0.0) == (values == 0.0)).all()
    precision = 2.0 ** (dropped - 53) if dropped else 0.0
    normal = np.abs(values) >= 1e-300
    assert (np.abs(got - values)[normal] <= precision * np.abs(values)[normal]).all()


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=3000),
        np.exp(5 * RNG.normal(size=3000)) * RNG.choice([-1, 0, 1], 3000),
        1e9 + RNG.normal(size=3000),
        RNG.integers(0, 2**40, 3000),
        RNG.integers(2**62, 2**62 + 5000, 3000),
    ],
    ids=["normal", "skewed", "offset", "whole", "large offset"],
)
def test_many_values_are_rounded_the_same_way_however_they_are_split(values):
    most = 256
    whole = ValueCounts.of(values, most=most)
    assert not whole.is_exact
    assert len(whole.values) <= most
    # No more bits than necessary are dropped.
    assert len(np.unique(rounded(values, whole.dropped - 1))) > most or whole.dropped == 1
    assert whole.weights.sum() == len(values)
    for n_parts in (2, 7, 300):
        parts = [ValueCounts.of(p, most=most) for p in np.array_split(values, n_parts)]
        merged = parts[-1]
        for part in parts[:-1]:
            merged = part.merge(merged, most=most)
        assert merged.dropped == whole.dropped
        assert np.array_equal(merged.values, whole.values)
        assert np.array_equal(merged.weights, whole.weights)


@pytest.mark.parametrize("scale", ["robust", "rank", "log"])
@pytest.mark.parametrize("with_missing", [False, True])
def test_scales_of_many_different_numbers_are_close(scale, with_missing):
    values = np.exp(RNG.normal(size=MOST_VALUES + 30_000)) * 1e4
    missing = RNG.random(len(values)) < 0.1 * with_missing

    def column(rows):
        own = Values.of(values[rows], missing[rows])
        return Column("x", ColumnType.CONTINUOUS, own, lambda given: given, Aggregate.MEAN)

    whole = column(slice(None))
    halves = [column(slice(None, 50_000)), column(slice(50_000, None))]
    first, second = (ColumnStatistics.of(half, scale=scale) for half in halves)
    merged = first.merge(second)
    assert not merged.present.counts.is_exact
    assert merged.n_distinct is None
    X = encode([whole], scale=scale)
    encoding = Encoding.of([merged], scale=scale)
    np.testing.assert_allclose(encoding.apply([whole]), X, rtol=2e-4, atol=2e-4)
    by_halves = np.vstack([encoding.apply([half]) for half in halves])
    assert np.array_equal(by_halves, encoding.apply([whole]))
