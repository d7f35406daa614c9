"""microagg compare: the table, the JSON, the CSV, and what a failure looks like."""

import csv
import io
import json
import os
import re
import sys

import polars as pl
import pytest

from microagg.core import registry
from microagg.studies.comparison import Comparison, Row
from microagg.studies.setting import StudySetting
from microagg.tables.frames import open_frame
from microagg.tables.roles import Roles
from tests.fakes import Endless, fakes, interrupt_once_started  # noqa: F401

ROLES = ("--identifier", "name", "--sensitive", "code")
MDAV = ("--method", "mdav")
OK = ("compare", "people.csv", "-k", "3,5", *ROLES)
TWO = (*OK, "--methods", "mdav,tsp-mhm")
SEVERAL = [
    name for name, m in registry.METHODS.items() if not (m.single_column or m.draws or m.needs)
]
NAMES = [
    *("method", "k", "information_loss", "grouping_loss", "sse", "added_by_constraints"),
    *("linkage", "linkage_error", "efficient", "guarantees_k", "n_groups"),
    *("min_group", "max_group", "seconds", "seed", "error"),
]


def blocks(text):
    """Lines of the table by k: marks, method, cells but for that of the grouping loss."""
    found = {}
    for block in text.split("\n\n"):
        heading, _, *lines = *block.strip("\n").splitlines(), ""
        head = r"k = (\S+) +loss % +(grouping % +)?linked % +groups +sizes +seconds$"
        if k := re.match(head, heading):
            rows = [re.split(r"  +", line) for line in lines[:-1]]
            rows = [own[:2] + own[3:] if k[2] and len(own) > 2 else own for own in rows]
            marks = [cells.pop() if set(cells[-1]) <= set("*+!") else "" for cells in rows]
            found[k[1]] = [(mark, *cells) for mark, cells in zip(marks, rows, strict=True)]
    return found


@pytest.mark.slow
def test_every_method_has_a_line_in_the_block_of_every_k(run):
    outcome = run(*OK)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Compared {len(SEVERAL)} methods on 60 records\n")
    found = blocks(outcome.out)
    assert list(found) == ["3", "5"]
    for k, lines in found.items():
        assert [name for _, name, *_ in lines] == SEVERAL
        losses = [float(loss) for _, _, loss, *_ in lines]
        marked = [loss for loss, line in zip(losses, lines) if "*" in line[0]]
        assert marked
        assert set(marked) == {min(losses)}
        for _, _, _, linked, groups, sizes, seconds in lines:
            assert 0 <= float(linked) <= 100
            least, _, most = sizes.partition(" to ")
            assert int(k) * int(groups) <= 60 <= int(groups) * int(most or least)
            assert re.fullmatch(r"[0-9]+\.[0-9]{3}|<0\.001", seconds)
    assert re.search("grouped by +age, height, income\n", outcome.out)
    assert "all of these (numeric columns without a role)" in outcome.out
    one_line = " ".join(outcome.out.split())
    left_out = re.search(r"left out univariate \(for one column only\); (.*)", one_line)
    needing, _, drawing = left_out[1].partition("; ")
    assert needing == "tclose-first, tclose-merge (for tables with --t-closeness)"
    assert drawing.startswith("fcm, efcm (unless named")
    assert re.search(r"seed +[0-9]+\n", outcome.out)
    assert "seed" not in run(*OK, "--methods", "mdav,cbfs").out


