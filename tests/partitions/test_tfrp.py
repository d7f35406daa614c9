"""Both phases of TFRP against slow references."""

import numpy as np
import pytest

from microagg.kernels.neighbours import blocks
from microagg.partitions import TFRP
from tests.references import (
    close_with_nearest_and_split,
    dissolve_and_shrink,
    number_by_first_record,
    squared_distances,
    sse,
)


def first_phase(X, k):
    labels, groups = np.full(len(X), -1), 0
    while (labels < 0).sum() >= k:
        rest = np.flatnonzero(labels < 0)
        corner = X.max(axis=0) if groups % 2 else X.min(axis=0)
        seed = rest[squared_distances(X[rest], corner).argmax()]
        near = np.argsort(squared_distances(X[rest], X[seed]), kind="stable")[:k]
        labels[rest[near]] = groups
        groups += 1
    return number_by_first_record(close_with_nearest_and_split(X, k, labels))


def cases(count):
    rng = np.random.default_rng(0)
    for case in range(count):
        n, d = int(rng.integers(1, 70)), int(rng.integers(1, 6))
        k = int(rng.integers(1, min(n, 7) + 1))
        yield (rng.normal(size=(n, d)) if case % 2 else rng.standard_cauchy((n, d))), k


@pytest.fixture(params=["one block", "many blocks"], autouse=True)
def layout(request, monkeypatch):
    """Small tables are one block; with many, skipping blocks must change nothing."""
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)


def test_the_first_phase_label_for_label():
    for X, k in cases(60):
        assert TFRP(k=k, refine=False).fit_predict(X).tolist() == first_phase(X, k)


def test_the_first_phase_on_ties():
    rng = np.random.default_rng(0)
    for k in (1, 2, 3, 5):
        X = rng.integers(0, 3, (60, 2)).astype(float)  # 60 = 0 modulo k: no mean decides a tie
        assert TFRP(k=k, refine=False).fit_predict(X).tolist() == first_phase(X, k)


@pytest.mark.slow
def test_both_phases_label_for_label():
    dissolved = 0
    for X, k in cases(30):
        first = first_phase(X, k)
        expected = dissolve_and_shrink(X, first, k, shrinks=False)
        assert TFRP(k=k).fit_predict(X).tolist() == expected
        dissolved += expected != first
    assert dissolved > 5


def test_the_second_phase_is_never_worse():
    for X, k in cases(40):
        first, both = TFRP(k=k, refine=False).fit(X), TFRP(k=k).fit(X)
        assert both.sse_ <= first.sse_ * (1 + 1e-12)


def test_leftovers_that_make_a_group_too_large():
    X = np.r_[np.zeros(3), np.full(3, 100.0), 49.0, 49.5][:, None]
    labels = TFRP(k=3, refine=False).fit_predict(X)
    assert np.bincount(labels).tolist() == [5, 3]
    X = np.r_[np.arange(4.0), np.full(4, 100.0), 50.0, 50.1, 50.2][:, None]
    assert sse(X, TFRP(k=4).fit_predict(X)) <= sse(X, first_phase(X, 4))
