"""Constraints between dates: released dates satisfy them, and a stranger can check it."""

import datetime as dt
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import microagg
from microagg import verify
from microagg.constraints.grammar import parse
from microagg.core.errors import DataError, ParameterError

protect = partial(microagg.protect, method="mdav")

N = 120
RNG = np.random.default_rng(3)
ADMITTED = np.datetime64("2020-01-01") + RNG.integers(0, 700, N)
STAY = RNG.geometric(0.2, N) - 1
DAYS = pl.DataFrame(
    {
        "born": ADMITTED - RNG.integers(2000, 30_000, N),
        "admitted": ADMITTED,
        "stay": STAY,
        "discharged": ADMITTED + STAY,
    }
).with_columns(pl.col("born", "admitted", "discharged").cast(pl.Date))
DATED = ["born", "admitted", "discharged"]
ALL = ["born", "admitted", "stay", "discharged"]
TOTAL = "admitted + stay = discharged"
MINUTES = DAYS.with_columns(
    pl.col("admitted", "discharged").cast(pl.Datetime("us")) + pl.duration(minutes=pl.col("stay"))
)


def as_text(form):
    return DAYS.with_columns(pl.col(DATED).dt.to_string(form))


TABLES = {
    "polars": DAYS,
    "pandas": DAYS.to_pandas(),
    "objects": DAYS.to_pandas().assign(**{n: pd.Series(DAYS[n].to_list()) for n in DATED}),
    "pyarrow": DAYS.to_arrow(),
    "datetimes": DAYS.with_columns(pl.col(DATED).cast(pl.Datetime("ms"))),
    "us": as_text("%-m/%-d/%Y"),
    "eu": as_text("%d.%m.%Y"),
    "iso": as_text("%Y-%m-%d"),
}


def as_days(table, name):
    """The days of a released column since 1970, worked out without microagg."""
    values = pl.DataFrame(table)[name] if not isinstance(table, pd.DataFrame) else table[name]
    listed = list(values)
    if isinstance(listed[0], str):
        form = "%d.%m.%Y" if "." in listed[0] else "%m/%d/%Y" if "/" in listed[0] else "%Y-%m-%d"
        listed = [dt.datetime.strptime(value, form) for value in listed]
    return np.array([(pd.Timestamp(value) - pd.Timestamp(0)).days for value in listed])


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_totals_and_orders_hold_to_the_day(table):
    asked = [TOTAL, "born <= admitted", "admitted >= 2020-02-01", "discharged <= admitted + 20"]
    release = protect(table, 4, quasi_identifiers=ALL, constraints=asked)
    born, admitted, discharged = (as_days(release.table, name) for name in DATED)
    stay = np.array(pl.DataFrame(release.table)["stay"])
    assert (admitted + stay == discharged).all()
    assert (born <= admitted).all()
    assert (admitted >= (dt.date(2020, 2, 1) - dt.date(1970, 1, 1)).days).all()
    assert (discharged - admitted <= 20).all()
    before = {
        TOTAL: 0,
        "born <= admitted": 0,
        "admitted >= 2020-02-01": int((np.datetime64("2020-02-01") > ADMITTED).sum()),
        "discharged <= admitted + 20": int((STAY > 20).sum()),
    }
    assert release.manifest.constraints.records_in_violation == before
    assert verify(release.table, 4, constraints=asked).satisfied


def test_each_group_gets_the_nearest_days():
    release = protect(DAYS.select(ALL[1:]), 6, quasi_identifiers=ALL[1:], constraints=[TOTAL])
    numbers = DAYS.select(ALL[1:]).with_columns(pl.col(DATED[1:]).to_physical()).to_numpy()
    spread = numbers.std(axis=0, ddof=1)
    columns = (as_days(release.table, "admitted"), release.table["stay"].to_numpy())
    released = np.column_stack((*columns, as_days(release.table, "discharged")))
    for label in np.unique(release.labels):
        mean = numbers[release.labels == label].mean(axis=0)
        near = [range(int(value) - 4, int(value) + 6) for value in mean]
        least = min(
            float(np.square((np.array([a, s, a + s]) - mean) / spread).sum())
            for a, s in product(near[0], near[1])
        )
        own = float(np.square((released[release.labels == label][0] - mean) / spread).sum())
        assert own == pytest.approx(least)


def test_times_in_a_stated_unit():
    said = {name: {"resolution": "minute"} for name in DATED[1:]}
    table = MINUTES.with_columns(discharged=pl.col("admitted") + pl.duration(minutes="stay"))
    asked = [TOTAL, "admitted >= 2020-01-10T12:30"]
    release = protect(table, 4, quasi_identifiers=ALL, columns=said, constraints=asked)
    out = release.table
    minutes = (out["discharged"] - out["admitted"]).dt.total_minutes()
    assert (minutes == out["stay"]).all()
    assert out["admitted"].min() >= dt.datetime(2020, 1, 10, 12, 30)
    plan = release.manifest.plan
    assert verify(out, plan=plan).satisfied
    with pytest.raises(DataError, match="may be days, hours or minutes"):
        verify(out, 4, constraints=[TOTAL])


