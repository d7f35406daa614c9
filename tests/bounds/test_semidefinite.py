"""The semidefinite bound stays below every partition, whatever its multipliers, and comes near."""

import math
import time
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.bounds import lower_bound, proof, regions, semidefinite
from microagg.bounds.fast import Shares, list_for_bound, neighbour_shares, prices_among
from microagg.bounds.proof import Cuts, Proof, RegionProof, RegionSets, prove
from microagg.bounds.semidefinite import Relaxation, Start
from microagg.bounds.sets import find_sets, no_sets
from microagg.core.progress import listening
from microagg.kernels.bounds.semidefinite import (
    Pairs,
    find_cuts,
    least_shares,
    move_multipliers,
    move_set_multipliers,
    project_rows,
)
from microagg.partitions import ICSM, MDAV
from tests.bounds.references import in_chunks, optimal_sse, tiny_tables


def splittable(n_tables, seed, largest=9):
    return ((X, k) for X, k in tiny_tables(n_tables, seed, largest) if 2 <= k <= len(X) // 2)


def relaxation(X, k, most=99, labels=None, deadline=math.inf):
    labels = in_chunks(X, k) if labels is None else labels
    prices = prices_among(list_for_bound(X, k), k)
    parts = regions.split_records(X, labels, most)
    one = len(parts) == 1
    listed = regions.no_pairs(len(X)) if one else regions.list_pairs(X, k, parts, prices)
    return Relaxation(X, k, Start(labels, prices), parts, listed, deadline)


def check_relaxed(X, k, n_proofs=6):
    optimum = optimal_sse(X, k)
    for most in (99, 5):
        work = relaxation(X, k, most)
        for _ in range(n_proofs):
            if not work.advance():
                break
        assert 0.0 <= work.bound <= optimum, (X.tolist(), k, most)


@pytest.mark.slow
def test_not_above_the_optimum():
    for X, k in splittable(60, seed=1, largest=8):
        check_relaxed(X, k, n_proofs=4)


@pytest.mark.slow
def test_thousands_are_not_above_the_optimum():
    for X, k in splittable(1500, seed=2):
        check_relaxed(X, k)


def test_squares_that_underflow_prove_nothing_and_warn_of_nothing():
    tiny = 1e-162 * np.array([4.5, 9.8, 6.0, 8.7, 6.1, 2.6, 16.0, 2.5, 5.5])
    X = np.ones((7, 2))
    X[[0, 1, 1, 2, 3, 4, 5, 5, 6], [1, 0, 1, 1, 0, 0, 0, 1, 1]] = tiny
    assert optimal_sse(X, 2) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lower_bound(X, 2, tightness="tight", time_budget=5.0) == 0.0
        far_apart = 1e-20 * np.random.default_rng(1).normal(size=(8, 2))
        far_apart[:4, 0] = 1e139
        assert relaxation(far_apart, 2).advance()
    assert Shares(np.full(3, 1e-305), 0.0).bound == 0.0
    assert Proof(Shares(np.full(3, 1e-305), 0.0), 0.0).bound == 0.0


def some_sets(m, scale, rng):
    members = [np.flatnonzero(rng.random(m) < rng.random()) for _ in range(rng.integers(0, 4))]
    sizes = np.array([len(own) for own in members], dtype=np.intp)
    joined = np.concatenate([np.empty(0, dtype=np.intp), *members])
    return RegionSets(sizes, joined, scale * rng.exponential(size=len(sizes)) / m)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 3),
    st.integers(0, 3),
    st.sampled_from([1e-9, 1.0, 1e7]),
    st.booleans(),
)
def test_any_multipliers_give_a_bound(seed, k, more, unit, one_region):
    """Drawn at random, most multipliers prove nothing; those near the best prove almost all."""
    rng = np.random.default_rng(seed)
    X = unit * (rng.integers(0, 4, size=(2 * k + more, 2)) + 1e-3 * rng.normal(size=(1, 2)))
    size = float(np.square(X - X.mean(axis=0)).sum() / len(X))
    optimum = optimal_sse(X, k)
    rows = np.arange(len(X))
    parts = [rows] if one_region else [rows[: k + 1], rows[k + 1 :]]
    prices = size * rng.normal(size=len(X)) * rng.choice([0.0, 0.1, 1.0])
    listed = regions.no_pairs(len(X))
    if not one_region:
        listed = regions.list_pairs(X, k, parts, prices)
        drawn = rng.normal(size=len(listed.ends)) * size * rng.choice([0.0, 0.3])
        listed = listed._replace(asymmetric=listed.asymmetric + drawn)
    proofs = []
    for own in parts:
        m = len(own)
        scale = size * rng.choice([0.0, 0.05, 0.5])
        triples = [c for c in combinations(range(m), 3) if rng.random() < 0.3]
        cuts = np.array([(*c, -1, -1) for c in triples], dtype=np.intp).reshape(-1, 5)
        multipliers = scale * rng.exponential(size=len(cuts))
        factor = math.sqrt(scale) * rng.normal(size=(m, m))
        asymmetric = np.subtract.outer(prices[own], prices[own])
        asymmetric += scale * rng.normal(size=(m, m))
        sets = some_sets(m, scale, rng)
        proofs.append(RegionProof(own, factor, asymmetric, Cuts(cuts, multipliers), sets))
    assert prove(X, k, proofs, listed).bound <= optimum
    without = prove(X, k, [own._replace(sets=no_sets()) for own in proofs], listed)
    assert without.gained == 0.0
    shares = without.shares
    for group in combinations(range(len(X)), k):
        own = X[list(group)]
        sse = float(np.square(own - own.mean(axis=0)).sum())
        assert shares.values[list(group)].sum() <= sse * (1 + 1e-9) + shares.margin


