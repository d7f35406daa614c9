"""Summaries where records are about units, and where more than k records is required."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def visits(folder):
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(30), 3)
    table = pl.DataFrame(
        {
            "visit": range(90),
            "name": [f"n{i}" for i in range(90)],
            "patient": [None if i == 7 else f"p{unit}" for i, unit in enumerate(who)],
            "age": rng.integers(1, 90, 90),
            "ill": rng.choice(["no", "flu"], 90),
        }
    )
    table.write_csv(folder / "visits.csv")
    return (
        *("visits.csv", "-k", "3", "--method", "mdav", "--unit", "patient", "--drop", "visit"),
        *("--identifier", "name", "--sensitive", "ill", "--l-diversity", "ill=2"),
    )


def told(text):
    lines = [line for line in text.splitlines()[1:] if line.strip()]
    return {line[2:20].strip(): line[20:].strip() for line in lines}


def test_protect_tells_of_units_and_requirements(run, visits, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")
    out = run("protect", *visits).out
    assert out.startswith(
        "Protected 90 records of 30 different units ('patient') at k = 3 with mdav"
    )
    facts = told(out)
    assert "stands for at least 3 different units ('patient'), and" in facts["verified"]
    assert facts["l-diversity"] == "at least 2 values of 'ill': 2 at worst"
    assert facts["dropped"] == "name"
    assert facts["unit"] == "patient, dropped; 1 record without one is not counted"
    assert facts["left out"] == "visit"
    assert "k units" not in facts  # the line on what was verified says it


def test_measure_tells_of_them_again(run, visits, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")
    assert run("protect", *visits).code == 0
    outcome = run("measure", "visits.csv", "visits-protected.csv")
    assert outcome.code == 0
    for words in ("patient: 30 different; 1 record without one", "linked units", "by unit"):
        assert words in outcome.out
    assert "at least 3 different units ('patient'): 3 at worst" in outcome.out
    assert "at least 2 values of 'ill': 2 at worst" in outcome.out
    facts = json.loads(run("measure", "visits.csv", "visits-protected.csv", "--json").out)
    assert facts["unit"] == facts["risk"]["units"]["column"] == "patient"
    assert [own["requirement"] for own in facts["requirements"]] == ["k units", "l-diversity"]
    alone = run("measure", "visits.csv", "visits-protected.csv", "--unit", "rows", "--json").out
    assert json.loads(alone)["risk"]["units"] is None


def test_a_unit_that_the_original_does_not_have(run, visits):
    assert run("protect", *visits).code == 0
    outcome = run("measure", "visits.csv", "visits-protected.csv", "--unit", "patients")
    assert outcome.code == 2
    assert "Did you mean 'patient'?" in outcome.err
