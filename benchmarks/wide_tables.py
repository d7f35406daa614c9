"""Does the time for wide tables grow linearly in the number of columns? Writing, beside polars."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import microagg
from benchmarks.harness import best_of, publish, seconds
from microagg.files.formats import write_table

RECORDS, K = 200, 5
WIDTHS = (1000, 2000, 4000, 8000)
TEXTS = 4


def table(width: int) -> pl.DataFrame:
    """Numbers with three decimals, and a few columns of text."""
    rng = np.random.default_rng(0)
    numbers = {f"x{j}": rng.normal(size=RECORDS).round(3) for j in range(width - TEXTS)}
    words = np.array(["one", "two", "three, quoted"])
    return pl.DataFrame(
        numbers | {f"t{j}": words[rng.integers(len(words), size=RECORDS)] for j in range(TEXTS)}
    )


def row(width: int) -> tuple[object, ...]:
    wide = table(width)
    role = {"role": "quasi-identifier"}
    plan = microagg.Plan.of(k=K, method="mdav", columns={f"t{j}": role for j in range(TEXTS)})
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs, target = (str(Path(folder) / name) for name in ("o.csv", "p.csv", "t.csv"))
        own, peer = best_of(
            3, lambda: write_table(wide, ours, force=True), lambda: wide.write_csv(theirs)
        )
        whole = seconds(lambda: microagg.protect_file(theirs, target, plan))
    return f"{width:,}", own, peer, own / peer, whole, 1000 * whole / width


def main() -> None:
    row(100)  # compiles
    publish(
        "wide_tables",
        f"Wide tables of {RECORDS} records, from a CSV file to a CSV file",
        (
            *("columns", "write (s)", "polars write_csv (s)", "ratio"),
            *("protect_file with mdav (s)", "ms / column"),
        ),
        [row(width) for width in WIDTHS],
        note="Writing includes a temporary file that is synced to disk, and its renaming.",
    )


if __name__ == "__main__":
    main()
