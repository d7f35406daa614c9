"""Risk of units: counted, linked and found as a slow reference finds it."""

import json
from collections import defaultdict
from dataclasses import asdict
from math import prod

import numpy as np
import polars as pl
import pytest

from microagg import measure, protect
from microagg.core.errors import DataError
from microagg.kernels.attacks.distance_linkage import MixedPoints, make_box_tree
from microagg.kernels.attacks.nearest_units import count_nearest
from microagg.measures.risk.classes import THRESHOLDS
from microagg.measures.risk.units import unit_classes, unit_linkage, unit_risk
from microagg.tables.matching import open_pair
from tests.indicators import coordinates


def visits(seed, n_units=40, decimals=0):
    """Records of units, a few without one, and a release of means of three neighbours."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_units), rng.integers(1, 6, n_units))
    x = rng.normal(size=(len(who), 2)).round(decimals)
    names = [None if rng.random() < 0.1 else f"u{unit}" for unit in who]
    before = pl.DataFrame(
        {"who": names, "x": x[:, 0], "y": x[:, 1], "c": rng.choice(["a", "b"], len(who))}
    )
    order = np.lexsort(x.T)
    groups = np.empty(len(who), dtype=int)
    groups[order] = np.arange(len(who)) // 3
    after = before.drop("who").with_columns(g=pl.Series(groups))
    after = after.with_columns(
        pl.col("x", "y").mean().over("g").round(decimals), pl.col("c").first().over("g")
    ).drop("g")
    return before, after


def combinations(table):
    return list(zip(*(table[name].to_list() for name in ("x", "y", "c")), strict=True))


def plain_classes(before, after):
    """Sets of units by combination, in plain Python."""
    who = before["who"].to_list()
    units = sorted({unit for unit in who if unit is not None})

    def rare(table, k):
        behind = defaultdict(set)
        for shown, unit in zip(combinations(table), who, strict=True):
            behind[shown].update([] if unit is None else [unit])
        return {unit for found in behind.values() if len(found) < k for unit in found}, behind

    _, behind = rare(after, 2)
    records = defaultdict(list)
    for shown, unit in zip(combinations(after), who, strict=True):
        records[shown].append(unit)
    return {
        "fewest": min(len(found) for found in behind.values()),
        "largest_share": max(
            own.count(unit) / len(own)
            for own in records.values()
            for unit in own
            if unit is not None
        ),
        "units_below": {k: len(rare(after, k)[0]) / len(units) for k in THRESHOLDS},
        "unique_before": len(rare(before, 2)[0]) / len(units),
        "unique_after": len(rare(after, 2)[0]) / len(units),
    }


def plain_linkage(pair, who):
    """Every record against every other, and every unit as a product over its records."""
    points, released = coordinates(pair)
    chances = defaultdict(list)
    for point, unit in zip(points, who, strict=True):
        if unit is None:
            continue
        squares = [0.0] * len(who)
        for at, other in enumerate(released):
            for a, b in zip(point, other, strict=True):
                squares[at] += (b - a) ** 2
        nearest = [who[at] for at in range(len(who)) if squares[at] == min(squares)]
        chances[unit].append(nearest.count(unit) / len(nearest))
    n = len(who)
    every = [chance for own in chances.values() for chance in own]
    sizes = [len(own) for own in chances.values()]
    return {
        "linked": sum(1 - prod(1 - p for p in own) for own in chances.values()) / len(chances),
        "linked_records": sum(every) / len(every),
        "guessed": sum(1 - (1 - m / n) ** m for m in sizes) / len(sizes),
        "guessed_records": sum(m * m / n for m in sizes) / sum(sizes),
    }


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("decimals", [0, 3])
def test_units_are_counted_and_linked_as_by_hand(seed, decimals):
    before, after = visits(seed, decimals=decimals)
    pair = open_pair(before, after, quasi_identifiers=["x", "y", "c"], unit="who")
    found = unit_risk(pair)
    assert asdict(found.classes) == plain_classes(before, after)
    wanted = plain_linkage(pair, before["who"].to_list())
    assert {name: getattr(found.linkage, name) for name in wanted} == pytest.approx(wanted)
    assert found.n_units == before["who"].drop_nulls().n_unique()
    assert found.records_without == before["who"].null_count()
    assert found.linkage.standard_error == found.linkage.standard_error_records == 0.0


def test_small_figures():
    before = pl.DataFrame({"who": ["a", "a", "b", "c"], "x": [1.0, 2.0, 5.0, 9.0]})
    after = pl.DataFrame({"x": [1.5, 1.5, 7.0, 7.0]})
    found = unit_risk(open_pair(before, after, unit="who"))
    # The records of a are with each other only; those of b and c share a combination.
    assert found.classes.fewest == 1
    assert found.classes.largest_share == 1.0
    assert found.classes.unique_before == 1.0
    assert found.classes.unique_after == found.classes.units_below[2] == pytest.approx(1 / 3)
    assert found.linkage.linked == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert found.linkage.linked_records == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)


def test_with_one_record_each_units_are_records():
    rng = np.random.default_rng(1)
    before = pl.DataFrame(
        {"who": np.arange(90), "x": rng.normal(size=90), "y": rng.normal(size=90)}
    )
    release = protect(before, 4, method="mdav", unit="who")
    risk, utility = release.risk(), release.utility()
    assert risk.units.classes.fewest == risk.classes.smallest
    assert risk.units.classes.unique_before == risk.classes.unique_before
    assert risk.units.linkage.linked == pytest.approx(risk.linkage.linked[1])
    assert risk.units.linkage.linked_records == pytest.approx(risk.linkage.linked[1])
    assert risk.units.linkage.guessed == pytest.approx(1 / 90)
    assert utility.units.information_loss == pytest.approx(utility.loss.information_loss)


def test_a_sample_of_units_estimates_all():
    before, after = visits(3, n_units=400, decimals=2)
    pair = open_pair(before, after, quasi_identifiers=["x", "y", "c"], unit="who")
    whole = unit_linkage(pair)
    part = unit_linkage(pair, most=600, seed=1)
    assert 0 < part.n_sampled < part.n_units == whole.n_sampled
    assert 0 < part.standard_error < 0.05
    assert abs(part.linked - whole.linked) < 4 * part.standard_error
    assert abs(part.linked_records - whole.linked_records) < 4 * part.standard_error_records
    assert part.guessed == whole.guessed


def test_the_kernel_counts_the_same_uncompiled():
    rng = np.random.default_rng(2)
    points = rng.integers(0, 4, size=(90, 2)).astype(float)
    unit_of = np.sort(rng.integers(0, 5, size=(90, 3)), axis=1)  # three records at a point
    first, units, counts = [0], [], []
    for own in unit_of:
        kinds, numbers = np.unique(own, return_counts=True)
        units += kinds.tolist()
        counts += numbers.tolist()
        first.append(len(units))
    behind = (np.array(first), np.array(units), np.array(counts))
    codes, apart = rng.integers(0, 3, size=(90, 1)), np.array([0.5])
    tree = make_box_tree(MixedPoints(points, codes), np.full(90, 3), apart)
    at_place = np.zeros(tree.counts.size, dtype=np.intp)
    at_place[tree.places] = np.arange(90)
    X, unit = rng.integers(0, 4, size=(40, 2)) + 0.5, rng.integers(0, 5, size=40)
    known = rng.integers(0, 4, size=(40, 1))
    squares = ((X[:, None] - points) ** 2).sum(axis=2) + (known[:, None] != codes) @ apart
    is_nearest = squares == squares.min(axis=1, keepdims=True)
    own = (is_nearest[:, :, None] & (unit_of == unit[:, None, None])).sum(axis=(1, 2))
    for function in (count_nearest, count_nearest.py_func):
        equal, found = np.zeros(40, dtype=np.intp), np.zeros(40, dtype=np.intp)
        function(tree, at_place, *behind, MixedPoints(X, known), unit, np.arange(40), equal, found)
        assert np.array_equal(equal, 3 * is_nearest.sum(axis=1))
        assert np.array_equal(found, own)


def test_without_units_nothing_is_said_of_them(awkward):
    assert unit_risk(awkward) is None


def test_awkward_tables_give_finite_figures(awkward):
    n = awkward.n_records
    before = pl.DataFrame({"who": ["a"] * (n - 1) + ["b"]})
    for name, column in {**awkward.columns, **awkward.sensitive}.items():
        before = before.with_columns(pl.Series(name, column.before.numbers))
    pair = open_pair(before, before.drop("who"), unit="who")
    assert unit_classes(pair).fewest >= 1
    json.dumps(asdict(unit_linkage(pair)), allow_nan=False)


def test_a_unit_without_values_is_refused():
    before = pl.DataFrame({"who": [None, " "], "x": [1.0, 2.0]})
    with pytest.raises(DataError, match="'who' is missing in every record"):
        measure(before, before.drop("who"), unit="who")
