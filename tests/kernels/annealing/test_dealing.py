"""Groups that merge, are split or are shared out anew: books that balance, rules that hold."""

import numpy as np
import pytest

from microagg.kernels.annealing.arrangement import make_arrangement
from microagg.kernels.annealing.dealing import deal_in_two, merge_with, share_out
from microagg.kernels.annealing.steps import anneal
from microagg.partitions.search.neighbours import near_lists
from microagg.requirements.coded import GroupRule, failing_rules, pack
from tests.kernels.annealing.books import assert_the_books_balance

HOT = 1e12  # any loss is small


def begin(seed, n, n_groups, kind="ordered_closeness", t=1.0, k=2):
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, 2)), rng.integers(9, size=n)
    codes = np.unique(codes, return_inverse=True)[1]
    arrangement = make_arrangement(X, near_lists(X, 8), np.arange(n) % n_groups, n // k, seed)
    return arrangement, pack([getattr(GroupRule, kind)(codes, t)], k, n), codes


def test_neighbours_in_the_order_of_codes_part():
    X = np.random.default_rng(0).normal(size=(11, 2))
    rows = np.random.default_rng(1).permutation(11)
    goes = share_out(X, rows, 0, 5)
    assert (goes[0:10:2] != goes[1:10:2]).all()


def test_a_pair_goes_where_it_costs_least():
    X = np.array([[0.0], [9.0], [8.0], [1.0]])
    assert share_out(X, np.arange(4), 0, 1).tolist() == [False, True, True, False]


@pytest.mark.parametrize("partner", [-1, 1])
def test_both_halves_resemble_what_they_come_from(partner):
    arrangement, rules, codes = begin(0, 48, 4)
    before = np.isin(arrangement.labels, [0, max(0, partner)])
    deal_in_two(arrangement, rules, 0, 0, partner, HOT)
    assert_the_books_balance(arrangement)
    groups = np.unique(arrangement.labels[before])
    assert len(groups) == 2
    for group in groups:
        own = np.bincount(codes[arrangement.labels == group], minlength=9)
        # Of so many equal codes in a row, half go either way, up to one at each end.
        assert (abs(own - np.bincount(codes[before], minlength=9) / 2) <= 1).all()


@pytest.mark.parametrize("partner", [-1, 1])
def test_what_breaks_a_rule_is_undone(partner):
    arrangement, rules, _ = begin(0, 48, 4, t=0.0)
    before = arrangement.labels.copy()
    deal_in_two(arrangement, rules, 0, 0, partner, HOT)
    assert (arrangement.labels == before).all()
    assert_the_books_balance(arrangement)


def test_at_the_end_no_step_loses():
    arrangement, rules, _ = begin(0, 48, 4)
    error = arrangement.errors.sum()
    for row in range(48):
        partner = (arrangement.labels[row] + 1) % 4
        deal_in_two(arrangement, rules, 0, row, partner, 0.0)
        assert arrangement.errors.sum() <= error * (1 + 1e-12)
        error = arrangement.errors.sum()
    assert_the_books_balance(arrangement)


def test_the_smaller_group_joins_the_larger():
    arrangement, _, _ = begin(0, 50, 4)
    merge_with(arrangement, 0, 3, 0.0)
    assert len(np.unique(arrangement.labels)) == 4
    merge_with(arrangement, 0, 3, HOT)
    assert np.unique(arrangement.labels).tolist() == [0, 1, 2]
    assert_the_books_balance(arrangement)


@pytest.mark.parametrize("kind", ["ordered_closeness", "equal_closeness"])
def test_annealing_keeps_the_rule(kind):
    arrangement, rules, _ = begin(1, 90, 1, kind, t=0.3)
    anneal(arrangement, rules, 200_000, 200_000, 1.0, 1e-3)
    assert_the_books_balance(arrangement)
    numbered = np.unique(arrangement.labels, return_inverse=True)[1]
    assert numbered.max() > 3
    assert (failing_rules(rules, numbered) == -2).all()
