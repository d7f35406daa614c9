"""What jobs answer: the library's figures, the command line's bytes, and no record's values."""

import json
import random

import polars as pl
import pytest

from microagg import Plan
from microagg.app.jobs import REQUEST
from microagg.app.tasks import TASKS
from microagg.cli.main import main
from microagg.core.errors import MicroaggError, ParameterError

SECRETS = ("Sentinella", "987654321", "777.125", "Rarissima")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Five columns, one record with values that nobody else has."""
    chance = random.Random(3)
    n = 240
    rows = {
        "name": [f"Person {i}" for i in range(n)],
        "age": [chance.randint(18, 90) for _ in range(n)],
        "height": [round(chance.gauss(170, 10), 2) for _ in range(n)],
        "income": [chance.randint(0, 90_000) for _ in range(n)],
        "town": [chance.choice(["Ayr", "Bude", "Cork"]) for _ in range(n)],
    }
    rows["name"][7], rows["income"][7] = "Sentinella", 987654321
    rows["height"][7], rows["town"][7] = 777.125, "Rarissima"
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


PLAN = {
    "k": 5,
    "random_state": 1,
    "effort": "fast",
    "columns": {
        "name": {"role": "identifier"},
        "town": {"role": "quasi-identifier", "type": "nominal"},
    },
}


def job_folder(parent):
    number = len(list(parent.iterdir()))
    folder = parent / f"job-{number:016x}"
    folder.mkdir()
    return folder


def run(task, folder, **request):
    (folder / REQUEST).write_text(json.dumps({"task": task, "request": request}))
    return TASKS[task](folder, request)


@pytest.fixture(scope="module")
def protected(people, tmp_path_factory):
    folder = job_folder(tmp_path_factory.mktemp("jobs"))
    return folder, run("protect", folder, source={"path": str(people)}, plan=PLAN)


def shown(answer):
    return json.dumps(answer.model_dump(mode="json"), ensure_ascii=False)


def test_a_file_is_described(people, tmp_path):
    found = run("describe", tmp_path, source={"path": str(people)})
    assert (found.name, found.format, found.n_records) == ("people.csv", "CSV", 240)
    columns = {column.name: column for column in found.columns}
    assert columns["name"].role == "identifier"
    assert columns["name"].reason
    assert columns["name"].categories == ()
    assert columns["town"].categories == ("Ayr", "Bude", "Cork")
    assert columns["town"].n_rare == 1
    assert columns["town"].is_text
    assert columns["age"].type == "integer"
    assert found.dialect["delimiter"] == ","


def test_constraints_are_proposed(tmp_path):
    chance = random.Random(1)
    net, tax = ([chance.randint(1, 999) for _ in range(99)] for _ in range(2))
    gross = [one + two for one, two in zip(net, tax)]
    pl.DataFrame({"net": net, "tax": tax, "gross": gross}).write_csv(tmp_path / "t.csv")
    found = run("describe", tmp_path, source={"path": str(tmp_path / "t.csv")})
    assert "net + tax = gross" in [proposal.text for proposal in found.proposals]


def test_no_record_s_values_are_answered(people, tmp_path, protected):
    _, release = protected
    described = run("describe", tmp_path, source={"path": str(people)})
    for text in (shown(described), shown(release)):
        for secret in SECRETS:
            assert secret not in text


def test_a_release_is_measured_and_shown(protected):
    _, found = protected
    assert found.verdict == "k-anonymity with k = 5: kept and verified"
    assert found.manifest["k"] == 5
    assert {column.name for column in found.columns} == {"age", "height", "income", "town"}
    age = next(column for column in found.columns if column.name == "age")
    assert sum(age.histogram.before) == pytest.approx(1)
    assert sum(age.histogram.after) == pytest.approx(1)
    assert next(own for own in found.columns if own.name == "town").bars.names
    assert found.correlations.names == ("age", "height", "income")
    assert found.risk
    assert found.utility
    assert sum(found.group_sizes.values()) == found.manifest["n_groups"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_saved_is_what_the_command_line_writes(people, tmp_path, protected, suffix):
    folder, release = protected
    target, other = tmp_path / f"app{suffix}", tmp_path / f"line{suffix}"
    report = {"report": str(tmp_path / "r.html"), "audit": str(tmp_path / "audit.csv")}
    with pytest.warns(UserWarning, match="keep this file internal"):
        saved = run(
            "save", job_folder(folder.parent), job=folder.name, target=str(target), **report
        )
    plan = tmp_path / "plan.toml"
    plan.write_text(Plan.of(**release.manifest["plan"]).to_toml())
    with pytest.raises(SystemExit) as exit_:
        main(["protect", str(people), "--plan", str(plan), "-o", str(other), "--quiet"])
    assert exit_.value.code == 0
    assert target.read_bytes() == other.read_bytes()
    assert {file.what for file in saved.files} == {"table", "manifest", "report", "audit"}
    one, two = (
        json.loads((tmp_path / f"{path.name}.manifest.json").read_text())
        for path in (target, other)
    )
    changing = ("seconds", "created", "output", "command")
    assert all(one[name] == two[name] for name in one if name not in changing)
    assert one["output"]["sha256"] == two["output"]["sha256"]
    assert one["command"].endswith(f"-o {target.name}")
    assert "audit" not in shown(release)


def test_nothing_is_overwritten_without_asking(people, tmp_path, protected):
    folder, _ = protected
    target = tmp_path / "safe.csv"
    target.write_text("precious")
    saving = job_folder(folder.parent)
    with pytest.raises(ParameterError, match="exists"):
        run("save", saving, job=folder.name, target=str(target))
    assert target.read_text() == "precious"
    with pytest.raises(ParameterError, match="input itself"):
        run("save", saving, job=folder.name, target=str(people), force=True)
    run("save", saving, job=folder.name, target=str(target), force=True)
    assert target.read_text() != "precious"


@pytest.mark.parametrize("job", ["job-0123456789abcdef", "../elsewhere", "", "job-"])
def test_only_releases_of_this_app_are_saved(tmp_path, job):
    with pytest.raises(ParameterError, match="Protect the file first"):
        run("save", tmp_path, job=job, target=str(tmp_path / "safe.csv"))


def test_methods_are_compared(people, tmp_path):
    asked = {
        "source": {"path": str(people)},
        "plan": PLAN,
        "ks": [3, 5],
        "methods": ["mdav", "kmeans"],
    }
    found = run("compare", tmp_path, **asked)
    assert [(row["method"], row["k"]) for row in found.rows] == [
        ("mdav", 3),
        ("mdav", 5),
        ("kmeans", 3),
        ("kmeans", 5),
    ]
    assert all(row["information_loss"] > 0 for row in found.rows)
    assert not found.failures


def test_a_file_is_verified(people, tmp_path, protected):
    folder, _ = protected
    run("save", job_folder(folder.parent), job=folder.name, target=str(tmp_path / "safe.csv"))
    yes = run("verify", tmp_path, source={"path": str(tmp_path / "safe.csv")})
    assert yes.satisfied
    assert yes.title.startswith("Yes")
    no = run("verify", tmp_path, source={"path": str(people)}, k=5, sensitive=["name"])
    assert not no.satisfied
    with pytest.raises(MicroaggError, match="k, the least number of records"):
        run("verify", tmp_path, source={"path": str(people)})


def test_violations_are_counted_each_on_its_own(people, tmp_path):
    plan = {**PLAN, "constraints": ["age >= 30", "income >= 0", "wage <= 3"]}
    found = run("violations", tmp_path, source={"path": str(people)}, plan=plan)
    young = pl.read_csv(people).filter(pl.col("age") < 30).height
    assert found.counts == {"age >= 30": young, "income >= 0": 0}
    assert "wage" in found.errors["wage <= 3"]


def test_categories_of_one_person_are_not_listed(tmp_path):
    rows = [f"P{i % 40},{('cold', 'flu')[i % 2]}" for i in range(200)] + ["P99,gout"] * 3
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["patient_id,illness", *rows]))
    found = TASKS["describe"](tmp_path, {"source": {"path": str(path)}})
    (illness,) = (own for own in found.columns if own.name == "illness")
    assert illness.categories == ("cold", "flu")
    assert illness.n_rare == 1


def test_figures_say_what_they_are_rounded_to(protected):
    """240 records, none of fewer than five to be seen: shares in steps of 2.5 %, so of 5 %."""
    _, answer = protected
    assert answer.least == 5
    assert answer.steps[1:] == ("5 %", "0.05")
    assert answer.steps[0].endswith(" %")
