import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import information_loss
from microagg.core.progress import listening
from microagg.kernels.construction import two_means
from microagg.partitions import MDAV, KMeansMicro
from microagg.partitions.kmeans import rounds, split
from tests.partitions.test_transport import all_costs, least_cost
from tests.references import best_partition, sse


@settings(max_examples=60)
@given(st.data())
def test_sizes_from_k_to_2k_minus_1(data):
    k = data.draw(st.integers(1, 6))
    n = data.draw(st.integers(k, 50))
    d = data.draw(st.integers(1, 3))
    spread = data.draw(st.sampled_from([0, 1, 3, 1000]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = rng.integers(0, spread + 1, (n, d)).astype(float)
    model = KMeansMicro(k=k).fit(X)
    sizes = np.bincount(model.labels_)
    assert k <= sizes.min() <= sizes.max() <= max(k, 2 * k - 1)
    assert model.sse_ == pytest.approx(sse(X, model.labels_), abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kind", ["normal", "ties", "heavy tails"])
def test_the_error_falls_with_every_round(k, kind):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(300, 4)) if kind != "heavy tails" else rng.standard_cauchy((300, 4))
    X = X.round() if kind == "ties" else X
    labels = split(X, k)
    before = sse(X, labels)
    for better, error in rounds(X, labels, k):
        assert error == pytest.approx(sse(X, better), rel=1e-9)
        assert error < before
        sizes = np.bincount(better)
        assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
        before = error


@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_cheaper_assignment_to_the_means_is_left(k):
    X = np.random.default_rng(k).normal(size=(120, 3))
    model = KMeansMicro(k=k).fit(X)
    cheapest = least_cost(all_costs(X, model.centers_), k, 2 * k - 1)
    assert model.sse_ == pytest.approx(cheapest, rel=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_near_the_optimum_of_a_few_records(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(11, 2))
    best = best_partition(X, 3)
    assert best * (1 - 1e-12) <= KMeansMicro(k=3).fit(X).sse_ <= 1.5 * best


@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_k_are_found(seed):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(30), 4))
    X = rng.uniform(-1, 1, (30, 3))[truth] * 100 + rng.normal(size=(120, 3)) * 0.01
    labels = KMeansMicro(k=4).fit_predict(X)
    assert len(set(zip(truth.tolist(), labels.tolist()))) == 30


@pytest.mark.parametrize(
    ("name", "k", "loss"),
    [
        ("tarragona", 3, 14.86),
        ("tarragona", 5, 20.41),
        ("tarragona", 10, 30.34),
        ("census", 3, 5.06),
        ("census", 5, 7.69),
        ("census", 10, 11.86),
        ("eia", 3, 0.374),
        ("eia", 5, 0.764),
        ("eia", 10, 1.95),
    ],
)
def test_losses_on_the_tables_of_the_literature(standardised, name, k, loss):
    X = standardised(name)
    ours = information_loss(X, KMeansMicro(k=k).fit_predict(X))
    assert ours < information_loss(X, MDAV(k=k).fit_predict(X))
    assert ours == pytest.approx(loss, rel=0.02)


def test_it_reports_and_can_be_interrupted():
    def interrupt(task, done, total):
        assert 0 <= done <= total
        if task == "improving":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        KMeansMicro(k=3).fit(np.random.default_rng(0).normal(size=(100, 2)))


def expected_error(X, labels, k):
    """What a cut leads to, as the cut's own rule has it."""
    parts = [X[labels == side] for side in (0, 1)]
    return sum(
        sse(part, np.zeros(len(part))) * (len(part) // k) ** (-2 / X.shape[1]) for part in parts
    )


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_cut_along_a_line(compiled, seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(6, 60)), 3
    X = rng.normal(size=(m, 2)) ** 3
    gaps = X - X.mean(axis=0)
    order = rng.permutation(m)
    cut = two_means.best_cut if compiled else two_means.best_cut.py_func
    size, value = cut(gaps, order, k)
    least = max(k, int(m * two_means.SMALLEST_PART))
    place = order.argsort()
    errors = {s: expected_error(X, place >= s, k) for s in range(least, m - least + 1)}
    assert value == pytest.approx(min(errors.values()))
    assert errors[size] == pytest.approx(value)


@pytest.mark.parametrize("compiled", [True, False])
def test_the_principal_direction(compiled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 5.0, 0.5] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    gaps = X - X.mean(axis=0)
    find = two_means.principal_direction
    way = (find if compiled else find.py_func)(gaps)
    first = np.linalg.svd(gaps)[2][0]
    assert abs(way @ first) / np.linalg.norm(way) == pytest.approx(1.0, abs=1e-6)
