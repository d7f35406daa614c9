"""t-closeness by its definition: what it takes to turn one distribution into another."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from microagg.requirements.base import Evidence
from microagg.requirements.closeness import TCloseness
from tests.requirements import slow_rules as slow
from tests.requirements.small_tables import (
    KINDS,
    check_finding,
    column_of,
    evidence_of,
    has_order,
    picked,
)


def last_if_missing(values):
    return [math.inf if value is None else value for value in values]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("t", [0.0, 0.2, 0.5])
def test_distances_are_those_of_the_definition(kind, t):
    for seed in range(25):
        evidence, groups, plain = evidence_of(seed, s=kind)
        everything = last_if_missing(plain["s"])
        distance = slow.ordered_distance if has_order(kind) else slow.equal_distance
        figures = [distance(picked(everything, rows), everything) for rows in groups]
        found = TCloseness("s", t).judge(evidence)
        check_finding(found, figures, groups, t, most=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_type_says_whether_there_is_an_order(kind):
    for seed in range(10):
        evidence, groups, plain = evidence_of(seed, s=kind)
        everything = last_if_missing(plain["s"])
        figures = [slow.equal_distance(picked(everything, g), everything) for g in groups]
        check_finding(TCloseness("s", 0.3, False).judge(evidence), figures, groups, 0.3, most=True)


@pytest.mark.parametrize("stored", [str, int, float])
def test_an_order_of_values(stored):
    """However they are stored, and however the order writes them."""
    order = [4, 1, 3, 0, 2, 5, 6]
    for seed in range(20):
        evidence, groups, plain = evidence_of(seed, s="whole")
        values = [None if value is None else stored(value) for value in plain["s"]]
        table = evidence.table.with_columns(pl.Series("s", values))
        places = last_if_missing(
            [None if value is None else order.index(value) for value in plain["s"]]
        )
        figures = [slow.ordered_distance(picked(places, rows), places) for rows in groups]
        own = Evidence(table, evidence.combination)
        for listed in (order, [str(value) for value in order]):
            found = TCloseness("s", 0.2, True, listed).judge(own)
            check_finding(found, figures, groups, 0.2, most=True)


def least_work(values, everything, distance):
    """The least work to move shares of a distribution to another, by linear programming."""
    kinds = sorted(set(everything))
    m, own, whole = len(kinds), Counter(values), Counter(everything)
    costs = [distance(i, j, m) for i in range(m) for j in range(m)]
    leaves, arrives = np.zeros((m, m * m)), np.zeros((m, m * m))
    for i in range(m):
        leaves[i, i * m : (i + 1) * m] = arrives[i, i::m] = 1.0
    shares = [own[v] / len(values) for v in kinds] + [whole[v] / len(everything) for v in kinds]
    return linprog(costs, A_eq=np.vstack((leaves, arrives)), b_eq=shares).fun


@pytest.mark.parametrize("is_ordered", [True, False])
def test_it_is_the_least_work(is_ordered):
    def distance(i, j, m):
        return abs(i - j) / max(1, m - 1) if is_ordered else float(i != j)

    rng = np.random.default_rng(1)
    for _ in range(20):
        stored, plain = column_of("whole", rng, 12)
        values = last_if_missing(plain)
        table = pl.DataFrame({"a": [0] * 5 + [1] * 7, "s": stored})
        found = TCloseness("s", 0.0, is_ordered).judge(Evidence(table, ("a",)))
        expected = max(least_work(own, values, distance) for own in (values[:5], values[5:]))
        assert found.worst == pytest.approx(expected, abs=1e-9)


def test_what_it_says():
    table = pl.DataFrame({"a": [1, 1, 2, 2], "s": [1, 1, 2, 3]})
    found = TCloseness("s", 0.2).judge(Evidence(table, ("a",)))
    assert found.verdict == (
        "'s' is more than 0.2 from its overall distribution in 2 of 2 combinations"
    )
    assert found.nearest == "0.375 or more"
    assert found.rows() == [
        (
            "t-closeness",
            "'s' at most 0.2 from its distribution in the whole table: 0.375 at worst; 2 of 2 "
            "combinations fail",
        )
    ]
    kept = TCloseness("s", 0.375).judge(Evidence(table, ("a",)))
    assert kept.verdict == (
        "in every combination, 's' is at most 0.375 from its distribution in the whole table"
    )
