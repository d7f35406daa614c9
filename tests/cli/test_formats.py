"""Commands on Excel, R and tab-separated files, from the first look to the report."""

import datetime
import hashlib
import json
import random

import polars as pl
import pytest

from microagg import Manifest, measure, protect_file, verify
from microagg.files.formats import open_table, write_table
from microagg.plans.plan import Plan

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("xlsxwriter")
pytest.importorskip("rdata")

from tests.files.r_objects import r_factor, r_file, r_frame, r_numbers, r_texts  # noqa: E402

FIRST = datetime.date(2020, 1, 1)
CHANCE = random.Random(5)
VISITS = pl.DataFrame(
    {
        "who": ["Sentinella", *(f"p{j}" for j in range(59))],
        "age": [CHANCE.randint(18, 90) for _ in range(60)],
        "pay": [round(CHANCE.gauss(3000, 500), 2) for _ in range(60)],
        "day": [FIRST + datetime.timedelta(days=CHANCE.randint(0, 900)) for _ in range(60)],
        "zone": [f"{CHANCE.randint(1, 3):03d}" for _ in range(60)],
    }
)
ROLES = ("--identifier", "who", "--sensitive", "zone", "--quasi-identifier", "day")
MDAV = ("-k", "4", "--method", "mdav")


@pytest.fixture
def workbook(folder):
    """A workbook with two sheets."""
    write_table(VISITS, "visits.xlsx", sheet="visits")
    book = openpyxl.load_workbook("visits.xlsx")
    book.create_sheet("codes").append(["Sentinella"])
    book.save("visits.xlsx")
    return folder / "visits.xlsx"


@pytest.mark.parametrize("command", ["plan", "protect", "verify", "compare", "sweep"])
def test_one_of_several_sheets_must_be_named(refused, workbook, command):
    given = () if command == "plan" else ("-k", "4")
    assert "--sheet" in refused(3, command, workbook.name, *given)
    assert "no sheet 'x'" in refused(2, command, workbook.name, *given, "--sheet", "x")
    assert "do not take a sheet" in refused(2, command, "people.csv", *given, "--sheet", "x")


@pytest.mark.usefixtures("workbook")
def test_a_sheet_goes_all_the_way(run, folder):
    sheet = ("--sheet", "visits")
    drafted = run("plan", "visits.xlsx", *sheet)
    assert 'type = "date"' in drafted.out
    assert drafted.code == 0
    done = run("protect", "visits.xlsx", *sheet, *MDAV, *ROLES)
    assert done.code == 0, done.err
    told = json.loads((folder / "visits-protected.xlsx.manifest.json").read_text())
    assert (
        told["input"]["sha256"] == hashlib.sha256((folder / "visits.xlsx").read_bytes()).hexdigest()
    )
    assert "--sheet visits" in told["command"]
    found = open_table("visits-protected.xlsx")
    assert found.sheet == "visits"
    table = found.table()
    assert table.schema == VISITS.drop("who").schema
    assert table["zone"].equals(VISITS["zone"])
    assert table.group_by("age", "pay", "day").len()["len"].min() >= 4
    assert run("verify", "visits-protected.xlsx").code == 0
    for given in (sheet, ()):
        other = run("measure", "visits.xlsx", "visits-protected.xlsx", *given)
        assert other.code == (0 if given else 3)
    assert run("compare", "visits.xlsx", *sheet, "-k", "4", "--methods", "mdav", *ROLES).code == 0


@pytest.mark.usefixtures("workbook")
def test_a_sheet_is_named_for_the_file_that_has_some(run):
    done = run("protect", "visits.xlsx", "--sheet", "visits", *MDAV, *ROLES, "-o", "out.csv")
    assert done.code == 0, done.err
    assert run("measure", "visits.xlsx", "out.csv", "--sheet", "visits").code == 0
    found = measure("visits.xlsx", "out.csv", sheet="visits", delimiter=",")
    assert found.n_records == 60


