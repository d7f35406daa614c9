"""Decimals of columns and rounding to them, against Python's decimal numbers."""

from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.core.decimals import decimals_of, from_steps, in_steps, rounded

WIDE = Context(prec=400)


def written(values):
    return [Decimal(repr(float(value))).normalize(WIDE) for value in values]


def plain_decimals(values, significant=15):
    numbers = written(values)
    digits = max(max(-number.as_tuple().exponent, 0) for number in numbers)
    fits = all(abs(number).scaleb(digits, WIDE) < 10**significant for number in numbers)
    return digits if fits else None


short_decimals = st.builds(
    lambda digits, exponent: float(f"{digits}e{exponent}"),
    st.integers(-(10**15) + 1, 10**15 - 1),
    st.integers(-30, 8),
)


@given(st.lists(short_decimals, min_size=1, max_size=5))
def test_decimals_are_those_of_the_shortest_form(values):
    digits = decimals_of(np.array(values))
    assert digits == plain_decimals(values)
    if digits is not None:
        steps = in_steps(np.array(values), digits)
        assert [Decimal(s).scaleb(-digits, WIDE) for s in steps.tolist()] == written(values)
        assert from_steps(steps, digits).tolist() == values


def of_similar_size(exponent):
    of_few_digits = st.builds(
        lambda digits, more: float(f"{digits}e{exponent + more}"),
        st.integers(-9999, 9999),
        st.integers(0, 5),
    )
    return st.lists(of_few_digits, min_size=1, max_size=5)


@given(st.integers(-290, 8).flatmap(of_similar_size))
def test_floats_of_any_size(values):
    plain = plain_decimals(values)
    assume(plain is not None and plain <= 300)
    assert decimals_of(np.array(values)) == plain


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ([1e-7], 7),
        ([6.626e-34], 37),
        ([5e-324], None),
        ([1e300, 0.5], None),
        ([123456789012345.0], 0),
        ([1e15], None),
        ([-0.0, 0.0], 0),
        ([0.1 + 0.2, 1.4000000000000001], 1),
        ([0.1 + 0.2, 0.1234567890123456], None),
        ([], 0),
    ],
)
def test_extremes(values, digits):
    assert decimals_of(np.array(values, dtype=np.float64)) == digits


def test_one_long_number_after_many_short_ones():
    values = np.append(np.full(5000, 1.5), [2.125])
    assert decimals_of(values) == 3
    assert decimals_of(np.append(values, 1 / 3)) is None


def test_narrow_floats_have_their_own_shortest_form():
    assert decimals_of(np.array([0.1, 2.25], dtype=np.float32)) == 2
    assert decimals_of(np.array([1 / 3], dtype=np.float32)) is None


@pytest.mark.parametrize("dtype", [np.int8, np.uint64])
def test_whole_numbers_have_none(dtype):
    assert decimals_of(np.array([1, 100], dtype=dtype)) == 0


@given(short_decimals, st.integers(-15, 22))
def test_rounding_decides_ties_on_the_decimal_number(value, digits):
    got = float(rounded(np.array([value]), digits)[0])
    number = Decimal(repr(value))
    if abs(number).scaleb(digits, WIDE) < 10**14:
        wanted = number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, context=WIDE)
        assert got == float(wanted)
    assert str(got) != "-0.0"


@pytest.mark.parametrize(
    ("value", "digits", "nearest"),
    [(2.675, 2, 2.68), (-2.675, 2, -2.68), (1.005, 2, 1.01), (-0.004, 2, 0.0), (1e300, 2, 1e300)],
)
def test_halves_and_zeros(value, digits, nearest):
    assert rounded(np.array([value]), digits).tolist() == [nearest]
    assert not np.signbit(rounded(np.array([-0.0, -1e-9]), digits)).any()
