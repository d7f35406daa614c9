"""The matrix in which records are compared."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg.errors import DataError, ParameterError
from microagg.tables.encoding import SCALES, encode, numeric_columns, scaling, standardised
from microagg.tables.frames import open_frame

RNG = np.random.default_rng(5)


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
@pytest.mark.parametrize("scale", SCALES)
def test_scaling_leads_back_to_the_values(values, scale):
    if scale == "none" and np.abs(values).max() > 1e100:
        return
    columns = {"a": values, "b": np.arange(len(values))}
    offsets, units = scaling(columns, scale=scale)
    X = np.column_stack(
        [standardised(v) if scale == "standardise" else v for v in columns.values()]
    )
    for x, offset, unit, (_, given) in zip(X.T, offsets, units, columns.items()):
        size = np.abs(given.astype(float)).max()
        np.testing.assert_allclose(x * unit + offset, given.astype(float), atol=1e-15 * size)


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


def test_input_is_not_changed():
    values = RNG.normal(size=9)
    before = values.copy()
    encode({"a": values}, scale="standardise")
    encode({"a": values}, scale="none")
    assert (values == before).all()


def test_scale_none_takes_the_numbers_as_they_are():
    X = encode({"a": np.array([1, 2], dtype=np.int8), "b": np.array([0.5, 9.0])}, scale="none")
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert X.tolist() == [[1.0, 0.5], [2.0, 9.0]]


def test_scale_none_refuses_numbers_whose_squares_overflow():
    with pytest.raises(DataError, match="'big' are too large"):
        encode({"a": np.array([1.0, 2.0]), "big": np.array([1e200, 0.0])}, scale="none")
    with pytest.raises(DataError, match="or too small"):
        encode({"tiny": np.array([1e-200, 0.0])}, scale="none")
    encode({"a": np.array([1.0, 2.0]), "tiny": np.array([1e-200, 0.0])}, scale="none")


def test_unknown_scale():
    with pytest.raises(ParameterError, match="scale must be one of 'standardise', 'none'"):
        encode({"a": np.ones(2)}, scale="log")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_missing_and_infinite_values_are_counted_by_column(kind):
    nan, inf = float("nan"), float("inf")
    table = kind({"f": [1.0, nan, 777.125], "g": [inf, -inf, nan], "ok": [1, 2, 3]})
    with pytest.raises(DataError) as refused:
        numeric_columns(open_frame(table), ["f", "g", "ok"])
    message = str(refused.value)
    assert "missing in 'f' (1), 'g' (1) and infinite in 'g' (2)" in message
    assert "'ok'" not in message
    assert "777" not in message


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, None, None]),
        pl.Series([1.0, None, float("nan")]),
        pl.Series([1, None, None], dtype=pl.UInt8),
        pd.array([1, None, None], dtype="Int64"),
        pd.array([1.5, None, None], dtype="Float32"),
        pd.array([1, None, None], dtype="int64[pyarrow]"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_nulls_of_every_kind_are_missing(column):
    table = (pl if isinstance(column, pl.Series) else pd).DataFrame({"x": column})
    with pytest.raises(DataError, match=r"missing in 'x' \(2\)"):
        numeric_columns(open_frame(table), ["x"])


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "int64[pyarrow]", "int32"])
def test_whole_numbers_stay_whole(dtype):
    table = pd.DataFrame({"x": pd.array([1, 2], dtype=dtype)})
    assert numeric_columns(open_frame(table), ["x"])["x"].dtype.kind in "iu"


def test_large_whole_numbers_stay_exact():
    table = pd.DataFrame({"x": pd.array([2**62 + 1, 2**62 + 3], dtype="Int64")})
    assert numeric_columns(open_frame(table), ["x"])["x"].tolist() == [2**62 + 1, 2**62 + 3]