@pytest.mark.usefixtures("folder")
def test_the_original_may_be_a_workbook(workbook):
    plan = Plan.of(
        k=2,
        method="mdav",
        columns={
            "who": {"role": "unit"},
            "zone": {"role": "sensitive"},
            "day": {"role": "quasi-identifier"},
        },
    )
    protect_file(workbook, "out.csv", plan, sheet="visits")
    assert verify("out.csv", original=str(workbook), sheet="visits").satisfied


def test_the_same_release_in_any_format(run, folder):
    for name in ("t.csv", "t.tsv", "t.txt.gz", "t.xlsx", "t.parquet"):
        write_table(VISITS, name)
        done = run(
            "protect", name, *MDAV, *ROLES, "--quasi-identifier", "day", "--type", "day=date"
        )
        assert done.code == 0, done.err
    tables = [
        open_table(path.name).table(as_text=["zone"]).with_columns(pl.col("day").cast(pl.String))
        for path in sorted(folder.glob("t-protected.*"))
        if path.suffix != ".json"
    ]
    assert len(tables) == 5
    assert all(table.equals(tables[0]) for table in tables)
    losses = {
        Manifest.load(path).information_loss for path in folder.glob("t-protected.*.manifest.json")
    }
    assert len(losses) == 1


class TestR:
    @pytest.fixture
    def rdata(self, folder):
        levels = ["low", "middle", "high"]
        columns = {
            "who": r_texts(*VISITS["who"]),
            "age": r_numbers(*map(float, VISITS["age"])),
            "health": r_factor([j % 3 + 1 for j in range(60)], levels, ordered=True),
            "region": r_factor([j % 2 + 1 for j in range(60)], ["north", "south"]),
        }
        return r_file(folder / "t.RData", columns, firms=r_frame({"x": r_numbers(1)}))

    @pytest.mark.usefixtures("rdata")
    def test_a_data_frame_is_named_like_a_sheet(self, refused, run):
        assert "'people', 'firms'" in refused(3, "plan", "t.RData")
        drafted = run("plan", "t.RData", "--sheet", "people")
        assert "microagg protect t.RData --sheet people --plan THIS_FILE" in drafted.out
        assert "its levels are ordered in the file" in drafted.out
        assert 'health = { role = "quasi-identifier", type = "ordinal" }' in drafted.out
        assert 'region = { role = "quasi-identifier", type = "nominal" }' in drafted.out

    @pytest.mark.usefixtures("rdata")
    def test_it_is_released_as_text(self, run):
        given = ("--quasi-identifier", "health,region", "--identifier", "who")
        done = run("protect", "t.RData", "--sheet", "people", *MDAV, *given)
        assert done.code == 0, done.err
        told = Manifest.load("t-protected.csv.manifest.json")
        assert told.columns["health"].type == "ordinal"
        assert told.columns["region"].type == "nominal"
        assert run("verify", "t-protected.csv").code == 0
        assert run("measure", "t.RData", "t-protected.csv", "--sheet", "people").code == 0


BAD = {
    "csv called xlsx": ("t.xlsx", b"a,b\n1,987654321\n", "should be an Excel workbook"),
    "a password": ("t.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "password"),
    "half a workbook": ("t.xlsx", b"PK\x03\x04 987654321", "damaged"),
    "an empty workbook": ("t.xlsx", b"", "is empty"),
    "csv called rds": ("t.rds", b"a,b\n1,987654321\n", "should be an R file"),
    "half an rds": ("t.rds", b"\x1f\x8b\x08 987654321", "should be an R file"),
    "an empty rdata": ("t.rdata", b"", "is empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_exits_3(refused, folder, name):
    path, content, words = BAD[name]
    (folder / path).write_bytes(content)
    assert words in refused(3, "protect", path, "-k", "2")


def test_what_a_sheet_cannot_hold_is_refused_before_anything_is_written(refused):
    pl.DataFrame({"a": [2**60 + j for j in range(9)]}).write_csv("big.csv")
    assert "beyond 2^53" in refused(2, "protect", "big.csv", "-k", "2", "-o", "out.xlsx")
