"""From a table to a release in stages: each makes one frozen value, once."""

import dataclasses
import json
import subprocess
import sys
from collections import Counter

import polars as pl
import pytest

import microagg
from microagg import Plan, protect, protect_file
from microagg.cli.main import main
from microagg.core.errors import DataError
from microagg.plans import checks, texts
from microagg.release import protect as stages
from microagg.release import records as second_stage
from microagg.release.constrained import systems_of
from microagg.release.grouping import bound_of, group
from microagg.release.records import open_records
from microagg.release.released import aggregate
from microagg.release.source import Source, read_source
from microagg.release.verification import finish

TABLE = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(30)],
        "age": [20 + (7 * i) % 31 for i in range(30)],
        "net": [100 + (13 * i) % 17 for i in range(30)],
        "tax": [10 + i % 5 for i in range(30)],
        "region": ["n", "s", "w"] * 10,
    }
)
CONSTRAINTS = ["net >= tax", "age >= 25"]
PLAN = Plan.of(
    k=3,
    method="mdav",
    constraints=CONSTRAINTS,
    columns={"name": {"role": "identifier"}, "region": {"role": "stratum"}},
)


@pytest.fixture
def counted(monkeypatch):
    """Count the calls of a function where it is looked up."""
    calls = Counter()

    def count(module, name):
        original = getattr(module, name)

        def counting(*args, **kwargs):
            calls[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, counting)
        return calls

    return count


class TestOnce:
    def test_constraints_are_parsed(self, counted):
        calls = counted(checks, "parse")
        plan = Plan.of(k=3, method="mdav", constraints=CONSTRAINTS)
        assert calls["parse"] == 2
        plan.replace(k=4)
        protect(TABLE.select("age", "net", "tax"), plan=plan)
        assert calls["parse"] == 2, "a plan is trusted"
        protect(TABLE.select("age", "net", "tax"), 3, method="mdav", constraints=CONSTRAINTS)
        assert calls["parse"] == 4

    def test_texts_of_the_command_line_are_parsed(self, counted, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        TABLE.write_csv("people.csv")
        calls = counted(texts, "whole_or_text")
        counted(texts, "names_in")
        counted(checks, "parse")
        argv = ["protect", "people.csv", "-k", "3", "--method", "mdav", "-q"]
        argv += ["--identifier", "name", "--strata", "region", "--constraint", "net >= tax"]
        with pytest.raises(SystemExit) as leaving:
            main(argv)
        assert leaving.value.code == 0
        assert calls == {"whole_or_text": 1, "names_in": 2, "parse": 1}

    def test_columns_are_opened_and_scaled(self, counted):
        calls = counted(second_stage, "open_column")
        protect(TABLE, plan=PLAN)
        assert calls["open_column"] == 3

    def test_stages_are_run(self, counted):
        for name in ("open_records", "group", "aggregate", "bound_of", "finish", "describe"):
            calls = counted(stages, name)
        protect(TABLE, plan=PLAN)
        assert set(calls.values()) == {1}
        assert len(calls) == 6

    @pytest.mark.slow
    @pytest.mark.parametrize("audit", [False, True])
    def test_the_input_is_read(self, tmp_path, audit):
        """The process itself says which files it opens."""
        TABLE.write_csv(tmp_path / "people.csv")
        script = f"""
import json, sys
opened = []
def listen(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        opened.append(str(arguments[0]))
sys.addaudithook(listen)
import warnings
warnings.simplefilter("ignore")
from microagg import Plan, protect_file
columns = {{"name": {{"role": "identifier"}}, "region": {{"role": "stratum"}}}}
plan = Plan.of(k=3, method="mdav", bound="none", columns=columns)
protect_file("people.csv", "out.csv", plan, audit={"audit.csv" if audit else None!r})
print(json.dumps([path for path in opened if path.endswith("people.csv")]))
"""
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=True
        )
        assert len(json.loads(done.stdout)) == 1


@pytest.fixture(scope="module")
def run():
    """Take a table through the stages by hand; returns what each made."""
    source = Source.of(TABLE)
    records = open_records(source, PLAN)
    systems = systems_of(PLAN.constraints, records)
    groups = group(records, PLAN, systems)
    released = aggregate(records, groups, systems)
    bound = bound_of("fast", PLAN, records, groups)
    verified = finish(PLAN, records, groups, released)
    return {
        "source": source,
        "records": records,
        "block": records.blocks[0],
        "groups": groups,
        "part": groups.parts[0],
        "released": released,
        "bound": bound,
        "verified": verified,
        "classes": verified.classes,
    }


