"""mu-Approx against slow references of the forest and of taking trees apart."""

import numpy as np
import pytest

from microagg.core.progress import listening
from microagg.partitions import MuApprox, mu_approx
from microagg.partitions.mu_approx import tree_groups
from tests.references import (
    close_with_nearest_and_split,
    number_by_first_record,
    squared_distances,
    sse,
)


def forest(apart, k):
    """The neighbours of every record in the forest, and the roots; `apart` is the distances."""
    trees = {row: [row] for row in range(len(apart))}  # by root
    edges = {row: set() for row in range(len(apart))}
    while small := [root for root, tree in trees.items() if len(tree) < k]:
        found = []
        for root in small:
            outside = np.delete(np.arange(len(apart)), trees[root])
            row = outside[apart[root, outside].argmin()]
            found.append((-apart[root, row], root, int(row)))
        _, root, row = min(found)
        connect(edges, root, row)
        joined = next(other for other, tree in trees.items() if row in tree)
        trees[joined] += trees.pop(root)
    return edges, list(trees)


def connect(edges, row, other):
    edges[row].add(other)
    edges[other].add(row)


def branch(edges, row, parent):
    """The records behind `row`, seen from its parent."""
    rows = [(row, parent)]
    for here, before in rows:
        rows += [(other, here) for other in edges[here] if other != before]
    return [here for here, _ in rows]


def cut_off(apart, edges, row, branches):
    """Take branches off a record; the nearest holds the others together; returns its root."""
    first, *others = sorted(branches, key=lambda other: (apart[other, row], other))
    for other in branches:
        edges[row].remove(other)
        edges[other].remove(row)
    for other in others:
        connect(edges, first, other)
    return first


def divide(apart, edges, root, k):
    size = len(branch(edges, root, None))
    while True:
        sizes = {row: len(branch(edges, row, root)) for row in edges[root]}
        child = max(sizes, key=lambda row: (sizes[row], apart[row, root], -row))
        if size - sizes[child] >= k - 1:
            break
        root = child
    if size - sizes[child] == k - 1:
        return root, cut_off(apart, edges, child, edges[child] - {root})
    if sizes[child] >= k:
        return root, cut_off(apart, edges, root, {child})
    taken = {child} if sizes[child] == k - 1 else set()
    for row in sorted(sizes, key=lambda row: (apart[row, root], row)):
        if sum(sizes[other] for other in taken) < k - 1:
            taken.add(row)
    exactly = sum(sizes[row] for row in taken) == k - 1
    return root, cut_off(apart, edges, root, edges[root] - taken if exactly else taken)


def reference(X, k):
    apart = np.array([squared_distances(X, point) for point in X])
    edges, waiting = forest(apart, k)
    labels = np.full(len(X), -1)
    while waiting:
        root = waiting.pop()
        rows = branch(edges, root, None)
        if len(rows) > max(2 * k - 1, 3 * k - 5):
            waiting += divide(apart, edges, root, k)
        else:
            labels[rows] = labels.max() + 1
    return labels


def cases(count):
    rng = np.random.default_rng(0)
    for case in range(count):
        n, d = int(rng.integers(1, 90)), int(rng.integers(1, 6))
        k = int(rng.integers(1, min(n, 10) + 1))
        yield (
            [
                rng.normal(size=(n, d)),
                rng.standard_cauchy((n, d)),
                rng.integers(0, 4, (n, d)).astype(float),  # ties, copies
                np.cumsum(np.arange(n * 1.0))[:, None] * np.ones(d),  # all to the left: one tree
            ][case % 4],
            k,
        )


def test_trees_label_for_label():
    for X, k in cases(60):
        expected = number_by_first_record(reference(X, k))
        labels = tree_groups(X, k)
        assert number_by_first_record(labels) == expected
        assert np.bincount(labels).min() >= k
        assert np.bincount(labels).max() <= max(2 * k - 1, 3 * k - 5)


def test_groups_label_for_label():
    for case, (X, k) in enumerate(cases(40)):
        if case % 4 > 1:
            continue  # whether records are equally far from the mean is up to rounding
        order = np.argsort(-squared_distances(X, X.mean(axis=0)), kind="stable")
        labels = np.empty(len(X), dtype=int)
        labels[order] = reference(X[order], k)
        expected = number_by_first_record(close_with_nearest_and_split(X, k, labels))
        assert MuApprox(k=k).fit_predict(X).tolist() == expected


def test_hubs_are_taken_apart():
    rng = np.random.default_rng(0)
    around = rng.normal(size=(60, 30))  # in many columns the centre is nearest to all
    X = np.r_[np.zeros((1, 30)), around / np.linalg.norm(around, axis=1)[:, None]]
    for k in (2, 3, 4, 5, 9):
        labels = tree_groups(X, k)
        assert number_by_first_record(labels) == number_by_first_record(reference(X, k))


def test_equal_records_share_groups():
    X = np.repeat(np.arange(6.0), 40)[:, None]
    assert sse(X, MuApprox(k=4).fit_predict(X)) == 0.0


def test_progress_is_reported_and_changes_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 2))
    labels = MuApprox(k=3).fit_predict(X).tolist()
    monkeypatch.setattr(mu_approx, "_WORK_PER_CALL", 1)
    heard = []
    with listening(lambda *message: heard.append(message)):
        assert MuApprox(k=3).fit_predict(X).tolist() == labels
    assert ("taking trees apart", 300, 300) in heard
    assert len({done for task, done, _ in heard if task == "taking trees apart"}) > 20


@pytest.mark.parametrize("n", [4, 5, 7])
def test_fewer_records_than_two_groups_need(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    assert MuApprox(k=4).fit_predict(X).tolist() == [0] * n
