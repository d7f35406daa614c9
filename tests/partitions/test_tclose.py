"""Published methods for t-closeness: figures, slow references, and what they refuse."""

import numpy as np
import pytest

from microagg.core.errors import ParameterError
from microagg.partitions import MDAV, TCloseFirst, TCloseMerge
from microagg.requirements.coded import GroupRule
from tests.references import number_by_first_record
from tests.requirements import slow_rules as slow


def slow_first(X, codes, t, k):
    """Algorithm 3 as it is written, with lists."""
    n = len(X)
    size = max(k, int(np.ceil(n / (2 * (n - 1) * t + 1))))
    size += (n % size) // (n // size)
    order = sorted(range(n), key=lambda row: (codes[row], row))
    n_groups, middle = n // size, (size - 1) // 2
    parts, at = [], 0
    for place in range(size):
        length = n_groups + (n - n_groups * size if place == middle else 0)
        parts.append(sorted(order[at : at + length]))
        at += length
    labels, previous = np.full(n, -1), None

    def apart(row, point):
        return float(((X[row] - point) ** 2).sum())

    for number in range(n_groups):
        left = sorted(row for part in parts for row in part)
        point = X[previous] if number % 2 else X[left].mean(axis=0)
        seed = max(left, key=lambda row: (apart(row, point), -row))
        for place, part in enumerate(parts):
            surplus = len(part) > n_groups - number if place == middle else False
            for _ in range(1 + surplus):
                row = min(part, key=lambda row: (apart(row, X[seed]), row))
                labels[row] = number
                part.remove(row)
        previous = seed
    return number_by_first_record(labels)


def slow_merge(X, labels, distance, t):
    """Algorithm 1 after MDAV, with lists; the larger of two groups keeps its number."""
    groups = {label: np.flatnonzero(labels == label).tolist() for label in np.unique(labels)}
    while True:
        far = max(sorted(groups), key=lambda label: distance(np.array(groups[label])))
        if distance(np.array(groups[far])) <= t + 1e-12:
            break
        mean = X[groups[far]].mean(axis=0)
        others = [label for label in sorted(groups) if label != far]
        near = min(others, key=lambda label: ((X[groups[label]].mean(axis=0) - mean) ** 2).sum())
        kept, lost = (far, near) if len(groups[far]) > len(groups[near]) else (near, far)
        groups[kept] += groups.pop(lost)
    merged = np.empty(len(X), dtype=int)
    for label, rows in groups.items():
        merged[rows] = label
    return number_by_first_record(merged)


def table(seed, n, ties):
    rng = np.random.default_rng(seed)
    codes = rng.integers(6, size=n) if ties else rng.permutation(n)
    return rng.normal(size=(n, 3)), np.unique(codes, return_inverse=True)[1]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("n", "k", "t"), [(30, 2, 0.1), (47, 3, 0.2), (61, 4, 0.05), (20, 5, 1.0)])
def test_first_against_a_slow_reference(n, k, t, ties):
    X, codes = table(n, n, ties)
    rule = GroupRule.ordered_closeness(codes, t)
    model = TCloseFirst(k).fit(X, requirements=[rule])
    assert model.published_labels_.tolist() == slow_first(X, codes, t, k)
    distances = [
        slow.ordered_distance(codes[model.labels_ == g], codes) for g in set(model.labels_)
    ]
    assert max(distances) <= t + 1e-9
    if not ties:
        assert (model.labels_ == model.published_labels_).all()


@pytest.mark.parametrize("kind", ["ordered", "equal"])
@pytest.mark.parametrize(("n", "k", "t"), [(30, 2, 0.2), (47, 3, 0.3), (61, 4, 0.25), (20, 5, 1.0)])
def test_merge_against_a_slow_reference(n, k, t, kind):
    X, codes = table(n, n, ties=True)
    if kind == "ordered":
        rule, far = GroupRule.ordered_closeness(codes, t), slow.ordered_distance
    else:
        rule, far = GroupRule.equal_closeness(codes, t), slow.equal_distance
    model = TCloseMerge(k).fit(X, requirements=[rule])

    def distance(rows):
        # Rounded, so that ties are ties in both.
        return round(far(codes[rows].tolist(), codes.tolist()), 12)

    assert model.labels_.tolist() == slow_merge(X, MDAV(k).fit_predict(X), distance, t)
    assert (model.labels_ == model.published_labels_).all()


@pytest.mark.parametrize("method", [TCloseFirst, TCloseMerge])
def test_other_requirements_are_met_as_well(method):
    X, codes = table(3, 120, ties=True)
    units = np.random.default_rng(3).integers(30, size=120)
    rules = [GroupRule.distinct(units, 4), GroupRule.ordered_closeness(codes, 0.2)]
    labels = method(2).fit(X, requirements=rules).labels_
    for group in np.unique(labels):
        assert slow.distinct(units[labels == group]) >= 4
        assert slow.ordered_distance(codes[labels == group], codes) <= 0.2 + 1e-9


def test_what_a_method_cannot_work_with_is_refused():
    X, codes = table(0, 20, ties=True)
    ordered, equal = GroupRule.ordered_closeness(codes, 0.5), GroupRule.equal_closeness(codes, 0.5)
    with pytest.raises(ParameterError, match="of ordered values; got only values without an order"):
        TCloseFirst(2).fit(X, requirements=[equal])
    with pytest.raises(ParameterError, match="exactly one column of ordered values; got 2 columns"):
        TCloseFirst(2).fit(X, requirements=[ordered, ordered])
    with pytest.raises(ParameterError, match="exactly one column; got 2 columns"):
        TCloseMerge(2).fit(X, requirements=[ordered, equal])
    with pytest.raises(ParameterError, match="got none"):
        TCloseMerge(2).fit(X, requirements=[GroupRule.distinct(codes, 2)])
    TCloseFirst(2).fit(X, requirements=[ordered, equal])
