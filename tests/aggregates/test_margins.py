"""Keeping the totals of categories, against every possible choice on tiny tables."""

from itertools import product

import numpy as np
import pytest

from microagg.aggregates import margin_program
from microagg.aggregates.candidates import Categories, candidates_of
from microagg.aggregates.margins import EXTRA_LOSS, keep_margins
from microagg.aggregates.medoid import medoids


def drawn(rng, n, k, *, columns=2, codes=3, weighted=False):
    labels = np.minimum(np.arange(n) // k, n // k - 1)
    place = rng.random(n)
    own = [
        Categories(np.minimum((place + 0.5 * rng.random(n)) / 1.5 * codes, codes - 1).astype(int))
        for _ in range(columns)
    ]
    weights = rng.integers(1, 6, n).astype(float) if weighted else None
    return candidates_of(own, labels, weights)


def nothing_else(found):
    return np.zeros((int(found.labels.max()) + 1, found.margins.shape[1]), dtype=np.intp)


def slow_deviation(found, chosen):
    """The sum over categories of |released - before|, counted record by record."""
    released = np.zeros(found.n_margins)
    before = np.zeros(found.n_margins)
    shown = dict(zip(found.groups[chosen].tolist(), found.margins[chosen].tolist(), strict=True))
    for label, own, weight in zip(found.labels.tolist(), found.members, found.weights, strict=True):
        for after, margin in zip(shown[label], own, strict=True):
            released[after] += weight
            before[margin] += weight
    return float(np.abs(released - before).sum())


def every_choice(found):
    groups = np.unique(found.groups)
    yield from (np.array(c) for c in product(*(np.flatnonzero(found.groups == g) for g in groups)))


@pytest.mark.parametrize("weighted", [False, True])
def test_is_near_the_best_of_all_choices(weighted):
    rng = np.random.default_rng(0)
    excess, optimal = 0.0, 0
    for _ in range(25):
        found = drawn(rng, 15, 3, weighted=weighted)
        least = medoids(found)
        kept = keep_margins(found, least, nothing_else(found))
        limit = (1 + EXTRA_LOSS) * found.losses[least].sum() * (1 + 1e-9)
        within = [c for c in every_choice(found) if found.losses[c].sum() <= limit]
        best = min(slow_deviation(found, c) for c in within)
        assert kept.lower_bound <= best + 1e-6
        assert kept.deviation == pytest.approx(slow_deviation(found, kept.chosen))
        assert kept.least_loss_deviation == pytest.approx(slow_deviation(found, least))
        assert kept.loss == pytest.approx(found.losses[kept.chosen].sum())
        assert found.losses[kept.chosen].sum() <= limit
        assert best - 1e-9 <= kept.deviation <= kept.least_loss_deviation + 1e-9
        excess += kept.deviation - best
        optimal += kept.deviation <= best + 1e-9
    assert optimal >= 23
    assert excess <= 0.02 * 15 * 2 * 25 * (3 if weighted else 1)


@pytest.mark.parametrize("most", [10_000, 300], ids=["whole program", "sample"])
def test_totals_come_much_nearer(most, monkeypatch):
    monkeypatch.setattr(margin_program, "MOST_CANDIDATES", most)
    rng = np.random.default_rng(1)
    found = drawn(rng, 2000, 5, columns=3, codes=6)
    least = medoids(found)
    kept = keep_margins(found, least, nothing_else(found))
    again = keep_margins(found, least, nothing_else(found))
    assert kept.chosen.tolist() == again.chosen.tolist()
    assert kept.deviation <= 0.1 * kept.least_loss_deviation
    assert kept.lower_bound <= kept.deviation
    assert kept.loss <= (1 + EXTRA_LOSS) * kept.least_loss * (1 + 1e-9)
    assert found.groups[kept.chosen].tolist() == list(range(400))


def test_the_bound_is_above_zero_where_groups_allow_too_little():
    # One group in ten has a single 1 among five: the others are all 0, or all 1.
    codes = np.zeros(50, dtype=np.intp)
    codes[0], codes[5:25] = 1, 1
    found = candidates_of([Categories(codes)], np.arange(50) // 5)
    kept = keep_margins(found, medoids(found), nothing_else(found))
    assert kept.deviation == slow_deviation(found, kept.chosen) == 2.0
    # Divided groups may lose a tenth more: 4/5 - 1/5 of a group for 1/5 of it, a 30th of it.
    assert 1.5 <= kept.lower_bound <= 2.0


def test_nothing_is_changed_if_totals_are_kept_anyway():
    codes = np.repeat([0, 1, 2], 6)
    found = candidates_of([Categories(codes)], np.arange(18) // 3)
    kept = keep_margins(found, medoids(found), nothing_else(found))
    assert (kept.deviation, kept.lower_bound, kept.loss) == (0.0, 0.0, 0.0)


def test_groups_without_a_candidate_count_with_what_they_release():
    # The last group has no value, and is said to release code 1.
    codes = np.array([0, 0, 1, 0, 0, 1, 0, 0, 0])
    known = np.arange(9) < 6
    labels = np.arange(9) // 3
    found = candidates_of([Categories(codes, None, known)], labels)
    others = np.array([[0], [0], [1]])
    kept = keep_margins(found, medoids(found), others)
    # As if the last three were 0, 0 and 1 in the original, as the others are: 6 and 3.
    assert kept.deviation == kept.least_loss_deviation == 0.0
    away = keep_margins(found, medoids(found), np.zeros((3, 1), dtype=np.intp))
    assert away.least_loss_deviation == pytest.approx(6.0)


def test_groups_without_a_choice_keep_what_they_have():
    known = np.array([True, False, True, False])
    columns = [
        Categories(np.array([0, 1, 0, 1])),
        Categories(np.array([0, 0, 1, 0]), known=known),
    ]
    found = candidates_of(columns, np.array([0, 0, 1, 1]))
    least = medoids(found)
    assert len(found.groups) == len(least)
    kept = keep_margins(found, least, nothing_else(found))
    assert kept.chosen.tolist() == least.tolist()
    assert kept.deviation == kept.least_loss_deviation == kept.lower_bound == 4.0
