"""Pages for those who come from other tools: every call of ours in their tables runs."""

import re
import shlex
import warnings

import numpy as np
import polars as pl
import pytest

from docs.builder.figures import ROOT
from microagg.cli.main import main
from microagg.core.registry import METHODS

FOLDER = ROOT / "docs" / "coming-from"
PAGES = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "index.md")
OURS = re.compile(r"(?:microagg|release)[.( ]")


def our_calls(text):
    """Return the calls and attributes of ours in the last column of the tables."""
    for row in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        for code in re.findall(r"`([^`]+)`", row.strip("|").split(" | ")[-1]):
            if OURS.match(code):
                yield code


def without_prompts(code):
    lines = [line[4:] for line in code.splitlines() if line.startswith((">>> ", "... "))]
    return "\n".join(lines) or code


def run_blocks(text):
    """Run all Python of a page, and return what it defines."""
    names = {"__name__": "page"}
    for code in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(without_prompts(code), "<page>", "exec"), names)
    return names


def run_command(code):
    with pytest.raises(SystemExit) as leaving:
        main(shlex.split(code)[1:])
    assert leaving.value.code == 0, code


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """A folder with the file that the commands name."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    table = {"age": rng.integers(18, 90, 100), "income": rng.integers(900, 5000, 100)}
    pl.DataFrame({**table, "w": rng.integers(5, 9, 100) * 1.0}).write_csv("survey.csv")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_call_in_the_tables_runs(page, survey, capsys):
    text = (FOLDER / page).read_text("utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of privacy: some calls promise less, and say so
        names = run_blocks(text)
        for written in survey.glob("safe.csv*"):
            written.unlink()
        calls = list(our_calls(text))
        for code in calls:
            if code.startswith("microagg "):
                run_command(code)
            else:
                assert eval(code, names) is not None or "report" in code
    capsys.readouterr()
    assert len(calls) >= 5


@pytest.mark.parametrize("page", PAGES)
def test_pages_cite_their_sources(page):
    text = (FOLDER / page).read_text("utf-8")
    assert page == "pandas.md" or "## Sources" in text


def test_number_of_methods():
    text = (FOLDER / "index.md").read_text("utf-8")
    assert f"{len(METHODS)} methods" in text