def test_the_proof_is_the_formula():
    rng = np.random.default_rng(3)
    X, k = rng.normal(size=(12, 3)), 4
    factor, asymmetric = 0.3 * rng.normal(size=(12, 5)), rng.normal(size=(12, 12))
    cuts = Cuts(np.array([[0, 1, 2, -1, -1], [3, 0, 5, 7, 9]]), np.array([0.5, 0.25]))
    A = np.square(X[:, None] - X).sum(axis=2) / 2 - factor @ factor.T
    A += (asymmetric - asymmetric.T) / 2
    for cut, multiplier in zip(cuts.of, cuts.multipliers, strict=True):
        i, *others = (j for j in cut if j >= 0)
        A[i, i] -= multiplier
        for j in others:
            A[i, j] += multiplier / 2
            A[j, i] += multiplier / 2
        for j, other in combinations(others, 2):
            A[j, other] -= multiplier / 2
            A[other, j] -= multiplier / 2
    expected = [
        min((A[i, i] + np.sort(np.delete(A[i], i))[: s - 1].sum()) / s for s in range(k, 2 * k))
        for i in range(12)
    ]
    whole = RegionProof(np.arange(12), factor, asymmetric, cuts, no_sets())
    shares = prove(X, k, [whole], regions.no_pairs(12)).shares
    assert shares.values == pytest.approx(expected, rel=1e-12)
    assert np.all(shares.values < expected)


def test_a_set_adds_to_its_pairs_and_takes_a_constant():
    X, k, members = np.zeros((9, 1)), 3, np.array([0, 2, 3, 5, 8])
    sets = RegionSets(np.array([5]), members, np.array([0.5]))
    nothing = Cuts(np.empty((0, 5), dtype=np.intp), np.empty(0))
    whole = RegionProof(np.arange(9), np.zeros((9, 1)), np.zeros((9, 9)), nothing, sets)
    costs, gained = proof.region_costs(X, k, whole)
    expected = np.zeros((9, 9))
    expected[np.ix_(members, members)] = 0.5
    expected[members, members] = 0.5 * (1 + 1)  # one record is lacking to a second group
    assert costs == pytest.approx(expected, abs=1e-12)
    assert gained == 0.5 * (1 * 1 + 5)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_sets_hold_for_all_partitions(seed, k):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(6), rng.integers(k, 2 * k + 2, size=6))
    Z = (labels[:, None] == labels) / np.bincount(labels)[labels]
    whole_groups = np.isin(labels, np.flatnonzero(rng.random(6) < 0.5))
    inside = np.flatnonzero(whole_groups ^ (rng.random(len(labels)) < rng.choice([0.02, 0.1, 0.5])))
    terms = RegionSets(np.array([len(inside)]), inside, np.empty(1)).terms(k)
    total = terms.lacking[0] * Z[inside, inside].sum() + Z[np.ix_(inside, inside)].sum()
    assert total <= terms.limits[0] + 1e-9
    assert len(find_sets(Z, k, no_sets()).sizes) == 0


