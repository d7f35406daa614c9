"""Writes the manifests of the current version that tests keep: python -m tests.plans.kept_manifests

Run it again when a field is added to this version, before it is released; never afterwards.
"""

import json
import tempfile
import warnings
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from microagg import protect, protect_dataset
from microagg.plans.manifest import SCHEMA_VERSION

RELEASES: dict[str, dict[str, Any]] = {
    "categories": {"quasi_identifiers": ["age", "pay", "city"]},
    "rank": {"quasi_identifiers": ["age", "pay"], "scale": "rank"},
    "weights": {"quasi_identifiers": ["age", "pay", "city"], "weights": "factor"},
    "missing": {"quasi_identifiers": ["age", "rent"], "missing": "value"},
    "constraints": {"quasi_identifiers": ["pay", "tax"], "constraints": ["tax <= 4"]},
    "hybrid": {"quasi_identifiers": ["pay", "tax"], "hybrid": True, "random_state": 1, "k": 5},
    "plain-means": {"quasi_identifiers": ["pay", "tax"]},
    "strata": {"quasi_identifiers": ["age", "pay"], "strata": ["city"], "small_strata": "merge"},
    "units": {"quasi_identifiers": ["age", "pay"], "unit": "person"},
    "requirements": {
        "quasi_identifiers": ["age", "tax"],
        "sensitive": ["illness"],
        "l_diversity": {"illness": 2},
        "p_percent": {"tax": 5},
    },
    "blocks": {
        "quasi_identifiers": ["age", "pay", "tax"],
        "blocks": [["age"], ["pay", "tax"]],
    },
    "shuffled": {"quasi_identifiers": ["pay", "tax"], "shuffle": True},
    "drawn": {
        "quasi_identifiers": ["pay", "tax"],
        "method": "fcm",
        "random_state": 1,
        "method_options": {"n_clusters": 4},
    },
}
DATASET: dict[str, Any] = {"quasi_identifiers": ["age", "pay"], "unit": "person", "method": "mdav"}


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
            "person": [i // 2 for i in range(n)],
            "illness": [("asthma", "flu", "none")[i % 3] for i in range(n)],
        }
    )


def columns_in(options: Mapping[str, Any]) -> list[str]:
    """Return the columns that the options name."""
    one = [options[role] for role in ("weights", "unit") if role in options]
    some = (options.get(role, []) for role in ("quasi_identifiers", "sensitive", "strata"))
    return [*one, *chain.from_iterable(some)]


def write(folder: Path) -> None:
    """Write the manifest of every release, and of a dataset."""
    table = people()
    for name, options in RELEASES.items():
        release = protect(
            table.select(columns_in(options)), **{"k": 3, "method": "mdav", **options}
        )
        with tempfile.TemporaryDirectory() as place:
            release.save(Path(place) / f"{name}.csv")
            (found,) = Path(place).glob("*.json")
            (folder / f"{name}.json").write_text(found.read_text("utf-8"), "utf-8")
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "people"
        source.mkdir()
        for i, part in enumerate(table.select(columns_in(DATASET)).iter_slices(24)):
            part.write_parquet(source / f"{i}.parquet")
        done = protect_dataset(source, Path(place) / "dataset", 3, **DATASET)
        text = json.dumps(done.as_dict(), indent=2)
        (folder / "dataset.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kept = Path(__file__).parent / "manifests" / f"v{SCHEMA_VERSION}"
    kept.mkdir(exist_ok=True)
    write(kept)
