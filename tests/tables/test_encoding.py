"""The matrix in which records are compared."""

import numpy as np
import pytest

from microagg.aggregates.choices import Aggregate, Missing
from microagg.aggregates.values import Values
from microagg.core.errors import DataError, ParameterError
from microagg.tables.columns import Column, ColumnType
from microagg.tables.encoding import encode
from microagg.tables.nominal import MOST_AXES
from microagg.tables.scaling import SCALES, standardised

RNG = np.random.default_rng(5)


def column(values, kind=ColumnType.CONTINUOUS, missing=None, **more):
    values = np.asarray(values)
    found = Values(values) if missing is None else Values.of(values, np.asarray(missing))
    if kind.is_categorical:
        more.setdefault("categories", range(int(values.max()) + 1))
    return Column("x", kind, found, lambda given: given, Aggregate.MEAN, **more)


def spread(X):
    return X.var(axis=0, ddof=1).sum()


def test_input_is_not_changed():
    values = RNG.normal(size=9)
    before = values.copy()
    for scale in SCALES:
        encode([column(values)], scale=scale)
    assert (values == before).all()


def test_numbers_are_standardised_side_by_side():
    a, b = RNG.normal(size=9), RNG.integers(0, 50, 9)
    X = encode([column(a), column(b, ColumnType.INTEGER)], scale="standardise")
    assert X.flags.c_contiguous
    assert np.array_equal(X, np.column_stack([standardised(a), standardised(b)]))


def test_scale_none_takes_the_numbers_as_they_are():
    columns = [column(np.array([1, 2], dtype=np.int8)), column(np.array([0.5, 9.0]))]
    assert encode(columns, scale="none").tolist() == [[1.0, 0.5], [2.0, 9.0]]


def test_scale_none_refuses_numbers_whose_squares_overflow():
    a = column(np.array([1.0, 2.0]))
    with pytest.raises(DataError, match="'x' are too large"):
        encode([a, column(np.array([1e200, 0.0]))], scale="none")
    with pytest.raises(DataError, match="or too small"):
        encode([column(np.array([1e-200, 0.0]))], scale="none")
    encode([a, column(np.array([1e-200, 0.0]))], scale="none")


def test_unknown_scale():
    with pytest.raises(ParameterError, match="scale must be one of 'standardise', 'robust'"):
        encode([column(np.ones(2))], scale="logs")


@pytest.mark.parametrize("n_values", [2, 3, 12, 32, 200])
def test_a_nominal_column_counts_as_much_as_a_number(n_values):
    codes = RNG.integers(0, n_values, 500)
    X = encode([column(codes, ColumnType.NOMINAL)], scale="standardise")
    assert spread(X) == pytest.approx(1.0, rel=1e-6 if n_values <= MOST_AXES else 0.01)


@pytest.mark.parametrize("n_values", [2, 3, 12, 32])
def test_values_of_a_nominal_column_are_equally_far_apart(n_values):
    codes = RNG.permutation(np.arange(60) % n_values)
    for scale, distance in (("none", 1.0), ("standardise", None)):
        X = encode([column(codes, ColumnType.NOMINAL)], scale=scale)
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        apart = squares[codes[:, None] != codes]
        assert np.allclose(squares[codes[:, None] == codes], 0.0)
        assert np.allclose(apart, distance or apart[0])


def test_many_values_are_nearly_equally_far_apart():
    codes = np.arange(500)
    X = encode([column(codes, ColumnType.NOMINAL)], scale="none")
    assert X.shape[1] == MOST_AXES
    squares = ((X[:, None] - X) ** 2).sum(axis=2)[~np.eye(500, dtype=bool)]
    assert squares.mean() == pytest.approx(1.0, abs=0.02)
    assert squares.min() > 0.1


def test_a_column_weight_is_a_share_of_the_spread():
    codes = RNG.integers(0, 4, 80)
    X = encode([column(codes, ColumnType.NOMINAL, weight=2.5)], scale="standardise")
    assert spread(X) == pytest.approx(2.5)


@pytest.mark.parametrize("kind", [ColumnType.CONTINUOUS, ColumnType.ORDINAL, ColumnType.NOMINAL])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_a_column_with_missing_values_counts_as_much_as_any(kind, share):
    codes, missing = RNG.integers(0, 5, 400), RNG.random(400) < share
    X = encode([column(codes, kind, missing)], scale="standardise", missing=Missing.VALUE)
    assert spread(X) == pytest.approx(1.0)
    # All that are missing are in one place, and no other record is there.
    assert len(np.unique(X[missing], axis=0)) == 1
    distances = ((X[~missing] - X[missing][0]) ** 2).sum(axis=1)
    assert distances.min() > 0.5


def test_a_missing_value_to_be_imputed_is_in_the_middle():
    values, missing = RNG.normal(size=50), RNG.random(50) < 0.3
    X = encode([column(values, missing=missing)], scale="standardise", missing=Missing.IMPUTE)
    assert X.shape == (50, 1)
    assert X[missing] == pytest.approx(X[~missing].mean())
    codes = RNG.integers(0, 4, 50)
    X = encode(
        [column(codes, ColumnType.NOMINAL, missing)], scale="standardise", missing=Missing.IMPUTE
    )
    assert np.allclose(X[missing], X[~missing].mean(axis=0))


def test_what_is_missing_everywhere_tells_nobody_apart():
    X = encode([column(np.zeros(5), missing=np.ones(5, dtype=bool))], scale="standardise")
    assert not X.any()


def test_constant_columns_tell_nobody_apart():
    for kind in (ColumnType.CONTINUOUS, ColumnType.NOMINAL):
        assert not encode([column(np.full(5, 2), kind)], scale="standardise").any()