@pytest.mark.parametrize("columns", ["60", "80"])
@pytest.mark.slow
def test_lines_stay_within_the_width(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    lines = run(*OK[:3], "3,5,20", *ROLES).out.splitlines()
    assert max(len(line) for line in lines) <= int(columns)
    heads = [line for line in lines if line.startswith("k = ")]
    assert len({len(line) for line in heads}) == 1


@pytest.mark.parametrize("written", ["3,5", "3 5", "3, 5,"])
def test_several_ks_can_be_written_in_several_ways(run, written):
    outcome = run("compare", "people.csv", "-k", written, *ROLES, "--methods", "mdav")
    assert list(blocks(outcome.out)) == ["3", "5"]


def test_json_is_one_object(run):
    outcome = run(*TWO, "--json")
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    asked = [(m, k) for m in ("mdav", "tsp-mhm") for k in (3, 5)]
    assert [(row["method"], row["k"]) for row in facts["comparison"]] == asked
    assert all(list(row) == NAMES and row["error"] is None for row in facts["comparison"])
    assert facts["n_records"] == 60
    assert facts["quasi_identifiers"] == ["age", "height", "income"]
    assert (facts["scale"], facts["seed"], facts["output"]) == ("standardise", None, None)
    protected = json.loads(run("protect", "people.csv", "-k", "3", *ROLES, *MDAV, "--json").out)
    for name in ("information_loss", "sse", "n_groups", "min_group", "max_group"):
        assert facts["comparison"][0][name] == protected[name]


def test_csv_on_standard_output_and_in_a_file(run, folder):
    outcome = run(*TWO, "-o", "-")
    assert outcome.err == ""
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert list(rows[0]) == NAMES
    assert [row["method"] for row in rows] == ["mdav", "mdav", "tsp-mhm", "tsp-mhm"]
    again = run(*TWO, "-o", "found.csv")
    assert blocks(again.out)
    assert "written to  found.csv" in again.out
    saved = pl.read_csv(folder / "found.csv")
    assert saved["sse"].to_list() == [float(row["sse"]) for row in rows]
    assert json.loads(run(*TWO, "--json", "-o", "found.parquet").out)["output"] == "found.parquet"
    assert pl.read_parquet(folder / "found.parquet").columns == NAMES


def test_existing_output_needs_force_and_the_input_is_never_one(run, refused, folder):
    (folder / "found.csv").write_text("precious")
    assert "--force" in refused(2, *TWO, "-o", "found.csv")
    assert "never overwritten" in refused(2, *TWO, "-o", "people.csv", "--force")
    assert run(*TWO, "-o", "found.csv", "--force", "--quiet").out == ""
    assert (folder / "found.csv").read_text().startswith("method,k,")


def test_standard_input(run, folder, monkeypatch):
    data = (folder / "people.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert "on 60 records" in run("compare", "-", "-k", "4", *ROLES, "--methods", "mdav").out


def test_one_named_failure_is_said_and_the_rest_stands(run):
    outcome = run(*OK, "--methods", "univariate,mdav")
    assert outcome.code == 0
    assert outcome.err == ""
    assert "\n\nunivariate failed at k = 3, 5: method 'univariate' takes exactly one" in outcome.out
    for other in ("--quiet", "--json"):
        said = run(*OK, "--methods", "univariate,mdav", other).err
        assert said.startswith("microagg: univariate failed at k = 3, 5: method 'univariate'")
        assert said.count("\n") == 1
    for lines in blocks(outcome.out).values():
        assert lines[0][1:] == ("univariate", "failed")
        assert lines[1][:2] == ("*+", "mdav")
    facts = json.loads(run(*OK, "--methods", "univariate,mdav", "--json").out)["comparison"]
    assert facts[0]["information_loss"] is None
    assert "exactly one" in facts[0]["error"]
    rows = csv.DictReader(io.StringIO(run(*OK, "--methods", "univariate,mdav", "-o", "-").out))
    assert next(rows)["sse"] == ""


def test_a_stratum_too_small_for_one_k_stops_no_other(run, refused, folder):
    people = pl.read_csv(folder / "people.csv")
    regions = pl.Series("region", ["n"] * 4 + ["s"] * 26 + ["w"] * 30)
    people.with_columns(regions).write_csv(folder / "regions.csv")
    start, methods = ("compare", "regions.csv"), ("--methods", "mdav,cbfs")
    argv = (*start, "-k", "3,5", *ROLES, "--strata", "region", *methods)
    outcome = run(*argv)
    assert outcome.code == 0
    found = blocks(outcome.out)
    assert [line[-1] for line in found["5"]] == ["failed", "failed"]
    assert all("failed" not in line for line in found["3"])
    assert "every method failed at k = 5: every stratum must hold at least k=5" in outcome.out
    argv = (*start, "-k", "5", *ROLES, "--strata", "region", *methods)
    assert refused(3, *argv).count("\n") <= 1


def test_strata_weights_blocks_and_constraints_are_listed(run, folder):
    people = pl.read_csv(folder / "people.csv")
    regions = pl.Series("region", ["s"] * 30 + ["w"] * 30)
    people.with_columns(regions, w=people["age"] + 1).write_csv(folder / "regions.csv")
    (folder / "plan.toml").write_text('k = 3\nmethod = "cbfs"\nbound = "fast"\nkeep_key = true\n')
    argv = ("compare", "regions.csv", "-k", "3", "--methods", "mdav", *ROLES, "--strata", "region")
    argv = (*argv, "--weights", "w", "--constraint", "age >= 0", "--block", "height")
    argv = (*argv, "--plan", "plan.toml")
    text = run(*argv).out
    assert re.search(r"strata +by region\n", text)
    assert re.search(r"weights +w, in the losses\n", text)
    assert re.search(r"blocks +height; age, income\n", text)
    assert re.search(r"constraints +age >= 0\n", text)
    assert text.count("not used") == 1
    assert "not used: method, bound, keep_key (without effect here)\n" in text
    assert "blocks: k holds within each block of columns only" in text
    facts = json.loads(run(*argv, "--json").out)
    assert (facts["strata"], facts["weights"]) == (["region"], "w")
    assert facts["blocks"] == [["height"], ["age", "income"]]
    assert facts["constraints"] == ["age >= 0"]
    assert facts["not_used"] == ["method", "bound", "keep_key"]


@pytest.mark.usefixtures("fakes")
class TestFakes:
    def test_if_all_fail_the_first_failure_decides(self, refused, run):
        assert "univariate failed at k = 3, 5:" in refused(2, *OK, "--methods", "univariate")
        assert "lonely failed" in refused(4, *OK, "--methods", "lonely", "--json", "-o", "x.csv")
        assert "unexpected ValueError" in refused(1, *OK, "--methods", "faulty", "-o", "-")
        assert run(*OK, "--methods", "faulty,univariate").code == 1

    def test_a_seed_is_shown_where_there_is_chance_and_repeats_the_figures(self, run):
        chance = (*OK, "--methods", "mdav,shuffled")
        out = run(*chance).out
        seed = re.search(r"^  seed +([0-9]+)$", out, re.MULTILINE)[1]
        again = run(*chance, "--seed", seed)
        assert [line[:5] for line in blocks(again.out)["3"]] == [
            line[:5] for line in blocks(out)["3"]
        ]
        assert json.loads(run(*chance, "--seed", seed, "--json").out)["seed"] == int(seed)

    def test_methods_with_chance_are_told_apart(self, run):
        text = run("methods").out
        assert len(re.findall("randomness +used", text)) == sum(
            not method.deterministic for method in registry.METHODS.values()
        )
        assert len(re.findall("randomness +depends on its options", text)) == sum(
            method.deterministic and "random_state" in method.options
            for method in registry.METHODS.values()
        )
        listed = {m["name"]: m for m in json.loads(run("methods", "--json").out)["methods"]}
        assert listed["mdav"]["deterministic"] is True
        assert listed["shuffled"]["deterministic"] is False

    def test_protect_shows_the_seed_of_a_method_with_chance(self, run):
        protect = ("protect", "people.csv", "-k", "4", *ROLES, "-o", "-")
        assert not re.search(r"^  seed ", run(*protect, *MDAV, "--seed", "3").err, re.MULTILINE)
        drawn = run(*protect, "--method", "shuffled")
        seed = re.search(r"^  seed +([0-9]+)$", drawn.err, re.MULTILINE)[1]
        assert run(*protect, "--method", "shuffled", "--seed", seed).out == drawn.out
        assert run(*protect, "--method", "shuffled", "--seed", "12").out != drawn.out
        option = ("--option", f"random_state={seed}")
        assert run(*protect, "--method", "shuffled", *option).out == drawn.out

    def test_two_seeds_are_refused(self, refused):
        argv = ("protect", "people.csv", "-k", "4", *ROLES, "--method", "shuffled")
        message = refused(2, *argv, "--seed", "1", "--option", "random_state=2")
        assert "given twice" in message


def figures(loss, k=3, method="a"):
    if loss is None:
        return Row(method=method, k=k, error="no.")
    sizes = {"n_groups": 2000, "min_group": k, "max_group": k, "seconds": 1.0}
    risk = {"linkage": 10.0, "efficient": loss == 1.0, "guarantees_k": True}
    return Row(method=method, k=k, information_loss=loss, **risk, **sizes)


def table(rows):
    like = open_frame(pl.DataFrame({"x": [1]}))
    facts = {
        "setting": StudySetting(roles=Roles()),
        "seed": None,
        "left_out": (),
        "drawn": (),
        "exit_code": 0,
    }
    return str(Comparison(rows=tuple(rows), like=like, **facts))


@pytest.mark.parametrize(
    ("losses", "shown"),
    [
        ([12.34567, 9.0], ["12.346", "9.000"]),
        ([12.3, 0.00123], ["12.3000", "0.0012"]),
        ([0.0, 1e-15], ["0.000000000", "0.000000000"]),
        ([0.0], ["0.000"]),
        ([100.0, 0.02], ["100.000", "0.020"]),
    ],
)
def test_small_losses_are_seen(losses, shown):
    text = table(figures(loss) for loss in losses)
    assert [line[2] for line in blocks(text)["3"]] == shown


def test_equal_losses_are_all_marked_and_failures_never():
    lines = blocks(table([figures(1.0), figures(1.0), figures(2.0), figures(None)]))["3"]
    assert [line[0] for line in lines] == ["*+", "*+", "", ""]
    assert lines[-1] == ("", "a", "failed")
    only = blocks(table([figures(None), figures(2.0, k=5)]))
    assert only["3"] == [("", "a", "failed")]
    assert only["5"][0][0] == "*"


@pytest.mark.usefixtures("fakes")
def test_an_interrupt_is_one_line(run, folder):
    interrupt_once_started()
    outcome = run(*OK, "--methods", "endless,mdav", "-o", "found.csv")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "microagg: interrupted.\n")
    assert Endless.ended.wait(60)
    assert os.listdir(folder) == ["people.csv"]


def test_what_was_drawn_is_never_the_best(run):
    out = run(
        "compare", "people.csv", "-k", "7", *ROLES, "--methods", "mdav,efcm", "--seed", "1"
    ).out
    assert [line[:2] for line in blocks(out)["7"]] == [("*+", "mdav"), ("!", "efcm")]
    assert "! k is not guaranteed: records drew their values" in out


def test_a_seed_and_choices_of_categories_without_effect_are_listed(run):
    more = ("--seed", "1", "--no-valid-combinations", "--keep-margins")
    assert json.loads(run(*TWO, *more, "--json").out)["not_used"] == [
        *("random_state", "valid_combinations", "keep_margins")
    ]
    text = run("protect", "people.csv", "-k", "4", *ROLES, *MDAV, *more).out
    assert re.search(r"not used +the seed: 'mdav' uses no randomness here\n", text)
    assert re.search(r"not used +--keep-margins: no protected column has categories\n", text)
    more = ("--seed", "1", "--method", "reporder", "--force")
    assert "not used" not in run("protect", "people.csv", "-k", "4", *ROLES, *more).out


def test_a_figure_of_risk_and_loss(run, refused, folder):
    outcome = run(*TWO, "--figure", "map.svg")
    assert outcome.code == 0
    assert "figure      map.svg" in outcome.out
    assert (folder / "map.svg").read_text().startswith("<svg")
    assert "--force" in refused(2, *TWO, "--figure", "map.svg")
    assert "ends with .svg" in refused(2, *TWO, "--figure", "map.png")
