"""Eigenvalues of the scaled columns."""

import numpy as np
import polars as pl
import pytest

from microagg.measures.utility.eigenvalues import eigenvalues
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 4)) @ RNG.normal(size=(4, 4)) + 1e5
Z = X + RNG.normal(size=X.shape)


def of(X, Z, **options):
    before, after = (pl.DataFrame(T, schema=list("abcd")[: T.shape[1]]) for T in (X, Z))
    return eigenvalues(open_pair(before, after, quasi_identifiers=before.columns, **options))


def test_by_the_definition():
    e, f = (np.sort(np.linalg.eigvalsh(np.corrcoef(T.T)))[::-1] for T in (X, Z))
    result = of(X, Z)
    assert result.before == pytest.approx(e)
    assert result.after == pytest.approx(f)
    assert result.change == pytest.approx((abs(e - f) / e).sum())
    assert (result.n_zero, result.constant) == (0, ())


def test_two_columns_by_hand():
    """Correlations 0.5 and 0.8 have the eigenvalues 1.5 and 0.5, and 1.8 and 0.2."""
    Q = np.linalg.qr(np.column_stack((np.ones(9), RNG.normal(size=(9, 2)))))[0][:, 1:]

    def correlated(r):
        return np.column_stack((Q[:, 0], r * Q[:, 0] + np.sqrt(1 - r * r) * Q[:, 1]))

    assert of(correlated(0.5), correlated(0.8)).change == pytest.approx(0.3 / 1.5 + 0.3 / 0.5)


def test_shrinking_all_columns_does_not_count():
    assert of(X, 0.5 * X + 3).change == pytest.approx(0, abs=1e-9)


def test_an_eigenvalue_of_zero_is_counted_and_not_divided_by():
    D = np.column_stack((X[:, :2], X[:, 0] + X[:, 1]))
    kept = of(D, D.mean(axis=0) + 0.9 * (D - D.mean(axis=0)))
    assert (kept.n_zero, kept.released_at_zero) == (1, 0)
    assert kept.change == pytest.approx(0, abs=1e-8)
    broken = of(D, D + RNG.normal(size=D.shape))
    assert broken.n_zero == 1
    assert broken.released_at_zero == pytest.approx(broken.after[2])
    assert np.isfinite(broken.change)


def test_columns_that_do_not_vary():
    before, after = X.copy(), X.copy()
    before[:, 0] = 7.1
    assert of(before, after).constant == ("a",)
    after = X.copy()
    after[:, 0] = X[:, 0].mean()
    e, f = (np.sort(np.linalg.eigvalsh(np.corrcoef(T.T)))[::-1] for T in (X, X[:, 1:]))
    rest = np.sort([*f, 0.0])[::-1]
    assert of(X, after).change == pytest.approx((abs(e - rest) / e).sum())
    nothing = of(before[:, :1], after[:, :1])
    assert (nothing.change, nothing.before) == (None, ())


def test_missing_values_leave_the_pairs_that_are_there():
    gone = RNG.random(X.shape) < 0.1
    before = pl.DataFrame(np.where(gone, np.nan, X)).fill_nan(None)
    S = np.where(gone, np.nan, X)
    S = (S - np.nanmean(S, axis=0)) / np.nanstd(S, axis=0, ddof=1)
    C = np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            both = ~gone[:, i] & ~gone[:, j]
            C[i, j] = np.cov(S[both, i], S[both, j])[0, 1]
    result = eigenvalues(open_pair(before, pl.DataFrame(Z)))
    assert result.before == pytest.approx(np.linalg.eigvalsh(C)[::-1])
