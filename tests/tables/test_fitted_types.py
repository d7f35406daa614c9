"""Parts of a table, each opened like the whole."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg.aggregates.values import Values
from microagg.core.errors import DataError
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.encoding import Encoding, encode
from microagg.tables.fitted_types import FittedType
from microagg.tables.frames import open_frame
from microagg.tables.statistics import ColumnStatistics
from microagg.tables.typed import code_strata, open_column

FRAMES = {
    "polars": lambda column: pl.DataFrame({"x": column}),
    "pandas": lambda column: pd.DataFrame({"x": column.to_pandas()}),
    "arrow": lambda column: pa.table({"x": column.to_arrow()}),
}
NOON = dt.datetime(2024, 2, 29, 12)
WHOLES = {
    "floats": (pl.Series([1.5, None, 3.0, 2.0, 2.0, 9.0]), {}),
    "integers": (pl.Series([1, 5, 3, 2, 2, 9]), {}),
    "truth": (pl.Series([True, True, True, False, False, False]), {}),
    "text": (pl.Series(["b", "b", "d", "a", "c", "a"]), {}),
    "numbers as codes": (pl.Series([30, 30, 10, 20, 20, 20]), {"type": ColumnType.NOMINAL}),
    "numbers in order": (pl.Series([30, 30, 10, 20, 20, 20]), {"type": ColumnType.ORDINAL}),
    "order as text": (pl.Series([30, 30, 10, 20, 20, 20]), {"order": ["20", "10", "30", "5"]}),
    "order": (
        pl.Series(["mid", "mid", "low", "high", "high", "low"]),
        {"order": ["low", "mid", "high"]},
    ),
    "enum": (pl.Series(["b", "b", "d", "a", "c", "a"], dtype=pl.Enum(list("dcbae"))), {}),
    "dates": (pl.Series([dt.date(2024, 1, day) for day in (1, 5, 9, 9, 2, 3)]), {}),
    "dates as text": (
        pl.Series([f"0{day}.01.2024" for day in (1, 5, 9, 9, 2, 3)]),
        {"type": ColumnType.DATE},
    ),
    "times": (
        pl.Series([NOON - dt.timedelta(hours=12 * (at < 3), days=at) for at in range(6)]),
        {},
    ),
    "days of times": (
        pl.Series([NOON + dt.timedelta(hours=at) for at in range(6)]),
        {"resolution": "hour"},
    ),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(("series", "options"), WHOLES.values(), ids=WHOLES)
@pytest.mark.parametrize("cut", [1, 3, 5])
def test_parts_are_opened_like_the_whole(frame, series, options, cut):
    options = ColumnOptions(**options)
    tables = [open_frame(frame(part)) for part in (series, series[:cut], series[cut:])]
    whole, *alone = (open_column(table, "x", options) for table in tables)
    first, second = (ColumnStatistics.of(part, scale="rank") for part in alone)
    merged = first.merge(second)
    expected = FittedType.of(whole)
    assert merged.type == expected
    parts = [open_column(table, "x", options, merged.type) for table in tables[1:]]
    numbers = np.concatenate([part.values.numbers for part in parts])
    assert np.array_equal(numbers, whole.values.numbers)
    # A part can release any value of the whole.
    for part, start in zip(parts, (0, cut)):
        n = len(part.values.numbers)
        other = np.arange(start + 1, start + 1 + n) % len(series)
        released = part.decode(whole.values.take(other))
        given = whole.decode(whole.values.take(np.arange(1, 7) % 6))
        assert list(map(str, list(released))) == list(map(str, list(given)[start : start + n]))
    for scale in ("standardise", "rank"):
        encoding = Encoding.of([merged], scale=scale)
        X = encode([whole], scale=scale)
        np.testing.assert_allclose(encoding.apply([whole]), X, atol=1e-14)
        for columns in (parts, alone):
            by_parts = np.vstack([encoding.apply([part]) for part in columns])
            assert np.array_equal(by_parts, encoding.apply([whole]))


def opened(column, fitted=None, **options):
    return open_column(
        open_frame(pl.DataFrame({"x": column})), "x", ColumnOptions(**options), fitted
    )


def merged_type(*columns, **options):
    first, *others = (ColumnStatistics.of(opened(column, **options)) for column in columns)
    for other in others:
        first = first.merge(other)
    return first.type


def test_a_part_without_values_says_nothing():
    texts = {"type": ColumnType.DATE}
    empty, dates = pl.Series([None, None], dtype=pl.String), pl.Series(["31.12.2024"])
    for order in ((empty, dates), (dates, empty)):
        assert merged_type(*order, **texts).written == "%d.%m.%Y"
    frames = [
        open_frame(pd.DataFrame({"x": pd.Series(values, dtype=object)}))
        for values in ([None, None], [dt.date(2024, 1, 1), None])
    ]
    none, some = (ColumnStatistics.of(open_column(f, "x", ColumnOptions())) for f in frames)
    merged = none.merge(some)
    assert merged.type.type == "date"
    assert (merged.n_records, merged.n_missing) == (4, 3)
    part = open_column(frames[0], "x", ColumnOptions(), merged.type)
    assert part.values.missing.all()
    assert part.decode(Values(np.array([19723, 19723]))).tolist() == [dt.date(2024, 1, 1)] * 2


def test_missing_floats_have_one_mark_in_all_parts():
    nan, null = pl.Series([1.0, float("nan")]), pl.Series([None, 2.0])
    fitted = merged_type(nan, null)
    for series in (nan, null):
        column = opened(series, fitted)
        assert column.decode(column.values).null_count() == 1


@pytest.mark.parametrize(
    ("columns", "options", "match"),
    [
        ((pl.Series([1]), pl.Series([1.5])), {}, "stored as 'Int64' in one part"),
        ((pl.Series([1]), pl.Series(["a"])), {}, "Make all parts alike"),
        (
            (pl.Series(["2024-12-31"]), pl.Series(["31.12.2024"])),
            {"type": ColumnType.DATE},
            "written like '%Y-%m-%d' in one part",
        ),
        (
            (pl.Series(["yes", "no"]), pl.Series(["no", "perhaps"])),
            {"type": ColumnType.BOOLEAN},
            "more than two values",
        ),
        (
            (pl.Series([NOON]).cast(pl.Datetime("ms")), pl.Series([NOON])),
            {},
            "Make all parts alike",
        ),
    ],
)
def test_parts_that_do_not_go_together(columns, options, match):
    with pytest.raises(DataError, match=match):
        merged_type(*columns, **options)


def test_orders_that_differ_are_refused():
    columns = [
        open_column(
            open_frame(pd.DataFrame({"x": pd.Categorical(["a"], order, ordered=True)})),
            "x",
            ColumnOptions(),
        )
        for order in (["b", "a"], ["a", "b", "c"])
    ]
    types = [FittedType.of(column) for column in columns]
    with pytest.raises(DataError, match="Make all parts alike"):
        types[0].merge(types[1])


def test_a_value_of_no_other_part_is_refused():
    fitted = merged_type(pl.Series(["a"]), pl.Series(["c"]))
    with pytest.raises(DataError, match="'x' holds 2 values that are not among"):
        opened(pl.Series(["a", "b", "d", None]), fitted)
    finer = opened(pl.Series([NOON + dt.timedelta(seconds=1)]))
    encoding = Encoding.fit([opened(pl.Series([NOON]))], scale="standardise")
    with pytest.raises(DataError, match="more finely"):
        encoding.apply([finer])


def test_strata_of_parts_have_the_codes_of_the_whole():
    frame = open_frame(pl.DataFrame({"x": ["c", "a", None]}))
    assert code_strata(frame, "x").values.numbers.tolist() == [1, 0, 0]
    coded = code_strata(frame, "x", categories=("a", "b", "c"))
    assert coded.values.numbers.tolist() == [2, 0, 0]
    assert coded.decode(Values(np.array([1, 1, 2]))).to_list() == ["b", "b", "c"]


def test_what_can_be_told_from_statistics():
    whole = ColumnStatistics.of(opened(pl.Series([1.0, 2.0, None])), scale="rank")
    assert (whole.n_records, whole.n_missing, whole.n_distinct) == (3, 1, 2)
    assert whole.present.is_whole
    fractions = ColumnStatistics.of(opened(pl.Series([1.5])), scale="rank")
    merged = whole.merge(fractions)
    assert not merged.present.is_whole
    assert merged.n_distinct == 3
