"""Careless files on the command line: what is taken for what, and why."""

import csv
import json
import re
import tomllib

import pytest

from tests.cli.conftest import write_csv

MDAV = ("--method", "mdav", "--missing", "impute", "--seed", "1")


@pytest.fixture(autouse=True)
def _survey(folder):
    rows = [
        {
            "no": str(5000 + i),
            "tenure": "125"[i * 7 % 3],
            "pay": "NA" if i % 20 == 3 else str(1000 + (i * 7919) % 3001),
            "born": "-" if i % 25 == 1 else f"19{50 + i % 40}-0{1 + i % 9}-15",
            "land": ("NA", "DE", "FR")[i % 3],
            "year": "2024",
            "ill": ("flu", "none", "cold")[i % 3],
        }
        for i in range(120)
    ]
    write_csv(folder / "s.csv", rows)


ROLES = ("--drop", "no", "--sensitive", "ill", "--publish", "year")
QUASI = ("--quasi-identifier", "land,born")


def words(done):
    assert done.code == 0, done.err
    return " ".join(done.out.split())


def released(name="s-protected.csv"):
    with open(name, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_summary_says_what_was_judged_and_why(run):
    said = words(run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI))
    assert "tenure is nominal (3 different whole numbers: codes)" in said
    assert "born is date (all its texts are dates)" in said
    assert "entries such as NA: pay (6), born (5)" in said
    assert "sensitive ill (unchanged)" in said
    assert re.search(r"unchanged year\b", said)
    assert {row["tenure"] for row in released()} <= {"1", "2", "5"}
    assert {row["year"] for row in released()} == {"2024"}


@pytest.mark.parametrize("study", [("compare", "--methods", "mdav"), ("sweep",)], ids=" ".join)
def test_studies_say_it_too(run, study):
    asked = ("-k", "4", *ROLES, *QUASI, "--missing", "impute")
    said = words(run(study[0], "s.csv", *study[1:], *asked))
    assert "judged tenure is nominal (3 different whole numbers: codes); born is date" in said


def test_nothing_is_said_where_all_is_stated(run):
    types = ("--type", "tenure=nominal", "--type", "born=date", "--drop", "pay,land,no,ill,year")
    said = words(run("protect", "s.csv", "-k", "4", *MDAV, *types))
    assert "judged" not in said


def test_countries_stay_unless_they_are_named(run):
    run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI)
    assert "NA" in {row["land"] for row in released()}
    said = words(run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI, "--na", "NA", "--force"))
    assert "land (40)" in said
    assert {row["land"] for row in released()} <= {"DE", "FR"}


def test_sensitive_columns_keep_what_is_named(run):
    run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI, "--na", "none")
    assert "none" in {row["ill"] for row in released()}


def test_a_draft_and_a_release_agree(run, folder):
    run("plan", "s.csv", "-k", "4", "-o", "s.toml")
    drafted = tomllib.loads((folder / "s.toml").read_text("utf-8"))["columns"]
    assert drafted["no"] == {"role": "identifier"}
    done = run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI, "--json")
    judged = json.loads(done.out)["columns"]
    assert {name: drafted[name]["type"] for name in judged} == {
        name: column["type"] for name, column in judged.items()
    }


def test_a_draft_takes_markers(run):
    text = run("plan", "s.csv", "--na", "NA,DE").out
    assert re.search(r'^na += \["NA", "DE"\]', text, re.M)
    assert re.search(r"^land .*only one value, 80 missing", text, re.M)


def test_commands_repeat_it(run):
    done = run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI, "--na", "NA,-9", "--json")
    command = json.loads(done.out)["command"]
    assert "--na NA,-9" in command
    assert "--publish year" in command


class TestPublish:
    def test_it_is_not_measured_as_sensitive(self, run):
        run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI)
        done = run("measure", "s.csv", "s-protected.csv", "--json")
        facts = json.loads(done.out)
        assert facts["sensitive"] == ["ill"]
        assert "year" not in facts["quasi_identifiers"]
        assert [*facts["risk"]["attributes"]["columns"]] == ["ill"]

    def test_it_is_no_part_of_a_combination(self, run):
        run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI)
        assert run("verify", "s-protected.csv").code == 0

    def test_different_in_every_record_it_is_warned_of(self, run):
        roles = ("--publish", "no", "--drop", "ill,year")
        done = run("protect", "s.csv", "-k", "4", *MDAV, *roles, *QUASI)
        assert "'no' is published unchanged" in done.err

    def test_l_diversity_is_for_sensitive_columns(self, run):
        asked = ("--publish", "year", "--l-diversity", "year=2", "--drop", "ill,no")
        done = run("protect", "s.csv", "-k", "4", *MDAV, *asked, *QUASI)
        assert done.code == 2
        assert "'year' has the role publish" in done.err

    def test_the_report_tells_them_apart(self, run, folder):
        run("protect", "s.csv", "-k", "4", *MDAV, *ROLES, *QUASI, "--report", "r.html")
        page = (folder / "r.html").read_text("utf-8")
        assert "published, not sensitive" in page
