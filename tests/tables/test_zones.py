"""Times with a zone count by its clocks, in every kind of table."""

from datetime import timedelta, timezone

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg import protect

KINDS = {
    "pandas": lambda times: pd.DataFrame({"t": times}),
    "pandas on Arrow": lambda times: pd.DataFrame({"t": times}).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": lambda times: pl.from_pandas(pd.DataFrame({"t": times})),
    "pyarrow": lambda times: pl.from_pandas(pd.DataFrame({"t": times})).to_arrow(),
}


def released(kind, times, k):
    """Release the times in a table of a kind; return them as texts, with what clocks show."""
    table = protect(KINDS[kind](times), k, quasi_identifiers="t", method="mdav").table
    frame = table if isinstance(table, pd.DataFrame) else pl.DataFrame(table).to_pandas()
    return [f"{time:%Y-%m-%d %H:%M %z}" for time in frame["t"]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu"])
def test_whole_days_of_a_zone_stay_whole_days(kind, zone):
    days = pd.date_range("2024-02-01", "2024-12-01", freq="5D", tz=zone)
    shown = released(kind, days, 3)
    assert {text[11:16] for text in shown} == {"00:00"}
    assert len({text[-5:] for text in shown}) == len({day.utcoffset() for day in days})


@pytest.mark.parametrize("kind", KINDS)
def test_of_an_hour_shown_twice_the_first_is_released(kind):
    times = pd.to_datetime(["2024-10-27 00:30Z", "2024-10-27 01:30Z"] * 2)
    assert released(kind, times.tz_convert("Europe/Berlin"), 2) == ["2024-10-27 02:30 +0200"] * 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_mean_that_no_clock_shows_counts_from_the_day_before(kind):
    times = pd.to_datetime(["2024-03-31 01:10", "2024-03-31 03:50"])
    assert released(kind, times.tz_localize("Europe/Berlin"), 2) == ["2024-03-31 03:30 +0200"] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_day_that_a_zone_left_out(kind):
    times = pd.to_datetime(["2011-12-28", "2011-12-29", "2012-01-01", "2012-01-01"])
    shown = released(kind, times.tz_localize("Pacific/Apia"), 4)
    assert shown == ["2011-12-31 00:00 +1400"] * 4


@pytest.mark.parametrize("hours", [2, 5.5, -3.5])
def test_zones_without_a_name(hours, tmp_path):
    zone = timezone(timedelta(hours=hours))
    table = pd.DataFrame({"t": pd.to_datetime(["2024-01-01", "2024-01-03"]).tz_localize(zone)})
    release = protect(table, 2, quasi_identifiers="t")
    assert list(release.table["t"]) == [pd.Timestamp("2024-01-02", tz=zone)] * 2
    arrow = pa.Table.from_pandas(table)
    there = protect(arrow, 2, quasi_identifiers="t").table
    assert there.schema.field("t").type == arrow.schema.field("t").type
    assert abs(there.to_pandas()["t"] - release.table["t"]).max() <= timedelta(days=0.5)
    release.save(tmp_path / "out.csv")
    read = pd.to_datetime(pd.read_csv(tmp_path / "out.csv")["t"])
    assert (read == release.table["t"]).all()
