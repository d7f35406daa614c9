"""Numbers that can be compared with those of other columns."""

from fractions import Fraction

import numpy as np
import pytest

from microagg.tables.scaling import SCALES, scaling, standardised

RNG = np.random.default_rng(5)

robust, ranked, logarithmic = (SCALES[scale] for scale in ("robust", "rank", "log"))


def exactly_standardised(values):
    """Ten lines of fractions: the definition without any rounding but the last."""
    exact = [Fraction(v.item()) for v in values]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / (len(exact) - 1)
    # A square root of a fraction of any size, to twenty digits or so.
    scale = 10**40
    top = int(variance * scale**2 * 10**700)
    root = Fraction(_isqrt(top), scale * 10**350)
    return np.array([float((x - mean) / root) for x in exact])


def _isqrt(value):
    import math

    return math.isqrt(value)


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=50),
        RNG.normal(size=50) + 1e9,
        RNG.normal(size=50).round(3) - 1e12,
        RNG.normal(size=50) * 1e300,
        RNG.normal(size=50) * 1e-300,
        np.array([1.7e308, -1.7e308, 1.0]),
        np.array([5e-324, 1e-323, 0.0]),
        RNG.normal(size=50).astype(np.float32),
        RNG.integers(-100, 100, 50).astype(np.int8),
        RNG.integers(0, 10, 50) + 2**62,
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 9], dtype=np.uint64),
        np.array([0, 2**64 - 1, 5], dtype=np.uint64),
    ],
    ids=lambda values: f"{values.dtype}-{values[0]:.3g}",
)
def test_standardised_by_the_definition(values):
    got = standardised(values)
    np.testing.assert_allclose(got, exactly_standardised(values), rtol=1e-12, atol=1e-13)
    assert got.std(ddof=1) == pytest.approx(1)


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=50) * 1e300,
        RNG.normal(size=50) * 1e-300,
        RNG.normal(size=50).round(3) - 1e12,
        RNG.integers(0, 10, 50) + 2**62,
        np.array([0, 2**64 - 1, 5], dtype=np.uint64),
        np.full(4, 0.1),
    ],
    ids=lambda values: f"{values.dtype}-{values[0]:.3g}",
)
def test_scaling_leads_back_to_the_values(values):
    offset, unit = scaling(values)
    size = np.abs(values.astype(float)).max()
    back = standardised(values) * unit + offset
    np.testing.assert_allclose(back, values.astype(float), atol=1e-15 * size)


def test_an_offset_costs_no_digits():
    whole = RNG.integers(-1000, 1000, 200)
    np.testing.assert_allclose(
        standardised(whole + 10.0**9), standardised(whole.astype(float)), rtol=1e-13, atol=1e-13
    )


@pytest.mark.parametrize(
    "values", [np.full(7, 0.1), np.full(7, 1e300), np.full(3, -5), np.array([4.0])]
)
def test_constant_column_becomes_zeros(values):
    assert standardised(values).tolist() == [0.0] * len(values)


def test_quartiles_that_are_nothing_beside_the_outliers_do_not_overflow():
    values = np.array([1.7e308, -1.7e308, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(robust(values, None), standardised(values))


def test_outliers_do_not_change_the_robust_scale():
    values = RNG.normal(loc=7.0, scale=3.0, size=2001)
    with_outlier = np.append(values, 1e9)
    np.testing.assert_allclose(robust(with_outlier)[:-1], robust(values), atol=1e-2)
    assert robust(values).std() == pytest.approx(1.0, abs=0.1)
    assert np.median(robust(values)) == pytest.approx(0.0, abs=1e-12)
    # Where most values are equal there are no quartiles to go by.
    mostly_zero = np.append(np.zeros(50), [1.0, 9.0])
    np.testing.assert_allclose(robust(mostly_zero), standardised(mostly_zero))


def test_ranks_are_shared_by_equal_values():
    values = np.array([5.0, 1.0, 5.0, 1e9])
    np.testing.assert_allclose(ranked(values), standardised(np.array([2.5, 1.0, 2.5, 4.0])))


def test_logarithms_of_large_numbers_are_equally_far_apart():
    values = np.array([0.0, -1e6, 1.0, 1.0, 1.0, 1e6, 1e8, 1e10, 1.0, 1.0])
    scaled = logarithmic(values)
    steps = np.diff(scaled[[5, 6, 7]])
    assert steps[0] == pytest.approx(steps[1], rel=1e-9)
    assert scaled[0] - scaled[1] == pytest.approx(scaled[5] - scaled[0])
    assert logarithmic(np.zeros(4)).tolist() == [0.0] * 4


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=30) * 1e300,
        np.array([5e-324, 1e-323, 0.0]),
        RNG.integers(-9, 9, 30),
        np.array([-(2**63), 2**63 - 1, 0]),
    ],
    ids=["large", "tiny", "whole", "far apart"],
)
def test_every_scale_is_finite_and_keeps_the_order(scale, values):
    scaled = SCALES[scale](values, None)
    assert np.isfinite(scaled).all()
    order = values.argsort(kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()


@pytest.mark.parametrize("scale", SCALES)
def test_a_weight_counts_as_so_many_records(scale):
    values, weights = RNG.normal(size=40) ** 3, RNG.integers(1, 6, 40)
    repeated = SCALES[scale](np.repeat(values, weights), None)
    weighted = SCALES[scale](values, weights.astype(float))
    first = np.concatenate(([0], weights.cumsum()[:-1]))
    # But for the one of the divisor n - 1, which is the same for all columns.
    factor = 1.0
    if scale not in ("none", "robust"):
        factor = np.sqrt((weights.sum() / (weights.sum() - 1)) / (40 / 39))
    np.testing.assert_allclose(weighted / factor, repeated[first], rtol=1e-9, atol=1e-12)


def test_the_smallest_floats_have_a_logarithm():
    assert logarithmic(np.array([5e-324, 5e-324, 0.0])).tolist() == pytest.approx(
        [3**-0.5, 3**-0.5, -2 * 3**-0.5]
    )
