"""What the paper proves: propositions 2, 3, 5, 7 and 8; limits, and trends averaged over seeds."""

import numpy as np
import pytest

from microagg.fuzzy import EFCM, FCM
from tests.fuzzy import references

ALPHA, B = [1.16, 1.07, -1.0, 0.0], 3.0


def blobs(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4 * rng.integers(0, 3, size=(n, 1)) * np.ones(d)


def satisfying(X):
    """X with its third column such that ALPHA . x = B."""
    X = X.copy()
    X[:, 2] = 1.16 * X[:, 0] + 1.07 * X[:, 1] - B
    return X


def settled(cls, X, **options):
    return cls(tolerance=0.0, max_iterations=60, random_state=0, **options).fit(X)


def ball(n=120, d=4, seed=0):
    """Records without a direction of their own."""
    return np.random.default_rng(seed).normal(size=(n, d))


def direction(X):
    """The largest eigenvalue of the mean of x x' / |x|^2, from 1/d (none) to 1 (all on a line)."""
    centred = X - X.mean(axis=0)
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return np.linalg.eigvalsh(units.T @ units / len(X))[-1]


@pytest.mark.parametrize("constraints", [None, ([ALPHA], [B])])
@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (FCM, {"m1": 5.0}),
        (FCM, {"m1": 50.0}),
        (FCM, {"m1": 500.0}),
        (EFCM, {"lambda1": 1e-9}),
        (EFCM, {"lambda1": 0.0}),
    ],
)
def test_2_and_3_the_fuzziest_centres_are_the_mean(cls, options, constraints):
    X = ball()
    model = settled(cls, X, n_clusters=12, constraints=constraints, n_starts=1, **options)
    mean = X.mean(axis=0)
    if constraints is not None:
        mean = mean - np.multiply(ALPHA, (mean @ ALPHA - B) / np.dot(ALPHA, ALPHA))
    np.testing.assert_allclose(model.centers_, mean[None], atol=1e-7)
    assert model.copies_.tolist() == [12]
    assert model.sizes_.tolist() == [120]


def test_2_needs_records_that_do_not_lie_along_one_direction():
    """Near the mean, large m: an iteration multiplies deviations by up to twice `direction`."""
    X = blobs()
    assert direction(ball()) < 0.5 < direction(X)
    near = X.mean(axis=0) + 1e-3 * ball(n=12)
    spread = settled(FCM, X, initial_centers=near, m1=50.0).centers_
    assert np.ptp(spread, axis=0).min() > 1.0
    assert np.ptp(near, axis=0).max() < 0.01


@pytest.mark.parametrize(
    ("cls", "options"),
    [(FCM, {"m1": 1.1, "m2": 1e9}), (EFCM, {"lambda1": 1.0, "lambda2": 1e-12})],
)
def test_2_and_3_the_fuzziest_memberships_are_equal_and_sizes_k(cls, options):
    X = blobs()
    model = cls(k=5, random_state=0, **options).fit(X)
    assert len(model.centers_) == 24
    np.testing.assert_allclose(model.memberships(X + 1e-3), 1 / 24, rtol=1e-6)
    np.testing.assert_allclose(model.expected_sizes_, 5.0, rtol=0.21)  # those on a record: above
    assert model.expected_sizes_.sum() == pytest.approx(120)


