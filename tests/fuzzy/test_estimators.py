"""FCM and EFCM as estimators: centres, draws, counts, constraints, refusals."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from microagg.core.errors import DataError, ParameterError
from microagg.core.progress import listening
from microagg.fuzzy import EFCM, FCM, blocks
from tests.fuzzy import references
from tests.references import number_by_first_record

BOTH = pytest.mark.parametrize("cls", [FCM, EFCM])


def records(n=90, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@parametrize_with_checks([FCM(random_state=0, strict_k=True), EFCM(random_state=0)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("constraint", [None, ([1.0, -2.0, 0.5], 0.3)])
def test_iterations_are_those_of_the_equations(constraint):
    X, V = records(), records(n=8, seed=1)
    alpha, b = constraint or (None, None)
    if alpha is not None:  # an iteration starts from centres that satisfy the constraint
        V = V - np.outer(V @ alpha - b, alpha) / np.dot(alpha, alpha)
    options = {
        "initial_centers": V,
        "constraints": None if constraint is None else ([alpha], [b]),
        "max_iterations": 7,
        "tolerance": 0.0,
        "random_state": 0,
    }
    power = FCM(m1=1.6, m2=1.3, **options).fit(X)
    expected = references.fcm(X, V, 1.6, 7, alpha, b)
    np.testing.assert_allclose(by_rows(power.centers_), by_rows(expected), rtol=1e-9)
    entropy = EFCM(lambda1=1.5, lambda2=2.0, **options).fit(X)
    expected = references.efcm(X, V, 1.5, 7, alpha, b)
    np.testing.assert_allclose(by_rows(entropy.centers_), by_rows(expected), rtol=1e-9)
    before = references.efcm(X, V, 1.5, 6, alpha, b)
    assert entropy.objective_ == pytest.approx(references.efcm_objective(X, before, 1.5))
    for model, own in (
        (power, references.fcm_memberships(X, power.centers_, 1.3)),
        (entropy, references.efcm_memberships(X, entropy.centers_, 2.0)),
    ):
        np.testing.assert_allclose(model.memberships(X), own.astype(float), atol=1e-10)
        sizes = own.sum(axis=0).astype(float)
        np.testing.assert_allclose(model.expected_sizes_, sizes, rtol=1e-9)


def by_rows(V):
    return V[np.lexsort(np.transpose(V))]


@BOTH
def test_attributes_agree(cls):
    X = records(n=100)
    model = cls(k=7, random_state=3).fit(X)
    assert len(model.centers_) == 14
    assert model.labels_.tolist() == number_by_first_record(model.labels_)
    assert model.sizes_.tolist() == np.bincount(model.labels_, minlength=14).tolist()
    assert model.n_groups_ == len(np.unique(model.labels_))
    assert model.n_below_k_ == np.count_nonzero(np.bincount(model.labels_) < 7)
    assert model.expected_sizes_.sum() == pytest.approx(100)
    assert model.sse_ == pytest.approx(np.square(X - model.centers_[model.labels_]).sum())
    np.testing.assert_allclose(model.memberships(X).sum(axis=1), 1.0)


@BOTH
def test_the_best_of_several_starts_is_kept(cls):
    X = records()
    options = {"k": 6, "random_state": 2, "max_iterations": 10}
    objectives = [cls(n_starts=n, **options).fit(X).objective_ for n in (1, 2, 8)]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[0] > objectives[-1]


@BOTH
@pytest.mark.parametrize("strict_k", [False, True])
def test_seeds_repeat_everything_on_any_number_of_threads(cls, strict_k, monkeypatch):
    monkeypatch.setattr(blocks, "_ENTRIES", 500)
    X = records(n=200)
    options = {"k": 4, "strict_k": strict_k, "max_iterations": 5}
    one, two = (cls(random_state=1, n_jobs=n, **options).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.centers_, two.centers_)
    assert one.labels_.tolist() == two.labels_.tolist()
    assert one.draw(X, one.draw_seed_).tolist() == one.labels_.tolist()
    assert clone(one).fit(X).labels_.tolist() == one.labels_.tolist()
    generator = np.random.default_rng(9)
    first, second = one.draw(X, generator), one.draw(X, generator)
    assert first.tolist() != second.tolist()
    assert first.tolist() == one.draw(X, 9).tolist()
    assert cls(random_state=2, **options).fit(X).labels_.tolist() != one.labels_.tolist()


@BOTH
@pytest.mark.parametrize("entries", [1, 100, 777])
def test_blocks_change_rounding_only(cls, entries, monkeypatch):
    X, options = records(), {"k": 5, "random_state": 0, "max_iterations": 5}
    whole = cls(**options).fit(X)
    monkeypatch.setattr(blocks, "_ENTRIES", entries)
    parts = cls(**options).fit(X)
    np.testing.assert_allclose(parts.centers_, whole.centers_, rtol=1e-9)
    np.testing.assert_allclose(parts.expected_sizes_, whole.expected_sizes_, rtol=1e-9)
    assert parts.labels_.tolist() == whole.labels_.tolist()


@pytest.mark.slow
def test_memory_is_that_of_a_few_blocks():
    X = records(n=6000)
    FCM(k=3, random_state=0, n_starts=1, max_iterations=1, n_jobs=1).fit(X[:50])
    tracemalloc.start()
    FCM(n_clusters=2000, random_state=0, n_starts=1, max_iterations=1, n_jobs=1).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 2000 * 8 / 5


@pytest.mark.slow
@BOTH
def test_draws_follow_the_memberships(cls):
    X = records(n=40)
    model = cls(k=8, random_state=0).fit(X)
    counts = np.zeros((40, len(model.centers_)))
    for seed in range(150):
        counts[np.arange(40), model.draw(X, seed)] += 1
    shares = model.memberships(X)
    spread = np.sqrt(shares * (1 - shares) / 150) + 1e-12
    likely = shares > 0.02
    assert (np.abs(counts / 150 - shares) / spread)[likely].max() < 5
    assert (counts[~likely] <= 15).all()
    assert np.abs(counts / 150 - shares).mean() < 0.03


@BOTH
@pytest.mark.parametrize("k", [1, 2, 5, 9, 45, 90])
def test_strict_k_leaves_no_small_class(cls, k):
    X = records()
    for seed in range(3):
        model = cls(k=k, strict_k=True, n_starts=1, random_state=seed).fit(X)
        assert model.sizes_[: model.n_groups_].min() >= k
        assert model.sizes_.sum() == 90
        assert model.n_below_k_ == 0
        assert len(model.centers_) == model.n_groups_
        assert model.expected_sizes_.sum() == pytest.approx(90)
        np.testing.assert_allclose(model.memberships(X).sum(axis=0), model.expected_sizes_)


def test_strict_k_merges_the_smallest_first_with_whom_it_moves_least():
    centers = np.array([[0.0], [10.0], [20.0], [100.0]])
    X = np.array([0, 1, 2, 9, 10, 19, 20, 21, 22, 96]).reshape(-1, 1) + 0.1
    options = {"k": 3, "initial_centers": centers, "max_iterations": 1, "m1": 1.0, "m2": 1.0}
    loose = FCM(random_state=0, **options).fit(X)
    assert loose.sizes_.tolist() == [3, 2, 4, 1]
    strict = FCM(random_state=0, strict_k=True, **options).fit(X)
    # 96 goes to those about 20; then the two about 10 are the fewest, and 1 is nearer than 36
    assert strict.labels_.tolist() == [0] * 5 + [1] * 5
    assert strict.sizes_.tolist() == [5, 5]
    np.testing.assert_allclose(strict.centers_, [[4.5], [35.7]])
    assert strict.copies_.tolist() == [2, 2]
    assert loose.sse_ < strict.sse_


def test_merged_centres_satisfy_the_equalities():
    X = records(d=3)
    model = FCM(k=6, strict_k=True, constraints=([[1, 1, -1]], [2]), random_state=0).fit(X)
    assert model.copies_.max() > 1
    np.testing.assert_allclose(model.centers_ @ [1, 1, -1], 2, rtol=1e-12)


@BOTH
def test_coinciding_centres_are_one_class(cls):
    X = np.repeat([[0.0, 1.0], [7.0, 5.0], [3.0, 3.0]], 10, axis=0)
    model = cls(k=3, random_state=0).fit(X)
    assert len(model.centers_) <= 3
    assert model.copies_.sum() == 10
    released = model.centers_[model.labels_]
    _, sizes = np.unique(released, axis=0, return_counts=True)
    assert sorted(sizes) == sorted(model.sizes_[: model.n_groups_])


def test_coinciding_centres_add_up_their_memberships():
    X, V = records(), [[1.0, 0, 0], [1.0, 0, 0], [-1.0, 0, 0]]
    doubled = EFCM(initial_centers=V, lambda1=0.5, lambda2=0.5, random_state=0, max_iterations=1)
    doubled.fit(X)
    twice = np.argmax(doubled.copies_)
    assert doubled.copies_[twice] == 2
    ratio = np.exp(-0.5 * references.squares(X, doubled.centers_).astype(float))
    ratio[:, twice] *= 2
    expected = ratio / ratio.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(doubled.memberships(X), expected, rtol=1e-9)


@BOTH
def test_shifting_and_scaling_change_nothing(cls):
    X = records()
    model = cls(k=5, random_state=0).fit(X)
    for scale, shift in ((12345.678, 0.0), (1.2e-7, 0.0), (1.0, 100.0), (1.0, 1e6)):
        moved = cls(k=5, random_state=0).fit(X * scale + shift)
        np.testing.assert_allclose(moved.centers_, model.centers_ * scale + shift, rtol=1e-6)
        assert moved.labels_.tolist() == model.labels_.tolist()


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((40, 3)),
        np.tile([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], (20, 1)),
        np.c_[np.arange(40.0), np.full(40, 7.1), np.full(40, -1e9)],
        np.random.default_rng(0).integers(0, 3, (41, 3)).astype(float),
        np.random.default_rng(0).standard_cauchy((41, 3)) * 1e130,
        np.random.default_rng(0).normal(size=(41, 3)) * 1e-139,
        np.random.default_rng(0).normal(size=(41, 3)) * [1e-6, 1.0, 1e6],
        np.random.default_rng(0).normal(size=(41, 1)),
    ],
    ids=["equal", "two points", "constant", "ties", "huge", "tiny", "scales", "one column"],
)
def test_awkward_data(cls, X):
    extremes = {
        FCM: [{}, {"m1": 1.0, "m2": 1.0}, {"m1": 1 + 1e-12, "m2": 50.0}, {"m1": 50.0, "m2": 1e300}],
        EFCM: [{}, {"lambda1": 0.0, "lambda2": 1e300}, {"lambda1": 1e300, "lambda2": 1e-300}],
    }
    for options in extremes[cls]:
        for k in (1, 3, 20):
            model = cls(k=k, strict_k=True, random_state=0, max_iterations=5, **options).fit(X)
            assert np.isfinite(model.centers_).all()
            assert np.isfinite(model.sse_)
            assert model.sizes_[: model.n_groups_].min() >= k
            constant = np.ptp(X, axis=0) == 0
            np.testing.assert_array_equal(
                model.centers_[:, constant], np.tile(X[0, constant], (len(model.centers_), 1))
            )


@BOTH
def test_several_constraints_redundant_ones_too(cls):
    X = records(d=5)
    A = np.array([[1, 1, -1, 0, 0], [0, 1, 0, 2, 0], [1, 2, -1, 2, 0], [2, 2, -2, 0, 0.0]])
    b = np.array([1.0, -2.0, -1.0, 2.0])
    model = cls(k=6, constraints=(A, b), random_state=0).fit(X)
    np.testing.assert_allclose(model.centers_ @ A.T, np.tile(b, (15, 1)), atol=1e-12)
    with pytest.raises(ParameterError, match="contradict"):
        cls(k=6, constraints=(A, b + np.eye(4)[2]), random_state=0).fit(X)


@BOTH
def test_constraints_hold_in_the_original_units(cls):
    """Standardised for the clustering: A (mean + sd z) = b is (A sd) z = b - A mean."""
    rng = np.random.default_rng(0)
    net, tax = rng.lognormal(10, 1, 80), rng.lognormal(2, 1, 80)
    rate = rng.normal(0, 1e-5, 80)
    X = np.column_stack([net, tax, net + tax + rng.normal(0, 3, 80), rate])
    A, b = np.array([[1.0, 1.0, -1.0, 0.0], [1e-9, 0.0, 0.0, 1.0]]), np.array([0.0, 2e-5])
    mean, deviation = X.mean(axis=0), X.std(axis=0, ddof=1)
    model = cls(k=4, constraints=(A * deviation, b - A @ mean), random_state=0)
    centers = mean + deviation * model.fit((X - mean) / deviation).centers_
    sizes = np.abs(A) @ np.abs(centers).max(axis=0) + np.abs(b)
    assert (np.abs(centers @ A.T - b) <= 1e-9 * sizes).all()
    assert np.abs(X @ A[0]).max() > 1.0


@BOTH
@pytest.mark.parametrize(("n", "k", "bits"), [(600, 5, 1.0), (600, 75, 0.75), (600, 300, 0.25)])
def test_by_default_one_bit_of_doubt_or_less_with_few_centres(cls, n, k, bits):
    model = cls(k=k, random_state=0).fit(records(n=n))
    shares = model.memberships(records(n=n))
    assert model.doubt_ == pytest.approx(-(shares * np.log2(shares)).sum(axis=1).mean(), rel=1e-6)
    assert model.doubt_ == pytest.approx(bits, rel=0.1)  # records on a centre are in none


def test_fuzziness_chosen_is_that_used():
    X = records()
    automatic = FCM(k=5, random_state=0).fit(X)
    given = FCM(k=5, random_state=0, m1=automatic.m1_, m2=automatic.m2_).fit(X)
    np.testing.assert_allclose(given.memberships(X), automatic.memberships(X), rtol=1e-9)
    automatic = EFCM(k=5, random_state=0).fit(X)
    given = EFCM(k=5, random_state=0, lambda1=automatic.lambda1_, lambda2=automatic.lambda2_)
    assert given.fit(X).labels_.tolist() == automatic.labels_.tolist()
    assert (given.lambda1_, given.lambda2_) == (automatic.lambda1_, automatic.lambda2_)


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (FCM, {"m1": 0.99}),
        (FCM, {"m2": np.inf}),
        (FCM, {"m1": "2"}),
        (EFCM, {"lambda1": -1.0}),
        (EFCM, {"lambda2": np.nan}),
        (FCM, {"n_clusters": 0}),
        (FCM, {"n_clusters": 91}),
        (FCM, {"n_starts": 0}),
        (FCM, {"max_iterations": 0}),
        (FCM, {"tolerance": -1e-3}),
        (FCM, {"strict_k": 1}),
        (FCM, {"random_state": -1}),
        (FCM, {"n_jobs": 0}),
        (FCM, {"constraints": 3}),
        (FCM, {"constraints": ([[1.0, 2.0]], [0.0])}),
        (FCM, {"constraints": ([[1.0, 2.0, np.nan]], [0.0])}),
        (FCM, {"initial_centers": [[1.0, 2.0]]}),
        (FCM, {"initial_centers": "here"}),
        (FCM, {"initial_centers": [[1.0, 2.0, 3.0]], "n_clusters": 2}),
        (FCM, {"k": 91}),
        (FCM, {"k": 2.5}),
    ],
)
def test_refusals(cls, options):
    name = next(iter(options))
    with pytest.raises(ParameterError, match=f"{name} must (be|have)") as caught:
        cls(**options).fit(records())
    assert "\n" not in str(caught.value)


@BOTH
def test_other_records_need_the_same_columns(cls):
    model = cls(random_state=0).fit(records())
    for use in (model.draw, model.memberships):
        with pytest.raises(DataError, match="3 columns"):
            use(records(d=2))


@BOTH
def test_progress_and_interrupts(cls):
    heard = []
    with listening(lambda *message: heard.append(message)):
        cls(k=5, strict_k=True, random_state=0).fit(records())
    assert {"clustering", "drawing", "merging small classes"} <= {task for task, *_ in heard}
    assert all(0 < done <= total for _, done, total in heard)

    def stop(*_):
        raise KeyboardInterrupt

    with listening(stop), pytest.raises(KeyboardInterrupt):
        cls(k=5, random_state=0).fit(records())
