"""IGD: never worse than its start, and step by step what a slow reference does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.core.errors import ParameterError
from microagg.kernels.neighbours import blocks
from microagg.partitions import IGD, MDAV, get
from tests.references import best_partition, dissolve_and_shrink, sse

KINDS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "ties": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "equal": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "repeated": lambda rng, n, d: rng.normal(size=(5, d))[rng.integers(0, 5, n)],
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 1e139,
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-135,
    "close and far": lambda rng, n, d: (
        rng.choice([-1e9, 0.0, 1e9], (n, 1)) + rng.integers(0, 9, (n, d)) * 2.0**-22
    ),
}


def random_partition(rng, n, k):
    """Labels with at least k records in every group, some groups larger than 2k."""
    sizes = [k] * int(rng.integers(1, n // k + 1))
    for _ in range(n - sum(sizes)):
        sizes[int(rng.integers(len(sizes)))] += 1
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


@pytest.fixture(params=["one block", "many blocks"])
def layout(request, monkeypatch):
    """Few groups are one block; with many, skipping blocks must change nothing."""
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("layout")
def test_label_for_label():
    rng = np.random.default_rng(0)
    moved = 0
    for case in range(24):
        n, d = int(rng.integers(1, 50)), int(rng.integers(1, 6))
        k = int(rng.integers(1, min(n, 6) + 1))
        X = rng.normal(size=(n, d)) if case % 2 else rng.standard_cauchy((n, d))
        start = MDAV(k=k).fit_predict(X)
        expected = dissolve_and_shrink(X, start, k, shrinks=True)
        assert IGD(k=k, initial=start).fit_predict(X).tolist() == expected
        moved += expected != start.tolist()
    assert moved > 5


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 6), kind=st.sampled_from(sorted(KINDS)))
def test_never_worse_from_any_start(seed, k, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 80))
    X = KINDS[kind](rng, n, int(rng.integers(1, 5)))
    start = random_partition(rng, n, k)
    model = IGD(k=k, initial=start).fit(X)
    sizes = np.bincount(model.labels_)
    assert k <= sizes.min()
    assert sizes.max() < 2 * k
    assert model.sse_ <= sse(X, start) * (1 + 1e-9)
    again = IGD(k=k, initial=model.labels_).fit(X)
    assert again.labels_.tolist() == model.labels_.tolist()  # nothing was left to do


@pytest.mark.parametrize("start", ["mdav", "v-mdav", "tfrp", "cbfs-mhm", "npn-mhm"])
def test_never_worse_than_a_registered_start(start):
    X = np.random.default_rng(0).lognormal(size=(200, 3))
    for k in (2, 3, 7):
        assert IGD(k=k, initial=start).fit(X).sse_ <= get(start)(k=k).fit(X).sse_


def test_within_reach_of_the_best_partition():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(10):
        X = rng.normal(size=(11, 2))
        ratios.append(IGD(k=3).fit(X).sse_ / best_partition(X, 3))
    assert min(ratios) >= 1 - 1e-12
    assert np.median(ratios) < 1.2


def test_a_start_with_a_group_below_k():
    with pytest.raises(ParameterError, match=r"at least k = 3 records"):
        IGD(k=3, initial=[0] * 8 + [1] * 2).fit(np.zeros((10, 2)))


def test_the_same_in_many_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1500, 3))
    expected = IGD(k=3).fit_predict(X)
    monkeypatch.setattr(blocks, "ONE_BLOCK", 0)
    assert IGD(k=3).fit_predict(X).tolist() == expected.tolist()
