"""Constraints that drafts propose: counted, commented out, and valid once they are not."""

import re
import tomllib

import numpy as np
import polars as pl
import pytest

import microagg
from microagg import Plan
from microagg.plans.drafting import draft, guess_columns, propose
from microagg.tables.frames import open_frame

N = 300
RNG = np.random.default_rng(2)
ADMITTED = np.datetime64("2022-01-01") + RNG.integers(0, 300, N)
STAY = RNG.geometric(0.1, N) - 1
NET, TAX = RNG.integers(1000, 5000, N), RNG.integers(0, 900, N)
GROSS = NET + TAX
GROSS[:3] += 1
HOSPITAL = pl.DataFrame(
    {
        "born": [f"{1 + i % 28}/{1 + i % 12}/{1950 + i % 50}" for i in range(N)],
        "admitted": ADMITTED,
        "discharged": ADMITTED + STAY + RNG.integers(0, 2, N),
        "net pay": NET,
        "tax": TAX,
        "gross": GROSS,
        "ward": RNG.integers(1, 5, N),
        "year": [2022] * N,
    }
).with_columns(pl.col("admitted", "discharged").cast(pl.Date).dt.to_string("%d.%m.%Y"))


def proposals(table=HOSPITAL):
    frame = open_frame(table)
    return {own.text: own.comment for own in propose(frame, guess_columns(frame))}


def test_totals_and_orders_of_numbers_and_dates():
    assert proposals() == {
        "'net pay' + tax = gross": "holds in all but 3 of 300 records",
        "admitted <= discharged": "holds in all 300 records",
    }


def test_neither_codes_nor_constants_take_part():
    same = HOSPITAL.with_columns(copy=pl.col("ward"), later=pl.col("year") + 1)
    assert proposals(same) == proposals()


@pytest.mark.parametrize("kind", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_of_other_tables(kind):
    assert proposals(kind(HOSPITAL)) == proposals()


def test_missing_values_do_not_count():
    holes = HOSPITAL.with_columns(tax=pl.when(pl.col("tax") % 5 > 0).then("tax"))
    there = holes["tax"].count()
    failing = int((holes["net pay"] + holes["tax"] != holes["gross"]).sum())
    said = proposals(holes)["'net pay' + tax = gross"]
    assert failing
    assert said == f"holds in all but {failing} of {there} records without gaps"


def test_the_draft_is_a_plan_with_and_without_them():
    frame = open_frame(HOSPITAL)
    guesses = guess_columns(frame)
    text = draft(
        guesses,
        Plan.of(k=5),
        source="h.csv",
        n_records=N,
        proposals=propose(frame, guesses),
    )
    assert tomllib.loads(text)["constraints"] == []
    assert text.count("constraints =") == 1
    given = Plan.of(k=5, constraints=["tax >= 0"])
    both = draft(guesses, given, source="h.csv", n_records=N, proposals=propose(frame, guesses))
    assert tomllib.loads(both)["constraints"] == ["tax >= 0"]
    taken = re.sub(r'^#   ("[^"]*",)', r"\1", text, flags=re.MULTILINE)
    asked = tomllib.loads(taken)
    assert asked["constraints"] == list(proposals())
    release = microagg.protect(HOSPITAL, plan=Plan.of(**asked).replace(method="mdav"))
    assert microagg.verify(release.table, 5, constraints=asked["constraints"]).satisfied


def test_a_draft_without_any_has_the_option_as_a_comment():
    frame = open_frame(HOSPITAL.select("tax", "ward"))
    text = draft(guess_columns(frame), Plan.of(k=5), source="h.csv", n_records=N)
    assert "# constraints = []" in text


def test_dates_that_nobody_can_tell():
    frame = open_frame(pl.DataFrame({"seen": ["01/02/2024", "03/02/2024"] * 9}))
    guess = guess_columns(frame)["seen"]
    assert guess.type is None
    assert "day or month first? say dates" in guess.why
    assert guess_columns(frame, dates="eu")["seen"].type == "date"
    assert propose(frame, guess_columns(frame)) == []


@pytest.mark.parametrize(
    ("name", "total", "failing"),
    [
        ("census", "POTHVAL + PEARNVAL = PTOTVAL", 0),
        ("eia", "RESREVENUE + COMREVENUE + INDREVENUE + OTHREVENUE = TOTREVENUE", 249),
        ("eia", "RESSALES + COMSALES + INDSALES + OTHRSALES = TOTSALES", 275),
    ],
)
def test_totals_of_the_benchmark_tables(benchmark_file, name, total, failing):
    table = pl.read_csv(benchmark_file(name))
    found = proposals(table)
    names = re.findall(r"\w+", total)
    differs = sum(table[part] for part in names[:-1]) != table[names[-1]]
    assert int(differs.sum()) == failing
    n = f"{len(table):,}"
    said = (
        f"holds in all {n} records" if not failing else f"holds in all but {failing} of {n} records"
    )
    assert found[total] == said


def test_tarragona_has_no_totals(benchmark_file):
    found = proposals(pl.read_csv(benchmark_file("tarragona")))
    assert found == {"OPERATING.PROFIT <= SALES": "holds in all 834 records"}
