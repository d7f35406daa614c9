"""Requirements on the command line: flags, plans, and what bad ones get."""

import csv
import json
import random
import shlex
from collections import defaultdict

import pytest

from tests.cli.conftest import write_csv

COLUMNS = ("--drop", "visit", "--sensitive", "illness", "--strata", "ward")
ROLES = ("protect", "visits.csv", "-k", "4", "--method", "mdav", *COLUMNS)
STUDIES = {
    "compare": ("compare", "visits.csv", "-k", "4", "--methods", "mdav", "--drop", "visit"),
    "sweep": ("sweep", "visits.csv", "-k", "4", "--drop", "visit"),
}


@pytest.fixture
def visits(folder):
    chance = random.Random(4)
    rows = [
        {
            "visit": f"v{i}",
            "patient": "" if i % 10 == 9 else f"Sentinella{i % 23}",
            "age": str(20 + i % 23),
            "cost": f"{chance.lognormvariate(4, 1):.2f}",
            "ward": "ew"[i % 2],
            "illness": chance.choice(["flu", "cold", "none"]),
        }
        for i in range(96)
    ]
    write_csv(folder / "visits.csv", rows)
    return rows


def behind(path, shown, values):
    found = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as stream:
        for row, value in zip(csv.DictReader(stream), values, strict=True):
            found[tuple(row[name] for name in shown)].append(value)
    return list(found.values())


SHOWN = ("age", "cost", "ward")


def test_every_requirement(run, folder, visits):
    visits = [row for row in visits if row["patient"]]  # every amount has a contributor
    write_csv(folder / "visits.csv", visits)
    asked = ("--unit", "patient", "--l-diversity", "illness=2", "--p-percent", "cost=5")
    done = run(*ROLES, *asked, "--dominance", "cost=1:80", "--t-closeness", "illness=0.6")
    assert done.code == 0, done.err
    path = folder / "visits-protected.csv"
    for group in behind(path, SHOWN, [row["patient"] for row in visits]):
        assert len({*group} - {""}) >= 4
    for group in behind(path, SHOWN, [row["illness"] for row in visits]):
        assert len({*group}) >= 2
    for group in behind(path, SHOWN, [(row["patient"], float(row["cost"])) for row in visits]):
        given = defaultdict(float)
        for who, cost in group:
            given[who] += cost
        largest = sorted(given.values(), reverse=True)
        assert sum(largest[2:]) >= 0.05 * largest[0]
        assert largest[0] <= 0.8 * sum(largest) + 1e-9
    told = json.loads((folder / "visits-protected.csv.manifest.json").read_text("utf-8"))
    assert {one["requirement"] for one in told["requirements"]} == {
        *("k units", "l-diversity", "t-closeness", "p per cent", "dominance")
    }
    first = path.read_bytes()
    _, *words = shlex.split(told["command"])
    again = run(*words, "--force")
    assert again.code == 0, again.err
    assert path.read_bytes() == first


def test_entropy(run, folder, visits):
    asked = ("--identifier", "patient", "--unit", "rows", "--l-diversity", "illness=entropy:2")
    assert run(*ROLES, *asked).code == 0
    groups = behind(folder / "visits-protected.csv", SHOWN, [row["illness"] for row in visits])
    assert min(len({*group}) for group in groups) >= 2


