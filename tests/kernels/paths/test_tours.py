from itertools import pairwise

import numpy as np
import pytest

from microagg.kernels.paths.tours import flip, splice
from microagg.kernels.paths.walks import (
    begin_insertion,
    insert_more,
    room_for_insertion,
    write_path,
)
from microagg.orderings.tsp import near_neighbours, shorten
from microagg.orderings.walks import walk


def edges(tour):
    return {frozenset(pair) for pair in zip(tour.tolist(), np.roll(tour, -1).tolist())}


def places(tour):
    place = np.empty_like(tour)
    place[tour] = np.arange(len(tour))
    return place


@pytest.mark.parametrize("seed", range(30))
def test_a_flip_changes_two_edges(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 20))
    tour = rng.permutation(n)
    before, place = edges(tour), places(tour)
    i, gap = int(rng.integers(n)), int(rng.integers(2, n - 2))
    a, b, c, d = (int(tour[at % n]) for at in (i, i + 1, i + gap, i + gap + 1))
    if seed % 2:
        a, b, c, d = b, a, d, c
    flip(tour, place, a, b, c, d)
    assert place.tolist() == places(tour).tolist()
    gone, new = {frozenset((a, b)), frozenset((c, d))}, {frozenset((a, c)), frozenset((b, d))}
    assert edges(tour) == (before - gone) | new


@pytest.mark.parametrize("keeps_direction", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_a_splice_moves_a_segment(seed, keeps_direction):
    rng = np.random.default_rng(seed)
    n, length = int(rng.integers(8, 20)), int(rng.integers(1, 4))
    tour = rng.permutation(n)
    old, place = edges(tour), places(tour)
    start, at = int(rng.integers(n)), int(rng.integers(0, n - length - 2))
    before, first, last, behind = (
        int(tour[i % n]) for i in (start - 1, start, start + length - 1, start + length)
    )
    left, right = (int(tour[(start + length + at + i) % n]) for i in (0, 1))
    splice(tour, place, before, first, last, behind, left, right, keeps_direction)
    assert place.tolist() == places(tour).tolist()
    near_left, near_right = (first, last) if keeps_direction else (last, first)
    gone = [(before, first), (last, behind), (left, right)]
    new = [(before, behind), (left, near_left), (near_right, right)]
    assert edges(tour) == (old - set(map(frozenset, gone))) | set(map(frozenset, new))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_no_move_between_neighbours_is_left(d):
    X = np.random.default_rng(d).normal(size=(150, d))
    apart = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    neighbours = near_neighbours(X)
    for row in range(150):
        assert neighbours[row].tolist() == np.argsort(apart[row], kind="stable")[1:11].tolist()
    start = walk(X, np.arange(150), 0)
    tour = shorten(X, start, neighbours)
    assert sorted(tour.tolist()) == list(range(150))
    length = apart[tour, np.roll(tour, -1)].sum()
    assert length <= apart[start, np.roll(start, -1)].sum()
    after, place = np.roll(tour, -1), places(tour)
    for a in range(150):
        for c in neighbours[a]:
            b, e = after[place[a]], after[place[c]]
            assert apart[a, c] + apart[b, e] >= apart[a, b] + apart[c, e] - 1e-9


def slow_walk_within(X, members, entry):
    """Cheapest insertion as the words say: every record at every place, again and again."""

    def distance(a, b):
        return np.sqrt(((X[a] - X[b]) ** 2).sum())

    others = [row for row in members if row != entry]
    if not others:
        return [entry]
    last = max(others, key=lambda row: (distance(entry, row), -row))
    path = [entry, last]
    waiting = [row for row in others if row != last]
    while waiting:
        _, row, place = min(
            (distance(a, row) + distance(row, b) - distance(a, b), row, place)
            for row in waiting
            for place, (a, b) in enumerate(pairwise(path))
        )
        path.insert(place + 1, row)
        waiting.remove(row)
    return path


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 40])
def test_the_walk_within_a_group_inserts_where_it_is_cheapest(size):
    X = np.random.default_rng(size).normal(size=(50, 3))
    members = np.sort(np.random.default_rng(size).permutation(50)[:size])
    path = np.empty(size, dtype=np.intp)
    insertion = room_for_insertion(size, X.shape[1])
    begin_insertion(X, insertion, members, members[size // 2])
    insert_more(X, insertion, size)
    write_path(insertion, path)
    assert path.tolist() == slow_walk_within(X, members, members[size // 2])
