"""microagg measure, as a user runs it."""

import io
import json
import sys

import polars as pl
import pytest

from tests.cli.conftest import people, write_csv

ROLES = ("--identifier", "name", "--sensitive", "code")
OK = ("measure", "people.csv", "people-protected.csv")


@pytest.fixture
def protected(run, folder):
    assert run("protect", "people.csv", "-k", "3", *ROLES, "--method", "mdav", "-q").code == 0
    return folder


@pytest.mark.usefixtures("protected")
def test_risk_and_utility_are_told_in_words(run):
    outcome = run(*OK)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("Measured 60 records\n")
    for words in (
        "intruder knows  age, height, income",
        "wants to know   code",
        "left out        name",
        "\nRisk\n  smallest group",
        "  linked by distance",
        "\nUtility\n  loss of released values",
    ):
        assert words in outcome.out
    assert run(*OK, "-q").out == ""


@pytest.mark.usefixtures("protected")
def test_json_is_one_object_with_unrounded_figures(run):
    outcome = run(*OK, "--json", "--target", "income")
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    protected = json.loads(
        run("protect", "people.csv", "-k", "3", *ROLES, "--method", "mdav", "--json", "--force").out
    )
    assert facts["n_records"] == 60
    assert facts["min_group"] == protected["smallest_class"]
    assert facts["information_loss"] == pytest.approx(protected["information_loss"], rel=1e-9)
    assert facts["utility"]["model"]["target"] == "income"
    assert facts["risk"]["drisk"]["share"].keys() == {"0.05", "0.1"}


def test_records_are_matched_by_a_key(run, refused, protected):
    table = pl.read_csv(protected / "people-protected.csv", schema_overrides={"code": pl.String})
    names = pl.read_csv(protected / "people.csv")["name"]
    shuffled = table.with_columns(names)[::-1]
    shuffled.write_csv(protected / "other.csv")
    told = json.loads(run("measure", "people.csv", "other.csv", "--key", "name", "--json").out)
    same = json.loads(run(*OK, "--json").out)
    assert told["risk"]["linkage"]["linked"] == pytest.approx(same["risk"]["linkage"]["linked"])
    shuffled[:50].write_csv(protected / "fewer.csv")
    assert "--key" in refused(3, "measure", "people.csv", "fewer.csv")
    fewer = run("measure", "people.csv", "fewer.csv", "--key", "name").out
    assert "not released    10 records of the original" in fewer


def test_what_does_not_fit_is_one_line(refused, protected):
    assert "does not exist" in refused(2, "measure", "people.csv", "none.csv")
    assert "two files" in refused(2, "measure", "people.csv", "people.csv")
    assert "no column 'agee'" in refused(2, *OK, "--quasi-identifier", "agee")
    assert "target 'x'" in refused(2, *OK, "--target", "x")
    assert "--seed" in refused(2, *OK, "--seed", "x")
    pl.DataFrame({"age": ["[20, 30)"] * 60}).write_csv(protected / "text.csv")
    message = refused(3, "measure", "people.csv", "text.csv")
    assert "'age' holds numbers in the original and text in the protected" in message


def test_one_table_may_come_from_standard_input(run, protected, monkeypatch):
    data = (protected / "people-protected.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert "Measured 60 records" in run("measure", "people.csv", "-").out


def test_columns_can_be_typed(run, folder):
    rows = people()
    write_csv(
        folder / "a.csv", [{"size": "SML"[i % 3], "age": r["age"]} for i, r in enumerate(rows)]
    )
    write_csv(folder / "b.csv", [{"size": "M", "age": "50"} for _ in rows])
    facts = json.loads(run("measure", "a.csv", "b.csv", "--order", "size=S,M,L", "--json").out)
    assert facts["utility"]["distributions"]["columns"]["size"]["wasserstein"] is not None


def test_notes_are_wrapped(run, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "other.csv").write_text("".join([lines[0], *lines[:0:-1]]), encoding="utf-8")
    outcome = run("measure", "people.csv", "other.csv", "--identifier", "name")
    noted = outcome.out.partition("\nNote:  ")[2].partition("\n\n")[0]
    assert "(--key, or key= in Python)" in " ".join(noted.split())
    assert all(len(line) <= 60 for line in outcome.out.splitlines())
