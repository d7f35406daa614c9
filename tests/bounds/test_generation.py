"""Column generation stays below every partition, wherever it stops, and reaches the program."""

import math
import time
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from microagg.bounds import generation, proves_optimal
from microagg.bounds.fast import neighbour_shares
from microagg.bounds.master import Duals
from microagg.kernels.bounds.pricing import group_errors, violated_triples
from microagg.partitions import ICSM, MDAV
from tests.bounds.references import exact_sse, in_chunks, optimal_sse, tiny_tables


def begun(X, k, labels=None, deadline=math.inf):
    labels = in_chunks(X, k) if labels is None else labels
    return generation.Generation(X, k, labels, neighbour_shares(X, k), deadline)


def generated(X, k, labels=None, deadline=math.inf):
    work = begun(X, k, labels, deadline)
    while work.advance():
        pass
    return work.bound


def searchable(n_tables, seed, largest=9):
    return (
        (X, k) for X, k in tiny_tables(n_tables, seed, largest) if 2 <= k <= len(X) // 2 and X.any()
    )


@pytest.mark.slow
def test_never_above_the_optimum_and_never_below_the_fast_one():
    for X, k in searchable(300, seed=1):
        shares = neighbour_shares(X, k)
        bound = generated(X, k)
        assert shares.bound <= bound <= optimal_sse(X, k), (X.tolist(), k)


@pytest.mark.parametrize("n_nodes", [0, 1, 4, 10_000])
def test_any_duals_and_cuts_give_a_bound_also_when_cut_short(n_nodes, monkeypatch):
    monkeypatch.setattr(generation, "_CANDIDATES", 4 if n_nodes == 4 else 512)
    rng = np.random.default_rng(2)
    for X, k in searchable(500, seed=3 + n_nodes, largest=8):
        work, optimum = begun(X, k), optimal_sse(X, k)
        unit, work.bound, work.n_nodes = float(optimum) / len(X), -np.inf, n_nodes
        triples = np.array(list(combinations(range(len(X)), 3)))
        work.master.triples = triples[rng.random(len(triples)) < 0.2]
        penalties = -unit * rng.exponential(size=len(work.master.triples))
        work._price(Duals(unit * rng.normal(1.5, 1.0, size=len(X)), penalties))
        assert -np.inf < work.bound <= optimum, (X.tolist(), k)


def all_groups(n, k):
    groups = [rows for s in range(k, 2 * k) for rows in combinations(range(n), s)]
    return np.array([(*rows, *[-1] * (2 * k - 1 - len(rows))) for rows in groups])


@pytest.mark.parametrize(("n", "k"), [(14, 2), (13, 3), (12, 4)])
@pytest.mark.slow
def test_reaches_the_program_over_all_groups(n, k, monkeypatch):
    monkeypatch.setattr(generation.Master, "cut", lambda *_: False)
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(n, 2))
        groups = all_groups(n, k)
        errors = [float(exact_sse(X, [r for r in rows if r >= 0])) for rows in groups]
        members = (groups[:, :, None] == np.arange(n)).any(axis=1).T.astype(float)
        program = linprog(errors, A_eq=members, b_eq=np.ones(n))
        bound = generated(X, k)
        assert program.fun * (1 - 1e-6) < bound <= program.fun * (1 + 1e-9)


@pytest.mark.slow
def test_cuts_close_most_of_the_rest():
    with_cuts, without, optimum = [], [], []
    for seed in range(12):
        X = np.random.default_rng(seed).normal(size=(11, 2))
        with_cuts.append(generated(X, 3))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(generation.Master, "cut", lambda *_: False)
            without.append(generated(X, 3))
        optimum.append(float(optimal_sse(X, 3)))
    gaps = np.array(optimum) - [with_cuts, without]
    assert gaps[0].sum() < 0.5 * gaps[1].sum()
    assert any(map(proves_optimal, optimum, with_cuts))