def test_sets_that_are_found_are_violated():
    """Seven records far from all others cannot be one and a half groups of five."""
    Z = np.zeros((17, 17))
    Z[:7, :7], Z[7:, 7:] = 0.8 / 6, 0.8 / 9
    np.fill_diagonal(Z, 0.2)
    found = find_sets(Z, 5, no_sets())
    sets = np.split(found.members, np.cumsum(found.sizes)[:-1])
    assert any(np.array_equal(own, np.arange(7)) for own in sets)
    assert not found.multipliers.any()
    terms = found.terms(5)
    for own, lacking, limit in zip(sets, terms.lacking, terms.limits, strict=True):
        assert lacking * Z[own, own].sum() + Z[np.ix_(own, own)].sum() > limit
    used = found._replace(multipliers=np.arange(len(sets), dtype=float))
    again = find_sets(Z, 5, used)
    assert sorted(again.multipliers) == sorted(used.multipliers)
    for function in (move_set_multipliers, move_set_multipliers.py_func):
        multipliers, costs = np.zeros(len(sets)), np.zeros((17, 17))
        function(terms, Z, np.ones(17), 1.0, multipliers, costs)
        assert np.all(multipliers > 0.0)
        assert costs[0, 0] > costs[0, 1] > 0.0


def test_cuts_hold_for_all_groups():
    """|B & G| <= 1 + pairs within B & G, which is all that a cut says about the group of i."""
    for n_inside in range(5):
        assert n_inside <= 1 + math.comb(n_inside, 2)
    labels = np.repeat(np.arange(5), [3, 4, 5, 3, 5])
    Z = (labels[:, None] == labels) / np.bincount(labels)[labels]
    cuts = np.empty((20 * 10, 5), dtype=np.intp)
    assert find_cuts(Z, 1e-9, cuts, np.empty(200)) == 0


@pytest.mark.parametrize("function", [find_cuts, find_cuts.py_func])
def test_cuts_that_are_found_are_violated(function):
    rng = np.random.default_rng(4)
    Z = rng.random((14, 14)) * (rng.random((14, 14)) < 0.5)
    Z = (Z + Z.T) / 2
    np.fill_diagonal(Z, 0.6)
    cuts, excess = np.empty((14 * 3, 5), dtype=np.intp), np.empty(42)
    count = function(Z, 0.01, cuts, excess)
    assert count > 14
    assert len(np.unique(cuts[:count], axis=0)) == count
    for cut, found in zip(cuts[:count], excess, strict=False):
        i, *others = (j for j in cut.tolist() if j >= 0)
        assert others == sorted(set(others) - {i})
        within = sum(Z[j, other] for j, other in combinations(others, 2))
        assert sum(Z[i, j] for j in others) - Z[i, i] - within == pytest.approx(found)
        assert found > 0.01
    pairs = [(Z[i, j] + Z[i, m] - Z[i, i] - Z[j, m], i) for i, j, m in product_of(14)]
    assert {i for value, i in pairs if value > 0.01} == set(cuts[:count, 0])


def product_of(n):
    return [(i, j, m) for i in range(n) for j, m in combinations(range(n), 2) if i not in (j, m)]


@pytest.mark.parametrize("function", [project_rows, project_rows.py_func])
@pytest.mark.parametrize("others", [np.inf, 0.3])
def test_projected_rows_are_the_nearest(function, others):
    """No direction towards any row that is allowed leads nearer to the goal."""
    rng = np.random.default_rng(5)
    m, k = 9, 3
    for _ in range(20):
        scales = rng.uniform(0.5, 2.0, size=12)
        goal = rng.normal(0.1, 0.3, size=(m, m))
        begins = np.minimum(np.arange(13), 3)  # each of the first three is listed with one other
        pairs = Pairs(begins, np.array([9, 10, 11]), rng.normal(0.1, 0.3, size=3))
        least = np.full(12, -others)
        out, out_pairs = np.empty_like(goal), np.empty(3)
        function(goal, np.arange(m), scales, pairs, least, k, out, out_pairs)
        for i in range(m):
            listed = [9 + i] if i < 3 else []
            ends = np.array([*range(m), *listed])
            units = scales[i] * scales[ends]
            z = np.concatenate([out[i], out_pairs[i : i + 1] if i < 3 else []]) / units
            wanted = np.concatenate([goal[i], pairs.values[i : i + 1] if i < 3 else []]) / units
            assert 1 / 5 - 1e-12 <= z[i] <= 1 / 3 + 1e-12
            assert z.min() >= 0.0
            assert z.max() <= z[i] + 1e-12
            assert z.sum() <= 1.0 + 1e-8
            if math.isinf(others):
                assert z.sum() == pytest.approx(1.0, abs=1e-8)
            pull = scales[ends] ** 2 * (wanted - z)  # minus the gradient, in units of the row
            rest = np.sort(np.delete(pull, i))[::-1]
            rest = np.concatenate([rest, np.full(2 * k, -math.inf)])
            rest = np.sort(np.maximum(rest, -others))[::-1]
            best = max((pull[i] + rest[: s - 1].sum()) / s for s in range(k, 2 * k))
            unlisted = 0.0 if math.isinf(others) else -others * (1.0 - z.sum())
            assert best <= pull @ z + unlisted + 1e-6