def test_times_are_compared_whatever_their_unit():
    table = MINUTES.with_columns(pl.col("admitted").dt.truncate("1d"))
    release = protect(table, 4, quasi_identifiers=ALL, constraints=["admitted <= discharged"])
    assert (release.table["admitted"] <= release.table["discharged"]).all()


@pytest.mark.parametrize("resolution", ["month", "quarter", "year"])
def test_periods_are_compared(resolution):
    said = {name: {"resolution": resolution} for name in DATED[1:]}
    asked = ["admitted <= discharged", "admitted >= 2020-02-15"]
    release = protect(DAYS, 4, quasi_identifiers=ALL, columns=said, constraints=asked)
    out = release.table
    assert (out["admitted"] <= out["discharged"]).all()
    assert out["admitted"].min() >= dt.date(2020, 2, 15)
    assert (out["admitted"].dt.day() == 1).all()
    assert verify(out, 4, constraints=asked).satisfied


def test_a_file_and_its_manifest_say_how_dates_are_written(tmp_path):
    # Released days are 12 or less: only the manifest tells them from months.
    days = [f"{1 + i % 3:02d}/{1 + i % 4:02d}/2024" for i in range(48)]
    later = [f"{4 + i % 3:02d}/{5 + i % 4:02d}/2024" for i in range(48)]
    source = tmp_path / "visits.csv"
    pl.DataFrame({"came": days, "left": later}).write_csv(source)
    roles = {
        "columns": {name: {"role": "quasi-identifier"} for name in ("came", "left")},
        "constraints": ["came <= left"],
    }
    with pytest.raises(DataError, match=r"'came' .* --dates us"):
        microagg.protect_file(source, None, microagg.Plan.of(k=4, **roles))
    plan = microagg.Plan.of(k=4, dates="eu", method="mdav", **roles)
    release = microagg.protect_file(source, None, plan)
    assert release.manifest.columns["came"].written == "%d/%m/%Y"
    released = tmp_path / "visits-protected.csv"
    assert verify(released).satisfied
    assert microagg.measure(source, released) is not None
    for beside in tmp_path.glob("*.json"):
        beside.unlink()
    with pytest.raises(DataError, match="--dates us"):
        verify(released, 4, constraints=["came <= left"])
    assert verify(released, 4, constraints=["came <= left"], dates="eu").satisfied
    found = verify(released, 4, constraints=["left <= came"], dates="eu")
    assert not found.satisfied


@pytest.mark.parametrize(
    ("constraint", "match"),
    [
        ("admitted <= 20000", "dates .* are compared with dates, not with numbers"),
        ("admitted + discharged >= 2020-01-01", "not with numbers"),
        ("2*admitted <= discharged", "not with numbers"),
        ("admitted <= stay", "not with numbers"),
        ("stay >= 2020-01-01", "a date is compared with stay, which is not a date"),
        ("admitted >= 2020-02-30", "at character 13, there is no such date"),
        ("admitted * 2020-01-01 >= 0", "not linear"),
    ],
)
def test_refused(constraint, match):
    with pytest.raises(ParameterError, match=match):
        protect(DAYS, 4, quasi_identifiers=ALL, constraints=[constraint])


@pytest.mark.parametrize("resolution", [None, "month"])
def test_dates_and_times_need_one_resolution(resolution):
    table = MINUTES.with_columns(pl.col("born").cast(pl.Date))
    said = {"born": {"resolution": resolution}} if resolution else {}
    with pytest.raises(ParameterError, match="born, admitted are dates of different resolutions"):
        protect(table, 4, quasi_identifiers=ALL, columns=said, constraints=["born <= admitted"])
    said = {"admitted": {"resolution": "day"}}
    release = protect(
        table, 4, quasi_identifiers=ALL, columns=said, constraints=["born <= admitted"]
    )
    assert (release.table["born"] <= release.table["admitted"].cast(pl.Date)).all()


def test_numbers_beside_times_need_a_stated_unit():
    with pytest.raises(ParameterError, match="may be days, hours or minutes"):
        protect(MINUTES, 4, quasi_identifiers=ALL, constraints=[TOTAL])


def test_months_take_no_numbers():
    said = {name: {"resolution": "month"} for name in DATED[1:]}
    with pytest.raises(ParameterError, match="only compared with each other"):
        protect(DAYS, 4, quasi_identifiers=ALL, columns=said, constraints=[TOTAL])


def test_dates_in_the_grammar():
    one, same = parse("born >= 1970-01-02"), parse("1970-01-02 <= born")
    assert (one.dates, one.seconds, one.bound) == (-1, -86_400, 0)
    assert one.meaning != parse("born >= 1970-01-03").meaning
    assert same.seconds == 86_400
    assert parse("x >= 2000 - 10 - 10").bound == 1980
    assert parse("'2024-01-01' <= 5").coefficients == {"2024-01-01": 1}