def test_stopping_early_keeps_what_was_reached():
    X = np.random.default_rng(4).normal(size=(150, 3))
    work = begun(X, 3)
    bounds = [work.bound]
    for _ in range(4):
        work.advance()
        bounds.append(work.bound)
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0]
    late = generated(X, 3, deadline=time.monotonic())
    assert late == bounds[0]


@pytest.mark.parametrize(("lost", "goes_on"), [(0.0, False), (1.0, True)])
def test_searches_that_were_cut_short_get_more_nodes_before_the_end(monkeypatch, lost, goes_on):
    work = begun(np.random.default_rng(5).normal(size=(40, 2)), 5)
    solution = work.master.solve(10.0)
    monkeypatch.setattr(work, "_price", lambda _duals: (work.master.groups[:0], lost))
    monkeypatch.setattr(work.master, "cut", lambda _weights: False)
    assert work._find_groups(solution) is goes_on
    assert (work.n_nodes > generation._FIRST_NODES) is goes_on
    work.n_nodes = generation._MOST_NODES
    assert not work._find_groups(solution)


def test_groups_that_do_not_change_the_program_may_come_in_several_turns(monkeypatch):
    X = np.random.default_rng(4).normal(size=(10, 2))
    work = begun(X, 2)
    apart = np.square(X[:, None] - X).sum(axis=2)
    farthest = np.argsort(-np.triu(apart), axis=None)
    expensive = iter(np.column_stack([*np.divmod(farthest, 10), np.full(100, -1)]))
    monkeypatch.setattr(work, "_price", lambda _duals: (next(expensive)[None], 0.0))
    before, solution = len(work.master.groups), work.master.solve(10.0)
    work._find_groups(solution)
    assert len(work.master.groups) > before + 1


def test_violated_triples_are_those_of_a_plain_count():
    rng = np.random.default_rng(5)
    groups = np.array([[*rng.choice(12, size=3, replace=False), -1, -1] for _ in range(25)])
    weights = rng.random(25)
    rows, of = np.divmod(
        np.sort([r * 25 + g for g, group in enumerate(groups) for r in group[:3]]), 25
    )
    begins = np.searchsorted(rows, np.arange(13))
    triples, excess = np.empty((300, 3), dtype=np.intp), np.empty(300)
    expected = {}
    for triple in combinations(range(12), 3):
        held = np.isin(groups, triple).sum(axis=1) >= 2
        pairs = [np.isin(groups, pair).sum(axis=1) == 2 for pair in combinations(triple, 2)]
        if weights[held].sum() > 1.02 and np.all([pair.any() for pair in pairs]):
            expected[triple] = weights[held].sum() - 1.0
    for function in (violated_triples, violated_triples.py_func):
        count = function(groups, weights, begins, of, 0.02, triples, excess)
        found = dict(zip(map(tuple, triples[:count].tolist()), excess[:count].tolist()))
        # A triple may have two pairs that share a group through the first record only.
        assert found.keys() >= expected.keys()
        assert found == pytest.approx({**found, **expected})


def test_errors_of_groups():
    X = np.random.default_rng(6).normal(size=(9, 3))
    groups = np.array([[0, 1, -1], [2, 5, 8], [3, 4, 7]])
    errors = np.empty(3)
    group_errors(X, groups, errors)
    assert errors == pytest.approx([float(exact_sse(X, g[g >= 0])) for g in groups])


@pytest.mark.parametrize("k", [3, 5])
def test_comes_near_to_a_good_partition(k):
    X = np.random.default_rng(7).normal(size=(90, 3))
    groups = MDAV(k=k).fit(X)
    good = ICSM(k=k, initial=groups.labels_, n_jobs=1).fit(X)
    bound = generated(X, k, groups.labels_)
    assert 0.95 * good.sse_ < bound <= good.sse_
    assert not proves_optimal(groups.sse_, bound)
