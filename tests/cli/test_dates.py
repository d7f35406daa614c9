"""Dates as people write them, on the command line: read, released and measured as they came."""

import csv
import datetime as dt
import json
import tomllib

import pytest

from tests.cli.conftest import write_csv

MDAV = ("--method", "mdav", "--seed", "1")
START = dt.date(2021, 1, 1)


def words(done):
    assert done.code == 0, done.err
    return " ".join(done.out.split())


def released(name):
    with open(name, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def visits(form, n=80):
    days = [START + dt.timedelta(days=i * 37 % 700) for i in range(n)]
    return [
        {
            "came": day.strftime(form),
            "left": (day + dt.timedelta(days=i % 9)).strftime(form),
            "stay": str(i % 9),
            "age": str(20 + i * 13 % 60),
            "ill": ("flu", "cold")[i * i % 7 > 2],
        }
        for i, day in enumerate(days)
    ]


ASKED = ("-k", "4", *MDAV, "--quasi-identifier", "came,left", "--sensitive", "ill")


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%-m/%-d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%d-%m-%Y"])
def test_released_as_they_came(run, folder, form):
    rows = visits(form)
    rows[3]["came"] = rows[9]["came"] = "NA"
    write_csv(folder / "v.csv", rows)
    said = words(run("protect", "v.csv", *ASKED, "--missing", "impute"))
    assert "entries such as NA: came (2)" in said
    assert "came is date (all its texts are dates" in said
    for row in released("v-protected.csv"):
        day = dt.datetime.strptime(row["came"], form.replace("%-", "%")).date()
        assert START <= day <= START + dt.timedelta(days=700)
        assert day.strftime(form) == row["came"]


def test_constraints_and_the_file_they_are_verified_on(run, folder):
    write_csv(folder / "v.csv", visits("%m/%d/%Y"))
    total = ("--constraint", "came + stay = left")
    said = words(run("protect", "v.csv", *ASKED, *total))
    assert "violated before by no record" in said
    assert run("verify", "v-protected.csv").code == 0
    (folder / "v-protected.csv.manifest.json").unlink()
    assert run("verify", "v-protected.csv", "-k", "4", "--sensitive", "ill", *total).code == 0
    wrong = ("--constraint", "left <= came")
    assert run("verify", "v-protected.csv", "-k", "4", "--sensitive", "ill", *wrong).code == 4
    for row in released("v-protected.csv"):
        came, left = (dt.datetime.strptime(row[name], "%m/%d/%Y") for name in ("came", "left"))
        assert (left - came).days == int(row["stay"])


@pytest.mark.parametrize("dates", ["us", "eu"])
def test_what_the_file_does_not_tell(run, folder, dates):
    rows = [{"born": f"{1 + i % 12:02d}/{1 + i % 11:02d}/19{50 + i % 40}"} for i in range(90)]
    write_csv(folder / "b.csv", rows)
    asked = ("b.csv", "-k", "3", *MDAV, "--quasi-identifier", "born")
    refused = run("protect", *asked)
    assert refused.code == 3
    assert refused.err.count("\n") == 1
    assert "column 'born' holds dates, and none of them tells the day from the month" in refused.err
    assert "--dates us for 12/31/2024" in refused.err
    assert not (folder / "b-protected.csv").exists()
    drafted = run("plan", "b.csv").out
    assert 'day or month first? say dates = "eu" or "us" above' in drafted
    assert "type" not in tomllib.loads(drafted)["columns"]["born"]
    chosen = tomllib.loads(run("plan", "b.csv", "--dates", dates).out)
    assert (chosen["dates"], chosen["columns"]["born"]["type"]) == (dates, "date")
    done = run("protect", *asked, "--dates", dates, "--json")
    manifest = json.loads(done.out)
    assert manifest["columns"]["born"]["written"] == {"us": "%m/%d/%Y", "eu": "%d/%m/%Y"}[dates]
    assert f"--dates {dates}" in manifest["command"]
    first = "month" if dates == "us" else "day"
    assert manifest["columns"]["born"]["why"] == f"all its texts are dates, {first} first"
    assert run("measure", "b.csv", "b-protected.csv").code == 0


@pytest.mark.parametrize(
    ("resolution", "months"), [("month", range(1, 13)), ("quarter", (1, 4, 7, 10)), ("year", (1,))]
)
def test_periods(run, folder, resolution, months):
    write_csv(folder / "v.csv", visits("%d/%m/%Y"))
    run("protect", "v.csv", *ASKED, "--resolution", f"came={resolution}")
    days = [dt.datetime.strptime(row["came"], "%d/%m/%Y") for row in released("v-protected.csv")]
    assert {day.day for day in days} == {1}
    assert {day.month for day in days} <= set(months)
    assert len(set(days)) > 1
    assert run("verify", "v-protected.csv").code == 0
    assert run("measure", "v.csv", "v-protected.csv").code == 0


def test_the_summary_says_what_combinations_reveal(run, folder):
    rows = visits("%d/%m/%Y")
    write_csv(folder / "v.csv", rows)
    said = words(run("protect", "v.csv", *ASKED))
    behind = {}
    for row in released("v-protected.csv"):
        key = tuple(row[name] for name in ("came", "left", "stay", "age"))
        behind.setdefault(key, set()).add(row["ill"])
    shared = sum(len(values) == 1 for values in behind.values())
    assert shared
    assert f"{shared} of {len(behind)} released combinations share one value of 'ill'" in said
    assert "--l-diversity ill=2 prevents that" in said
    said = words(run("protect", "v.csv", *ASKED, "--l-diversity", "ill=2", "--force"))
    assert "share one value" not in said


def test_a_constraint_that_most_records_violate_is_told_first(run, folder):
    write_csv(folder / "v.csv", visits("%d/%m/%Y"))
    done = run("protect", "v.csv", *ASKED, "--constraint", "left + stay = came")
    assert done.code == 0
    assert "microagg: warning: constraint 'left + stay = came' is violated by" in done.err