def test_least_shares_uncompiled_and_compiled_agree():
    rng = np.random.default_rng(6)
    costs, begins = rng.normal(size=(6, 6)), np.array([0, 1, 1, 2, 2, 2, 2])
    pairs = Pairs(begins, np.array([3, 5]), rng.normal(size=2))
    out = [np.empty(6), np.empty(6)]
    for function, shares in zip((least_shares, least_shares.py_func), out, strict=True):
        function(costs, np.arange(6), pairs, np.full(6, 0.4), 3, shares)
    assert out[0] == pytest.approx(out[1], rel=1e-14)
    row = np.sort([*costs[0, 1:], pairs.values[0], *[0.4] * 4])
    expected = min((costs[0, 0] + row[: s - 1].sum()) / s for s in range(3, 6))
    assert out[0][0] == pytest.approx(expected, rel=1e-12)


def test_multipliers_of_violated_cuts_rise():
    Y, scales = np.full((4, 4), 0.2), np.array([1.0, 2.0, 0.5, 1.0])
    Y[0, 1] = Y[1, 0] = Y[0, 2] = Y[2, 0] = 0.9
    units = np.multiply.outer(scales, scales)
    cuts = np.array([[0, 1, 2], [3, 1, 2]])
    for function in (move_multipliers, move_multipliers.py_func):
        multipliers, costs = np.array([0.0, 1e-3]), np.zeros((4, 4))
        function(cuts, Y * units, scales, 1.0, multipliers, costs)
        assert multipliers[0] > 0.0
        assert multipliers[1] == pytest.approx(1e-3)  # neither violated nor slack
        assert costs[0, 0] == pytest.approx(-multipliers[0])
        assert (costs * units)[1, 2] == pytest.approx(-multipliers[0] / 2)


def test_sums_of_rounded_multipliers_are_exact():
    drawn = np.random.default_rng(7).exponential(size=5000) * 10.0 ** np.arange(5000)[::-1].clip(
        0, 6
    )
    rounded = proof.rounded_down(drawn, drawn.max())
    assert np.all((rounded >= 0.0) & (rounded <= drawn))
    assert rounded.sum() == math.fsum(rounded)
    assert rounded[::-1].sum() == math.fsum(rounded)
    assert drawn.sum() == pytest.approx(rounded.sum(), rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "share"), [(80, 6, 0.93), (80, 10, 0.93)])
