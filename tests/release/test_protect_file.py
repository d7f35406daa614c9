"""protect_file(): what the command line does with files, from Python."""

import io
import json
import os
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import microagg
from microagg import Manifest, Plan, Release, measure, protect, protect_file, verify
from microagg.cli.main import main
from microagg.core.errors import DataError, MicroaggError, ParameterError, PrivacyWarning
from microagg.files.formats import open_table, write_table

N = 40
TABLE = pl.DataFrame(
    {
        "name": [f"person {i}" for i in range(N)],
        "age": [20 + (7 * i) % 50 for i in range(N)],
        "income": [1000.5 + (31 * i) % 97 for i in range(N)],
        "sex": ["f", "m"] * (N // 2),
        "illness": [f"{i // 4:03d}" for i in range(N)],
    }
)
PLAN = """\
k = 4
method = "mdav"

[columns]
name = { role = "identifier" }
sex = { role = "quasi-identifier" }
illness = { role = "sensitive" }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a table and a plan."""
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("people.csv")
    TABLE.write_parquet("people.parquet")
    Path("plan.toml").write_text(PLAN)
    return tmp_path


@pytest.fixture
def plan(folder):
    return Plan.read(folder / "plan.toml")


def command_line(*argv, code=0):
    with pytest.raises(SystemExit) as leaving:
        main(argv)
    assert leaving.value.code == code


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def manifest_in(folder, name="out.csv"):
    facts = json.loads((folder / f"{name}.manifest.json").read_text("utf-8"))
    del facts["seconds"], facts["created"]
    return facts


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("out.csv", ""),
        ("out.csv.gz", ""),
        ("out.parquet", ""),
        ("out.csv", 'scale = "rank"\nbound = "none"\n'),
        ("out.csv", 'constraints = ["age >= 25"]\n'),
        ("out.csv", "strict_k = true\nseed = 5\n"),
    ],
)
def test_the_same_bytes_as_the_command_line(folder, name, more):
    text = PLAN
    if "strict_k" in more:
        text = text.replace('"mdav"', '"fcm"').replace('sex = { role = "quasi-identifier" }', "")
        text += 'sex = { role = "sensitive" }\n'
    (folder / "plan.toml").write_text(f"{more}{text}")
    for where in ("one", "two"):
        (folder / where).mkdir()
    command_line("protect", "people.csv", "--plan", "plan.toml", "-o", f"one/{name}", "-q")
    release = protect_file("people.csv", f"two/{name}", "plan.toml")
    assert isinstance(release, Release)
    one, two = contents(folder / "one"), contents(folder / "two")
    assert one[name] == two[name]
    assert manifest_in(folder / "one", name) == manifest_in(folder / "two", name)
    assert sorted(two) == sorted([name, f"{name}.manifest.json"])


def test_what_is_returned_is_the_release_in_the_file(plan):
    release = protect_file("people.csv", "out.csv", plan)
    assert pl.read_csv("out.csv", schema_overrides={"illness": pl.String}).equals(release.table)
    written = Manifest.load("out.csv.manifest.json")
    assert written.output.file == "out.csv"
    assert written.input.file == "people.csv"
    assert written == release.manifest
    assert verify("out.csv").manifest == "out.csv.manifest.json"
    assert release.risk() is not None
    again = protect(TABLE, plan=plan)
    assert again.table.rows() == release.table.rows()


def test_the_target_lies_beside_the_source_by_default(folder, plan):
    protect_file(folder / "people.csv", None, plan)
    assert (folder / "people-protected.csv").exists()
    assert (folder / "people-protected.csv.manifest.json").exists()


def test_a_plan_or_the_path_of_one(folder, plan):
    outputs = []
    for at, given in enumerate((plan, folder / "plan.toml", "plan.toml")):
        protect_file("people.csv", f"{at}.csv", given)
        outputs.append((folder / f"{at}.csv").read_bytes())
    assert len(set(outputs)) == 1


def test_formats_can_change(folder, plan):
    protect_file("people.parquet", "out.csv", plan)
    protect_file("people.csv", "same.csv", plan)
    assert (folder / "out.csv").read_bytes() == (folder / "same.csv").read_bytes()


def test_how_a_csv_file_is_written(folder, plan):
    text = "name;age;income;sex;illness\n" + "".join(
        f"p{i};{20 + i};{i},5;f;x\n" for i in range(20)
    )
    (folder / "semi.csv").write_bytes(text.encode("latin-1"))
    release = protect_file(
        "semi.csv", "out.csv", plan, delimiter=";", decimal=",", encoding="latin-1"
    )
    assert release.table["income"].dtype == pl.Float64
    first = (folder / "out.csv").read_text("latin-1").splitlines()
    assert first[0] == "age;income;sex;illness"
    assert "," in first[1]
    assert "--delimiter ';' --decimal , --encoding latin-1" in release.manifest.command


