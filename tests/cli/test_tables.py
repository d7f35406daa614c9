"""The command line on tables as people have them, and plans for them."""

import csv
import json
import re
import tomllib

import polars as pl
import pytest

from tests.cli.conftest import write_csv

MDAV = ("--method", "mdav")


def survey(folder, n=40):
    rows = [
        {
            "id": str(1000 + i),
            "age": str(20 + i * 7 % 50),
            "sex": "fm"[i % 2],
            "size": "SML"[i % 3],
            "region": ("north", "south")[i // 20],
            "born": f"19{50 + i % 40}-0{1 + i % 9}-15",
            "w": str(1 + i % 4),
            "illness": ("flu", "cold", "Sentinella")[i % 3],
        }
        for i in range(n)
    ]
    return write_csv(folder / "survey.csv", rows)


ROLES = (
    *("--identifier", "id", "--sensitive", "illness", "--strata", "region", "--weights", "w"),
    *("--quasi-identifier", "sex", "--order", "size=S,M,L", "--type", "born=date"),
)


def table(path):
    with open(path, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(autouse=True)
def _survey(folder):
    survey(folder)


def test_a_survey_as_it_comes(run):
    done = run("protect", "survey.csv", "-k", "4", *MDAV, *ROLES)
    assert done.code == 0, done.err
    for words in (
        "strata",
        "2 by region, the smallest of 20 records",
        "w, in means",
        "none: no bound takes weights into account",
        "dropped",
    ):
        assert words in done.out
    before, after = table("survey.csv"), table("survey-protected.csv")
    assert list(after[0]) == [name for name in before[0] if name != "id"]
    for name in ("illness", "region", "w"):
        assert [row[name] for row in after] == [row[name] for row in before]
    assert {row["born"][4] for row in after} == {"-"}
    checked = run(
        "verify", "survey-protected.csv", "-k", "4", "--sensitive", "illness", "--sensitive", "w"
    )
    assert checked.code == 0


def test_the_manifest_beside_it(run, folder):
    run("protect", "survey.csv", "-k", "4", *MDAV, *ROLES)
    text = (folder / "survey-protected.csv.manifest.json").read_text("utf-8")
    told = json.loads(text)
    assert "Sentinella" not in text
    assert told["input"]["file"] == "survey.csv"
    assert told["verified"] is True
    # The command that repeats it does.
    first = (folder / "survey-protected.csv").read_bytes()
    import shlex

    words = shlex.split(told["command"])
    assert words[:2] == ["microagg", "protect"]
    assert run(*words[1:], "--force").code == 0
    assert (folder / "survey-protected.csv").read_bytes() == first


def test_a_plan_is_drafted_and_run(run, folder):
    done = run("plan", "survey.csv", "-k", "3", "-o", "survey.toml")
    assert done.code == 0
    assert "microagg protect survey.csv --plan survey.toml" in done.out
    text = (folder / "survey.toml").read_text("utf-8")
    plan = tomllib.loads(text)
    assert plan["columns"]["id"] == {"role": "identifier"}
    assert plan["columns"]["born"]["type"] == "date"
    assert "Sentinella" not in text
    done = run("protect", "survey.csv", "--plan", "survey.toml", *MDAV, "--json", "-o", "out.csv")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert (facts["k"], facts["method"], facts["dropped"]) == (3, "mdav", ["id"])


def test_options_go_before_the_plan(run):
    run("plan", "survey.csv", "-o", "survey.toml")
    argv = ("protect", "survey.csv", "--plan", "survey.toml", *MDAV, "-k", "6", "--json")
    done = run(*argv, "--sensitive", "illness", "--strata", "region", "-o", "out.csv")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert (facts["k"], facts["sensitive"], facts["strata"]) == (6, ["illness"], ["region"])


def test_a_plan_goes_to_standard_output(run):
    done = run("plan", "survey.csv")
    assert tomllib.loads(done.out)["k"] == 5


def test_a_plan_does_not_overwrite(refused, folder):
    (folder / "mine.toml").write_text("mine")
    assert "already exists" in refused(2, "plan", "survey.csv", "-o", "mine.toml")
    assert "is the input itself" in refused(2, "plan", "survey.csv", "-o", "survey.csv", "--force")


@pytest.mark.parametrize(
    ("plan", "code", "words"),
    [
        ("k = 3\nmetod = 'mdav'\n", 2, "no key 'metod'. Did you mean 'method'?"),
        ("k = 3\n[columns]\nsex = { rle = 'sensitive' }\n", 2, "Did you mean 'role'?"),
        ("k = 3\n[columns]\nsx = { role = 'sensitive' }\n", 2, "Did you mean 'sex'?"),
        ("k = 3\nk = 4\n", 3, "not well-formed TOML"),
        ("", 2, "a plan needs 'k'"),
    ],
)
def test_bad_plans(refused, folder, plan, code, words):
    (folder / "p.toml").write_text(plan)
    assert words in refused(code, "protect", "survey.csv", "--plan", "p.toml")


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (("--type", "sex"), 2, "--type must be COLUMN=VALUE"),
        (("--type", "sex=number"), 2, "column 'sex': a type must be one of"),
        (("--type", "sex=nominal", "--type", "sex=boolean"), 2, "--type is given twice for 'sex'"),
        (("--type", "sx=nominal"), 2, "Did you mean 'sex'?"),
        (("--column-weight", "age=heavy"), 2, "column's weight must be"),
        (("--missing", "valu"), 2, "missing must be one of"),
        (("--small-strata", "join"), 2, "small_strata must be one of"),
        (("--strata", "size", "--sensitive", "size"), 2, "'size' can have one role only"),
        (("--weights", "sex"), 3, "weights in 'sex' must be numbers"),
        (("--block", "agee"), 2, "'agee' is not one. Did you mean 'age'?"),
        (("--block", "age,sx"), 2, "'sx' is not one. Remove it from the block."),
        (("--delimiter", "ab"), 2, "delimiter must be"),
        (("--encoding", "utf-99"), 2, "ncoding"),
        (("--audit", "survey.csv"), 2, "the input itself"),
        (("--order", "size=S,M"), 3, "leaves out 1 of its 3 values"),
    ],
)
def test_bad_requests(refused, argv, code, words):
    roles = ("--identifier", "id", "--sensitive", "illness", "--sensitive", "region")
    named = (
        ("--sensitive", "born", "--sensitive", "w")
        if "--weights" not in argv
        else ("--sensitive", "born")
    )
    more = () if "size" in str(argv) else ("--sensitive", "size")
    more += () if "sex" in str(argv) else ("--sensitive", "sex")
    base = ("protect", "survey.csv", "-k", "4", *MDAV, *roles, *named, *more)
    assert words in refused(code, *base, *argv, *(("--force",) if "--audit" in argv else ()))


