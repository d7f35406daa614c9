"""The output in docs/compare.md and docs/sweep.md is what the commands print, but for times."""

import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SECONDS = r" +<?[0-9]+\.[0-9]{3}(?=  [#*+]|$)| +[0-9.]+ s$"


def shown(page):
    """The command of the first example of a page, and its output."""
    text = (DOCS / page).read_text(encoding="utf-8")
    command, output = re.search(
        r"```\n\$ ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)```", text, re.DOTALL
    ).groups()
    return shlex.split(command.replace("\\\n", " ")), output


def without_times(text):
    return [re.sub(SECONDS, "", line).rstrip() for line in text.strip().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["compare.md", "sweep.md"])
def test_examples_are_what_is_printed(run, page, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert run("demo", "--quiet").code == 0
    (_, *argv), expected = shown(page)
    outcome = run(*argv)
    assert (outcome.code, outcome.err) == (0, "")
    assert without_times(outcome.out) == without_times(expected)
    assert len(without_times(expected)) > 15
