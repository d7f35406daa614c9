"""Rounded means and medians, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.aggregates.choices import Aggregate
from microagg.aggregates.digits import Digits
from microagg.aggregates.exact import group_averages
from microagg.aggregates.rounded import rounded_aggregates
from microagg.core.errors import DataError


def nearest(value, digits):
    """The nearest multiple of 10**-digits; halves go away from zero."""
    size = (abs(value) * Fraction(10) ** digits + Fraction(1, 2)) // 1
    return (1 if value >= 0 else -1) * size / Fraction(10) ** digits


def aggregated(values, how, own, released, weights=None):
    labels = np.zeros(len(values), dtype=np.intp)
    digits = Digits(own, released)
    return rounded_aggregates(np.array(values), labels, how, weights, digits, name="x")[0]


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=6),
    st.integers(0, 5),
    st.integers(-3, 6),
)
def test_means_and_medians(steps, own, released):
    values = [step / 10**own for step in steps]
    exact = sorted(Fraction(step, 10**own) for step in steps)
    mean = sum(exact) / len(exact)
    middle = (exact[(len(exact) - 1) // 2] + exact[len(exact) // 2]) / 2
    for how, wanted in ((Aggregate.MEAN, mean), (Aggregate.MEDIAN, middle)):
        got = aggregated(values, how, own, released)
        assert got == float(nearest(wanted, released))


@given(
    st.lists(st.tuples(st.integers(-500, 500), st.integers(1, 60)), min_size=1, max_size=6),
    st.integers(-2, 2),
)
def test_weighted_means(pairs, released):
    steps, tenths = zip(*pairs, strict=True)
    weights = np.array(tenths) / 10.0
    exact = Fraction(sum(s * w for s, w in pairs), 10 * sum(tenths))
    got = aggregated([s / 10 for s in steps], Aggregate.MEAN, 1, released, weights)
    assert got == float(nearest(exact, released))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=5), st.integers(-4, -1))
def test_whole_numbers_to_tens_and_more(dtype, values, released):
    mean = Fraction(sum(values), len(values))
    wanted = int(nearest(mean, released))
    numbers = np.array(values, dtype=dtype)
    assume(wanted <= 2**63 - 1)
    assert int(aggregated(numbers, Aggregate.MEAN, 0, released)) == wanted


def test_large_unsigned_numbers():
    values = np.array([2**64 - 16, 2**64 - 100], dtype=np.uint64)
    got = aggregated(values, Aggregate.MEAN, 0, -2)
    assert int(got) == int(nearest(Fraction(2**65 - 116, 2), -2))


def test_what_does_not_fit_the_type_is_refused():
    with pytest.raises(DataError, match="do not fit the type of 'x'"):
        aggregated(np.array([127, 126], dtype=np.int8), Aggregate.MEAN, 0, -1)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8))
def test_averages_are_exact(values):
    floor, rest = group_averages(np.array(values), np.zeros(len(values), dtype=np.intp))
    whole, left = divmod(sum(values), len(values))
    assert (int(floor[0]), float(rest[0])) == (whole, left / len(values))


def test_narrow_floats_show_the_decimals():
    values = np.array([0.1, 0.2, 0.4], dtype=np.float32)
    got = aggregated(values, Aggregate.MEAN, 1, 1)
    assert str(got) == "0.2"


def test_floats_of_many_digits_are_rounded_if_asked():
    assert aggregated([1 / 3, 2 / 3], Aggregate.MEAN, None, 2) == 0.5
    assert aggregated([1e300, 1e300], Aggregate.MEAN, None, 2) == 1e300


@pytest.mark.parametrize("how", [Aggregate.MEAN, Aggregate.MEDIAN])
@pytest.mark.parametrize(("values", "released"), [([1e-30, 3e-30], -2), ([1e-15, 250.0], -15)])
def test_tiny_numbers_are_rounded_to_large_steps(values, released, how):
    for weights in (None, np.array([4.5, 1.0])):
        assert aggregated(values, how, 30, released, weights) == 0.0
