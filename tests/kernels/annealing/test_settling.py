"""Steps that gain until none is left: they end, and then none is left."""

from itertools import product

import numpy as np
import pytest

from microagg.kernels.annealing.arrangement import WORK, make_arrangement
from microagg.kernels.annealing.settling import settle
from microagg.partitions.search.neighbours import near_lists
from microagg.requirements.coded import GroupRule, failing_rules, pack
from tests.kernels.annealing.books import assert_the_books_balance
from tests.references import sse

NO_END = 10**7  # in units of work: a thousand times what any search here takes


def settled(X, labels, k, *rules):
    """Return the groups after all steps that gain; fail if there is no end to them."""
    n = len(X)
    arrangement = make_arrangement(X, near_lists(X, n - 1), labels, n // k, seed=0)
    packed, waiting, rows = pack(rules, k, n), np.ones(n, dtype=np.bool_), np.arange(n)
    while waiting.any() and arrangement.counters[WORK] < NO_END:
        settle(arrangement, packed, rows, waiting, NO_END)
    assert not waiting.any()
    return arrangement, packed


def test_a_tight_group_far_from_zero_comes_to_an_end():
    """An exchange of two equal records gains as much as their group's mean is rounded."""
    X = np.array([[-0.38822378019421355]] * 3 + [[-0.3882237799095161]])
    arrangement, _ = settled(X, np.array([0, 0, 1, 1]), 2)
    assert np.bincount(arrangement.labels).tolist() == [2, 2]


@pytest.mark.parametrize("seed", range(20))
def test_tight_groups_anywhere_come_to_an_end(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 30)), int(rng.integers(1, 4))
    X = rng.normal(size=2) + rng.choice([0.0, 1e-12, 3e-10, 1e-9, 2e-9], size=(n, 2))
    labels = np.arange(n) % (n // k)
    arrangement, _ = settled(X, labels, k)
    assert np.bincount(arrangement.labels).min() >= k
    assert arrangement.errors.sum() <= sse(X, labels) * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_at_the_end_no_move_or_exchange_gains(seed):
    rng = np.random.default_rng(seed)
    n, k = 24, 3
    X, codes = rng.normal(size=(n, 2)), np.repeat([0, 1, 2], n // 3)
    arrangement, rules = settled(X, np.arange(n) % 8, k, GroupRule.distinct(codes, 2))
    assert_the_books_balance(arrangement)
    labels, error = arrangement.labels, arrangement.errors.sum()
    assert (failing_rules(rules, labels) == -2).all()
    changed = []
    for row, other in product(range(n), range(n)):
        changed.append(labels.copy())
        changed[-1][row] = labels[other]
        changed.append(labels.copy())
        changed[-1][[row, other]] = labels[[other, row]]
    meeting = [own for own in changed if (failing_rules(rules, own) == -2).all()]
    assert len(meeting) > n
    assert min(sse(X, own) for own in meeting) >= error * (1.0 - 1e-8)
