"""What pycanon finds in our releases: k, distinct and entropy l, and t, beside what we find.

    make peers

pycanon pins its libraries, so it runs in an environment of its own, whose Python is given by
PYCANON_PYTHON. It counts from the released file alone, as `microagg.verify` does.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import microagg
from benchmarks.harness import benchmark_table

_FOUND_BY_PYCANON = """
import json, sys
import pandas as pd
from pycanon import anonymity
path, known, column, is_text = sys.argv[1], sys.argv[2].split(","), sys.argv[3], sys.argv[4] == "1"
table = pd.read_csv(path, dtype={column: str} if is_text else None)
print(json.dumps({
    "k records": anonymity.k_anonymity(table, known),
    "l-diversity": anonymity.l_diversity(table, known, [column]),
    "entropy l-diversity": anonymity.entropy_l_diversity(table, known, [column]),
    "t-closeness": anonymity.t_closeness(table, known, [column]),
}))
"""


def _tables() -> dict[str, tuple[pl.DataFrame, str, list[str]]]:
    """Return tables with a sensitive column: a number, and a text."""
    values = benchmark_table("census")
    if values is None:
        sys.exit("MICROAGG_DATA must name a folder with census.csv.")
    census = pl.DataFrame(values, schema=[f"c{at}" for at in range(values.shape[1])])
    last = census.columns[-1]
    fifths = np.searchsorted(np.quantile(census[last], [0.2, 0.4, 0.6, 0.8]), census[last])
    named = pl.Series(last, [f"fifth {at}" for at in fifths])
    known = census.columns[:3]
    return {
        "census, a number": (census.select(*known, last), last, known),
        "census, five texts": (census.select(known).with_columns(named), last, known),
    }


def _found_by_us(path: Path, column: str) -> dict[str, float]:
    """Return the figures of the combination that is farthest from each requirement."""
    found = {}
    asked = ({"l_diversity": {column: 1}}, {"l_diversity": {column: "entropy:1"}})
    for one in (*asked, {"t_closeness": {column: 1}}):
        answer = microagg.verify(path, 1, sensitive=[column], **one).as_dict()  # type: ignore[arg-type]
        found["k records"] = answer["smallest_class"]
        found |= {own["requirement"]: own["worst"] for own in answer["checks"] if "worst" in own}
    return found


def _agree(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    """Whether all figures are the same; pycanon rounds the entropy's l down."""
    entropy = "entropy l-diversity"
    whole = {math.floor(ours[entropy]), math.floor(ours[entropy] - 1e-9)}
    others = [name for name in ours if name != entropy]
    return theirs[entropy] in whole and all(abs(ours[n] - theirs[n]) < 1e-9 for n in others)


def main() -> None:
    """Print both figures of every release, and fail if they differ where definitions are shared."""
    python = os.environ.get("PYCANON_PYTHON")
    if python is None:
        sys.exit("PYCANON_PYTHON must name a Python that has pycanon; 'make peers' makes one.")
    asked = ({}, {"l_diversity": 2}, {"l_diversity": "entropy:2"}, {"t_closeness": 0.3})
    with tempfile.TemporaryDirectory() as folder:
        for name, (table, column, known) in _tables().items():
            for one in asked:
                required = {option: {column: value} for option, value in one.items()}
                path = Path(folder) / "released.csv"
                release = microagg.protect(
                    table,
                    5,
                    sensitive=[column],
                    method="mdav",
                    random_state=0,
                    **required,  # type: ignore[arg-type]
                )
                release.table.write_csv(path)
                is_text = str(int(table.schema[column] == pl.String))
                words = [python, "-c", _FOUND_BY_PYCANON, str(path), ",".join(known), column]
                theirs = subprocess.run(
                    [*words, is_text], capture_output=True, text=True, check=True
                )
                ours, found = _found_by_us(path, column), json.loads(theirs.stdout.splitlines()[-1])
                print(f"{name}, {one or 'k alone'}\n  {ours}\n  {found}", flush=True)
                if not _agree(ours, found):
                    sys.exit("these figures differ, but the definitions do not.")


if __name__ == "__main__":
    main()
