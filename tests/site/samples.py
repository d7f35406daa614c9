"""Tables and files that the pages speak of: people.csv, visits, incomes and others, all made up."""

import contextlib
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import microagg
from microagg.cli.main import main
from microagg.files.formats import write_table

ROWS = 60


def tables() -> dict[str, pl.DataFrame]:
    """The tables by the names that pages give them."""
    rng = np.random.default_rng(5)
    net = rng.integers(900, 4000, ROWS)
    tax = rng.integers(100, 1500, ROWS)
    people = pl.DataFrame(
        {
            "name": [f"Person {at}" for at in range(ROWS)],
            "age": rng.integers(18, 90, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "region": rng.choice(["north", "south"], ROWS),
            "income": rng.lognormal(8, 0.4, ROWS).round(2),
            "diagnosis": rng.choice(["flu", "cold", "cough", "none"], ROWS),
        }
    )
    visits = pl.DataFrame(
        {
            "patient": rng.integers(80, size=400),
            "age": rng.integers(18, 90, 400),
            "cost": rng.lognormal(5, 1, 400).round(2),
            "diagnosis": rng.choice(["flu", "cold", "cough", "none"], 400),
            "days": rng.integers(0, 9, 400),
        }
    )
    firms = pl.DataFrame(
        {
            "name": [f"Firm {at}" for at in range(ROWS)],
            "staff": rng.integers(10, 500, ROWS),
            "turnover": rng.integers(1000, 2000, ROWS),
        }
    )
    incomes = pl.DataFrame({"net": net, "tax": tax, "gross": net + tax})
    survey = people.select("age", "income", w=pl.Series(rng.integers(5, 40, ROWS).astype(float)))
    return {
        "people": people,
        "visits": visits,
        "firms": firms,
        "incomes": incomes,
        "survey": survey,
    }


ROLES = {
    "people": {
        "quasi_identifiers": ["sex", "region"],
        "identifiers": ["name"],
        "sensitive": ["diagnosis"],
    },
    "visits": {"unit": "patient", "sensitive": ["diagnosis", "days"]},
    "firms": {"identifiers": ["name"]},
    "incomes": {},
    "survey": {"weights": "w"},
}
PLAN = """
k = 3

[columns]
name = { role = "identifier" }
age = { role = "quasi-identifier" }
sex = { role = "quasi-identifier" }
region = { role = "stratum" }
income = { role = "quasi-identifier" }
diagnosis = { role = "sensitive" }
"""


def write(folder: Path) -> None:
    """Write all files that pages name: tables, releases of them, a plan, a dataset."""
    found = tables()
    for name, table in found.items():
        table.write_csv(folder / f"{name}.csv")
        release = microagg.protect(table, 5, effort="fast", random_state=1, **ROLES[name])
        release.save(folder / f"{name}-protected.csv")
    (folder / "people.toml").write_text(PLAN)
    kept = found["people"].drop("name")
    kept.write_csv(folder / "original.csv")
    release = microagg.protect(kept, 5, effort="fast", random_state=1, **of(kept))
    for name in ("protected.csv", "published.csv"):
        release.table.write_csv(folder / name)
    members = kept.with_row_index("id")
    members.write_csv(folder / "members.csv")
    release.table.with_columns(members["id"]).write_csv(folder / "members-protected.csv")
    write_table(found["people"].select("age", "income", "region"), str(folder / "survey.sav"))
    (folder / "visits").mkdir()
    visits = found["visits"].drop("patient", "days").with_row_index("name")
    for part in range(2):
        visits[part * 200 : part * 200 + 200].write_parquet(folder / f"visits/{part}.parquet")
    visits.drop("name", "diagnosis").write_parquet(folder / "visits.parquet")
    roles = {"identifiers": "name", "sensitive": "diagnosis"}
    microagg.protect_dataset(folder / "visits", folder / "visits-safe", 5, effort="fast", **roles)
    with contextlib.suppress(SystemExit):
        main(["demo", "--quiet", "-o", str(folder / "microagg-demo")])


def write_plain_people(folder: Path) -> None:
    """Write people.csv as the help of commands has it: without other text than names."""
    tables()["people"].drop("sex", "region").write_csv(folder / "people.csv")
    for left in ("people.toml", "people-protected.csv", "people-protected.csv.manifest.json"):
        (folder / left).unlink()
    shutil.rmtree(folder / "microagg-demo")


def of(table: pl.DataFrame) -> dict[str, list[str]]:
    """The roles of the columns of people that a table has."""
    roles = {role: [n for n in own if n in table.columns] for role, own in ROLES["people"].items()}
    return {role: names for role, names in roles.items() if names}


def names() -> dict[str, object]:
    """What a page may use in Python without making it: the tables, and a release of people."""
    found = tables()
    original = found["people"].drop("name")
    release = microagg.protect(original, 5, effort="fast", random_state=1, **of(original))
    return {
        "microagg": microagg,
        "np": np,
        "pd": pd,
        "pl": pl,
        **found,
        "original": original,
        "release": release,
        "protected": release.table,
        "X": found["incomes"].to_numpy().astype(float),
    }