@pytest.mark.usefixtures("visits")
class TestUnits:
    @pytest.mark.parametrize("more", [(), ("--identifier", "visit")])
    def test_identifiers_that_repeat(self, refused, more):
        asked = [word for word in ROLES if word not in ("--drop", "visit")] if more else ROLES
        told = refused(3, *asked, *more, "--identifier", "patient")
        assert "identifier 'patient' repeats: 23 of its values are in several records" in told
        assert "--unit patient" in told
        assert "--unit rows" in told

    @pytest.mark.slow
    @pytest.mark.parametrize("command", STUDIES)
    def test_studies(self, run, refused, command):
        roles = ("--sensitive", "illness", "--strata", "ward")
        told = refused(3, *STUDIES[command], *roles, "--identifier", "patient")
        assert "'patient' repeats" in told
        done = run(*STUDIES[command], *roles, "--unit", "patient", "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["unit"] == "patient"
        done = run(*STUDIES[command], *roles, "--identifier", "patient", "--unit", "rows")
        assert done.code == 0, done.err

    def test_a_flag_overrides_the_unit_of_a_plan(self, run, folder):
        (folder / "p.toml").write_text(
            'k = 4\nmethod = "mdav"\n[columns]\nvisit = { role = "unit" }\n'
            'patient = { role = "identifier" }\nillness = { role = "sensitive" }\n'
            'ward = { role = "stratum" }\n'
        )
        assert run("protect", "visits.csv", "--plan", "p.toml", "-o", "a.csv").code == 0
        done = run("protect", "visits.csv", "--plan", "p.toml", "--unit", "patient", "-o", "b.csv")
        assert done.code == 0, done.err
        rows = run("protect", "visits.csv", "--plan", "p.toml", "--unit", "rows", "-o", "c.csv")
        assert rows.code == 0, rows.err
        told = [
            json.loads((folder / f"{name}.csv.manifest.json").read_text("utf-8")) for name in "abc"
        ]
        assert [one["unit"] for one in told] == ["visit", "patient", None]
        assert sorted(told[1]["dropped"]) == ["patient", "visit"]
        assert told[1]["units"]["count"] == 23
        assert told[1]["units"]["records_without"] == 9
        assert told[2]["plan"]["unit"] == "rows"
        assert sorted(told[2]["identifiers"]) == ["patient", "visit"]


BAD = {
    "no such sensitive column": (("--l-diversity", "ilness=2"), 2, "'ilness'"),
    "not published": (("--drop", "age", "--l-diversity", "age=2"), 2, "'age' has the role drop"),
    "an identifier": (("--l-diversity", "patient=2"), 2, "is for sensitive columns"),
    "a quasi-identifier": (("--t-closeness", "cost=0.2"), 2, "is for sensitive columns"),
    "l of nothing": (("--l-diversity", "illness=0"), 2, "l_diversity must be"),
    "l of words": (("--l-diversity", "illness=many"), 2, "or entropy:3"),
    "l above the values": (("--l-diversity", "illness=4"), 2, "Ask for 3 or less"),
    "entropy of words": (("--l-diversity", "illness=entropy:x"), 2, "entropy l_diversity must"),
    "t above 1": (("--t-closeness", "illness=1.5"), 2, "t_closeness must be"),
    "t below 0": (("--t-closeness", "illness=-0.5"), 2, "t_closeness must be"),
    "t of words": (("--t-closeness", "illness=near"), 2, "t_closeness must be"),
    "p above 100": (("--p-percent", "cost=101"), 2, "p_percent must be"),
    "p below 0": (("--p-percent", "cost=-1"), 2, "p_percent must be"),
    "p of text": (("--p-percent", "illness=5"), 2, "'illness' has the role sensitive"),
    "p of a median": (
        ("--p-percent", "cost=5", "--aggregate", "cost=median"),
        2,
        "'cost' has the aggregate 'median'",
    ),
    "p of a category": (
        ("--p-percent", "age=5", "--type", "age=nominal"),
        2,
        "'age' is of the type 'nominal'",
    ),
    "half a dominance": (("--dominance", "cost=85"), 2, "such as 2:85"),
    "dominance of nobody": (("--dominance", "cost=0:85"), 2, "number of contributors"),
    "dominance above 100": (("--dominance", "cost=1:101"), 2, "share of dominance"),
    "no value": (("--l-diversity", "illness"), 2, "illness"),
    "two units": (("--unit", "patient", "--unit", "visit"), 2, "--unit is given 2 times"),
    "a unit that is sensitive": (("--unit", "illness"), 2, "can have one role only"),
    "a unit that is a stratum": (("--unit", "ward"), 2, "can have one role only"),
    "a unit that does not exist": (("--unit", "patients"), 2, "no column 'patients'"),
    "a key beside a unit": (
        ("--unit", "patient", "--identifier", "age", "--keep-key"),
        2,
        "cannot be used with a unit",
    ),
    "k above the units": (("--unit", "patient", "-k", "24"), 3, "at least k=24 units"),
    "a method that draws": (
        ("--l-diversity", "illness=2", "--method", "fcm"),
        2,
        "draws values at random and cannot take requirements",
    ),
}


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize("case", BAD)
def test_bad_requests(refused, case):
    more, code, words = BAD[case]
    whom = () if "--unit" in more else ("--identifier", "patient", "--unit", "rows")
    usual = [("-k", "4"), ("--method", "mdav")]
    rest = [word for flag in usual if flag[0] not in more for word in flag]
    assert words in refused(code, "protect", "visits.csv", *rest, *COLUMNS, *whom, *more)
