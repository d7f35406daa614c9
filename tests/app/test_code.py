"""The command and the Python beside each step say what was chosen, and run."""

import shlex
from itertools import pairwise

import pytest

import microagg
from microagg.app.answers import SourceAnswer
from microagg.app.code import code_for, files_of, target_of
from microagg.app.state import STEPS, Choices, OutputChoices, Study
from microagg.cli.main import main
from microagg.files.formats import FORMATS
from microagg.plans.plan import Plan
from tests.app.table import write_people

PLAN = Plan(
    k=4,
    method="mdav",
    constraints=["tax <= income"],
    columns={
        "name": {"role": "identifier"},
        "size": {"order": ["S", "M", "L"]},
        "town": {"role": "stratum"},
        "illness": {"role": "sensitive", "l_diversity": 2},
    },
)


@pytest.fixture
def choices(tmp_path):
    source = SourceAnswer(path=str(write_people(tmp_path)))
    outputs = OutputChoices(str(tmp_path / "out put.csv"), report=False)
    return Choices(source, PLAN, Study((3, 4), ("mdav", "cbfs")), outputs)


def run(command):
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(command)[1:], "--quiet"])
    return ended.value.code


@pytest.mark.parametrize("step", STEPS)
def test_commands_run(choices, step):
    assert run(code_for(step, choices).command) == 0


@pytest.mark.parametrize("step", ["roles", "protect", "explore", "release"])
def test_python_runs_and_has_the_plan(choices, step):
    names = {}
    exec(code_for(step, choices).python, names)
    assert names["plan"] == PLAN


def test_command_and_python_give_the_same_bytes(choices, tmp_path):
    target = tmp_path / "out put.csv"
    code = code_for("release", choices)
    assert run(code.command) == 0
    by_command = target.read_bytes()
    manifest = microagg.Manifest.load(f"{target}.manifest.json")
    assert manifest.plan == PLAN
    target.unlink()
    (tmp_path / "out put.csv.manifest.json").unlink()
    exec(code.python, {})
    assert target.read_bytes() == by_command


def test_comparing_reads_the_file_as_the_command_does(tmp_path):
    """NA among numbers means missing; a column of numbers is not one of text for it."""
    path = tmp_path / "na.csv"
    path.write_text(
        "age;income\n" + "".join(f"{20 + i};{i * i},5\n" for i in range(12)) + "NA;7,5\n"
    )
    source = SourceAnswer(path=str(path), delimiter=";", decimal=",")
    plan = Plan(k=3, missing="impute", na=["?"])
    names = {}
    exec(code_for("explore", Choices(source, plan, Study((3,), ("mdav",)))).python, names)
    assert [str(dtype) for dtype in names["table"].dtypes] == ["Int64", "Float64"]
    assert names["table"]["age"].null_count() == 1


def test_all_files_are_named(choices):
    outputs = OutputChoices("/data/safe.csv.gz", True, True, True, True)
    command = code_for("release", Choices(choices.source, PLAN, outputs=outputs)).command
    words = shlex.split(command)
    given = dict(pairwise(words))
    assert given["-o"] == "/data/safe.csv.gz"
    assert given["--report"] == "/data/safe-report.html"
    assert given["--public-report"] == "/data/safe-public-report.html"
    assert given["--audit"] == "/data/safe-audit.csv"
    assert "--escape-formulas" in words


def test_how_a_file_is_written_is_part_of_it(choices):
    source = SourceAnswer(path=choices.source.path, delimiter=",", encoding="utf-8")
    for step in STEPS:
        command = code_for(step, Choices(source, PLAN, choices.study, choices.outputs)).command
        assert "--delimiter , --encoding utf-8" in command


def test_names_beside_the_input():
    source = SourceAnswer(path="/data/people.csv")
    assert target_of(source, OutputChoices()) == "/data/people-protected.csv"
    assert files_of(source, OutputChoices()) == {"report": "/data/people-protected-report.html"}


@pytest.mark.parametrize("suffix", [own for each in FORMATS for own in each.suffixes])
def test_every_format_is_read_as_the_command_reads_it(suffix):
    python = code_for("explore", Choices(SourceAnswer(path=f"people{suffix}"), PLAN)).python
    compile(python, "python", "exec")
    assert f"open_table('people{suffix}').table()" in python
