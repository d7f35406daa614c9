"""microagg methods, microagg demo."""

import json
import os
import sys

import polars as pl
import pytest

from microagg.cli.demo import diabetes
from microagg.core.registry import METHODS, NOT_OPTIONS


@pytest.mark.parametrize("columns", ["50", "60", "80", "120"])
def test_every_method_is_listed_within_the_width(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    outcome = run("methods")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    heads = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert heads == list(METHODS)
    assert max(len(line) for line in lines) <= int(columns)
    squeezed = " ".join(outcome.out.split())
    for method in METHODS.values():
        for text in (method.summary, method.guarantee, method.cost, method.source):
            assert " ".join(text.split()) in squeezed
        if method.needs:
            assert f"needs {method.needed_flag} " in squeezed
        if method.options:
            assert f"options {', '.join(usable(method))}" in squeezed
    assert squeezed.count(" options ") == sum(bool(m.options) for m in METHODS.values())


def usable(method):
    """Options that protect takes as such."""
    return [option for option in method.options if option not in NOT_OPTIONS]


def test_behind_a_pipe_the_terminal_is_asked(run, monkeypatch):
    """As in `microagg methods | head`: standard output is none, standard error is a terminal."""

    def size(descriptor):
        if descriptor != sys.__stderr__.fileno():
            raise OSError(25, "Inappropriate ioctl for device")
        return os.terminal_size((60, 24))

    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", size)
    for argv in (["methods"], ["protect", "--help"]):
        assert max(len(line) for line in run(*argv).out.splitlines()) <= 60


def test_methods_as_json(run):
    listing = json.loads(run("methods", "--json").out)["methods"]
    assert [entry["name"] for entry in listing] == list(METHODS)
    assert listing[0]["guarantee"] == "k to 2k-1 records in every group"
    assert set(listing[0]) == {
        *("name", "summary", "guarantee", "cost", "source", "options", "deterministic"),
        "needs",
    }
    assert [entry["needs"] for entry in listing] == [m.needs for m in METHODS.values()]
    assert [entry["options"] for entry in listing] == [usable(m) for m in METHODS.values()]


def test_diabetes_keeps_whole_numbers_whole():
    table = diabetes()
    assert table.shape == (442, 11)
    assert table.schema["age"] == pl.Int64
    assert table.schema["bmi"] == pl.Float64
    assert table["progression"][0] == 151
    assert table["age"][0] == 59


@pytest.mark.slow
def test_demo_does_what_the_command_by_hand_does(run, folder):
    outcome = run("demo")
    assert (outcome.code, outcome.err) == (0, "")
    result = folder / "microagg-demo" / "diabetes-protected.csv"
    assert "microagg-demo/diabetes-protected.csv" in outcome.out
    by_hand = outcome.out.splitlines()[-1].split()
    assert by_hand[0] == "microagg"
    assert run(*by_hand[1:]).code == 0
    assert (folder / by_hand[-1]).read_bytes() == result.read_bytes()
    checked = ("verify", str(result), "-k", "5", "--sensitive", "progression", "--json")
    assert json.loads(run(*checked).out)["smallest_class"] >= 5


@pytest.mark.slow
def test_demo_takes_k_and_folder_and_respects_what_is_there(run, refused):
    assert run("demo", "-k", "40", "-o", "d/e", "--quiet").out == ""
    assert (
        run("verify", "d/e/diabetes-protected.csv", "-k", "40", "--sensitive", "progression").code
        == 0
    )
    assert "--force" in refused(2, "demo", "-o", "d/e")
    assert run("demo", "-o", "d/e", "--force").code == 0


def test_demo_of_one_protects_nobody(run):
    outcome = run("demo", "-k", "1")
    assert outcome.code == 0
    assert outcome.err.startswith("microagg: warning: k = 1 protects nobody")
    assert outcome.out.startswith("Nobody is protected: 442 diabetes patients")
    assert "442, of 1 record each" in outcome.out


def test_demo_folder_that_is_a_file(refused):
    assert "cannot be made" in refused(2, "demo", "-o", "people.csv")
