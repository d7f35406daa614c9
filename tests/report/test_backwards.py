"""Working backwards from both reports: no number of records below k follows from any figure.

Tables that differ only in how many records hold a rare value, from 1 to k - 1, are released as the
same table. If their reports are the same text, every figure, bar and coordinate of it, then nobody
can tell from a report which of the tables it is about, whatever else they know.
"""

import difflib
import re
from datetime import date
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from microagg import protect
from microagg.measures.utility.column_loss import column_loss
from microagg.report.pages import pages
from microagg.report.summaries import summary_of
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.matching import open_pair

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
    if one == two:
        return []
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
    "released": (5, "nominal", replaced(HALVES, "b", "c"), HALVES[:-6] + ["c"] * 6),
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


def assert_same(found, *, first):
    for page in found[first + 1 :]:
        assert differences(found[first], page) == []


@pytest.fixture(scope="module")
def alone(build):
    """Both reports on each case, with no other column."""
    return cache(lambda name: both(build, name))


def both(build, name, others=({}, {}), **how):
    """Both reports for every number of rare values from 0 to k - 1, by whether they are public."""
    k, kind, original, released = CASES[name]
    types = {"x": ColumnOptions(type=ColumnType(kind))}
    after = table_of(released, kind, **others[1])
    tables = [table_of(original(count), kind, **others[0]) for count in range(k)]
    found = [reports(build, table, after, k, column_options=types, **how) for table in tables]
    return {public: [own[public] for own in found] for public in (True, False)}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_the_number_of_rare_values_shows_nowhere(alone, name):
    assert_same(alone(name)[True], first=1)
    assert_same(alone(name)[False], first=1)


@pytest.mark.parametrize("name", [name for name in CASES if name != "released"])
def test_a_public_report_does_not_tell_whether_there_are_any(alone, name):
    assert_same(alone(name)[True], first=0)


def without_risk(page):
    """The page without figures of the true records as a whole, which are rounded, not withheld."""
    return re.sub(
        r'<section id="risk">.*?</section>|<p>Groups that release.*?</p>', "", page, flags=re.DOTALL
    )


def beside(n):
    """Columns before and after: a number, a category, one that is released as it is, weights."""
    rng = np.random.default_rng(18)
    number = np.sort(rng.normal(50, 9, n)).round(2)
    groups = np.arange(n) // 10
    means = np.array([number[groups == group].mean() for group in groups])
    city = np.where(np.arange(n) % 20 < 10, "here", "there")
    same = {"city": city, "job": rng.choice(["cook", "nurse"], n), "w": rng.choice([1.5, 2.5], n)}
    return {"number": number, **same}, {"number": means, **same}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name != "30 records"])
def test_nor_beside_other_columns(build, name):
    """Linkage and the loss of the groups depend on all numbers, which nobody knows, and are rounded
    to steps of k records; everything else is the same text."""
    others = beside(len(CASES[name][3]))
    found = both(build, name, others, qi=["x", "number", "city"], sensitive=["job"], weights="w")
    assert_same([without_risk(page) for page in found[True]], first=1)
    assert_same([without_risk(page) for page in found[False]], first=1)


@pytest.mark.parametrize(
    ("k", "large", "small", "released"),
    [
        (3, 30, 20, "as before"),
        (3, 30, 20, "all equal"),
        (3, 30, 20, "a rare one"),
        (4, 50, 10, "all equal"),
        (4, 50, 10, "a rare one"),
        pytest.param(5, 60, 40, "a rare one", marks=pytest.mark.slow),
    ],
)
def test_two_rare_values_cannot_be_told_apart(build, k, large, small, released):
    """Every number from 1 to k - 1 stays possible for each, also if all else is known."""
    after = {
        "as before": ["a"] * large + ["b"] * small,
        "all equal": ["a"] * (large + small),
        "a rare one": ["a"] * (large + small - k) + ["c"] * k,
    }[released]
    found = {True: {}, False: {}}
    for c, d in product(range(1, k), repeat=2):
        before = ["a"] * large + ["b"] * (small - c - d) + ["c"] * c + ["d"] * d
        own = reports(build, table_of(before, "nominal"), table_of(after, "nominal"), k)
        for public, page in own.items():
            found[public].setdefault(page, []).append((c, d))
    assert len(found[True]) == 1
    every = set(range(1, k))
    for possible in found[False].values():
        # Where both are as many as k, the table of categories tells that, and no more.
        assert {c for c, _ in possible} == {d for _, d in possible} == every


def test_the_example_of_a_hundred_records(tmp_path):
    """One differing category of 100, all released equal: the loss would be 101.01 %."""
    for kind in ([True] * 99 + [False], ["a"] * 99 + ["b"]):
        table = pl.DataFrame({"x": kind})
        release = protect(table, 5, quasi_identifiers="x", method="mdav")
        for public in (True, False):
            page = release.report(tmp_path / f"{public}.html", public=public, force=True)
            text = page.read_text(encoding="utf-8")
            assert "The information loss is withheld: fewer than 5 records differ" in text
            assert not re.search(r"\b(10?1(\.0\d*)?|0\.01|99)( %|<)", text)


def test_a_few_missing_numbers_do_not_show_in_the_bins():
    numbers = np.random.default_rng(2).normal(size=90)
    for count in range(1, 5):
        values = [None if i < count else x for i, x in enumerate(numbers)]
        pair = open_pair(*(pl.DataFrame({"x": own}) for own in (values, numbers)))
        bins = summary_of(pair.columns["x"], 5, public=False).figure.before * 90
        assert bins == pytest.approx(bins.round())
        assert bins.sum() == pytest.approx(90)


@pytest.mark.slow
def test_shares_and_distances_are_multiples_of_a_step(build):
    others = beside(100)
    page = both(build, "a third one", others, qi=["x", "number", "city"])[False][2]
    risk = re.search(r'<section id="risk">.*?</section>', page, flags=re.DOTALL)[0]
    shown = re.findall(r"<td>([\d.]+) %</td>", risk)
    assert len(shown) >= 5
    assert all(float(share) % 5 == 0 for share in shown)
    utility = re.search(r'<section id="utility">.*?</section>', page, flags=re.DOTALL)[0]
    variation = re.search(r"total variation</th><td>([\d.]+)<", utility)[1]
    assert float(variation) / 0.05 == pytest.approx(round(float(variation) / 0.05))


@pytest.mark.slow
def test_two_columns_of_two_values_do_not_tell_who_has_both(build):
    """The cells of their table follow from the totals and any one figure of both together."""
    for kinds in (("nominal", "nominal"), ("integer", "integer"), ("nominal", "integer")):
        found = []
        for few in range(1, 5):
            x = [0] * 50 + [1] * 50
            y = [0] * (50 - few) + [1] * few + [0] * few + [1] * (50 - few)
            table = pl.DataFrame({"x": x, "y": y})
            types = {n: ColumnOptions(type=ColumnType(k)) for n, k in zip("xy", kinds, strict=True)}
            after = table.with_columns(y=pl.lit(0))
            found.append(reports(build, table, after, 5, column_options=types)[False])
        assert_same([without_risk(page) for page in found], first=0)
