"""The whole way in a browser: from a file to a release that the command line repeats."""

import hashlib
import json
import random
import shlex

import polars as pl
import pytest

from microagg.cli.main import main
from tests.app.steward import Steward

pytestmark = pytest.mark.slow
SECRETS = ("Sentinella", "987654321", "777.125")


@pytest.fixture
def steward(context, app):
    return Steward.enter(context, app)


def write_people(path, n=300):
    chance = random.Random(5)
    rows = {
        "name": [f"Person {i}" for i in range(n)],
        "age": [chance.randint(18, 90) for _ in range(n)],
        "height": [round(chance.gauss(170, 10), 1) for _ in range(n)],
        "income": [chance.randint(0, 90_000) for _ in range(n)],
        "town": [chance.choice(["Ayr", "Bude", "Cork"]) for _ in range(n)],
        "illness": [chance.choice(["flu", "gout", "none"]) for _ in range(n)],
    }
    rows["name"][7], rows["income"][7], rows["height"][7] = "Sentinella", 987654321, 777.125
    pl.DataFrame(rows).write_csv(path)
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def repeats(command, *arguments):
    with pytest.raises(SystemExit) as exit_:
        main([*command, *map(str, arguments)])
    return exit_.value.code


def test_people(steward, tmp_path):
    """Roles by hand, k, a run, a look at everything, and all files."""
    source = write_people(tmp_path / "people.csv")
    steward.open(source)
    assert "300" in steward.text("#card-described")
    steward.go("roles")
    assert "town" in steward.text("#blocked"), "text without a role blocks the way on"
    roles = {"name": "identifier", "town": "quasi-identifier", "illness": "sensitive"}
    for column, role in roles.items():
        steward.set_role(column, role)
    steward.page.wait_for_selector("#blocked", state="detached")
    steward.go("protect")
    steward.set_option("k", "4")
    steward.set_option("random_state", "7")
    steward.set_option("effort", "fast")
    steward.run()
    steward.has_release()
    steward.go("explore")
    assert "k = 4" in steward.text("#verdict")
    steward.see("#card-figures")
    shown = steward.page.content()
    for secret in SECRETS:
        assert secret not in shown
    target = tmp_path / "safe.csv"
    steward.write(target)
    manifest = json.loads((tmp_path / "safe.csv.manifest.json").read_text())
    assert manifest["k"] == 4
    assert manifest["verified"]
    assert "name" not in pl.read_csv(target).columns
    steward.unfold("#command")
    again, scripted = tmp_path / "again.csv", tmp_path / "scripted.csv"
    command = shlex.split(steward.text("#command").replace(str(target), str(again)))
    assert repeats(command[1:], "--force", "--quiet") == 0
    exec(steward.text("#python").replace(str(target), str(scripted)).replace("safe-", "other-"), {})
    assert digest(target) == digest(again) == digest(scripted)


@pytest.mark.parametrize("name", ["testdata", "census"])
def test_benchmarks_and_the_plan_that_repeats_them(steward, benchmark_file, tmp_path, name):
    source = benchmark_file(name)
    steward.open(source)
    described = pl.read_csv(source, infer_schema_length=None)
    steward.go("roles")
    for column, kind in described.schema.items():
        if kind == pl.String:
            steward.set_role(column, "quasi-identifier")
    steward.go("protect")
    steward.set_option("effort", "fast")
    steward.set_option("random_state", "1")
    steward.run()
    steward.has_release()
    target, plan, again = (tmp_path / own for own in ("app.csv", "plan.toml", "again.csv"))
    steward.write(target)
    steward.page.fill("#plan-path", str(plan))
    steward.page.click("#save-plan")
    steward.page.wait_for_function("path => document.body.innerText.includes(path)", arg=str(plan))
    assert repeats(["protect", "--quiet"], source, "--plan", plan, "-o", again) == 0
    assert digest(target) == digest(again)
    assert repeats(["verify", "--quiet"], target) == 0


def test_several_records_of_a_person(steward, tmp_path):
    """Whom k counts is asked, the order is warned of, shuffled, and its release verified."""
    chance = random.Random(6)
    table = pl.DataFrame(
        {
            "person_id": [f"p{i // 4}" for i in range(240)],
            "age": [chance.randint(18, 90) for _ in range(240)],
            "visit": [f"{i:03d}" for i in range(240)],
        }
    )
    table.write_csv(tmp_path / "visits.csv")
    steward.open(tmp_path / "visits.csv")
    steward.go("roles")
    steward.set_role("person_id", "identifier")
    steward.set_role("visit", "publish")
    steward.see("#count-by-person_5fid").click()
    steward.page.wait_for_selector("#repeating", state="detached")
    steward.go("protect")
    steward.page.select_option("#method", "mdav")
    steward.run()
    steward.has_release()
    steward.see("#run-with-shuffle").click()
    steward.page.wait_for_selector("#run-with-shuffle", state="detached")
    steward.has_release()
    target = tmp_path / "safe.csv"
    steward.write(target)
    steward.unfold("#command")
    assert "--shuffle" in steward.text("#command")
    visits = pl.read_csv(target, infer_schema=False)["visit"].to_list()
    assert sorted(visits) == table["visit"].to_list()
    assert visits != sorted(visits)
    steward.page.fill("#verify-path", str(target))
    steward.page.click("#verify")
    assert "records were shuffled" in steward.text("#verified")