STAGES = ["source", "records", "block", "groups", "part", "released", "verified", "classes"]


class TestFrozen:
    @pytest.mark.parametrize("stage", STAGES)
    def test_no_field_can_be_set(self, run, stage):
        value = run[stage]
        for field in dataclasses.fields(value):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(value, field.name, None)

    def test_neither_the_plan_nor_the_release(self):
        release = protect(TABLE, plan=PLAN)
        with pytest.raises(AttributeError, match="cannot be changed"):
            PLAN.k = 1
        with pytest.raises(AttributeError, match="cannot be changed"):
            PLAN.columns["name"].role = "sensitive"
        with pytest.raises(dataclasses.FrozenInstanceError):
            release.table = None
        with pytest.raises(ValueError, match="read-only"):
            release.labels[0] = 1

    def test_what_comes_in_stays_as_it_was(self):
        before = TABLE.clone()
        asked = PLAN.as_dict()
        protect(TABLE, plan=PLAN)
        assert TABLE.equals(before)
        assert PLAN.as_dict() == asked


class TestOneLine:
    def test_the_stages_by_hand_make_the_release(self, run):
        release = protect(TABLE, plan=PLAN)
        assert run["verified"].table.equals(release.table)
        assert run["groups"].labels_as_array().tolist() == release.labels.tolist()
        assert run["groups"].errors.information_loss == release.grouping_loss
        assert run["classes"].smallest == release.manifest.smallest_class
        assert run["released"].constrained.violations == (
            release.manifest.constraints.records_in_violation
        )

    def test_a_file_and_a_table_are_the_same_to_all_later_stages(self, tmp_path):
        TABLE.write_csv(tmp_path / "people.csv")
        source = read_source(str(tmp_path / "people.csv"), PLAN)
        assert source.not_read == ()  # the names must not repeat
        told = read_source(str(tmp_path / "people.csv"), PLAN.replace(unit="rows"))
        assert told.not_read == ("name",)
        assert told.frame.columns == TABLE.columns[1:]
        records = open_records(source, PLAN)
        assert (records.X == open_records(Source.of(TABLE), PLAN).X).all()
        protect_file(tmp_path / "people.csv", tmp_path / "out.csv", PLAN)
        assert pl.read_csv(tmp_path / "out.csv").equals(protect(TABLE, plan=PLAN).table)

    def test_a_plan_is_all_that_a_release_needs(self):
        release = protect(
            TABLE,
            3,
            method="mdav",
            identifiers="name",
            strata="region",
            constraints=CONSTRAINTS,
        )
        again = protect(TABLE, plan=release.manifest.plan)
        assert release.manifest.plan == PLAN
        assert again.table.equals(release.table)

    def test_an_option_beside_a_plan_is_refused(self):
        with pytest.raises(
            microagg.errors.ParameterError,
            match=r"strata is given in addition to a plan.*plan.replace\(columns=",
        ):
            protect(TABLE, plan=PLAN, strata="region")
        with pytest.raises(microagg.errors.ParameterError, match="k is given in addition"):
            protect(TABLE, 3, plan=PLAN)
        with pytest.raises(microagg.errors.ParameterError, match="does not exist"):
            protect(TABLE, plan="plan.toml")
        with pytest.raises(microagg.errors.ParameterError, match="name of a plan file; got int"):
            protect(TABLE, plan=5)
        with pytest.raises(microagg.errors.ParameterError, match=r"k, .* is missing"):
            protect(TABLE)


def test_the_manifest_does_not_list_categories():
    kind = pl.Enum(["Smith", "Jones", "nobody"])
    table = pl.DataFrame({"a": pl.Series(["Smith", "Jones"] * 3, dtype=kind)})
    manifest = protect(table, 2, quasi_identifiers="a", method="mdav").manifest
    assert manifest.columns["a"].stored == "Enum"
    assert "Jones" not in str(manifest)
    with pytest.raises(DataError, match=r"got Enum\.$"):
        protect(table.with_columns(b=pl.lit(1.0)), 2, weights="a")
