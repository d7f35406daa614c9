"""l-diversity and t-closeness."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from microagg.aggregates.values import Values
from microagg.measures.risk.attributes import (
    attribute_disclosure,
    cells_of,
    column_disclosure,
    nominal_distances,
    ordered_distances,
)
from microagg.tables.matching import open_pair


def plain(classes, values, is_ordered):
    """One class after another, with scipy's distance of one column."""
    occurring = sorted(set(values))
    place = {value: i / max(1, len(occurring) - 1) for i, value in enumerate(occurring)}
    distinct, entropies, distances, homogeneous = [], [], [], 0
    for c in range(max(classes) + 1):
        inside = [v for v, own in zip(values, classes) if own == c]
        shares = np.array([inside.count(v) / len(inside) for v in occurring])
        overall = np.array([list(values).count(v) / len(values) for v in occurring])
        distinct.append(len(set(inside)))
        homogeneous += len(inside) if len(set(inside)) == 1 else 0
        entropies.append(np.prod([p**-p for p in shares if p > 0]))
        if is_ordered:
            both = ([place[v] for v in side] for side in (inside, values))
            distances.append(wasserstein_distance(*both))
        else:
            distances.append(np.abs(shares - overall).sum() / 2)
    return {
        "smallest_distinct": min(distinct),
        "mean_distinct": np.mean(distinct),
        "homogeneous_classes": distinct.count(1),
        "homogeneous_records": homogeneous,
        "smallest_entropy": min(entropies),
        "mean_entropy": np.mean(entropies),
        "largest_distance": max(distances),
        "mean_distance": np.mean(distances),
    }


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("kind", ["few values", "skewed", "all different", "one value"])
@pytest.mark.parametrize("n_classes", [1, 7, 60])
def test_figures_are_those_of_a_plain_loop(kind, is_ordered, n_classes):
    rng = np.random.default_rng(n_classes)
    classes = rng.permutation(np.arange(60) % n_classes)
    values = {
        "few values": rng.integers(0, 4, 60),
        "skewed": (rng.exponential(size=60) * 3).astype(int) ** 2,
        "all different": rng.normal(size=60),
        "one value": np.full(60, 3),
    }[kind]
    result = column_disclosure(classes, Values(values), is_ordered=is_ordered)
    wanted = plain(classes.tolist(), values.tolist(), is_ordered)
    assert dataclasses.asdict(result) == pytest.approx(wanted, abs=1e-12)


def test_salaries_of_the_paper():
    # Table of Li, Li and Venkatasubramanian: 3k..11k; {3k, 4k, 5k} is at 0.375 of the whole
    # table, {6k, 8k, 11k} at 0.167.
    salary = Values(np.array([3, 4, 5, 6, 11, 8, 7, 9, 10]))
    classes = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    distances = ordered_distances(cells_of(classes, salary), has_missing=False)
    assert distances[0] == pytest.approx(0.375)
    assert distances[1] == pytest.approx(1 / 6)


def test_hand_computed_table():
    before = pl.DataFrame(
        {"age": [30, 31, 50, 51, 52], "ill": ["flu", "flu", "flu", "hiv", "hiv"], "pay": range(5)}
    )
    after = before.with_columns(age=pl.Series([30.5, 30.5, 51.0, 51.0, 51.0]))
    result = attribute_disclosure(open_pair(before, after)).columns
    assert list(result) == ["ill", "pay"]
    ill = result["ill"]
    assert (ill.smallest_distinct, ill.mean_distinct) == (1, 1.5)
    assert (ill.homogeneous_classes, ill.homogeneous_records) == (1, 2)
    assert ill.smallest_entropy == pytest.approx(1)
    assert ill.largest_distance == pytest.approx(1 - 3 / 5)
    assert ill.mean_distance == pytest.approx((2 / 5 + (2 / 3 - 2 / 5)) / 2)
    assert result["pay"].smallest_distinct == 2


def least_work(p, q, costs):
    m = len(p)
    rows = [np.kron(np.eye(m)[i], np.ones(m)) for i in range(m)]
    columns = [np.kron(np.ones(m), np.eye(m)[i]) for i in range(m)]
    return linprog(costs.ravel(), A_eq=np.array(rows + columns), b_eq=np.concatenate((p, q))).fun


def test_missing_values_cost_no_less_than_the_least_work():
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.arange(80) % 8)
    values = rng.integers(0, 4, 80)
    missing = rng.random(80) < 0.3
    missing[classes == 0], missing[classes == 1] = True, False
    column = Values.of(values, missing)
    distances = ordered_distances(cells_of(classes, column), has_missing=True)
    codes = np.where(missing, 4, values)
    costs = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 3
    costs[4], costs[:, 4], costs[4, 4] = 1, 1, 0
    q = np.bincount(codes) / 80
    for c in range(8):
        p = np.bincount(codes[classes == c], minlength=5) / (classes == c).sum()
        least = least_work(p, q, costs)
        assert least - 1e-9 <= distances[c] <= least + 0.2
    assert distances[0] == pytest.approx(1 - missing.mean())


def test_missing_nominal_values_are_one_more_value():
    classes = np.array([0, 0, 1, 1])
    column = Values.of(np.array([1, 1, 0, 1]), np.array([False, True, True, True]))
    cells = cells_of(classes, column)
    assert nominal_distances(cells) == pytest.approx([0.25, 0.25])
    result = column_disclosure(classes, column, is_ordered=False)
    assert (result.smallest_distinct, result.mean_distinct) == (1, 1.5)


def test_many_classes_of_many_values_take_no_loop():
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.arange(200_000) // 4)
    result = column_disclosure(classes, Values(rng.normal(size=200_000)), is_ordered=True)
    assert (result.smallest_distinct, result.smallest_entropy) == (4, pytest.approx(4))
    assert 0.1 < result.mean_distance < 0.3


def test_no_sensitive_column(numbers_pair):
    assert attribute_disclosure(numbers_pair(np.eye(3), np.eye(3))).columns == {}


def test_awkward_tables(awkward):
    result = attribute_disclosure(awkward)
    assert list(result.columns) == ["s"]
    assert json.dumps(dataclasses.asdict(result), allow_nan=False)