def test_missing_values_on_the_command_line(run, refused, folder):
    rows = [{"a": str(i), "b": "" if i % 3 else str(i)} for i in range(12)]
    write_csv(folder / "t.csv", rows)
    message = refused(3, "protect", "t.csv", "-k", "3", *MDAV)
    assert "missing in 'b' (8)" in message
    done = run("protect", "t.csv", "-k", "3", *MDAV, "--missing", "value", "-o", "v.csv")
    assert "8 before" in done.out
    assert run("verify", "v.csv", "-k", "3").code == 0
    assert run("protect", "t.csv", "-k", "3", *MDAV, "--missing", "impute", "-o", "i.csv").code == 0
    assert all(row["b"] for row in table("i.csv"))


def test_blocks_warn(run):
    argv = (
        "protect",
        "survey.csv",
        "-k",
        "4",
        *MDAV,
        *ROLES[8:],
        "--identifier",
        "id",
        "--sensitive",
        "illness",
    )
    done = run(*argv, "--sensitive", "region", "--sensitive", "w", "--block", "age,sex")
    assert done.code == 0, done.err
    assert "grouped in 2 blocks" in done.err
    assert "age, sex; size, born" in done.out


def test_an_audit_and_a_key(run):
    done = run("protect", "survey.csv", "-k", "4", *MDAV, *ROLES, "--keep-key", "--audit", "a.csv")
    assert done.code == 0, done.err
    assert "keep this file internal" in done.err
    audit, released = table("a.csv"), table("survey-protected.csv")
    assert [row["key"] for row in audit] == [row["id"] for row in released]
    assert [row["id"] for row in audit] == [row["id"] for row in table("survey.csv")]


