"""The judge of hybrid records finds what moved, and takes rounding for what it is."""

import numpy as np
import polars as pl
import pytest

from microagg.aggregates.hybrid import hybrid_records
from microagg.requirements.base import Evidence
from microagg.requirements.hybrid import HybridRecords, MovedMoments, moved_moments

RNG = np.random.default_rng(0)
LABELS = np.repeat(np.arange(4), 12)
X = RNG.normal(size=(48, 3)) * [1.0, 30.0, 1e6] + [0.0, 500.0, 1e9]
Y = hybrid_records(X, LABELS, RNG)


def found(before, after):
    return moved_moments(list(before.T), list(after.T), LABELS)


def test_hybrid_records_keep_both():
    moved = found(X, Y)
    assert moved.kept
    assert max(moved.mean, moved.covariance, moved.table_mean, moved.table_covariance) < 1e-9


@pytest.mark.parametrize("column", range(3))
@pytest.mark.parametrize("size", [1e-3, 1e-6])
def test_a_mean_that_moved(column, size):
    after = Y.copy()
    after[LABELS == 2, column] += size * X[:, column].std(ddof=1)
    moved = found(X, after)
    assert not moved.kept
    assert moved.mean == pytest.approx(size, rel=1e-6)
    assert moved.table_mean == pytest.approx(size / 4, rel=1e-6)


@pytest.mark.parametrize("column", range(3))
def test_a_variance_that_moved(column):
    after, own = Y.copy(), LABELS == 1
    mean = after[own, column].mean()
    after[own, column] = mean + 1.001 * (after[own, column] - mean)
    moved = found(X, after)
    assert not moved.kept
    assert moved.mean < 1e-9 < moved.covariance


def test_a_covariance_that_moved():
    """Means and variances are right, but a column has lost its relation to the others."""
    after, own = Y.copy(), np.flatnonzero(LABELS == 3)
    after[own, 0] = np.roll(after[own, 0], 1)
    moved = found(X, after)
    assert not moved.kept
    assert moved.mean < 1e-9 < 0.01 < moved.covariance


def test_means_of_groups_have_no_variance():
    centers = np.array([X[group == LABELS].mean(axis=0) for group in range(4)])
    assert not found(X, centers[LABELS]).kept


def test_records_of_another_group():
    after = Y.copy()
    after[[0, 20]] = after[[20, 0]]
    assert not found(X, after).kept


@pytest.mark.parametrize("kind", ["whole", "narrow"])
def test_rounding_is_allowed_and_no_more(kind):
    dtype = np.int64 if kind == "whole" else np.float32
    before = np.round(X[:, 1]).astype(dtype)
    exact = hybrid_records(before.astype(np.float64)[:, None], LABELS, RNG)[:, 0]
    after = np.rint(exact).astype(dtype) if kind == "whole" else exact.astype(dtype)
    moved = moved_moments([before], [after], LABELS)
    assert moved.kept
    assert 0 < moved.mean < 0.5 / before.std(ddof=1)
    step = 1 if kind == "whole" else 0.01
    assert not moved_moments([before], [(after + step).astype(dtype)], LABELS).kept


def test_constant_columns():
    constant = np.full(48, 7)
    assert moved_moments([constant], [constant], LABELS) == MovedMoments(0, 0, 0, 0, kept=True)
    assert not moved_moments([constant], [constant + 1], LABELS).kept


def test_blocks_together():
    one, two = MovedMoments(1, 2, 3, 4, kept=True), MovedMoments(4, 3, 2, 1, kept=False)
    assert MovedMoments.together([one, two]) == MovedMoments(4, 3, 3, 4, kept=False)


def test_k_is_never_vouched_for():
    table = pl.DataFrame({"a": [1, 1, 1, 1]})
    finding = HybridRecords().judge(Evidence(table, ("a",)))
    assert finding.satisfied is False
    assert "k was not promised" in finding.verdict
    assert finding.complaint == finding.verdict
    assert finding.as_dict() == {"requirement": "hybrid records"}
