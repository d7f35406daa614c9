"""Whatever characters names have: no output of any command makes a terminal or a page obey them."""

import json
import random
import re
import tomllib

import pytest

# Escape, bell, a C1 control that some terminals obey, a line end, and a reversal of the text.
NAMES = ("na\x1b[31mme", "a\x07ge", "pa\u202ey", "jo\u009bb", "no\rte")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MDAV = ("--method", "mdav", "-k", "3")
ROLES = (
    *("--identifier", NAMES[0], "--quasi-identifier", NAMES[3]),
    *("--sensitive", f'"{NAMES[4]}"'),
)


@pytest.fixture
def odd(folder):
    chance = random.Random(1)
    lines = [",".join(f'"{name}"' for name in NAMES)]
    lines += [f"p{i},{chance.randint(20, 60)},{i * 37},x{i % 2},y{i % 3}" for i in range(40)]
    (folder / "odd.csv").write_text("\n".join(lines), newline="")
    return folder


@pytest.mark.parametrize(
    "argv",
    [
        ("protect", "odd.csv", *MDAV, *ROLES),
        ("protect", "odd.csv", *MDAV),
        ("protect", "odd.csv", *MDAV, *ROLES, "--json"),
        ("plan", "odd.csv"),
        ("compare", "odd.csv", "-k", "3", "--methods", "mdav", *ROLES),
        ("sweep", "odd.csv", "-k", "2,3", *ROLES, "--effort", "x\x1b"),
        ("protect", "odd.csv", *MDAV, *ROLES, "--constraint", "a\x1b >= 2"),
        ("protect", "o\x1bdd.csv", *MDAV),
        ("\u202epro",),
    ],
    ids=repr,
)
def test_no_command_prints_them(run, odd, argv):  # noqa: ARG001
    outcome = run(*argv)
    assert not OBEYED.search(outcome.out)
    assert not OBEYED.search(outcome.err)


def test_no_page_manifest_or_plan_has_them(run, odd):
    pages = ("--report", "r.html", "--public-report", "p.html")
    assert run("protect", "odd.csv", *MDAV, *ROLES, *pages).code == 0
    for command in (("verify", "odd-protected.csv"), ("measure", "odd.csv", "odd-protected.csv")):
        outcome = run(*command)
        assert outcome.code == 0
        assert not OBEYED.search(outcome.out + outcome.err)
    for page in ("r.html", "p.html"):
        text = (odd / page).read_bytes().decode()
        assert not OBEYED.search(text)
        assert r"pa\u202ey" in text
        assert "Content-Security-Policy" in text
    manifest = (odd / "odd-protected.csv.manifest.json").read_bytes().decode()
    assert not OBEYED.search(manifest)
    assert json.loads(manifest)["unchanged"] == [NAMES[4]]


def test_a_draft_for_an_odd_file_can_be_read(run, odd):
    name = "o\x1bd\u202ed\nk = 1.csv"
    (odd / name).write_bytes((odd / "odd.csv").read_bytes())
    assert run("plan", name, "-k", "3", "-o", "p.toml").code == 0
    text = (odd / "p.toml").read_bytes().decode()
    assert not OBEYED.search(text)
    assert tuple(tomllib.loads(text)["columns"]) == NAMES
    assert run("protect", name, "--plan", "p.toml", "-o", "out.csv", "--unit", "rows").code == 0