def test_comes_near_to_a_good_partition(n, k, share):
    X = np.random.default_rng(8).normal(size=(n, 2))
    good = ICSM(k=k, initial=MDAV(k=k).fit_predict(X), n_jobs=1).fit(X)
    whole, parts = (relaxation(X, k, most, good.labels_) for most in (n, n // 2))
    for work in (whole, parts):
        while work.n_steps < 120 and work.advance():
            pass
        assert max(work.bounds) <= good.sse_
    fast = neighbour_shares(X, k).bound
    assert share * good.sse_ < whole.bound
    assert fast < parts.bound < whole.bound
    assert good.sse_ - whole.bound < 0.4 * (good.sse_ - fast)


@pytest.mark.slow
def test_scales_that_differ_by_orders_of_magnitude():
    rng = np.random.default_rng(9)
    X = np.exp(2.5 * rng.normal(size=(150, 2)))
    good = ICSM(k=6, initial=MDAV(k=6).fit_predict(X), n_jobs=1).fit(X)
    work = relaxation(1e-30 * X, 6, 999, good.labels_)
    while work.n_steps < 160 and work.advance():
        pass
    assert 0.9 * good.sse_ < 1e60 * work.bound <= good.sse_


def test_records_that_do_not_differ_need_no_steps():
    X = np.ones((20, 3))
    work = relaxation(X, 4)
    assert not work.advance()
    assert work.bound == 0.0


@pytest.mark.slow
def test_the_deadline_is_kept_and_progress_shows_the_gap():
    X = np.random.default_rng(10).normal(size=(300, 3))
    heard = []
    began = time.monotonic()
    with listening(lambda *message: heard.append(message)):
        work = relaxation(X, 8, deadline=began + 1.5)
        while work.advance():
            pass
    assert time.monotonic() - began < 4.0
    assert work.bound > 0.0
    tasks = {task for task, *_ in heard if task.startswith("tight bound")}
    assert any("gap" in task for task in tasks)
    assert all(0 <= done <= total for task, done, total in heard if task in tasks)


def test_regions_hold_every_record_once_and_whole_groups():
    X = np.random.default_rng(11).normal(size=(500, 3))
    labels = MDAV(k=7).fit_predict(X)
    parts = regions.split_records(X, labels, 120)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(500))
    assert max(map(len, parts)) <= 120
    assert len(parts) <= 8
    for part in parts:
        assert np.isin(np.flatnonzero(np.isin(labels, labels[part])), part).all()


def test_pairs_across_regions_and_the_rest():
    rng = np.random.default_rng(12)
    X, prices, k = rng.normal(size=(200, 2)), rng.normal(size=200), 2
    rows = np.argsort(X[:, 0])
    parts = [np.sort(rows[:100]), np.sort(rows[100:])]
    listed = regions.list_pairs(X, k, parts, prices)
    starts = np.repeat(np.arange(200), np.diff(listed.begins))
    assert np.array_equal(starts[listed.mirrors], listed.ends)
    assert np.array_equal(listed.ends[listed.mirrors], starts)
    assert listed.asymmetric == pytest.approx(-listed.asymmetric[listed.mirrors])
    apart = np.square(X[:, None] - X).sum(axis=2) / 2 + np.subtract.outer(prices, prices)
    apart[starts, listed.ends] = np.inf
    for part in parts:
        apart[np.ix_(part, part)] = np.inf
    assert np.all(apart.min(axis=1) >= listed.others)
    assert np.median(apart.min(axis=1) - listed.others) < 0.5


def test_regions_fit_into_time_and_memory(monkeypatch):
    assert regions.region_size(1_000, 10, 300.0) == 1_000
    assert regions.region_size(1_000, 10, math.inf) == 1_000
    assert 400 <= regions.region_size(20_000, 10, 600.0) < 3_000
    assert regions.region_size(10_000_000, 10, 600.0) == 0
    asked = []

    def refuse_much(n_bytes):
        asked.append(n_bytes)
        if n_bytes > 100 << 20:
            raise MemoryError

    monkeypatch.setattr(regions, "need_room", refuse_much)
    assert regions.region_size(4_000, 2, math.inf) == 500
    assert max(asked) > 1 << 30
    monkeypatch.setattr(regions, "need_room", lambda _: refuse_much(1 << 40))
    assert regions.region_size(4_000, 2, math.inf) == 0


def test_memory_is_counted_for_all_threads_and_for_pairs_across_regions(monkeypatch):
    asked = []
    monkeypatch.setattr(regions, "need_room", asked.append)
    for n_threads in (1, 8):
        monkeypatch.setattr(regions, "check_jobs", lambda _, n=n_threads: n)
        assert regions.region_size(20_000, 10, math.inf) == 5_000
    one, eight = asked
    assert eight - one == (4 * 32 - 96) * 5_000**2  # there are four regions
    assert one > 16 * 20_000 * 5_000 + 96 * 5_000**2 + 20_000 * 60 * 100


# Best known information loss, in per cent.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "best_known", "gap"), [("tarragona", 30.1071, 1.6), ("census", 11.3444, 4.0)]
)
def test_literature_tables_at_ten(standardised, table, best_known, gap):
    X = standardised(table)
    work = relaxation(X, 10, len(X), MDAV(k=10).fit_predict(X))
    percent = 100 / np.square(X).sum()
    while work.n_steps < 120 and work.advance():
        pass
    assert best_known / (1 + gap / 100) < work.bound * percent
    assert max(work.bounds) * percent < best_known
    assert work.n_steps > semidefinite._STEPS_BEFORE_CUTS
