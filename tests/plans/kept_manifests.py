"""Writes the manifests of the current version that tests keep: python -m tests.plans.kept_manifests

Run it again when a field is added to this version, before it is released; never afterwards.
"""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from microagg import protect
from microagg.plans.manifest import SCHEMA_VERSION

RELEASES: dict[str, dict[str, Any]] = {
    "categories": {"quasi_identifiers": ["age", "pay", "city"]},
    "rank": {"quasi_identifiers": ["age", "pay"], "scale": "rank"},
    "weights": {"quasi_identifiers": ["age", "pay", "city"], "weights": "factor"},
    "missing": {"quasi_identifiers": ["age", "rent"], "missing": "value"},
    "constraints": {"quasi_identifiers": ["pay", "tax"], "constraints": ["tax <= 4"]},
    "hybrid": {"quasi_identifiers": ["pay", "tax"], "hybrid": True, "random_state": 1, "k": 5},
    "plain-means": {"quasi_identifiers": ["pay", "tax"]},
}


def people() -> pl.DataFrame:
    """Return a small table with columns of all kinds."""
    rng = np.random.default_rng(4)
    n = 48
    pay = rng.lognormal(3, 0.5, n)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "pay": pay,
            "tax": pay * rng.uniform(0.05, 0.3, n),
            "rent": [None if i % 9 == 0 else float(i % 7) + 0.5 for i in range(n)],
            "city": rng.choice(["Aachen", "Bonn", "Celle", "Dresden", "Essen"], n),
            "factor": rng.integers(1, 5, n).astype(float),
        }
    )


def write(folder: Path) -> None:
    """Write the manifest of every release."""
    table = people()
    for name, options in RELEASES.items():
        used = [*options["quasi_identifiers"], *filter(None, [options.get("weights")])]
        release = protect(table.select(used), method="mdav", **{"k": 3, **options})
        with tempfile.TemporaryDirectory() as place:
            release.save(Path(place) / f"{name}.csv")
            (found,) = Path(place).glob("*.json")
            (folder / f"{name}.json").write_text(found.read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kept = Path(__file__).parent / "manifests" / f"v{SCHEMA_VERSION}"
    kept.mkdir(exist_ok=True)
    write(kept)
