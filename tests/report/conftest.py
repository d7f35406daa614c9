"""Tables whose values can be recognised wherever they appear, and manifests that fit them."""

from datetime import date, timedelta
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from microagg.report.contents import Subject
from microagg.report.page import render
from microagg.tables.matching import open_pair
from tests.manifests import manifest

K = 5
HASH = "c0ffee" * 10 + "abcd"


def manifest_of(pair, k=K, **changes):
    """What a release of this pair would say of itself, as far as a report reads it."""
    n = pair.n_records
    sizes = np.bincount(pair.classes)
    histogram = np.bincount(sizes)
    names = list(pair.columns)
    facts = {
        "input": {"file": "secret-file.csv", "sha256": HASH},
        "plan": {"k": k, "random_state": 424242, "columns": {}},
        "command": "microagg protect secret-file.csv -k 5 --seed 424242 -o out.csv",
        "k": k,
        "quasi_identifiers": names,
        "sensitive": list(pair.sensitive),
        "unchanged": list(pair.sensitive),
        "columns": {
            name: {"type": "continuous", "aggregate": "mean", "weight": 1.0, "missing": 0}
            for name in names
        },
        "n_records": n,
        "n_groups": len(sizes),
        "min_group": int(sizes.min()),
        "max_group": int(sizes.max()),
        "group_sizes": {str(s): int(histogram[s]) for s in np.flatnonzero(histogram)},
        "smallest_class": int(sizes.min()),
        "information_loss": 21.5,
        "blocks": [names],
    }
    return manifest(**facts | changes)


def grouped(table, k=K):
    """Groups of k in the order of the first column: means of numbers, first values of the rest."""
    size = len(table) // k * k
    groups = np.minimum(np.arange(len(table)) // k, size // k - 1)
    ordered = table.sort(table.columns[0]).with_columns(group=pl.Series(groups))
    released = [
        pl.col(name).mean().over("group").cast(pl.Float64)
        if dtype.is_float()
        else pl.col(name).mode().sort().first().over("group")
        for name, dtype in table.schema.items()
    ]
    return ordered.drop("group"), ordered.with_columns(released).drop("group")


def paired(table, k=K):
    before, after = grouped(table, k)
    return open_pair(before, after, quasi_identifiers=table.columns)


@pytest.fixture(scope="session")
def build():
    """How to make pairs, manifests and pages."""

    def page(table, k=K, public=False, **changes):
        pair = (
            table if hasattr(table, "columns") and hasattr(table, "classes") else paired(table, k)
        )
        own = ("name", "risk_rows", "utility_rows")
        rest = {key: changes.pop(key) for key in own if key in changes}
        return render(Subject(pair, manifest_of(pair, k, **changes), public=public, **rest))

    return SimpleNamespace(page=page, pair=paired, manifest=manifest_of, k=K, hash=HASH)


@pytest.fixture(scope="session")
def recognisable():
    """300 records: numbers of many digits, dates days apart, and categories, some of them rare."""
    rng = np.random.default_rng(7)
    n = 300
    regions = np.array(["Northmarch", "Southfold"], dtype=object)[rng.integers(0, 2, n)]
    regions[:4], regions[4:6] = "Rarehollow", "Lonelyham"
    incomes = rng.lognormal(8, 1, n)
    incomes[17] = 87654321.987  # a value that a mean or deviation would give away
    days = rng.choice(20_000, n, replace=False)
    return pl.DataFrame(
        {
            "height": rng.normal(170, 9, n),
            "income": incomes,
            "count": rng.choice(9_000_000, n, replace=False) + 1_000_001,
            "born": [date(1940, 1, 3) + timedelta(int(d)) for d in days],
            "region": rng.permutation(regions).tolist(),
            "code": pl.Series([f"code-{i}" for i in range(n)]),
        }
    )
