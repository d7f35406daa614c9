"""V-MDAV against a reference of thirty lines."""

import numpy as np
import pytest

from microagg.core.errors import ParameterError
from microagg.kernels.construction import variable_size
from microagg.kernels.neighbours import blocks
from microagg.partitions import VMDAV
from tests.references import (
    close_with_nearest_and_split,
    number_by_first_record,
    squared_distances,
    sse,
)

GAINS = (0.0, 0.2, 0.5, 0.7, 1.1)


def vmdav(X, k, gain):
    labels, rest, groups = np.full(len(X), -1), list(range(len(X))), 0
    from_mean = squared_distances(X, X.mean(axis=0))

    def distance(a, b):
        return np.sqrt(squared_distances(X[[a]], X[b])[0])

    while len(rest) >= k:
        seed = max(rest, key=lambda row: (from_mean[row], -row))
        members = sorted(rest, key=lambda row: (distance(row, seed), row))[:k]
        rest = [row for row in rest if row not in members]
        while rest and len(members) < 2 * k - 1:
            near = {row: min(distance(row, member) for member in members) for row in rest}
            new = min(rest, key=lambda row: (near[row], row))
            away = min((distance(new, row) for row in rest if row != new), default=np.inf)
            if gain == 0 or near[new] >= gain * away:
                break
            members.append(new)
            rest.remove(new)
        labels[members] = groups
        groups += 1
    return number_by_first_record(close_with_nearest_and_split(X, k, labels))


@pytest.fixture(params=["one block", "many blocks"], autouse=True)
def layout(request, monkeypatch):
    """Small tables are one block; with many, skipping blocks must change nothing."""
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)


@pytest.mark.parametrize("gain", [0.0, 0.2, 0.8, 1.1, 3.0])
@pytest.mark.parametrize("kind", ["normal", "clustered", "heavy tails"])
@pytest.mark.slow
def test_label_for_label(kind, gain):
    rng = np.random.default_rng(0)
    for _ in range(6):
        n, d = int(rng.integers(1, 90)), int(rng.integers(1, 6))
        k = int(rng.integers(1, min(n, 7) + 1))
        X = rng.standard_cauchy((n, d)) if kind == "heavy tails" else rng.normal(size=(n, d))
        if kind == "clustered":
            X = X * 0.1 + rng.normal(size=(12, d))[rng.integers(0, 12, n)]
        assert VMDAV(k=k, gain=gain).fit_predict(X).tolist() == vmdav(X, k, gain)


@pytest.mark.parametrize("seed", range(5))
def test_gain_0_makes_groups_of_k_and_a_few_leftovers(seed):
    X = np.random.default_rng(seed).normal(size=(100 + seed, 3))
    sizes = np.bincount(VMDAV(k=4, gain=0).fit_predict(X))
    assert len(sizes) == (100 + seed) // 4
    assert sizes.sum() - 4 * len(sizes) == (100 + seed) % 4


def test_groups_grow_where_the_data_are_clustered():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(20), 4)
    X = rng.normal(size=(20, 3))[truth] * 100 + rng.normal(size=(80, 3))
    model = VMDAV(k=3).fit(X)
    assert model.labels_.tolist() == truth.tolist()
    assert model.gain_ > 0


def test_auto_keeps_the_best_gain():
    rng = np.random.default_rng(1)
    for X in (rng.normal(size=(150, 3)), rng.normal(size=(40, 3))[rng.integers(0, 40, 150)]):
        tried = {gain: VMDAV(k=3, gain=gain).fit(X).sse_ for gain in GAINS}
        model = VMDAV(k=3).fit(X)
        assert model.sse_ == min(tried.values())
        assert model.gain_ == min(tried, key=tried.get)


def test_a_group_that_grew_too_large_at_the_end_is_split():
    X = np.r_[np.zeros(6), np.arange(100.0, 105.0), 0.1, 0.2][:, None]
    labels = VMDAV(k=3, gain=1.1).fit_predict(X)
    assert np.bincount(labels).max() <= 5
    assert sse(X, labels) < 20


def test_another_word_than_auto():
    with pytest.raises(ParameterError, match="gain must be 'auto' or a finite number"):
        VMDAV(gain="best").fit(np.zeros((5, 1)))


def test_the_uncompiled_kernels_agree(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    expected = VMDAV(k=3, gain=0.9).fit_predict(X)
    for name in ("grow", "nearest_other", "rounds_by_rank"):
        monkeypatch.setattr(variable_size, name, getattr(variable_size, name).py_func)
    monkeypatch.setattr("microagg.partitions.growing.rounds_by_rank", variable_size.rounds_by_rank)
    assert VMDAV(k=3, gain=0.9).fit_predict(X).tolist() == expected.tolist()
