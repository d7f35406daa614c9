"""microagg sweep: the table, the JSON, the CSV, and what bad requests get."""

import csv
import io
import json
import os
import re
import sys

import polars as pl
import pytest

from microagg.studies import chains

ROLES = ("--identifier", "name", "--sensitive", "code")
OK = ("sweep", "people.csv", "-k", "2-4,8", *ROLES, "--seed", "1")
NAMES = [
    *("k", "information_loss", "grouping_loss", "lower_bound", "gap", "sse", "n_groups"),
    *("min_group", "max_group", "seconds", "added_by_constraints"),
]


def lines(text):
    """Cells of the table's lines: k, losses, bound, gap, groups, sizes, seconds, perhaps a bar."""
    return [
        re.split(r"  +", line.strip())
        for line in text.splitlines()
        if re.match(r" *[0-9]+  ", line)
    ]


@pytest.mark.slow
def test_every_k_has_a_line(run):
    outcome = run(*OK)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("Tried 4 values of k on 60 records\n")
    found = lines(outcome.out)
    assert [cells[0] for cells in found] == ["2", "3", "4", "8"]
    for k, loss, grouping, bound, gap, groups, sizes, seconds, *_ in found:
        assert float(bound) <= float(grouping) <= float(loss)
        assert float(gap) >= 0.0
        least, _, most = sizes.partition(" to ")
        assert int(least) >= int(k)
        assert int(k) * int(groups) <= 60 <= int(groups) * int(most or least)
        assert re.fullmatch(r"[0-9]+\.[0-9]{3}|<0\.001", seconds)
    assert set(found[-1][-1]) == {"#"}
    assert re.search("grouped by +age, height, income\n", outcome.out)
    assert "all of these (numeric columns without a role)" in outcome.out
    assert re.search(r"seed +1\n", outcome.out)


