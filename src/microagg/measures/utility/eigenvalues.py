"""Changes of the eigenvalues of the correlation matrix."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats
from microagg.measures.utility.correlations import PairwiseSums, pairwise_sums
from microagg.tables.pairs import Pair

# Eigenvalues below this share of their sum are zero within rounding error.
_ZERO_SHARE = 1e-10


@dataclass(frozen=True)
class Eigenvalues:
    """Sum of the relative changes, and the eigenvalues themselves, largest first.

    `n_zero` eigenvalues of the original are zero because columns are linearly dependent; they have
    no relative change and are left out of the sum. `released_at_zero` is the sum of the released
    eigenvalues in their places; above 0, the dependence is broken. Columns in `constant` do not
    vary in the original and are left out. None where no eigenvalue is left.
    """

    change: float | None
    before: tuple[float, ...]
    after: tuple[float, ...]
    n_zero: int
    released_at_zero: float
    constant: tuple[str, ...]


def eigenvalues(pair: Pair) -> Eigenvalues:
    """Return how much the shape of the data changed, apart from its scale.

        change = sum over i of |e_i(x) - e_i(z)| / e_i(x)

    where e_1 >= e_2 >= ... are the eigenvalues of the covariance matrix of the numbers, dates and
    ordered categories, each table standardised by its own means and standard deviations (ddof = 1).
    Both are thus correlation matrices, and shrinking all columns alike changes nothing. A
    covariance is over the records where both values are present. A column that is constant in the
    release only has covariances of 0.

    Exact, O(n d^2). Source: sdcMicro's `dUtility` with `method="eigen"`, which gives infinity or
    an arbitrary number where an eigenvalue of the original is zero.
    """
    columns = pair.scaled_columns
    measured = [column for column in columns if not column.is_constant]
    constant = tuple(column.name for column in columns if column.is_constant)
    if not measured:
        return Eigenvalues(None, (), (), 0, 0.0, constant)
    return eigenvalues_of(
        pairwise_sums([c.scaled_before for c in measured], [c.before.is_present for c in measured]),
        pairwise_sums([c.scaled_after for c in measured], [c.after.is_present for c in measured]),
        constant,
    )


def eigenvalues_of(
    sums: PairwiseSums, released: PairwiseSums, constant: tuple[str, ...]
) -> Eigenvalues:
    """Compare the eigenvalues of columns that have these sums before and after."""
    before, after = _spectrum(sums), _spectrum(released)
    zero = before <= _ZERO_SHARE * before.sum()
    change = np.abs(before - after)[~zero] / before[~zero]
    at_zero = after[zero]
    at_zero = np.where(np.abs(at_zero) <= _ZERO_SHARE * len(before), 0.0, at_zero)
    return Eigenvalues(
        change=float(change.sum()) if len(change) else None,
        before=tuple(before.tolist()),
        after=tuple(after.tolist()),
        n_zero=int(np.count_nonzero(zero)),
        released_at_zero=float(at_zero.sum()),
        constant=constant,
    )


def _spectrum(sums: PairwiseSums) -> Floats:
    """Return the eigenvalues of the covariances, in units of the columns' own deviations."""
    products = sums.products - sums.values * sums.values.T / sums.divisors
    covariances = products / np.maximum(sums.divisors - 1.0, 1.0)
    variances = np.diag(covariances)
    varies = variances > 0.0
    units = np.where(varies, 1.0 / np.sqrt(np.where(varies, variances, 1.0)), 0.0)
    return np.linalg.eigvalsh(covariances * units * units[:, None])[::-1].astype(np.float64)
