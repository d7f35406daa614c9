"""How dates are written: told by the column, or by somebody, never guessed."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg.core.errors import DataError
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.date_texts import find_writing, parsed
from microagg.tables.frames import open_frame
from microagg.tables.judging import judge_type
from microagg.tables.typed import open_column

DAYS = [dt.date(2024, 12, 31), dt.date(1960, 1, 5), dt.date(1999, 7, 19)]
TIMES = [dt.datetime(2024, 12, 31, 23, 59, 5), dt.datetime(1960, 1, 5, 1, 2, 3)]


@pytest.mark.parametrize("sign", "/.-")
@pytest.mark.parametrize("order", ["d{0}m{0}Y", "m{0}d{0}Y", "Y{0}m{0}d"])
@pytest.mark.parametrize("flag", ["%", "%-"])
def test_every_way_is_told_and_written_back(sign, order, flag):
    form = "".join(
        f"{flag if letter in 'dm' else '%'}{letter}" if letter.isalpha() else letter
        for letter in order.format(sign)
    )
    texts = pl.Series([*(day.strftime(form) for day in DAYS), None])
    found = find_writing(texts)
    assert found.form == form
    assert not found.is_ambiguous
    assert parsed(texts, form).to_list() == [*DAYS, None]
    assert parsed(texts, form).dt.to_string(form).to_list() == texts.to_list()


@pytest.mark.parametrize(
    "form",
    [
        "%d/%m/%Y %H:%M:%S",
        "%-m/%-d/%Y %-I:%M:%S %p",
        "%d.%m.%Y %-H:%M:%S",
        "%Y-%m-%dT%H:%M:%S",
        "%Y/%m/%d %H:%M:%S%.6f",
    ],
)
def test_with_times(form):
    texts = pl.Series(TIMES).dt.to_string(form)
    found = find_writing(texts)
    assert (found.form, found.type) == (form, ColumnType.DATETIME)
    assert parsed(texts, form).to_list() == TIMES


@pytest.mark.parametrize(
    "texts",
    [
        ["31/12/2024", "12/31/2024"],  # neither order fits both
        ["30/02/2024", "01/01/2024"],
        ["31/12/2024", "31-12-2024"],
        ["31/12/2024", "31/12/2024 10:00"],
        ["31/12/24", "30/12/24"],
        ["31/12/2024 ", "30/12/2024"],
        ["31/12/2024", "soon"],
        ["2024-13-01"],
        ["31/12/2024 25:00"],
        ["٣١/12/2024"],
        [None],
        [""],
    ],
)
def test_no_dates(texts):
    assert find_writing(pl.Series(texts, dtype=pl.String)) is None


def test_a_column_in_which_both_are_twelve_or_less_does_not_tell():
    texts = pl.Series(["01/02/2024", "12/11/2024"])
    assert find_writing(texts).is_ambiguous
    for order, form in (("us", "%m/%d/%Y"), ("eu", "%d/%m/%Y")):
        found = find_writing(texts, order)
        assert (found.form, found.is_ambiguous) == (form, False)


def test_the_column_tells_more_than_anybody():
    assert find_writing(pl.Series(["31/12/2024", "01/02/2024"]), "us").form == "%d/%m/%Y"


def test_with_points_the_day_comes_first():
    points = pl.Series(["01.02.2024", "03.04.2024"])
    assert find_writing(points).form == "%d.%m.%Y"
    assert find_writing(points, "us").form == "%m.%d.%Y"


def test_some_with_and_some_without_zeros_get_them():
    assert find_writing(pl.Series(["1/5/2024", "01/31/2024"])).form == "%m/%-d/%Y"
    assert find_writing(pl.Series(["1/05/2024", "01/5/2024", "1/31/2024"])).form == "%m/%d/%Y"


def test_a_part_that_does_not_tell_is_like_the_other():
    assert find_writing(pl.Series(["1/31/2024", "2/28/2024"])).form == "%-m/%-d/%Y"


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_opened(kind):
    frame = open_frame(kind({"x": ["13/02/2024", None, "01/02/2024"]}))
    judged = judge_type(frame, "x")
    assert (judged.type, judged.why) == (ColumnType.DATE, "all its texts are dates, day first")
    column = open_column(frame, "x", ColumnOptions(judged.type))
    assert column.values.numbers[[0, 2]].tolist() == [19766, 19754]
    assert list(column.decode(column.values))[::2] == ["13/02/2024", "01/02/2024"]


def test_ambiguous_stops_with_what_to_do():
    frame = open_frame(pl.DataFrame({"x": ["01/02/2024"]}))
    with pytest.raises(DataError, match=r"column 'x' .* --dates us .* --type x=nominal"):
        open_column(frame, "x", ColumnOptions(judge_type(frame, "x").type))


@pytest.mark.parametrize(
    ("resolution", "first"),
    [("year", "2024-01-01"), ("quarter", "2024-10-01"), ("month", "2024-11-01")],
)
@pytest.mark.parametrize(
    "stored",
    [
        pl.Series([dt.date(2024, 11, 30)]),
        pl.Series(["2024-11-30"]),
        pl.Series([dt.datetime(2024, 11, 30, 23, 59)]),
        pl.Series([dt.datetime(2024, 11, 30, 9)], dtype=pl.Datetime("ns", "Asia/Tokyo")),
        pd.Series([pd.Timestamp("2024-11-30 23:59")]),
        pd.Series([dt.date(2024, 11, 30)]),
    ],
    ids=["date", "text", "us", "zoned", "pandas", "objects"],
)
def test_periods_are_released_as_their_first_day(resolution, first, stored):
    kind = pl.DataFrame if isinstance(stored, pl.Series) else pd.DataFrame
    frame = open_frame(kind({"x": stored}))
    options = ColumnOptions(judge_type(frame, "x").type, resolution=resolution)
    column = open_column(frame, "x", options)
    back = column.decode(column.values)
    assert back.dtype == stored.dtype
    assert str(back[0]).startswith(first)


@pytest.mark.parametrize("resolution", ["year", "quarter", "month"])
def test_periods_before_1970(resolution):
    days = [dt.date(1890, 1, 1) + dt.timedelta(days=137 * i) for i in range(400)]
    frame = open_frame(pl.DataFrame({"x": days}))
    column = open_column(frame, "x", ColumnOptions(resolution=resolution))
    months = {"year": 12, "quarter": 3, "month": 1}[resolution]
    expected = [dt.date(day.year, (day.month - 1) // months * months + 1, 1) for day in days]
    assert column.decode(column.values).to_list() == expected
    assert (np.diff(column.values.numbers) >= 0).all()
