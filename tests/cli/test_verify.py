"""microagg verify: an honest answer about any file."""

import json

import polars as pl
import pytest

PAIRS = "a,b,c\n1,x,1\n1,x,2\n1,x,3\n2,y,4\n2,y,5\n"


@pytest.fixture
def pairs(folder):
    (folder / "t.csv").write_text(PAIRS)
    return "t.csv"


def test_yes(run, pairs):
    outcome = run("verify", pairs, "-k", "2", "--sensitive", "c")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("Yes: every combination stands for at least 2 records")
    assert "a, b" in outcome.out
    assert "stands for 2 records: the table satisfies k up to 2" in outcome.out
    assert "class" not in outcome.out


def test_no(run, pairs):
    outcome = run("verify", pairs, "-k", "3", "--sensitive", "c")
    assert (outcome.code, outcome.err) == (4, "")
    assert outcome.out.startswith("No: 2 of 5 records show a combination that fewer than 3 share")
    assert "class" not in outcome.out


def test_k_of_one_is_no_praise(run, pairs):
    outcome = run("verify", pairs, "-k", "1")
    assert outcome.code == 0
    assert outcome.out.startswith("Yes: k = 1 asks for no protection, so any table satisfies it")


def test_json(run, pairs):
    outcome = run("verify", pairs, "-k", "3", "--sensitive", "c", "--json")
    assert outcome.code == 4
    found = json.loads(outcome.out)
    assert [check["requirement"] for check in found.pop("checks")] == ["k records"]
    assert found == {
        "verdict": "No: 2 of 5 records show a combination that fewer than 3 share",
        "k": 3,
        "satisfied": False,
        "smallest_class": 2,
        "n_classes": 2,
        "n_records": 5,
        "classes_below_k": {"2": 1},
        "records_below_k": 2,
        "quasi_identifiers": ["a", "b"],
        "blocks": [],
        "records_in_violation": {},
        "manifest": None,
    }


def test_quiet_answers_by_exit_code(run, pairs):
    for k, code in (("2", 0), ("3", 4)):
        outcome = run("verify", pairs, "-k", k, "--sensitive", "c", "--quiet")
        assert (outcome.code, outcome.out, outcome.err) == (code, "", "")


def test_every_column_counts_unless_named(run, pairs):
    assert run("verify", pairs, "-k", "2").code == 4
    assert run("verify", pairs, "-k", "2", "--quasi-identifier", "a").code == 0


def test_k_beyond_the_file_is_no(run, pairs):
    assert run("verify", pairs, "-k", "6", "--quasi-identifier", "a").code == 4


def test_missing_is_a_value(run, folder):
    (folder / "t.csv").write_text("a,b\n1,\n1,\n2,3\n2,3\n")
    assert run("verify", "t.csv", "-k", "2").code == 0
    (folder / "t.csv").write_text("a,b\n1,\n1,3\n")
    assert run("verify", "t.csv", "-k", "2").code == 4


def test_csv_is_compared_as_written(run, folder):
    (folder / "t.csv").write_text("a\n1\n1.0\n")
    assert run("verify", "t.csv", "-k", "2").code == 4


def test_parquet_is_compared_by_value(run, folder):
    table = pl.DataFrame({"x": [0.0, -0.0, None, None], "*": ["a", "a", "b", "b"]})
    table.write_parquet(folder / "t.parquet")
    assert run("verify", "t.parquet", "-k", "2").code == 0


def test_nothing_to_check(refused, folder):
    (folder / "t.csv").write_text("a\n1\n")
    assert "no column to check" in refused(2, "verify", "t.csv", "-k", "1", "--sensitive", "a")


TOTALS = "net,tax,gross,who\n1,2,3,x\n1,2,3,y\n4,5,9,x\n4,5,9,y\n"


def test_constraints_that_hold_and_that_do_not(run, folder):
    (folder / "t.csv").write_text(TOTALS)
    asked = ("verify", "t.csv", "-k", "2", "--sensitive", "who", "--constraint")
    outcome = run(*asked, "net + tax = gross")
    assert (outcome.code, outcome.err) == (0, "")
    assert "satisfied     net + tax = gross" in outcome.out
    outcome = run(*asked, "net + tax = gross", "--constraint", "gross <= 5")
    assert outcome.code == 4
    assert outcome.out.startswith("No: a constraint is violated: gross <= 5 (2 records)\n")
    found = json.loads(run(*asked, "gross <= 5", "--json").out)
    assert found["records_in_violation"] == {"gross <= 5": 2}
    assert (found["satisfied"], found["smallest_class"]) == (False, 2)


def test_what_protect_wrote_keeps_its_constraints(run, folder):
    (folder / "t.csv").write_text(TOTALS.replace("3,x", "30,x"))
    asked = ("--sensitive", "who", "--constraint", "1.5*net + tax = gross")
    assert run("protect", "t.csv", "-k", "2", *asked).code == 0
    assert run("verify", "t.csv", "-k", "2", *asked).code == 4
    assert run("verify", "t-protected.csv", "-k", "2", *asked).code == 0


def test_constraints_that_cannot_be_checked(refused, folder):
    (folder / "t.csv").write_text(TOTALS)
    asked = ("verify", "t.csv", "-k", "2", "--constraint")
    assert "Did you mean 'net'?" in refused(2, *asked, "nett = 1")
    assert "'who' (text in 4 of 4 records)" in refused(3, *asked, "who = 1")
