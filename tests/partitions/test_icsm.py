"""Local search: every step lowers the error, and at the end no migration or exchange does."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.core.errors import ParameterError
from microagg.partitions import ICSM, MDAV
from microagg.partitions.icsm import Search, local_search, perturb
from microagg.partitions.search import exchanging
from microagg.partitions.search.exchanging import Limits
from tests.references import best_partition, sse

X = np.random.default_rng(5).normal(size=(150, 3))


def draw(seed, n, ties):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, 2)).astype(float) if ties else rng.normal(size=(n, 3))


def valid_groups(seed, n, k):
    """Groups of k to 2k-1 records drawn by chance."""
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) // k, n // k - 1))


def best_single_step(records, labels, k):
    """Least error that one migration or one exchange can reach, by trying all of them."""
    sizes = np.bincount(labels)
    least = np.inf
    for i in range(len(records)):
        for group in np.flatnonzero(sizes < 2 * k - 1):
            if group != labels[i] and sizes[labels[i]] > k:
                moved = labels.copy()
                moved[i] = group
                least = min(least, sse(records, moved))
    for i, j in combinations(range(len(records)), 2):
        if labels[i] != labels[j]:
            moved = labels.copy()
            moved[i], moved[j] = labels[j], labels[i]
            least = min(least, sse(records, moved))
    return least


@settings(max_examples=80)
@given(seed=st.integers(0, 2**16), n=st.integers(1, 70), k=st.integers(1, 6), ties=st.booleans())
def test_every_step_lowers_the_error(seed, n, k, ties):
    k = min(k, n)
    records, start = draw(seed, n, ties), valid_groups(seed, n, k)
    labels, errors = local_search(records, start, k)
    assert errors[0] <= sse(records, start) * (1 + 1e-12) + 1e-12
    assert all(after <= before for before, after in pairwise(errors))
    assert errors[-1] == pytest.approx(sse(records, labels), abs=1e-9)
    sizes = np.unique(labels, return_counts=True)[1]
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_no_migration_and_no_exchange_improves_the_result(seed, k, ties):
    records = draw(seed, 42, ties)
    model = ICSM(k=k).fit(records)
    assert best_single_step(records, model.labels_, k) >= model.sse_ * (1 - 1e-8)


@pytest.mark.parametrize("spread", ["normal", "heavy tails", "two scales"])
@pytest.mark.slow
def test_no_step_improves_many_groups_in_many_boxes(spread):
    rng = np.random.default_rng(1)
    n, k = 4000, 3  # 1,300 centres: more than one block
    records = rng.standard_cauchy((n, 2)) if spread == "heavy tails" else rng.normal(size=(n, 2))
    if spread == "two scales":
        records[:2000] = records[:2000] * 1e-5
        records[3900:] += 1e8
    model = ICSM(k=k).fit(records)
    labels, sizes = model.labels_, np.bincount(model.labels_)
    to_centers = ((records[:, None] - model.centers_[None]) ** 2).sum(axis=2)
    own = to_centers[np.arange(n), labels]
    # What touches no group has nothing to gain; what does must not gain much of its error.
    errors = np.bincount(labels, own) + 1e-24 * (model.centers_**2).max(axis=1)
    freed = own * sizes[labels] / np.maximum(sizes[labels] - 1, 1)
    cost = to_centers * (sizes / (sizes + 1)) - freed[:, None]
    cost[sizes[labels] <= k] = np.inf
    cost[:, sizes >= 2 * k - 1] = np.inf
    cost[np.arange(n), labels] = np.inf
    assert (cost > -1e-6 * (errors[labels][:, None] + errors)).all()
    for i in range(0, n, 7):
        swap = to_centers[i, labels] + to_centers[:, labels[i]] - own[i] - own
        shares = 1 / sizes[labels[i]] + 1 / sizes[labels]
        swap -= ((records - records[i]) ** 2).sum(axis=1) * shares
        swap[labels == labels[i]] = np.inf
        assert (swap > -1e-6 * (errors[labels[i]] + errors[labels])).all()


def test_tiny_tables_often_end_at_the_optimum():
    reached = 0
    for seed in range(30):
        records = np.random.default_rng(seed).normal(size=(8, 2))
        error = ICSM(k=2).fit(records).sse_
        best = best_partition(records, 2)
        assert error >= best - 1e-12
        reached += error <= best + 1e-9
    assert reached >= 27


def test_cycles_go_beyond_migrations_and_exchanges():
    gained = 0
    for seed in range(8):
        search = Search(draw(seed, 90, False), valid_groups(seed, 90, 3), 3)
        while search.make_pool() or search.cut_tour():
            pass
        before = search.error
        if search.shift_in_cycles():
            gained += search.error < before
    assert gained >= 6


def test_scores_are_the_sums_over_all_pairs_of_records():
    search = Search(X[:40], valid_groups(0, 40, 3), 3)
    assignment = search.assignment
    in_use = np.flatnonzero(assignment.sizes)

    def replacing(row, old):
        """Change of error in the group of `old` when `row` takes its place."""
        group = assignment.labels[old]
        members = np.flatnonzero(assignment.labels == group)
        changed = np.r_[members[members != old], row]
        return ((search.X[changed] - search.X[changed].mean(axis=0)) ** 2).sum() - (
            assignment.errors[group]
        )

    for group, score in zip(in_use, search._scores(in_use)):
        expected = sum(
            replacing(i, j) - replacing(j, i)
            for i in np.flatnonzero(assignment.labels == group)
            for j in np.flatnonzero(assignment.labels != group)
        )
        assert score == pytest.approx(expected, rel=1e-9)


def test_any_groups_of_at_least_k_may_come_first():
    one_group = np.zeros(len(X), dtype=int)
    assert ICSM(k=4, initial=one_group).fit(X).sse_ < MDAV(k=4).fit(X).sse_
    named, labels = ICSM(k=4, initial="cbfs"), MDAV(k=4).fit_predict(X)
    assert named.fit(X).sse_ < MDAV(k=4).fit(X).sse_
    assert ICSM(k=4, initial=labels).fit_predict(X).tolist() == ICSM(k=4).fit_predict(X).tolist()


def test_initial_groups_below_k_are_refused():
    with pytest.raises(ParameterError, match=r"at least k = 4 records .* 1 of 2 groups"):
        ICSM(k=4, initial=np.r_[np.zeros(147, dtype=int), 1, 1, 1]).fit(X)


def test_restarts_keep_the_best():
    single = ICSM(k=3).fit(X).sse_
    many = [ICSM(k=3, n_restarts=6, random_state=0, n_jobs=jobs).fit(X) for jobs in (1, 2)]
    assert many[0].labels_.tolist() == many[1].labels_.tolist()
    assert many[0].sse_ < single


def test_a_restart_sends_at_most_twenty_records_elsewhere():
    start = np.repeat(np.arange(50), 3)
    for seed in range(20):
        labels = perturb(start, np.random.default_rng(seed))
        counts = np.zeros((labels.max() + 1, 50), dtype=int)
        np.add.at(counts, (labels, start), 1)
        assert 0 < len(start) - counts.max(axis=0).sum() <= 20


def test_the_time_ends_a_pool_halfway(monkeypatch):
    parts = []
    monkeypatch.setattr(Limits, "out_of_time", lambda _: len(parts) >= 3)

    def one_by_one(groups):
        for group in groups:
            parts.append(group)
            yield np.array([group])

    monkeypatch.setattr(exchanging, "paced", one_by_one)
    search = Search(X, valid_groups(0, len(X), 3), 3, Limits())
    before = search.error
    search.make_pool()
    assert len(parts) == 3
    assert np.count_nonzero(search.searched >= 0) == 3  # the others are still to be searched
    assert search.error <= before
    assert np.unique(search.assignment.labels, return_counts=True)[1].min() >= 3


def test_restarts_end_with_the_time():
    model = ICSM(k=3, n_restarts=1_000_000, time_budget=0.2, random_state=0).fit(X)
    assert model.sse_ <= MDAV(k=3).fit(X).sse_
    with pytest.raises(ParameterError, match="n_restarts must be a whole number from 0 to"):
        ICSM(k=3, n_restarts=10**20).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("k", [40, 75])
def test_large_groups(k):
    """Cycles look at some members of large groups only; all else holds as for small ones."""
    labels, errors = local_search(X, valid_groups(0, len(X), k), k)
    assert all(after <= before for before, after in pairwise(errors))
    assert best_single_step(X[:, :1], labels, k) > 0
    sizes = np.unique(labels, return_counts=True)[1]
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


def test_limits_end_it_with_valid_groups():
    errors = []
    for iterations in (1, 3, None):
        model = ICSM(k=3, max_iterations=iterations).fit(X)
        assert model.n_iterations_ <= (iterations or 1000)
        errors.append(model.sse_)
    assert errors[0] > errors[1] > errors[2]
    hurried = ICSM(k=3, time_budget=0).fit(X)
    assert hurried.n_iterations_ == 0
    assert hurried.timed_out_
    assert hurried.sse_ <= MDAV(k=3).fit(X).sse_


@pytest.mark.parametrize(
    ("option", "value"),
    [("n_restarts", -1), ("max_iterations", 0), ("time_budget", -1), ("time_budget", "long")],
)
def test_options_out_of_range(option, value):
    with pytest.raises(ParameterError, match=f"{option} must be a"):
        ICSM(k=3, **{option: value}).fit(X)
