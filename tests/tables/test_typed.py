"""Columns of a table as quasi-identifiers of a type."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_series_equal

from microagg import protect
from microagg.aggregates.choices import Missing
from microagg.aggregates.values import Values
from microagg.core.errors import DataError, ParameterError
from microagg.release.records import check_values
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.frames import open_frame
from microagg.tables.typed import open_column, types_of


def opened(column, **options):
    library = pl if isinstance(column, pl.Series) else pd
    table = (
        pa.table({"x": column})
        if isinstance(column, pa.Array)
        else library.DataFrame({"x": column})
    )
    if "type" in options:
        options["type"] = ColumnType(options["type"])
    return open_column(open_frame(table), "x", ColumnOptions(**options))


DAY, HOUR = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 7)
STORED = {
    "float": (pl.Series([1.5, None, 3.0]), "continuous"),
    "float32": (pl.Series([1.5, None, 3.0], dtype=pl.Float32), "continuous"),
    "whole": (pl.Series([1, None, 3], dtype=pl.UInt8), "integer"),
    "truth": (pl.Series([True, None, False]), "boolean"),
    "text": (pl.Series(["b", None, "a"]), "nominal"),
    "categories": (pl.Series(["b", None, "a"], dtype=pl.Categorical), "nominal"),
    "enum": (pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "c", "a"])), "nominal"),
    "date": (pl.Series([DAY, None, DAY]), "date"),
    "datetime": (pl.Series([HOUR, None, HOUR]), "datetime"),
    "zoned": (pl.Series([HOUR, None, HOUR], dtype=pl.Datetime("ms", "Asia/Tokyo")), "datetime"),
}
PANDAS = {
    "float": ([1.5, None, 3.0], "float64", "continuous"),
    "Float32": ([1.5, None, 3.0], "Float32", "continuous"),
    "int8": ([1, 2, 3], "int8", "integer"),
    "Int64": ([1, None, 3], "Int64", "integer"),
    "arrow": ([1, None, 3], "int64[pyarrow]", "integer"),
    "bool": ([True, False, True], "bool", "boolean"),
    "boolean": ([True, None, False], "boolean", "boolean"),
    "truth objects": ([True, None, False], "object", "boolean"),
    "text objects": (["b", None, "a"], "object", "nominal"),
    "string": (["b", None, "a"], "string", "nominal"),
    "category": (["b", None, "a"], "category", "nominal"),
    "ordered": (["b", None, "a"], pd.CategoricalDtype(["b", "a", "c"], ordered=True), "ordinal"),
    "dates": ([HOUR, None, HOUR], "datetime64[ns]", "datetime"),
    "seconds": ([HOUR, None, HOUR], "datetime64[s]", "datetime"),
    "zoned": ([HOUR, None, HOUR], "datetime64[us, Asia/Tokyo]", "datetime"),
    "arrow date": ([DAY, None, DAY], "date32[pyarrow]", "date"),
    "date objects": ([DAY, None, DAY], "object", "date"),
}


@pytest.mark.parametrize(("series", "kind"), STORED.values(), ids=STORED)
def test_polars_columns_come_back_as_they_were(series, kind):
    column = opened(series)
    assert column.type == kind
    assert column.values.n_missing == series.null_count()
    assert_series_equal(column.decode(column.values), series.alias("x"))


@pytest.mark.parametrize(("series", "kind"), STORED.values(), ids=STORED)
def test_arrow_columns_come_back_as_they_were(series, kind):
    array = series.to_arrow()
    column = opened(array)
    assert column.type == kind
    back = column.decode(column.values)
    assert back.type == array.type
    assert back.to_pylist() == array.to_pylist()


@pytest.mark.parametrize(("values", "dtype", "kind"), PANDAS.values(), ids=PANDAS)
def test_pandas_columns_come_back_as_they_were(values, dtype, kind):
    series = pd.Series(values, dtype=dtype, index=[7, 7, 9], name="x")
    column = open_column(open_frame(series.to_frame()), "x", ColumnOptions())
    assert column.type == kind
    assert column.values.n_missing == series.isna().sum()
    pd.testing.assert_series_equal(column.decode(column.values), series, check_names=False)


def test_nan_and_null_of_polars_are_missing_in_one_way():
    column = opened(pl.Series([1.0, float("nan"), None, 2.0]))
    assert column.values.missing.tolist() == [False, True, True, False]
    assert column.decode(column.values).to_list() == [1.0, None, None, 2.0]
    column = opened(pl.Series([1.0, float("nan")]))
    assert column.decode(column.values).is_nan().to_list() == [False, True]


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "int64[pyarrow]", "int32"])
def test_whole_numbers_stay_whole(dtype):
    assert opened(pd.array([1, 2], dtype=dtype)).values.numbers.dtype.kind in "iu"


def test_large_whole_numbers_stay_exact():
    column = opened(pd.array([2**62 + 1, 2**62 + 3], dtype="Int64"))
    assert column.values.numbers.tolist() == [2**62 + 1, 2**62 + 3]


def test_floats_can_be_whole_numbers():
    column = opened(pd.Series([4.0, None, 2.0]), type="integer")
    assert column.values.numbers.dtype == np.int64
    assert column.decode(Values(np.array([3, 3, 3]))).tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(DataError, match="not all of its numbers are whole"):
        opened(pd.Series([4.5, 2.0]), type="integer")


def test_codes_follow_the_given_order():
    column = opened(pl.Series(["high", "low", None, "mid"]), order=["low", "mid", "high"])
    assert column.type == "ordinal"
    assert column.values.numbers.tolist() == [2, 0, 0, 1]
    middle = Values(np.array([1, 1, 2, 0]))
    assert column.decode(middle).to_list() == ["mid", "mid", "high", "low"]


def test_an_order_on_the_command_line_is_text():
    column = opened(pl.Series([30, 10, 20]), order=["20", "10", "30"])
    assert column.values.numbers.tolist() == [2, 1, 0]


def test_an_order_may_list_more_than_occurs_but_not_less():
    assert opened(pl.Series(["b", "a"]), order=["c", "b", "a"]).values.numbers.tolist() == [1, 2]
    with pytest.raises(DataError, match="leaves out 1 of its 2 values"):
        opened(pl.Series(["b", "a"]), order=["a", "c"])
    with pytest.raises(ParameterError, match="lists a value twice"):
        opened(pl.Series(["b", "a"]), order=["a", "b", "a"])


def test_text_has_no_order_of_its_own():
    with pytest.raises(ParameterError, match="its order must be given"):
        opened(pl.Series(["b", "a"]), type="ordinal")
    column = opened(pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), type="ordinal")
    assert column.values.numbers.tolist() == [0, 1]


def test_numbers_can_be_codes():
    column = opened(pl.Series([7, 3, 7, None]), type="nominal")
    assert column.values.numbers.tolist() == [1, 0, 1, 0]
    assert len(column.categories) == 2
    assert column.aggregate == "mode"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"type": "date"}, "stored as Int64 and cannot have the type 'date'"),
        ({"type": "nominal", "order": [1, 2]}, "has an order, which is for the type 'ordinal'"),
        ({"aggregate": "mode"}, "must be one of 'mean', 'median'"),
        ({"resolution": "day"}, "has a resolution, which is for dates"),
    ],
)
def test_options_that_do_not_fit(options, match):
    with pytest.raises((DataError, ParameterError), match=match):
        opened(pl.Series([1, 2, 3]), **options)


def test_three_values_are_not_true_or_false():
    with pytest.raises(DataError, match="more than two values"):
        opened(pl.Series([1, 2, 3]), type="boolean")
    assert len(opened(pl.Series(["yes", "no", None]), type="boolean").categories) == 2


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["2024-02-29", None, "1960-01-01"], "date"),
        (["29.02.2024", "01.01.1960"], "date"),
        (["2024/02/29", "1960/01/01"], "date"),
        (["2024-02-29T07:00:00", "1960-01-01T00:00:30"], "datetime"),
        (["2024-02-29 07:00", "1960-01-01 00:00"], "datetime"),
    ],
)
def test_dates_written_as_text(texts, kind):
    for series in (pl.Series(texts), pd.Series(texts, dtype="object")):
        column = opened(series, type=kind)
        back = column.decode(column.values)
        assert [None if value is None else value for value in list(back)] == texts


@pytest.mark.parametrize("texts", [["2024-02-30"], ["29/13/2024"], ["2024-2/9"], ["soon"], [""]])
def test_texts_that_are_no_dates(texts):
    with pytest.raises(DataError, match="not all of its texts are written like 2024-12-31"):
        opened(pl.Series(texts), type="date")


@pytest.mark.parametrize(
    ("hours", "resolution", "steps", "last"),
    [
        (24, None, 1, 24),  # whole days, and nobody said more
        (25, None, 25, 25),
        (24, "hour", 24, 24),
        (25, "day", 1, 24),
    ],
)
def test_times_are_counted_in_units_of_their_resolution(hours, resolution, steps, last):
    start = dt.datetime(2024, 1, 1)
    column = opened(pl.Series([start, start + dt.timedelta(hours=hours)]), resolution=resolution)
    assert np.diff(column.values.numbers).tolist() == [steps]
    assert column.decode(column.values)[1] == start + dt.timedelta(hours=last)


def test_lists_have_no_type():
    assert types_of(open_frame(pl.DataFrame({"x": [[1], [2]]})), "x") == ()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_infinite_and_missing_values_are_counted_by_column(kind):
    nan, inf = float("nan"), float("inf")
    frame = open_frame(kind({"f": [1.0, nan, 777.125], "g": [inf, -inf, nan], "ok": [1, 2, 3]}))
    columns = [open_column(frame, name, ColumnOptions()) for name in frame.columns]
    with pytest.raises(DataError) as refused:
        check_values(columns, Missing.ERROR)
    assert "infinite in 'g' (2)" in str(refused.value)
    with pytest.raises(DataError) as refused:
        check_values([columns[0], columns[2]], Missing.ERROR)
    message = str(refused.value)
    assert "missing in 'f' (1)" in message
    assert "--missing value" in message
    assert "--missing impute" in message
    assert "'ok'" not in message
    assert "777" not in message


def test_nothing_to_impute_from():
    column = opened(pl.Series([None, None], dtype=pl.Float64))
    check_values([column], Missing.VALUE)
    with pytest.raises(DataError, match="nothing to impute from in 'x'"):
        check_values([column], Missing.IMPUTE)


@pytest.mark.parametrize("said", [{}, {"order": ["low", "high"]}], ids=["nominal", "ordinal"])
@pytest.mark.parametrize(
    "empty",
    [
        pl.Series([None, None], dtype=pl.String),
        pl.Series([None, None], dtype=pl.Enum(["low", "high"])),
        *(pd.Series([None, None], dtype=t) for t in ("str", "string", "object", "category")),
        pa.chunked_array([pa.array([None, None], type=pa.string())]),
    ],
    ids=lambda column: str(getattr(column, "dtype", "arrow")),
)
def test_categories_of_which_none_is_there_stay_missing(empty, said):
    kind = {pl.Series: pl.DataFrame, pd.Series: pd.DataFrame}.get(type(empty), pa.table)
    table = kind({"level": empty, "x": [1.0, 2.0]})
    said = {"level": {"role": "quasi-identifier", **said}}
    released = protect(table, 2, columns=said, missing="value").table
    if isinstance(empty, pl.Series):  # an Enum lists only categories that are there
        released, table = released.cast({"level": pl.String}), table.cast({"level": pl.String})
    assert released["level"].equals(table["level"])


@pytest.mark.parametrize("kind", ["continuous", "nominal"])
def test_nan_beside_missing_values_of_arrow_in_pandas_is_missing(kind):
    both = pa.chunked_array([pa.array([np.nan, None, 1.0, 1.0])])
    values = opened(pd.Series(pd.arrays.ArrowExtensionArray(both)), type=kind).values
    assert values.missing.tolist() == [True, True, False, False]


@pytest.mark.parametrize("dtype", ["object", "string"])
def test_texts_that_differ_after_a_nul_are_different(dtype):
    texts = ["a\0c", "", "\0", "a\0b", None, "\0"]
    column = opened(pd.Series(texts, dtype=dtype))
    assert column.values.numbers[column.values.missing == 0].tolist() == [3, 0, 1, 2, 1]
    shown = column.decode(column.values)
    assert [None if pd.isna(value) else value for value in shown] == texts
