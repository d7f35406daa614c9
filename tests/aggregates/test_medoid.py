"""The categories that stand for a group, against a search of all its records."""

from collections import Counter

import numpy as np
import pytest

from microagg.aggregates.candidates import Categories, candidates_of
from microagg.aggregates.medoid import medoids
from microagg.aggregates.mode import group_modes


def slow_loss(columns, weights, rows, row):
    """What a group loses if it releases the categories of one record: column by column."""
    total = 0.0
    for column in columns:
        there = np.ones(len(weights), bool) if column.known is None else column.known
        points = np.eye(column.n_codes) if column.points is None else column.points
        X, w = points[column.codes[there]], weights[there]
        spread = (w[:, None] * np.square(X - np.average(X, axis=0, weights=w))).sum()
        own = [i for i in rows if there[i]]
        off = np.square(points[column.codes[own]] - points[column.codes[row]]).sum(axis=1)
        total += column.weight * (weights[own] @ off) / spread if spread > 1e-12 else 0.0
    return total


def drawn_columns(rng, n, *, gaps):
    known = [rng.random(n) < 0.7 if gaps else None for _ in range(3)]
    for own in (own for own in known if own is not None):
        own[:2] = True
    return [
        Categories(rng.integers(0, 3, n), None, known[0]),
        Categories(rng.integers(0, 4, n), np.arange(4.0)[:, None], known[1], 2.0),
        Categories(rng.integers(0, 2, n), None, known[2], 0.5),
    ]


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_record_of_a_group_loses_less(gaps, weighted):
    rng = np.random.default_rng(4)
    for n in (4, 40, 200):
        columns = drawn_columns(rng, n, gaps=gaps)
        labels = np.unique(rng.integers(0, max(1, n // 5), n), return_inverse=True)[1]
        weights = rng.integers(1, 5, n) / 4.0 if weighted else np.ones(n)
        found = candidates_of(columns, labels, weights if weighted else None)
        chosen = medoids(found)
        complete = np.logical_and.reduce(
            [np.ones(n, bool) if c.known is None else c.known for c in columns]
        )
        assert found.groups[chosen].tolist() == sorted({*labels[complete].tolist()})
        for at in chosen:
            rows = np.flatnonzero(labels == found.groups[at])
            losses = [slow_loss(columns, weights, rows, i) for i in rows if complete[i]]
            own = slow_loss(columns, weights, rows, found.rows[at])
            assert complete[found.rows[at]]
            assert labels[found.rows[at]] == found.groups[at]
            assert found.losses[at] == pytest.approx(own, abs=1e-12)
            assert own <= min(losses) + 1e-9


def test_candidates_are_the_combinations_of_a_group_each_once():
    rng = np.random.default_rng(1)
    columns = drawn_columns(rng, 60, gaps=False)
    labels = np.unique(rng.integers(0, 9, 60), return_inverse=True)[1]
    found = candidates_of(columns, labels)
    shown = list(zip(labels, *(c.codes for c in columns), strict=True))
    assert sorted(shown[row] for row in found.rows) == sorted({*shown})
    assert all(shown.index(shown[row]) == row for row in found.rows)


def test_ties_favour_no_code():
    # Every pair of records is a tie between the codes 0 and 1.
    codes, labels = np.tile([0, 1], 500), np.repeat(np.arange(500), 2)
    assert Counter(group_modes(codes, labels).tolist()) == {0: 250, 1: 250}
    columns = [Categories(codes), Categories(1 - codes)]
    found = candidates_of(columns, labels)
    shown = codes[found.rows[medoids(found)]]
    assert Counter(shown.tolist()) == {0: 250, 1: 250}


def test_a_tie_goes_to_what_is_under_represented():
    # Groups 0 to 2 release 0 and lose a 1 each; group 3 could release either.
    codes = np.array([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1])
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3])
    assert group_modes(codes, labels).tolist() == [0, 0, 0, 1]
    assert group_modes(1 - codes, labels).tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("weighted", [False, True])
def test_modes_are_most_frequent(weighted):
    rng = np.random.default_rng(7)
    for n in (1, 30, 300):
        codes = rng.integers(0, 5, n)
        labels = np.unique(rng.integers(0, n // 6 + 1, n), return_inverse=True)[1]
        weights = rng.integers(1, 4, n) / 10.0 if weighted else np.ones(n)
        for group, mode in enumerate(group_modes(codes, labels, weights if weighted else None)):
            held = np.bincount(codes[labels == group], weights=weights[labels == group])
            assert held[mode] == pytest.approx(held.max())


def test_rounding_makes_no_difference_between_equal_weights():
    codes, weights = np.array([0, 0, 0, 1, 1]), np.array([0.1, 0.1, 0.1, 0.2, 0.1])
    # 0.1 + 0.1 + 0.1 is not 0.2 + 0.1 in floats, and yet a tie: it goes to the first record.
    assert group_modes(codes, np.zeros(5, np.intp), weights).tolist() == [0]
    assert group_modes(1 - codes, np.zeros(5, np.intp), weights).tolist() == [1]
