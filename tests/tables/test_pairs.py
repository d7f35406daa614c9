"""Two tables, record by record."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg.aggregates.values import Values
from microagg.core.errors import DataError, ParameterError
from microagg.tables import sides
from microagg.tables.columns import ColumnType
from microagg.tables.frames import open_frame
from microagg.tables.matching import open_pair
from microagg.tables.pairs import classes_of, original_of
from microagg.tables.scaling import scaling
from microagg.tables.typed import ColumnOptions, open_column
from tests.indicators import coordinates

BEFORE = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [30, 32, 50, 54],
        "sex": ["f", "m", "m", "m"],
        "ill": [1, 0, 0, 1],
    }
)
AFTER = BEFORE.with_columns(age=pl.Series([31.0, 31.0, 52.0, 52.0]), sex=pl.lit("m")).drop("id")


def points_of(pair):
    return pair.points_before().numbers, pair.points_after().numbers


def test_changed_columns_are_quasi_identifiers_and_the_others_sensitive():
    pair = open_pair(BEFORE, AFTER)
    assert list(pair.columns) == ["age", "sex"]
    assert list(pair.sensitive) == ["ill"] == list(pair.assumed)
    assert pair.dropped == ("id",)
    assert pair.columns["age"].before.numbers.tolist() == [30, 32, 50, 54]
    assert pair.columns["age"].after.numbers.tolist() == [31, 31, 52, 52]
    assert pair.columns["sex"].type is ColumnType.NOMINAL
    assert pair.columns["sex"].before.numbers.tolist() == [0, 1, 1, 1]
    assert pair.columns["sex"].after.numbers.tolist() == [1, 1, 1, 1]
    assert pair.classes.tolist() == [0, 0, 1, 1]


def test_roles_can_be_named():
    pair = open_pair(BEFORE, AFTER, quasi_identifiers="age", sensitive="ill")
    assert list(pair.columns) == ["age"]
    assert list(pair.sensitive) == ["sex", "ill"]
    assert pair.assumed == ("sex",)


def test_where_nothing_changed_all_are_quasi_identifiers():
    pair = open_pair(BEFORE, BEFORE, sensitive="ill")
    assert list(pair.columns) == ["id", "age", "sex"]


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, lambda t: t])
def test_records_are_matched_by_a_key(convert):
    shuffled = AFTER.with_columns(BEFORE["id"])[[2, 0, 3]]
    pair = open_pair(convert(BEFORE), convert(shuffled), key="id")
    assert pair.columns["age"].before.numbers.tolist() == [50, 30, 54]
    assert pair.columns["age"].after.numbers.tolist() == [52, 31, 52]
    assert pair.unmatched == 1


def test_the_first_table_has_unit_variance_in_every_column():
    rng = np.random.default_rng(0)
    before = pl.DataFrame({"x": rng.normal(5, 3, 200), "c": rng.choice(list("abcd"), 200)})
    after = before.with_columns(pl.col("x").mean(), pl.lit("a").alias("c"))
    pair = open_pair(before, after)
    X, Z = points_of(pair)
    assert X.shape == Z.shape == (200, 1)
    assert X[:, 0].var(ddof=1) == pytest.approx(1)
    assert Z[:, 0] == pytest.approx(0)
    indicators = before["c"].to_dummies().to_numpy()
    (apart,) = pair.code_distances
    assert indicators.var(axis=0, ddof=1).sum() * apart / 2 == pytest.approx(1)
    same = (before["c"] == "a").to_numpy()
    assert ((pair.points_before().codes == pair.points_after().codes)[:, 0] == same).all()


def test_missing_numbers_are_apart():
    before = pl.DataFrame({"x": [0.0, 2.0, None, 4.0]})
    after = pl.DataFrame({"x": [1.0, 1.0, None, None]})
    X, Z = points_of(open_pair(before, after))
    assert (X[2] == Z[2]).all()
    assert X[2, 1] == Z[3, 1] == pytest.approx(np.sqrt(2))
    assert X[0, 1] == Z[0, 1] == 0


def test_values_far_beyond_the_deviations_of_the_original():
    tiny, large = pl.DataFrame({"x": [1e-310, 2e-310, 0.0]}), pl.DataFrame({"x": [1.0, 2.0, 0.0]})
    X, Z = points_of(open_pair(tiny, large))
    assert np.isfinite(X).all()
    assert np.isfinite(np.square(Z)).all()


def test_ordered_categories_of_pandas_stay_ordered():
    size = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)
    before = pd.DataFrame({"s": pd.Series(["large", "small", "medium"], dtype=size)})
    column = open_pair(before, before).columns["s"]
    assert column.type is ColumnType.ORDINAL
    assert column.before.numbers.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("after", "options", "match"),
    [
        (AFTER[:3], {}, "4 and the protected one 3.*--key"),
        (AFTER.rename({"age": "Age"}), {}, "'Age'"),
        (AFTER.select(x=1), {}, "'x'"),
        (AFTER.with_columns(age=pl.lit("[30, 40)")), {}, "'age' holds numbers"),
        (AFTER, {"key": "id"}, "protected table has no column 'id'"),
        (AFTER, {"key": "age"}, "different in every record"),
        (AFTER, {"quasi_identifiers": "id"}, "no column 'id'"),
        (AFTER, {"sensitive": ["age", "sex", "ill"]}, "no quasi-identifier"),
        (AFTER.with_columns(age=pl.lit(np.inf)), {}, "'age' holds infinite"),
        (AFTER.clear(), {}, "no records"),
    ],
)
def test_what_does_not_fit_is_said(after, options, match):
    with pytest.raises((DataError, ParameterError), match=match):
        open_pair(BEFORE, after, **options)


def test_a_key_that_the_original_does_not_have():
    after = AFTER.with_columns(id=pl.Series(["a", "b", "c", "x"]))
    with pytest.raises(DataError, match=r"1 records.*'id'"):
        open_pair(BEFORE, after, key="id")


def test_classes_tell_missing_values_apart():
    gone = np.array([False, True, False])
    columns = [Values(np.zeros(3)), Values(np.zeros(3), gone)]
    assert classes_of(columns).tolist() == [1, 0, 1]


def test_a_column_that_only_the_protected_table_has_can_be_left_out():
    after = AFTER.with_columns(rk=pl.lit(1))
    assert list(open_pair(BEFORE, after, identifiers="rk").columns) == ["age", "sex"]


def test_a_random_key_is_left_out():
    before = BEFORE.with_columns(id=pl.Series([101, 205, 309, 417]))
    after = AFTER.with_columns(id=pl.Series([3, 1, 4, 2]))
    pair = open_pair(before, after)
    assert list(pair.columns) == ["age", "sex"]
    assert pair.dropped == ("id",)
    assert list(open_pair(before, after, quasi_identifiers=["id"]).columns) == ["id"]


def test_keys_may_be_whole_numbers_on_one_side_only():
    before = BEFORE.with_columns(id=pl.Series([1, 2, 3, 4]))
    after = AFTER.with_columns(id=pl.Series([4.0, 3.0, 2.0, 1.0]))
    assert open_pair(before, after, key="id").columns["age"].before.numbers.tolist()[0] == 54


def test_indexes_in_another_order_are_refused():
    before = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=list("abc"))
    with pytest.raises(DataError, match="same index in a different order"):
        open_pair(before, before[::-1])
    assert open_pair(before, before.reset_index(drop=True)).n_records == 3


def test_decimals_and_columns_without_any_value():
    before = pl.DataFrame({"d": pl.Series(["1.5", "2.5"]).cast(pl.Decimal(10, 2)), "n": [None] * 2})
    pair = open_pair(before, before)
    assert pair.columns["d"].before.numbers.tolist() == [1.5, 2.5]
    assert pair.columns["n"].before.n_missing == 2


def test_whole_numbers_beyond_floats_keep_their_digits():
    before = pl.DataFrame({"x": [2**62 + i for i in range(8)]})
    after = pl.DataFrame({"x": [2**62 + i // 4 * 4 for i in range(8)]})
    X, Z = points_of(open_pair(before, after))
    assert len(np.unique(X)) == 8
    assert len(np.unique(Z)) == 2


def test_a_random_key_in_the_place_of_text_is_left_out_but_not_the_only_change():
    after = AFTER.with_columns(id=pl.Series([3, 1, 4, 2]))
    assert open_pair(BEFORE, after).dropped == ("id",)
    ranks = pl.DataFrame({"rank": [11, 12, 13], "y": [1, 1, 2]})
    swapped = ranks.with_columns(rank=pl.Series([2, 1, 3]))
    assert list(open_pair(ranks, swapped).columns) == ["rank"]
    pair = open_pair(ranks.with_columns(y=0), swapped, sensitive="rank")
    assert list(pair.sensitive) == ["rank"]


def columns_of(table):
    frame = open_frame(table)
    return {name: open_column(frame, name, ColumnOptions()) for name in table.columns}


def test_one_original_serves_many_releases(monkeypatch):
    rng = np.random.default_rng(4)
    before = pl.DataFrame(
        {
            "x": rng.normal(size=50),
            "n": pl.Series([None if i % 7 == 0 else i for i in range(50)]),
            "c": rng.choice(list("abc"), 50),
        }
    )
    calls = []
    monkeypatch.setattr(sides, "scaling", lambda *args: calls.append(1) or scaling(*args))
    columns = columns_of(before)
    original = original_of(open_frame(before), columns)
    for seed in (1, 2):
        after = before.select(pl.all().shuffle(seed=seed))
        pair = original.with_released({n: c.values for n, c in columns_of(after).items()})
        X, Z = coordinates(pair)
        alone, other = coordinates(open_pair(before, after))
        assert pytest.approx(alone, abs=1e-12) == X
        assert pytest.approx(other, abs=1e-12) == Z
    assert len(calls) == 2 + 2 * 2  # x and n of the original once, and of both pairs on their own


def test_a_release_may_have_something_new():
    before = pl.DataFrame({"x": [1.0, 2.0, 4.0], "c": ["a", "b", "a"]})
    columns = columns_of(before)
    released = {name: column.values for name, column in columns.items()}
    gone = Values(np.array([1.0, 0.0, 4.0]), np.array([False, True, False]))
    other = Values(np.array([0, 2, 1]))
    for new in ({"x": gone}, {"c": other}):
        original = original_of(open_frame(before), columns)
        X, Z = coordinates(original.with_released(released | new))
        assert X.shape == Z.shape
        assert X.shape[1] > coordinates(original.with_released(released))[0].shape[1]
        assert (X == Z).all(axis=1).sum() == 2 if "x" in new else 1


def test_points_of_some_records():
    before = pl.DataFrame({"x": [1.0, None, 4.0, 7.0], "y": ["a", "b", None, "a"]})
    pair = open_pair(before, before[::-1])
    rows = np.array([3, 1])
    for points in (pair.points_before, pair.points_after):
        some, every = points(rows), points()
        assert (some.numbers == every.numbers[rows]).all()
        assert (some.codes == every.codes[rows]).all()


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64])
def test_large_whole_numbers_keep_their_digits(dtype):
    before = pl.DataFrame({"x": pl.Series([2**60, 2**60 + 1, 2**60 + 3], dtype=dtype)})
    after = pl.DataFrame({"x": pl.Series([2**60 + 1, 2**60 + 1, 2**60 - 2], dtype=dtype)})
    column = open_pair(before, after).columns["x"]
    unit = np.std([0, 1, 3], ddof=1)
    assert column.scaled_before == pytest.approx((np.array([0, 1, 3]) - 4 / 3) / unit)
    assert column.scaled_after == pytest.approx((np.array([1, 1, -2]) - 4 / 3) / unit)


def test_the_whole_range_of_whole_numbers():
    numbers = np.array([-(2**63), 2**63 - 1, 0])
    side = sides.ColumnSide(numbers)
    assert side.standardised.std(ddof=1) == pytest.approx(1)
    assert side.standardise(Values(np.array([2**64 - 1], dtype=np.uint64)))[0] > 1.9


def test_dates_that_are_written_in_two_ways_are_the_same():
    before = pl.DataFrame({"d": ["2024-12-31", None, "2024-01-05"], "x": [1, 2, 3]})
    for written in ("12/31/2024", "31.12.2024", "2024-12-31T00:00:00"):
        other = {"12": "1/5/2024", "31": "5.1.2024", "20": "2024-01-06T12:00:00"}[written[:2]]
        after = pl.DataFrame({"d": [written, None, other], "x": [1, 2, 3]})
        column = open_pair(before, after, quasi_identifiers=["d"]).columns["d"]
        assert column.n_changed == (1 if "T" in written else 0)
    texts = {"d": ColumnOptions(ColumnType.NOMINAL)}
    column = open_pair(before, after, quasi_identifiers=["d"], column_options=texts).columns["d"]
    assert (column.type, column.n_changed) == (ColumnType.NOMINAL, 2)


def test_columns_that_only_the_protected_table_has_are_numbered_if_they_may_be_values():
    with pytest.raises(DataError, match="the original does not have: 'size'"):
        open_pair(BEFORE, AFTER.rename({"ill": "size"}))
    with pytest.raises(DataError, match="the original does not have: column 1, column 3") as said:
        open_pair(BEFORE, AFTER.rename({"age": "48200", "ill": "Sentinella"}))
    assert "Sentinella" not in str(said.value)