@pytest.mark.slow
def test_strata_weights_blocks_and_constraints_are_listed(run, refused, folder):
    people = pl.read_csv(folder / "people.csv")
    regions = pl.Series("region", ["n"] * 4 + ["s"] * 26 + ["w"] * 30)
    people.with_columns(regions, w=people["age"] + 1).write_csv(folder / "regions.csv")
    argv = ("sweep", "regions.csv", "-k", "3,6", *ROLES, "--strata", "region")
    advice = refused(3, *argv)
    assert "--small-strata merge" in advice
    argv = (*argv, "--small-strata", "merge", "--weights", "w", "--constraint", "age >= 0")
    (folder / "plan.toml").write_text('k = 3\nmethod = "mdav"\n')
    argv = (*argv, "--block", "height", "--plan", "plan.toml", "--effort", "balanced")
    text = run(*argv).out
    assert re.search(r"strata +by region; small ones merged at each k\n", text)
    assert re.search(r"weights +w, in the losses\n", text)
    assert re.search(r"blocks +height; age, income\n", text)
    assert re.search(r"constraints +age >= 0\n", text)
    assert "not used: method (without effect here)\n" in text
    assert re.search(r"effort +balanced\n", text)
    assert "blocks: k holds within each block of columns only" in text
    facts = json.loads(run(*argv, "--json").out)
    assert (facts["strata"], facts["small_strata"], facts["weights"]) == (["region"], "merge", "w")
    assert facts["blocks"] == [["height"], ["age", "income"]]
    assert (facts["constraints"], facts["not_used"]) == (["age >= 0"], ["method"])
    assert (facts["effort"], facts["bound"]) == ("balanced", "none")


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["60", "80"])
def test_lines_stay_within_the_width(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    text = run(*OK).out
    assert max(len(line) for line in text.splitlines()) <= int(columns)
    assert ("#" in text) == (columns == "80")


def test_without_bounds(run):
    text = run(*OK, "--bound", "none").out
    assert "least" not in text
    assert [len(cells) for cells in lines(text)] == [7] * 4


@pytest.mark.slow
def test_json_is_one_object(run):
    outcome = run(*OK, "--json")
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    assert [row["k"] for row in facts["sweep"]] == [2, 3, 4, 8]
    assert all(list(row) == NAMES for row in facts["sweep"])
    assert facts["n_records"] == 60
    assert facts["quasi_identifiers"] == facts["assumed_quasi_identifiers"]
    assert (facts["scale"], facts["effort"], facts["bound"]) == ("standardise", "fast", "fast")
    assert (facts["seed"], facts["output"]) == (1, None)
    assert facts["seconds"] > 0.0
    again = json.loads(run(*OK, "--json").out)
    assert [row["sse"] for row in again["sweep"]] == [row["sse"] for row in facts["sweep"]]


@pytest.mark.slow
def test_csv_on_standard_output_and_in_a_file(run, folder):
    outcome = run(*OK, "-o", "-")
    assert outcome.err == ""
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert list(rows[0]) == NAMES
    again = run(*OK, "-o", "found.csv")
    assert lines(again.out)
    assert "written to  found.csv" in again.out
    saved = pl.read_csv(folder / "found.csv")
    assert saved["sse"].to_list() == [float(row["sse"]) for row in rows]
    run(*OK, "--bound", "none", "-o", "found.parquet")
    assert pl.read_parquet(folder / "found.parquet")["gap"].to_list() == [None] * 4


def test_existing_output_needs_force_and_the_input_is_never_one(run, refused, folder):
    (folder / "found.csv").write_text("precious")
    assert "--force" in refused(2, *OK, "-o", "found.csv")
    assert "never overwritten" in refused(2, *OK, "-o", "people.csv", "--force")
    assert "cannot both" in refused(2, *OK, "-o", "-", "--json")
    assert run(*OK, "-o", "found.csv", "--force", "--quiet").out == ""
    assert (folder / "found.csv").read_text().startswith("k,information_loss,")


def test_standard_input(run, folder, monkeypatch):
    data = (folder / "people.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert "on 60 records" in run("sweep", "-", "-k", "4", *ROLES).out


@pytest.mark.slow
def test_two_to_twenty_unless_told_otherwise(run):
    facts = json.loads(run("sweep", "people.csv", *ROLES, "--json", "--bound", "none").out)
    assert [row["k"] for row in facts["sweep"]] == list(range(2, 21))


@pytest.mark.parametrize(
    ("written", "ks"),
    [("3,5", [3, 5]), ("3 5", [3, 5]), ("4-6, 5,", [4, 5, 6]), ("4 - 5", [4, 5]), ("7-7", [7])],
)
def test_ks_can_be_written_in_several_ways(run, written, ks):
    facts = json.loads(run("sweep", "people.csv", "-k", written, *ROLES, "--json").out)
    assert [row["k"] for row in facts["sweep"]] == ks


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("20-2", "low to high; write 2-20"),
        ("2-", "two whole numbers, as in 2-20; got '2-'"),
        ("a-b", "got 'a-b'"),
        ("2-5-8", "got '2-5-8'"),
        ("-3", "at least 1; got -3"),
        ("0-3", "at least 1; got 0"),
        ("x", "-k takes whole numbers and ranges of them, as in 3,5,10 or 2-20; got 'x'"),
        ("3..5", "as in 3,5,10 or 2-20; got '3..5'"),
        (",", "at least one k"),
        ("2-61", "from 1 to 60"),
        ("2-99999999999999999999", "at most 1,000 values"),
        ("2-" + "9" * 5000, "two whole numbers"),
        (",".join(["2-900"] * 3), "at most 1,000 values"),
    ],
)
def test_bad_ks(refused, written, message):
    assert message in refused(2, "sweep", "people.csv", f"-k{written}", *ROLES)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--effort", "much"), "effort must be one of 'fast', 'balanced', 'best'"),
        (("--bound", "loose"), "bound must be one of 'fast', 'tight', 'none'"),
        (("--scale", "logs"), "scale must be one of"),
        (("--seed", "-1"), "--seed must be"),
    ],
)
def test_bad_options(refused, option, message):
    assert message in refused(2, "sweep", "people.csv", "-k", "3", *ROLES, *option)


def test_bad_tables(refused):
    assert "does not exist" in refused(2, "sweep", "nobody.csv", "-k", "3")
    assert "'name'" in refused(3, "sweep", "people.csv", "-k", "3")


def test_an_interrupt_is_one_line(run, folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(chains, "Improving", interrupted)
    outcome = run(*OK, "-o", "found.csv")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "microagg: interrupted.\n")
    assert os.listdir(folder) == ["people.csv"]
