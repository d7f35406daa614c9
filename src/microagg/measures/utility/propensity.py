"""pMSE: how well a model can distinguish released records from original ones."""

import warnings
from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats
from microagg.core.progress import report
from microagg.core.validation import check_count
from microagg.measures.sampling import MOST_RECORDS, sampled_rows
from microagg.measures.utility.predictors import predictors
from microagg.tables.pairs import Pair

_TASK = "fitting propensity scores"
# Penalty on the coefficients: just enough to keep them finite where classes are separable.
_PENALTY = 1e-6
# Directions with less of the variance than this are rounding error.
_LEAST_VARIANCE = 1e-10
# Largest matrix of predictors; with very many predictors, fewer records are used.
_MOST_CELLS = 50_000_000
_FIRST_RECORDS = 1_000
# Parts of the jackknife.
_PARTS = 10


@dataclass(frozen=True)
class Propensity:
    """pMSE, from 0 (the tables are indistinguishable) to 0.25 (every record is recognised).

    `expected` and `standard_deviation` are for data drawn anew from the correct model of the
    original; `ratio` = pmse / expected, `standardised` = (pmse - expected) / standard deviation;
    None where there are no predictors. A report may withhold `pmse`, and `ratio`, which would tell
    more digits of it. `n_parameters` counts those that can be estimated, including the intercept.
    `sampling_error` is a standard error, None if all records were used.
    """

    pmse: float | None
    expected: float
    standard_deviation: float
    ratio: float | None
    standardised: float | None
    n_parameters: int
    converged: bool
    n_records: int
    n_sampled: int
    sampling_error: float | None


def propensity(pair: Pair, *, seed: int = 0, most_records: int = MOST_RECORDS) -> Propensity:
    """Return how well a logistic model can distinguish released records from original ones.

        pMSE = mean over the N = 2n records of both tables of (p_i - 1/2)^2

    where p_i is the model's probability that record i is a released one. Its predictors are the
    quasi-identifiers, numbers with their squares: microaggregation preserves means, so a model
    without squares would see no difference. With k parameters and c = 1/2, the expected value is
    (k - 1)(1 - c)^2 c / N and the standard deviation sqrt(2 (k - 1)) (1 - c)^2 c / N.

    Exact up to `most_records`, on a seeded sample of that size above. O(n p^2) for p predictors.
    Sources: Woo, Reiter, Oganian and Karr (2009); Snoke, Raab, Nowok, Dibben and Slavkovic (2018).
    """
    check_count("most_records", most_records, at_least=2 * _PARTS)
    report(_TASK, 0, 2 + _PARTS)
    rows = sampled_rows(pair.n_records, min(most_records, _affordable(pair)), seed)
    is_sample = len(rows) < pair.n_in_all
    sample = pair.take(rows) if len(rows) < pair.n_records else pair
    n = sample.n_records
    basis = _independent(predictors(sample.columns.values(), squares=True).reshape(2 * n, -1))
    report(_TASK, 1, 2 + _PARTS)
    p, converged = _probabilities(basis)
    pmse = float(np.square(p - 0.5).mean())
    k = basis.shape[1] + 1
    expected = (k - 1) / (8 * 2 * n)
    deviation = float(np.sqrt(2 * (k - 1))) / (8 * 2 * n)
    error = _error(basis, seed, pair.n_in_all) if is_sample else None
    report(_TASK, 2 + _PARTS, 2 + _PARTS)
    return Propensity(
        pmse=pmse,
        expected=expected,
        standard_deviation=deviation,
        ratio=pmse / expected if k > 1 else None,
        standardised=(pmse - expected) / deviation if k > 1 else None,
        n_parameters=k,
        converged=converged,
        n_records=pair.n_in_all,
        n_sampled=n,
        sampling_error=error,
    )


def _affordable(pair: Pair) -> int:
    """Return for how many records the matrix of predictors stays within limits."""
    width = sum(3 if column.is_scaled else 12 for column in pair.columns.values())
    return max(_FIRST_RECORDS, _MOST_CELLS // (2 * width))


def _independent(design: Floats) -> Floats:
    """Return uncorrelated predictors of variance 1 with the same span; `design` is overwritten.

    They predict the same, linearly dependent ones are gone, and the fit takes few steps.
    """
    design -= design.mean(axis=0)
    spread = np.sqrt(np.square(design).mean(axis=0))
    if not (varies := spread > 0.0).all():
        design = design[:, varies]
    if not design.shape[1]:
        return design
    design /= spread[varies]
    variances, axes = np.linalg.eigh(design.T @ design / len(design))
    kept = variances > _LEAST_VARIANCE * variances[-1]
    basis: Floats = design @ (axes[:, kept] / np.sqrt(variances[kept]))
    return basis


def _probabilities(basis: Floats) -> tuple[Floats, bool]:
    """Return the probability that each row is in the second half; whether the fit converged."""
    if not basis.shape[1]:
        return np.full(len(basis), 0.5), True
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    is_released = np.repeat([0, 1], len(basis) // 2)
    model = LogisticRegression(C=1 / _PENALTY, solver="newton-cholesky", tol=1e-8, max_iter=200)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(basis, is_released)
    converged = not any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return model.predict_proba(basis)[:, 1], converged


def _error(basis: Floats, seed: int, n_records: int) -> float:
    """Return the standard error of the pMSE of a sample: a jackknife over tenths of it.

    The model is refitted each time; the two rows of a record are left out together.
    """
    n = len(basis) // 2
    parts = np.random.default_rng(seed).permutation(np.arange(n) % _PARTS)
    found = []
    for part in range(_PARTS):
        report(_TASK, 2 + part, 2 + _PARTS)
        p, _ = _probabilities(basis[np.tile(parts != part, 2)])
        found.append(float(np.square(p - 0.5).mean()))
    share_left_out = 1.0 - n / n_records
    return float(np.sqrt((_PARTS - 1) * np.var(found) * share_left_out))
