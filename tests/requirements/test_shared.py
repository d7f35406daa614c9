"""Combinations whose records all have the same sensitive value are counted, and told."""

from collections import defaultdict

import numpy as np
import polars as pl
import pytest

import microagg
from microagg.requirements.base import Evidence
from microagg.requirements.shared import shared_values

N = 120
RNG = np.random.default_rng(4)
PEOPLE = pl.DataFrame(
    {
        "age": RNG.integers(20, 80, N),
        "pay": RNG.integers(1000, 9000, N),
        "ill": RNG.choice(["flu", "cold", None], N, p=[0.8, 0.1, 0.1]),
        "site": ["A"] * N,
        "seen": RNG.choice([1.5, float("nan")], N),
    }
)


def by_hand(table, columns, name):
    """How many combinations have one value of a column, counted record by record."""
    behind = defaultdict(set)
    for row in table.iter_rows(named=True):
        value = row[name]
        behind[tuple(row[c] for c in columns)].add("nan" if value != value else value)
    return sum(len(values) == 1 for values in behind.values()), len(behind)


@pytest.mark.parametrize("name", ["ill", "seen"])
def test_counted_on_the_released_table(name):
    release = microagg.protect(PEOPLE, 4, method="mdav", sensitive=["ill", "site", "seen"])
    found = release.manifest.shared_values
    assert (found[name].shared, found[name].combinations) == by_hand(
        release.table, ("age", "pay"), name
    )
    assert "site" not in found  # it has one value everywhere


def test_diversity_prevents_it():
    given = {"sensitive": "ill", "drop": ["site", "seen"], "method": "mdav"}
    assert microagg.protect(PEOPLE, 4, **given).manifest.shared_values["ill"].shared > 0
    release = microagg.protect(PEOPLE, 4, l_diversity={"ill": 2}, **given)
    assert release.manifest.shared_values["ill"].shared == 0


def test_of_blocks_the_one_with_most():
    given = {"sensitive": "ill", "drop": ["site", "seen"], "method": "mdav"}
    with pytest.warns(microagg.core.errors.PrivacyWarning):
        release = microagg.protect(PEOPLE, 4, blocks=[["age"], ["pay"]], **given)
    each = [by_hand(release.table, (name,), "ill") for name in ("age", "pay")]
    found = release.manifest.shared_values["ill"]
    assert (found.shared, found.combinations) == max(each, key=lambda own: own[0])


def test_a_manifest_without_sensitive_columns_has_none():
    release = microagg.protect(PEOPLE.select("age", "pay"), 4, method="mdav")
    assert "shared_values" not in release.manifest.as_dict()


def test_names_that_look_like_patterns_and_values_that_do_not_compare():
    table = pl.DataFrame({"^x$": [1, 1, 2], "s": ["a", "a", "b"], "many": [[1], [2], [3]]})
    (found,) = shared_values(Evidence(table, ("^x$",)), ("s", "many", "absent"))
    assert (found.column, found.shared, found.combinations) == ("s", 2, 2)