class TestWhatElseIsWritten:
    @pytest.mark.slow
    def test_audit_and_reports(self, folder, plan):
        with pytest.warns(PrivacyWarning, match="keep this file internal"):
            release = protect_file(
                "people.csv",
                "out.csv",
                plan,
                audit="audit.csv",
                report=folder / "in.html",
                public_report="public.html",
            )
        audit = pl.read_csv("audit.csv")
        assert audit.columns == ["record", "name", "group"]
        assert audit["name"].to_list() == TABLE["name"].to_list()
        assert audit["group"].to_list() == (release.labels + 1).tolist()
        assert "people.csv" in Path("in.html").read_text("utf-8")
        assert "people.csv" not in Path("public.html").read_text("utf-8")
        assert "name" not in release.table.columns

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    def test_the_same_as_from_the_command_line(self, folder):
        for where in ("one", "two"):
            (folder / where).mkdir()
        beside = ("--audit", "one/audit.csv", "--public-report", "one/public.html")
        command_line(
            *("protect", "people.csv", "--plan", "plan.toml", "-o", "one/out.csv", "-q"), *beside
        )
        protect_file(
            "people.csv",
            "two/out.csv",
            "plan.toml",
            audit="two/audit.csv",
            public_report="two/public.html",
        )
        one, two = contents(folder / "one"), contents(folder / "two")
        assert one.keys() == two.keys()
        assert one["out.csv"] == two["out.csv"]
        assert one["audit.csv"] == two["audit.csv"]
        assert (folder / "two" / "audit.csv").stat().st_mode & 0o077 == 0

    def test_a_key_instead_of_an_identifier(self, plan):
        release = protect_file("people.csv", "out.csv", plan.replace(keep_key=True))
        assert sorted(release.table["name"]) == list(range(1, N + 1))
        assert verify("out.csv")


class TestStreams:
    def test_standard_output(self, folder, plan, capfdbinary):
        protect_file("people.csv", "out.csv", plan)
        before = contents(folder)
        release = protect_file("people.csv", "-", plan)
        sys.stdout.flush()
        assert capfdbinary.readouterr().out == (folder / "out.csv").read_bytes()
        assert contents(folder) == before, "and no manifest"
        assert release.manifest.output is None

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    def test_with_files_beside(self, folder, plan, capfdbinary):
        protect_file("people.csv", "-", plan, audit="audit.csv", public_report="p.html")
        assert capfdbinary.readouterr().out.startswith(b"age,income,sex,illness\n")
        assert {"audit.csv", "p.html"} < set(os.listdir(folder))

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    def test_with_files_beside_all_or_none(self, folder, plan, monkeypatch, capfdbinary):
        before = contents(folder)
        failing = {Path("r.html"): lambda _: (_ for _ in ()).throw(OSError())}
        monkeypatch.setattr(Release, "_report_writers", lambda *_, **__: failing)
        with pytest.raises(ParameterError, match=r"'r\.html' cannot be written"):
            protect_file("people.csv", "-", plan, audit="audit.csv", report="r.html")
        assert contents(folder) == before
        assert capfdbinary.readouterr().out == b""

    def test_standard_input(self, folder, plan, monkeypatch):
        data = (folder / "people.csv").read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        release = protect_file("-", "out.csv", plan)
        assert release.manifest.n_records == N
        assert release.manifest.input.file is None
        protect_file("people.csv", "same.csv", plan)
        assert (folder / "out.csv").read_bytes() == (folder / "same.csv").read_bytes()


