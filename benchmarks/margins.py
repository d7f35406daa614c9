"""What does keeping the totals of categories cost, and what does it gain?"""

import os
from pathlib import Path

import numpy as np
import polars as pl

import microagg
from benchmarks.harness import publish

KS = (5, 10)
RARE = 0.02  # of the records
SURVEY = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "hhcivil")
WAYS = {
    "each column alone": {"valid_combinations": False},
    "one record": {},
    "kept": {"keep_margins": True},
}


def survey() -> pl.DataFrame | None:
    """A household survey, testdata of sdcMicro, if it is in the folder named by MICROAGG_DATA."""
    path = Path(os.environ.get("MICROAGG_DATA", "")) / "testdata.csv"
    if not path.is_file():
        return None
    return pl.read_csv(path).select(pl.col(SURVEY).cast(pl.String), "age", "income")


def persons(n: int = 6000) -> pl.DataFrame:
    """Made-up persons: a degree that goes with age and income, and rare categories."""
    rng = np.random.default_rng(0)
    degrees = np.array(["none", "school", "trade", "bachelor", "master", "doctorate"])
    degree = rng.choice(6, n, p=[0.1, 0.35, 0.3, 0.16, 0.08, 0.01])
    age = rng.integers(18, 90, n)
    states = np.array(["single", "married", "divorced", "widowed"])
    by_age = np.clip((age - 18) // 24 + rng.integers(-1, 2, n), 0, 3)
    return pl.DataFrame(
        {
            "degree": degrees[degree],
            "state": states[by_age],
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(
                ["north", "east", "south", "west", "isles"], n, p=[0.4, 0.3, 0.2, 0.085, 0.015]
            ),
            "age": age,
            "income": np.round(rng.lognormal(7.2 + 0.2 * degree, 0.4), 0),
        }
    )


def moved(before: pl.DataFrame, after: pl.DataFrame) -> tuple[int, int, int]:
    """Records by which totals differ: of all categories, of rare ones, and how many those have."""
    everywhere, of_rare, rare = 0, 0, 0
    for name, kind in before.schema.items():
        if kind != pl.String:
            continue
        left = dict(after[name].value_counts().iter_rows())
        for value, count in before[name].value_counts().iter_rows():
            difference = abs(count - left.get(value, 0))
            everywhere += difference
            if count < RARE * len(before):
                of_rare, rare = of_rare + difference, rare + count
    return everywhere, of_rare, rare


def row(name: str, table: pl.DataFrame, k: int) -> tuple[object, ...]:
    """Protect a table in all ways, with the same groups, and compare."""
    releases = {
        way: microagg.protect(
            table,
            k,
            quasi_identifiers=table.columns,
            effort="fast",
            bound="none",
            random_state=0,
            **options,
        )
        for way, options in WAYS.items()
    }
    found = {way: moved(table, release.table) for way, release in releases.items()}
    changes = {way: own.utility().associations.mean_change for way, own in releases.items()}
    bound = releases["kept"].manifest.categories.margins.lower_bound
    totals = ", ".join(str(own[0]) for own in found.values())
    return (
        *(name, k),
        ", ".join(f"{releases[way].information_loss:.2f} %" for way in ("one record", "kept")),
        f"{totals} ({bound:.0f})",
        f"{found['one record'][1]} of {found['one record'][2]}, {found['kept'][1]}",
        ", ".join(f"{changes[way]:.3f}" for way in ("one record", "kept")),
    )


def main() -> None:
    """Measure both tables at both k."""
    tables = {"survey": survey(), "persons": persons()}
    publish(
        "margins",
        "Keeping the totals of categories",
        (
            *("table", "k", "loss, and with totals kept"),
            "deviation column by column, with one record, with totals kept (bound)",
            *("rare categories, and with totals kept", "associations, and with totals kept"),
        ),
        [row(name, own, k) for name, own in tables.items() if own is not None for k in KS],
    )


if __name__ == "__main__":
    main()
