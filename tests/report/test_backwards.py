"""Working backwards from both reports: no number of records below k follows from any figure.

Tables that differ only in how many records hold a rare value, from 1 to k - 1, are released as the
same table. If their reports are the same text, every figure, bar and coordinate of it, then nobody
can tell from a report which of the tables it is about, whatever else they know.
"""

import difflib
import re
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from microagg.measures.utility.column_loss import column_loss
from microagg.report.pages import pages
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(18)
NAMES = {True: Path("public.html"), False: Path("internal.html")}
LEVELS = pl.Enum(["low", "middle", "high", "top"])


def reports(build, before, after, k, *, qi=None, **how):
    """Both reports on a release, by whether they are public; the manifest tells its true losses."""
    qi = list(qi or before.columns)
    pair = open_pair(before, after, quasi_identifiers=qi, **how)
    loss = column_loss(pair)
    done = build.manifest(
        pair,
        k,
        information_loss=loss.information_loss,
        worst_columns=loss.worst_columns,
        grouping_loss=_grouping_loss(pair),
        sensitive=list(pair.sensitive),
        **({"weights": how["weights"]} if "weights" in how else {}),
    )
    wanted = {path: public for public, path in NAMES.items()}
    found = pages(pair, done, wanted, title="A table", target=None, seed=0)
    return {public: found[path] for public, path in NAMES.items()}


def _grouping_loss(pair):
    """The loss of the groups about their means, by plain sums over indicators and numbers."""
    lost = []
    for column in pair.columns.values():
        if column.is_scaled:
            axes = column.scaled_before[:, None]
        else:
            codes = column.before.codes
            axes = (codes[:, None] == np.unique(codes)).astype(float)
        sst = np.square(axes - axes.mean(axis=0)).sum()
        inside = 0.0
        for group in np.unique(pair.classes):
            own = axes[pair.classes == group]
            inside += np.square(own - own.mean(axis=0)).sum()
        lost.append(100.0 * inside / sst if sst else 0.0)
    return float(np.mean(lost))


def replaced(values, where, value):
    """The values with another one in the first records that hold `where`, one for each count."""
    values = list(values)
    at = [place for place, own in enumerate(values) if own == where]
    return lambda count: [value if i in at[:count] else own for i, own in enumerate(values)]


def differences(one, two):
    lines = (re.sub(r">\s*<", ">\n<", page).splitlines() for page in (one, two))
    return [line for line in difflib.unified_diff(*lines, lineterm="", n=0) if line[3:].strip()]


HALVES = ["a"] * 60 + ["b"] * 40
YEARS = [date(2020, 1, 1)] * 50 + [date(2021, 1, 1)] * 50
# name: k, type, original values by the number of rare ones, released values
CASES = {
    "one category": (5, "nominal", replaced(["a"] * 100, "a", "b"), ["a"] * 100),
    "true and false": (5, "boolean", replaced([True] * 100, True, False), [True] * 100),
    "a third one": (5, "nominal", replaced(HALVES, "b", "c"), ["a"] * 65 + ["b"] * 35),
    "k = 3": (3, "nominal", replaced(HALVES, "b", "c"), HALVES),
    "30 records": (3, "nominal", replaced(["a"] * 18 + ["b"] * 12, "b", "c"), ["a"] * 30),
    "missing ones": (4, "nominal", replaced(HALVES, "b", None), HALVES),
    "released more often": (5, "nominal", replaced(HALVES, "b", "c"), HALVES[:-6] + ["c"] * 6),
    "ordered": (
        5,
        "ordinal",
        replaced(["low"] * 40 + ["middle"] * 25 + ["high"] * 15, "high", "top"),
        ["low"] * 40 + ["middle"] * 30 + ["high"] * 10,
    ),
    "whole numbers": (5, "integer", replaced([0] * 50 + [1] * 50, 1, 2), [0] * 50 + [1] * 50),
    "constant numbers": (5, "integer", replaced([7] * 60, 7, 9), [7] * 60),
    "in the middle": (5, "integer", replaced([0] * 50 + [9] * 50, 0, 1), [0] * 50 + [9] * 50),
    "with gaps": (4, "continuous", replaced([0.5] * 40 + [1.0] * 40, 1.0, 2.5), [0.5] * 80),
    "missing numbers": (5, "integer", replaced([0] * 50 + [1] * 40, 0, None), [0] * 90),
    "dates": (5, "date", replaced(YEARS, date(2021, 1, 1), date(2021, 3, 1)), YEARS),
}


def table_of(values, kind, **others):
    types = {"ordinal": LEVELS, "integer": pl.Int64, "continuous": pl.Float64, "date": pl.Date}
    return pl.DataFrame({"x": pl.Series(values, dtype=types.get(kind)), **others})


def assert_same(found, *, public, first):
    for count in range(first + 1, len(found)):
        assert differences(found[first][public], found[count][public]) == []


@pytest.mark.parametrize("name", CASES)
def test_the_number_of_rare_values_shows_nowhere(build, name):
    k, kind, original, released = CASES[name]
    after = table_of(released, kind)
    types = {"x": ColumnOptions(type=ColumnType(kind))}
    found = [
        reports(build, table_of(original(count), kind), after, k, column_options=types)
        for count in range(k)
    ]
    assert_same(found, public=True, first=0)  # not even whether there are any
    assert_same(found, public=False, first=1)


def beside(n):
    """Columns that go with another: a number, a category, and one that is released as it is."""
    rng = np.random.default_rng(18)
    number = np.sort(rng.normal(50, 9, n)).round(2)
    groups = np.arange(n) // 10
    means = np.array([number[groups == group].mean() for group in groups])
    city = np.where(np.arange(n) % 20 < 10, "here", "there")
    job = rng.choice(["cook", "nurse", "smith"], n)
    return (
        {"number": number, "city": city, "job": job},
        {"number": means, "city": city, "job": job},
    )


@pytest.mark.parametrize("name", [name for name in CASES if name != "30 records"])
def test_nor_beside_other_columns(build, name):
    k, kind, original, released = CASES[name]
    own, shown = beside(len(released))
    after = table_of(released, kind, **shown)
    types = {"x": ColumnOptions(type=ColumnType(kind))}
    found = [
        reports(
            build,
            table_of(original(count), kind, **own),
            after,
            k,
            qi=["x", "number", "city"],
            sensitive=["job"],
            column_options=types,
        )
        for count in range(k)
    ]
    assert_same(found, public=True, first=0)
    assert_same(found, public=False, first=1)
