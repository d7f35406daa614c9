"""Memberships: powers of distances (fuzzy c-means) or exponentials (its entropy form)."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from microagg.core.arrays import Floats
from microagg.kernels.fuzzy.memberships import exponential_weights, power_weights

# An exponent for m = 1, at which all memberships but that of the nearest centre vanish.
_NEAREST_ALONE = 1e300
# Rates are clipped to these, beyond which exponentials are flat or a step at any distance.
_LEAST_RATE, _LARGEST_RATE = 1e-100, 1e100


@dataclass(frozen=True)
class Weights:
    """Rows of weights in proportion to the memberships, the largest of a row about 1.

    `nearest` is each record's squared distance to its nearest centre, `sums` the sum of its weights
    before they are raised.
    """

    values: Floats
    nearest: Floats
    sums: Floats


class Fuzziness(Protocol):
    """A rule for memberships. Centres are given as `columns`: an array of d rows."""

    @property
    def reach(self) -> float:
        """Where initial centres lie between the overall mean (0) and their record (1)."""

    def weights(self, records: Floats, columns: Floats) -> Weights:
        """Return the weights of the records; divided by their sums they are memberships."""

    def raised(self, records: Floats, columns: Floats) -> Weights:
        """Return the weights raised to the power that centres are computed with."""

    def log_scales(self, sums: Floats) -> Floats:
        """Return the logarithm of the factor from each raised row to raised memberships."""

    def objective(self, nearest: Floats, sums: Floats) -> float:
        """Return the contribution of the records to the objective, at the best memberships."""


@dataclass(frozen=True)
class Power:
    """Memberships of fuzzy c-means: proportional to distance^(-2 / (m - 1))."""

    m: float

    @property
    def reach(self) -> float:
        """The fuzzier, the nearer to the mean, where very fuzzy centres belong.

        A centre near a record is a trap: the record belongs to it almost alone, and if m is large,
        no other record has any influence.
        """
        return 1.0 / self.m

    def weights(self, records: Floats, columns: Floats) -> Weights:
        """Return the weights of the records; divided by their sums they are memberships."""
        return self._weigh(records, columns, raised=False)

    def raised(self, records: Floats, columns: Floats) -> Weights:
        """Return the m-th powers of the weights."""
        return self._weigh(records, columns, raised=True)

    def _weigh(self, records: Floats, columns: Floats, *, raised: bool) -> Weights:
        exponent = 1.0 / (self.m - 1.0) if self.m > 1.0 else _NEAREST_ALONE
        found = _empty(records, columns)
        power_weights(records, columns, exponent, raised, found.values, found.nearest, found.sums)
        return found

    def log_scales(self, sums: Floats) -> Floats:
        """Return the logarithms of sums^-m."""
        return -self.m * np.log(sums)

    def objective(self, nearest: Floats, sums: Floats) -> float:
        """Return the sum of u^m |x - v|^2: for each record it is nearest * sums^(1 - m)."""
        return float(nearest @ np.exp((1.0 - self.m) * np.log(sums)))


@dataclass(frozen=True)
class Exponential:
    """Memberships of entropy fuzzy c-means: proportional to exp(-rate |x - v|^2)."""

    rate: float

    @property
    def reach(self) -> float:
        """At the record: a record on a centre need not belong to it alone."""
        return 1.0

    def weights(self, records: Floats, columns: Floats) -> Weights:
        """Return the weights of the records; divided by their sums they are memberships."""
        found = _empty(records, columns)
        exponential_weights(records, columns, self._rate, found.values, found.nearest, found.sums)
        return found

    def raised(self, records: Floats, columns: Floats) -> Weights:
        """Return the weights as they are: a centre is the mean weighted by memberships."""
        return self.weights(records, columns)

    def log_scales(self, sums: Floats) -> Floats:
        """Return the logarithms of 1 / sums."""
        return -np.log(sums)

    def objective(self, nearest: Floats, sums: Floats) -> float:
        """Return the sum of u |x - v|^2 + u log(u) / rate: nearest - log(sums) / rate each."""
        return float((nearest - np.log(sums) / self._rate).sum())

    @property
    def _rate(self) -> float:
        return min(max(self.rate, _LEAST_RATE), _LARGEST_RATE)


def _empty(records: Floats, columns: Floats) -> Weights:
    n = len(records)
    return Weights(np.empty((n, columns.shape[1])), np.empty(n), np.empty(n))