def test_records_in_random_order(run):
    argv = ("protect", "survey.csv", "-k", "4", *MDAV, *ROLES, "--shuffle", "--audit", "a.csv")
    done = run(*argv)
    assert done.code == 0, done.err
    assert re.search(r"order\s+random", done.out)
    audit, released = table("a.csv"), table("survey-protected.csv")
    where = [int(row["released_row"]) - 1 for row in audit]
    assert where != sorted(where)
    ill = [row["illness"] for row in table("survey.csv")]
    assert [released[row]["illness"] for row in where] == ill
    assert run("verify", "survey-protected.csv").code == 0
    done = run("measure", "survey.csv", "survey-protected.csv")
    assert done.code == 2
    assert "were shuffled" in done.err
    done = run("measure", "survey.csv", "survey-protected.csv", "--audit", "a.csv")
    assert done.code == 0, done.err
    assert run(*argv, "--force", "--no-shuffle").code == 0
    assert [row["illness"] for row in table("survey-protected.csv")] == ill


def test_a_dialect_goes_in_and_out(run, folder):
    text = "größe;einkommen\n" + "".join(f"{150 + i},5;{i * i}\n" for i in range(12))
    (folder / "t.csv").write_bytes(text.encode("cp1252"))
    assert run("protect", "t.csv", "-k", "3", *MDAV).code == 0
    written = (folder / "t-protected.csv").read_bytes().decode("cp1252")
    assert written.startswith("größe;einkommen\n151,5;")
    assert run("verify", "t-protected.csv", "-k", "3").code == 0


def test_compare_and_sweep_take_mixed_tables(run):
    argv = (
        "--identifier",
        "id",
        "--sensitive",
        "illness",
        "--quasi-identifier",
        "sex",
        "--order",
        "size=S,M,L",
        "--type",
        "born=date",
        "--quasi-identifier",
        "region",
    )
    done = run("compare", "survey.csv", "-k", "3", "--methods", "mdav", *argv)
    assert done.code == 0, done.err
    done = run("sweep", "survey.csv", "-k", "3", *argv, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["quasi_identifiers"] == [
        "age",
        "sex",
        "size",
        "region",
        "born",
        "w",
    ]


def test_identifiers_are_not_even_read(run, folder):
    table = pl.DataFrame({"who": [[1], [2], [3], [4]], "a": [1, 2, 3, 4]})
    table.write_parquet(folder / "t.parquet")
    done = run("protect", "t.parquet", "-k", "2", *MDAV, "--identifier", "who", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["dropped"] == ["who"]


def test_an_audit_has_a_file_of_its_own(refused):
    argv = ("protect", "survey.csv", "-k", "4", *MDAV, *ROLES)
    assert "lead to the same file" in refused(2, *argv, "-o", "x.csv", "--audit", "x.csv")
    assert "must name a file" in refused(2, *argv, "--audit", "-")


def test_values_with_labels_are_codes(run, folder):
    pyreadstat = pytest.importorskip("pyreadstat")
    n = 24
    table = pl.DataFrame(
        {"sex": [1.0, 2.0] * 12, "school": [1.0, 2.0, 3.0] * 8, "age": [20.5 + i for i in range(n)]}
    )
    labels = {"sex": {1.0: "m", 2.0: "f"}, "school": {1.0: "a", 2.0: "b", 3.0: "c"}}
    pyreadstat.write_sav(
        table,
        folder / "t.sav",
        variable_value_labels={**labels, "age": {-9.0: "refused"}},
        variable_measure={"school": "ordinal"},
    )
    assert tomllib.loads(run("plan", "t.sav").out)["columns"]["school"]["type"] == "ordinal"
    done = run("protect", "t.sav", "-k", "4", *MDAV, "--json")
    assert done.code == 0, done.err
    types = {name: facts["type"] for name, facts in json.loads(done.out)["columns"].items()}
    assert types == {"sex": "nominal", "school": "ordinal", "age": "continuous"}
    released, _ = pyreadstat.read_sav(folder / "t-protected.sav", output_format="polars")
    assert set(released["sex"]) <= {1.0, 2.0}


@pytest.mark.parametrize("names", ["age\nsex,size", 'age,"sex'])
def test_lists_of_names_are_one_line(refused, names):
    argv = ("protect", "survey.csv", "-k", "4", *MDAV, *ROLES)
    assert "separated by commas on one line" in refused(2, *argv, "--block", names)


def test_several_columns_in_one_option(run, refused):
    argv = ("protect", "survey.csv", "-k", "4", *MDAV, *ROLES[2:], "--json", "--identifier")
    done = run(*argv, "id,age")
    assert done.code == 0, done.err
    assert json.loads(done.out)["identifiers"] == ["id", "age"]
    assert "the table has no column 'aeg'. Did you mean 'age'?" in refused(
        2, *argv, "id,aeg", "-o", "x.csv"
    )