class TestRefusals:
    """Whatever is refused, the folder stays as it was."""

    @pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
    @pytest.mark.parametrize("place", ["source", "target"])
    def test_a_table_is_not_shown(self, plan, kind, place):
        given = {"source": "people.csv", "target": "out.csv", place: kind({"x": [777.125] * 4})}
        with pytest.raises(MicroaggError) as refused:
            protect_file(**given, plan=plan)
        assert str(refused.value) == (
            "path must be the name of a file; got DataFrame. A table in memory is protected by "
            "microagg.protect."
        )

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            ({"source": "none.csv"}, "does not exist"),
            ({"source": "people.doc"}, "files must end in"),
            ({"source": None}, "must be the name of a file"),
            ({"source": b"people.csv"}, "must be the name of a file"),
            ({"source": "a\0.csv"}, "must be the name of a file"),
            ({"target": "people.csv"}, "never overwritten"),
            ({"target": "people.csv", "force": True}, "never overwritten"),
            ({"target": "there.csv"}, "already exists"),
            ({"target": "no/out.csv"}, "no"),
            ({"target": "out.doc"}, "outputs must end in"),
            ({"target": 5}, "must be the name of a file"),
            ({"target": ""}, "must be the name of a file; got ''"),
            ({"audit": ""}, "must be the name of a file; got ''"),
            ({"plan": "none.toml"}, "the plan 'none.toml' does not exist"),
            ({"plan": {"k": 4}}, "a plan is a microagg.Plan or the name of a plan file; got dict"),
            ({"plan": Plan.of(k=4, columns={"x": {"role": "sensitive"}})}, "no column 'x'"),
            ({"plan": Plan.of(k=4)}, "columns have no role"),
            ({"k": N + 1}, "from 1 to 40"),
            ({"constraints": ["sex >= 0"]}, "'sex' is of the type 'nominal'"),
            ({"audit": "out.csv"}, "lead to the same file"),
            ({"audit": "-"}, "must name a file"),
            ({"audit": "audit.doc"}, "outputs must end in"),
            ({"report": "report.pdf"}, "ends with .html"),
            ({"report": "there.html"}, "already exists"),
            ({"report": "r.html", "public_report": "r.html"}, "lead to the same file"),
            ({"delimiter": ";;"}, "delimiter"),
            ({"source": "people.parquet", "delimiter": ";"}, "do not take a delimiter"),
            ({"progress": "yes"}, "progress must be"),
        ],
    )
    def test_nothing_is_written(self, folder, plan, arguments, match):
        (folder / "there.csv").write_text("precious")
        (folder / "there.html").write_text("precious")
        before = contents(folder)
        changes = {name: arguments[name] for name in ("k", "constraints") if name in arguments}
        given = {
            "source": "people.csv",
            "target": "out.csv",
            "plan": plan.replace(**changes),
            **{name: value for name, value in arguments.items() if name not in changes},
        }
        with pytest.raises(MicroaggError, match=match) as refused:
            protect_file(**given)
        assert "\n" not in str(refused.value)
        assert contents(folder) == before

    def test_bad_data(self, folder, plan):
        (folder / "holes.csv").write_text(
            "name,age,income,sex,illness\n" + "p,,1,f,x\n,2,1,f,x\n" + ",2,1,f,x\n" * 8
        )
        before = contents(folder)
        with pytest.raises(DataError, match="missing in 'age'"):
            protect_file("holes.csv", "out.csv", plan)
        assert contents(folder) == before

    def test_a_format_that_cannot_hold_it_is_refused_before_the_work(self, folder, monkeypatch):
        pl.DataFrame({"a": range(8), "list": [[1]] * 8}).write_parquet("lists.parquet")
        monkeypatch.setattr("microagg.partitions.mdav.MDAV.fit", lambda *_: pytest.fail("was run"))
        before = contents(folder)
        plan = Plan.of(k=4, method="mdav", columns={"list": {"role": "sensitive"}})
        with pytest.raises(ParameterError, match="CSV holds only"):
            protect_file("lists.parquet", "out.csv", plan)
        assert contents(folder) == before

    def test_a_release_that_breaks_its_promise(self, folder, plan, monkeypatch):
        monkeypatch.setattr(
            "microagg.partitions.mdav.MDAV._group", lambda _self, X, _k: np.arange(len(X))
        )
        before = contents(folder)
        with pytest.raises(microagg.errors.GuaranteeError, match="nothing was released"):
            protect_file("people.csv", "out.csv", plan, report="r.html")
        assert contents(folder) == before

    def test_force_replaces(self, folder, plan):
        (folder / "out.csv").write_text("precious")
        protect_file("people.csv", "out.csv", plan, force=True)
        assert (folder / "out.csv").read_text().startswith("age,")


def test_progress_goes_to_the_function(folder):
    heard = []
    (folder / "plan.toml").write_text(PLAN.replace('"mdav"', '"auto"\neffort = "fast"'))
    protect_file("people.csv", "out.csv", "plan.toml", progress=lambda *told: heard.append(told))
    assert heard


def test_warnings_speak_of_the_call(plan):
    with pytest.warns(PrivacyWarning, match="k = 1 protects nobody") as heard:
        protect_file("people.csv", "out.csv", plan.replace(k=1))
    assert heard[0].filename == __file__


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".xlsx"])
def test_names_that_polars_takes_for_patterns_are_names(tmp_path, suffix):
    days = [date(2024, 1, 1 + j // 3) for j in range(9)]
    table = pl.DataFrame({"number": [j / 2 for j in range(9)], "text": ["x"] * 9, "day": days})
    table.columns = ["^.*$", "^text$", "^day$"]
    source, target = (str(tmp_path / f"{name}{suffix}") for name in ("in", "out"))
    write_table(table, source)
    roles = {name: {"role": "quasi-identifier"} for name in ("^text$", "^day$")}
    protect_file(source, target, Plan(k=3, columns=roles, method="mdav"))
    assert open_table(target).columns == tuple(table.columns)
    assert verify(target, 3)
    assert measure(source, target).risk.classes.smallest == 3