@pytest.mark.parametrize("constraints", [None, ([ALPHA], [B])])
def test_3_a_large_lambda_is_crisp_and_so_is_m_of_one(constraints):
    X, start = blobs(), blobs()[:7] + 0.1
    options = {"initial_centers": start, "constraints": constraints}
    entropy = settled(EFCM, X, lambda1=1e12, lambda2=1e12, **options)
    power = settled(FCM, X, m1=1.0, m2=1.0, **options)
    np.testing.assert_allclose(entropy.centers_, power.centers_, rtol=1e-12)
    assert entropy.labels_.tolist() == power.labels_.tolist()
    nearest = references.squares(X, power.centers_).argmin(axis=1)
    assert power.labels_.tolist() == nearest.tolist()
    if constraints is None:
        for group, center in enumerate(power.centers_):
            np.testing.assert_allclose(center, X[power.labels_ == group].mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("cls", "options"), [(FCM, {"m1": 1.7}), (EFCM, {"lambda1": 0.3, "lambda2": 1.0})]
)
def test_5_a_column_outside_the_constraint_is_as_without_it(cls, options):
    X, start = blobs(), satisfying(blobs()[:6] + 0.1)
    options |= {"initial_centers": start, "max_iterations": 1, "random_state": 0}
    plain = cls(**options).fit(X).centers_
    bound = cls(constraints=([ALPHA], [B]), **options).fit(X).centers_
    np.testing.assert_allclose(np.sort(bound[:, 3]), np.sort(plain[:, 3]), rtol=1e-12)
    assert np.abs(np.sort(bound[:, 2]) - np.sort(plain[:, 2])).max() > 1e-3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("cls", "options"), [(FCM, {}), (FCM, {"m1": 2.0}), (EFCM, {}), (EFCM, {"lambda1": 0.2})]
)
def test_5_and_7_constraints_that_the_data_satisfy_change_nothing(cls, options, seed):
    X = satisfying(blobs(seed=seed))
    options = {"n_clusters": 8, "random_state": seed, "max_iterations": 20, **options}
    plain = cls(**options).fit(X)
    bound = cls(constraints=([ALPHA], [B]), **options).fit(X)
    np.testing.assert_allclose(bound.centers_, plain.centers_, atol=1e-9)
    np.testing.assert_allclose(plain.centers_ @ ALPHA, B, atol=1e-9)
    assert bound.labels_.tolist() == plain.labels_.tolist()


def mean_loss(cls, seeds=6, **options):
    """Squared distance to the centres over that to the mean."""
    losses = []
    for seed in range(seeds):
        X = ball(seed=seed)
        model = cls(n_starts=1, random_state=seed, **options).fit(X)
        losses.append(model.sse_ / np.square(X - X.mean(axis=0)).sum())
    return np.mean(losses)


CONSTRAINED = {"constraints": ([ALPHA], [0.0])}


@pytest.mark.parametrize("constraints", [{}, CONSTRAINED], ids=["plain", "constrained"])
@pytest.mark.parametrize(
    ("cls", "name", "values", "others"),
    [
        (FCM, "m1", (1.1, 2.0, 5.0, 50.0), {"n_clusters": 24, "m2": 1.05}),
        (FCM, "m2", (1.05, 1.3, 2.0, 1e6), {"n_clusters": 24, "m1": 1.1}),
        (FCM, "n_clusters", (120, 40, 12, 4, 1), {"m1": 1.05, "m2": 1.05}),
        (EFCM, "lambda1", (10.0, 1.0, 1e-3), {"n_clusters": 24, "lambda2": 10.0}),
        (EFCM, "lambda2", (10.0, 0.5, 0.05, 1e-6), {"n_clusters": 24, "lambda1": 2.0}),
        (EFCM, "n_clusters", (120, 40, 12, 4, 1), {"lambda1": 20.0, "lambda2": 20.0}),
    ],
)
@pytest.mark.slow
def test_8_loss_grows_with_fuzziness_and_with_fewer_centres(cls, name, values, others, constraints):
    losses = [mean_loss(cls, **{name: value}, **others, **constraints) for value in values]
    assert losses == sorted(losses)
    assert losses[-1] > losses[0] + 0.1


def test_8_nothing_is_lost_with_a_centre_for_every_record_and_all_with_one():
    X = blobs()
    options = {"tolerance": 0.0, "random_state": 0}
    own = FCM(n_clusters=len(X), m1=1.0, m2=1.0, **options).fit(X)
    assert own.sse_ == pytest.approx(0.0, abs=1e-20)
    one = FCM(n_clusters=1, **options).fit(X)
    assert one.sse_ == pytest.approx(np.square(X - X.mean(axis=0)).sum())


def test_8_with_a_large_m2_every_class_expects_k():
    X = blobs(n=600)
    sizes = []
    for seed in range(5):
        model = FCM(k=10, m2=1e9, random_state=seed, n_starts=1).fit(X)
        np.testing.assert_allclose(model.expected_sizes_, 10.0, rtol=1e-6)
        sizes.append(np.sort(model.sizes_))
    assert np.mean(sizes) == 10.0
    assert 2.2 < np.std(sizes) < 4.0  # binomial: sqrt(10)
