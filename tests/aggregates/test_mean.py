"""The mean of every group, in the column's own type."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from microagg.aggregates.mean import group_means, in_type, means_in_type
from microagg.core.errors import DataError

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def released(values, labels):
    labels = np.asarray(labels, dtype=np.intp)
    return means_in_type(np.asarray(values), labels, name="x")[labels]


def exact_mean(members):
    return Fraction(sum(Fraction(v.item()) for v in members), len(members))


def half_away_from_zero(mean):
    whole = abs(mean) + Fraction(1, 2)
    return (-1 if mean < 0 else 1) * (whole.numerator // whole.denominator)


grouped = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@given(st.data())
def test_integers_are_averaged_exactly(data):
    dtype = np.dtype(data.draw(st.sampled_from(INTEGERS)))
    raw = data.draw(grouped)
    labels = np.unique(raw, return_inverse=True)[1]
    # The sums of differences must fit 64 bits; see the test of the refusal.
    bounds = np.iinfo(dtype)
    low, high = max(bounds.min, -(2**58)), min(bounds.max, 2**58)
    values = np.array(
        data.draw(st.lists(st.integers(low, high), min_size=len(raw), max_size=len(raw))), dtype
    )
    got = released(values, labels)
    assert got.dtype == dtype
    for g in np.unique(labels):
        expected = half_away_from_zero(exact_mean(values[labels == g]))
        assert got[labels == g].tolist() == [expected] * np.count_nonzero(labels == g)


@pytest.mark.parametrize(
    ("values", "mean"),
    [([1, 2], 2), ([-1, -2], -2), ([-1, 0], -1), ([0, 1], 1), ([-3, 2], -1), ([2, 2, 3], 2)],
)
def test_halves_go_away_from_zero(values, mean):
    assert released(values, [0] * len(values)).tolist() == [mean] * len(values)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ends_of_every_integer_type(dtype):
    bounds = np.iinfo(dtype)
    top = np.array([bounds.max, bounds.max - 1], dtype)
    assert released(top, [0, 0]).tolist() == [bounds.max] * 2
    low = np.array([bounds.min, bounds.min + 1], dtype)
    expected = bounds.min if bounds.min < 0 else 1
    assert released(low, [0, 0]).tolist() == [expected] * 2
    assert released(low, [0, 0]).dtype == low.dtype


def test_numbers_too_far_apart_are_refused_by_name():
    for values in ([-(2**63), 2**63 - 1], np.array([0, 2**64 - 1], dtype=np.uint64)):
        with pytest.raises(DataError, match="'x' are too far apart"):
            released(values, [0, 0])


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(hnp.arrays(np.float64, st.integers(1, 8), elements=floats))
def test_float_means_are_near_the_exact_ones(values):
    got = released(values, [0] * len(values))
    assert len({value.tobytes() for value in got}) == 1
    exact = exact_mean(values)
    slack = Fraction(float(np.abs(values).max())) * Fraction(1, 2**48) + Fraction(1, 2**1000)
    assert abs(Fraction(got[0].item()) - exact) <= slack


@given(
    hnp.arrays(
        np.float32,
        st.integers(1, 8),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    )
)
def test_single_precision_stays_single(values):
    got = released(values, [0] * len(values))
    assert got.dtype == np.float32
    assert np.isfinite(got).all()
    assert values.min() <= got[0] <= values.max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_members_keep_their_value(dtype):
    values = np.array([0.1, 0.1, 0.1, 1e-45, 1e-45, 3e38, 3e38], dtype)
    assert (released(values, [0, 0, 0, 1, 1, 2, 2]) == values).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_has_no_sign(dtype):
    values = np.array([-0.0, -0.0, -0.0, 0.0, -1e-45, 0.0, 0.0], dtype)
    got = released(values, [0, 0, 1, 1, 2, 2, 2])
    assert not np.signbit(got[got == 0]).any()


def test_groups_are_averaged_apart_and_the_input_kept():
    values = np.array([1.0, 10.0, 3.0, 20.0])
    values.flags.writeable = False
    assert released(values, [0, 1, 0, 1]).tolist() == [2.0, 15.0, 2.0, 15.0]


def test_means_of_groups_come_in_the_order_of_their_numbers():
    values, labels = np.array([4.0, 1.0, 2.0, 9.0]), np.array([2, 0, 0, 1])
    assert group_means(values, labels).tolist() == [1.5, 9.0, 4.0]
    assert group_means(np.array([2**40, 1]), np.array([0, 0])).tolist() == [(2**40 + 1) / 2]


@pytest.mark.parametrize(
    ("points", "like", "expected"),
    [
        ([0.5, -0.5, 2.4999], np.int8(0), [1, -1, 2]),
        ([-0.0, 1 / 3], np.float32(0), [0.0, float(np.float32(1 / 3))]),
        ([255.4], np.uint8(0), [255]),
        (np.array([2**60 + 1]), np.int64(0), [2**60 + 1]),
    ],
)
def test_points_are_released_in_the_type_of_the_column(points, like, expected):
    got = in_type(np.asarray(points), dtype=like.dtype, name="x")
    assert got.dtype == like.dtype
    assert got.tolist() == expected


@pytest.mark.parametrize("point", [255.5, -0.6, 1e30])
def test_points_that_the_type_cannot_hold_are_refused(point):
    with pytest.raises(DataError, match=r"do not fit the type of 'x' \(uint8\)"):
        in_type(np.array([point]), dtype=np.dtype(np.uint8), name="x")


@given(st.data())
def test_a_weight_counts_as_so_many_records(data):
    n = data.draw(st.integers(1, 9))
    values = data.draw(hnp.arrays(np.float64, n, elements=st.floats(-1e6, 1e6)))
    labels = np.unique(
        data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), return_inverse=True
    )[1]
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    repeated = group_means(np.repeat(values, weights), np.repeat(labels, weights))
    weighted = group_means(values, labels, weights.astype(float))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_means_of_the_smallest_floats_are_the_nearest_floats(seed):
    """Products of weights with such numbers would vanish, or be a whole step off."""
    rng = np.random.default_rng(seed)
    for _ in range(200):
        n = int(rng.integers(1, 6))
        steps, weights = rng.integers(-3, 4, n), rng.choice([1e-3, 0.5, 1.0, 3.0], n)
        found = group_means(steps * 5e-324, np.zeros(n, dtype=np.intp), weights)[0]
        exact = sum(Fraction(w) * int(s) for w, s in zip(weights, steps)) / sum(
            map(Fraction, weights)
        )
        assert abs(Fraction(found) / Fraction(5e-324) - exact) <= Fraction(1, 2) + Fraction(
            1, 10**12
        )


def test_equal_values_keep_their_value_whatever_the_weights():
    values, weights = np.full(3, 0.1), np.array([0.3, 0.7, 1e-3])
    assert group_means(values, np.zeros(3, dtype=np.intp), weights).tolist() == [0.1]
    whole = means_in_type(np.array([5, 5, 5]), np.zeros(3, dtype=np.intp), weights, name="x")
    assert whole.tolist() == [5]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64])
def test_weighted_means_of_whole_numbers_are_rounded_once_and_exactly(dtype):
    rng = np.random.default_rng(3)
    for _ in range(200):
        low = 0 if np.dtype(dtype).kind == "u" else -4
        offset = 2**60 if dtype == np.uint64 else 0
        spread = int(rng.choice([1, 10**9, 10**16])) if np.dtype(dtype).itemsize == 8 else 1
        values = (rng.integers(low * spread, 5 * spread, 6) + offset).astype(dtype)
        weights = rng.integers(1, 5, 6)
        total = sum(int(v) * int(w) for v, w in zip(values, weights))
        mean = Fraction(total, int(weights.sum()))
        size = (abs(mean) + Fraction(1, 2)) // 1
        wanted = size if mean >= 0 else -size
        labels = np.zeros(6, dtype=np.intp)
        scaled = weights / 8.0
        assert means_in_type(values, labels, scaled, name="x").tolist() == [wanted]


def test_huge_numbers_cost_small_ones_in_other_groups_no_digits():
    values = np.array([1e300, 1.5e308, 1e-310, 3e-310, 1e-290])
    means = group_means(values, np.array([0, 0, 1, 1, 2]))
    assert means.tolist() == [pytest.approx(7.5e307), 2e-310, 1e-290]
