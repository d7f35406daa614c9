"""An encoding fitted to parts, merged and applied to parts, against one fitted to the whole."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from microagg.aggregates.choices import Aggregate, Missing
from microagg.aggregates.values import Values
from microagg.core.errors import DataError, ParameterError
from microagg.tables.columns import Column, ColumnType
from microagg.tables.encoding import Encoding, encode
from microagg.tables.scaling import SCALES
from microagg.tables.statistics import ColumnStatistics

# Whole records of every kind; each with a unit in which errors are counted.
HOSTILE = {
    "plain": st.floats(-1e3, 1e3),
    "large": st.floats(-1e300, 1e300),
    "largest": st.sampled_from([1.7e308, -1.7e308, 0.0, 1.0]),
    "tiny": st.integers(-9, 9).map(lambda value: value * 5e-324),
    "offset": st.integers(-1000, 1000).map(lambda value: 1e12 + value / 8.0),
    "two scales": st.sampled_from([1e-300, 2e-300, 0.0, 1e300]),
    "zeros": st.sampled_from([0.0, -0.0, 1.0]),
    "equal": st.just(0.1),
}
WHOLE = {
    "int64 extremes": (st.sampled_from([-(2**63), 2**63 - 1, 0, 5]), np.int64),
    "large offset": (st.integers(2**62, 2**62 + 9), np.int64),
    "uint64": (st.sampled_from([0, 2**64 - 1, 2**63, 7]), np.uint64),
    "int8": (st.integers(-128, 127), np.int8),
}


def column(values, kind, missing, weight=1.0):
    n_categories = 60 if kind.is_categorical else 0
    return Column(
        "x",
        kind,
        Values(values) if not missing.any() else Values.of(values, missing),
        lambda given: given,
        Aggregate.MEAN,
        categories=tuple(range(n_categories)),
        weight=weight,
    )


@st.composite
def wholes(draw, kinds=("number", "whole", "ordinal", "nominal")):
    """Draw a column, its weights, and where it is cut into parts."""
    n = draw(st.integers(1, 40))
    kind = draw(st.sampled_from(kinds))
    if kind == "number":
        numbers = draw(st.sampled_from(sorted(HOSTILE)).map(HOSTILE.get))
        values = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
        kind = ColumnType.CONTINUOUS
    elif kind == "whole":
        numbers, dtype = draw(st.sampled_from(sorted(WHOLE)).map(WHOLE.get))
        values = np.array(draw(st.lists(numbers, min_size=n, max_size=n)), dtype=dtype)
        kind = ColumnType.INTEGER
    else:
        most = draw(st.sampled_from([1, 2, 5, 50]))
        codes = st.lists(st.integers(0, most - 1), min_size=n, max_size=n)
        values, kind = np.array(draw(codes)), ColumnType(kind)
    share = draw(st.sampled_from([0.0, 0.0, 0.3, 0.9, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    missing = rng.random(n) < share
    weights = {
        "none": None,
        "whole": rng.integers(1, 9, n).astype(float),
        "fractions": rng.random(n) + 0.01,
    }[draw(st.sampled_from(["none", "whole", "fractions"]))]
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=6))) if n > 1 else []
    return column(values, kind, missing, draw(st.sampled_from([1.0, 2.5]))), weights, cuts


def parts_of(whole, weights, cuts):
    for rows in np.split(np.arange(len(whole.values.numbers)), cuts):
        values = whole.values.take(rows)
        missing = np.zeros(len(rows), bool) if values.missing is None else values.missing
        own = None if weights is None else weights[rows]
        yield column(values.numbers, whole.type, missing, whole.weight), own


def merged(parts, scale):
    statistics = [ColumnStatistics.of(part, scale=scale, weights=own) for part, own in parts]
    found = statistics[0]
    for other in statistics[1:]:
        found = found.merge(other)
    return found


def tolerance(X, scale):
    """Return how much is 1e-12 of the column: of its units, or of its numbers without a scale."""
    return 1e-12 * (np.abs(X).max(initial=1.0) if scale == "none" else max(1.0, np.abs(X).max()))


def refused_or(function):
    try:
        return function()
    except DataError as error:
        return str(error)


@pytest.mark.parametrize("missing", [Missing.VALUE, Missing.IMPUTE])
@pytest.mark.parametrize("scale", SCALES)
@given(case=wholes())
@settings(max_examples=60, deadline=None)
def test_fitted_to_merged_parts_is_fitted_to_the_whole(scale, missing, case):
    whole, weights, cuts = case
    parts = list(parts_of(whole, weights, cuts))
    statistics = merged(parts, scale)
    expected = refused_or(
        lambda: Encoding.fit([whole], scale=scale, missing=missing, weights=weights)
    )
    encoding = refused_or(lambda: Encoding.of([statistics], scale=scale, missing=missing))
    if isinstance(expected, str):
        assert encoding == expected
        return
    X = expected.apply([whole])
    got = encoding.apply([whole])
    assert got.shape == X.shape
    np.testing.assert_allclose(got, X, rtol=1e-12, atol=tolerance(X, scale))
    by_parts = np.vstack([encoding.apply([part]) for part, _ in parts])
    assert np.array_equal(by_parts, got)
    if not whole.type.is_categorical and statistics.present is not None:
        with np.errstate(over="ignore"):
            first, second = expected.scaling_of("x"), encoding.scaling_of("x")
        assert second.unit == pytest.approx(first.unit, rel=1e-12, abs=0.0)
        size = max(abs(first.offset), min(first.unit, 1.7e308))
        assert second.offset == pytest.approx(first.offset, rel=0.0, abs=1e-12 * size)


@pytest.mark.parametrize("scale", SCALES)
@given(case=wholes())
@settings(max_examples=60, deadline=None)
def test_a_whole_applied_to_parts_gives_the_same_rows(scale, case):
    whole, weights, cuts = case
    encoding = refused_or(lambda: Encoding.fit([whole], scale=scale, weights=weights))
    assume(not isinstance(encoding, str))
    X = encode([whole], scale=scale, weights=weights)
    parts = [encoding.apply([part]) for part, _ in parts_of(whole, weights, cuts)]
    assert np.array_equal(np.vstack(parts), X)


@given(case=wholes(), rng=st.randoms())
@settings(max_examples=60, deadline=None)
def test_counts_do_not_depend_on_how_parts_are_merged(case, rng):
    whole, weights, cuts = case
    parts = list(parts_of(whole, weights, cuts))
    straight = merged(parts, "rank")
    rng.shuffle(parts)
    mixed = merged(parts, "rank")
    assert mixed.n_records == straight.n_records == len(whole.values.numbers)
    assert mixed.n_missing == straight.n_missing == whole.values.n_missing
    assert mixed.n_distinct == straight.n_distinct == len(np.unique(whole.values.present))
    assert mixed.type == straight.type
    if not whole.type.is_categorical and straight.present is not None:
        assert np.array_equal(mixed.present.counts.values, straight.present.counts.values)
        assert mixed.present.moments.low == whole.values.present.min()
        assert mixed.present.moments.high == whole.values.present.max()


def number_column(values):
    return column(np.asarray(values), ColumnType.CONTINUOUS, np.zeros(len(values), bool))


def test_an_offset_costs_no_digits_in_a_thousand_parts():
    rng = np.random.default_rng(3)
    values = 1e12 + rng.integers(-1000, 1000, 20_000) / 8.0
    parts = [(number_column(part), None) for part in np.array_split(values, 1000)]
    X = encode([number_column(values)], scale="standardise")
    got = Encoding.of([merged(parts, "standardise")], scale="standardise").apply(
        [number_column(values)]
    )
    np.testing.assert_allclose(got, X, rtol=1e-12, atol=1e-13)


def test_a_value_that_was_not_fitted_is_refused():
    nothing = np.zeros(3, bool)
    nominal = column(np.array([0, 1, 1]), ColumnType.NOMINAL, nothing)
    encoding = Encoding.fit([nominal], scale="standardise")
    with pytest.raises(DataError, match="holds 1 values that do not occur"):
        encoding.apply([column(np.array([0, 2, 2]), ColumnType.NOMINAL, nothing)])
    with pytest.raises(DataError, match="none was missing"):
        encoding.apply([column(np.array([0, 1, 1]), ColumnType.NOMINAL, ~nothing)])
    numbers = Encoding.fit([number_column([1.0, 2.0])], scale="standardise")
    with pytest.raises(DataError, match="none was missing"):
        numbers.apply([column(np.zeros(3), ColumnType.CONTINUOUS, ~nothing)])
    empty = Encoding.fit([column(np.zeros(3), ColumnType.CONTINUOUS, ~nothing)], scale="none")
    with pytest.raises(DataError, match="all of them were missing"):
        empty.apply([number_column([1.0, 2.0])])


@pytest.mark.parametrize("scale", SCALES)
def test_numbers_beyond_those_that_were_fitted_keep_their_order(scale):
    whole = column(np.array([-5, 3, 3, 8, 100]), ColumnType.INTEGER, np.zeros(5, bool))
    others = np.array([-(2**63), -900, -5, 0, 3, 50, 100, 2**63 - 1])
    encoding = Encoding.fit([whole], scale=scale)
    X = encoding.apply([column(others, ColumnType.INTEGER, np.zeros(8, bool))])
    assert (np.diff(X[:, 0]) >= 0.0).all()
    assert np.isfinite(X).all()


def test_a_scale_needs_its_own_statistics():
    statistics = ColumnStatistics.of(number_column([1.0, 2.0, 4.0]), scale="standardise")
    with pytest.raises(ParameterError, match="Collect them for this one"):
        Encoding.of([statistics], scale="rank")
    # The other way round there is more than enough.
    statistics = ColumnStatistics.of(number_column([1.0, 2.0, 4.0]), scale="rank")
    Encoding.of([statistics], scale="standardise")


def test_columns_must_be_those_that_were_fitted():
    encoding = Encoding.fit([number_column([1.0, 2.0])], scale="none")
    with pytest.raises(ParameterError, match="for the columns 'x', in this order; got 'x', 'x'"):
        encoding.apply([number_column([1.0]), number_column([1.0])])
    with pytest.raises(ParameterError, match="no column 'y' of numbers"):
        encoding.scaling_of("y")


def test_infinite_numbers_are_refused():
    with pytest.raises(DataError, match="'x' holds infinite numbers"):
        encode([number_column([1.0, np.inf])], scale="standardise")


def test_scaling_leads_back_to_the_table():
    values = np.array([3.0, 9.0, 12.0])
    encoding = Encoding.fit([number_column(values)], scale="standardise")
    offset, unit = encoding.scaling_of("x")
    assert encoding.apply([number_column(values)])[:, 0] * unit + offset == pytest.approx(values)
    assert encoding.standardised("x", values) * unit + offset == pytest.approx(values)
    plain = Encoding.fit([number_column(values)], scale="none")
    assert plain.scaling_of("x") == (0.0, 1.0)
    assert plain.standardised("x", values).tolist() == values.tolist()
