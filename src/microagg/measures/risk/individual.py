"""Individual risk: whether somebody can be found in the population that a sample was drawn from."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Counts, Floats, Labels
from microagg.tables.pairs import Pair, classes_of

# Above this share of the population outside the sample, the series takes long for few records.
_NEARLY_ALL = 0.8
# For more records, the series ends soon whatever the share.
_MANY = 12


@dataclass(frozen=True)
class GlobalRisk:
    """The risk of all records together: how many an intruder is expected to re-identify.

    `share` is the same as a share of the records, and the mean of their individual risks;
    `largest` is the highest of these.
    """

    expected: float
    share: float
    largest: float


@dataclass(frozen=True)
class IndividualRisk:
    """The risk in the population before and after, and the population that the weights say.

    `population` is the sum of the weights of `n_records`.
    """

    n_records: int
    population: float
    before: GlobalRisk
    after: GlobalRisk


def individual_risk(pair: Pair) -> IndividualRisk | None:
    """Return how many records are expected to be re-identified; None if there are no weights.

    The intruder knows somebody's quasi-identifiers, but not whether that person is in the sample.
    Of the F people in the population with a combination, f are in the sample. Their weights add up
    to an estimate of F; with p = f / sum of weights, the number of trials until the f-th success,
    each with probability p, is the model of F, and the risk of each of their records is

        r = E(1 / F | f)

    The global risk is the sum of r over the records. Time O(n log n). Sources: Benedetti and
    Franconi (1998); Franconi and Polettini (2004); Templ, Kowarik and Meindl (2015).
    """
    if pair.weights is None:
        return None
    before = classes_of([column.before for column in pair.columns.values()])
    return IndividualRisk(
        pair.n_records,
        float(pair.weights.sum()),
        _global(before, pair.weights),
        _global(pair.classes, pair.weights),
    )


def _global(classes: Labels, weights: Floats) -> GlobalRisk:
    counts = np.bincount(classes)
    totals: Floats = np.bincount(classes, weights=weights).astype(np.float64)
    risks = expected_reciprocals(counts, totals)
    expected = float(counts @ risks)
    return GlobalRisk(expected, expected / len(classes), float(risks.max()))


def expected_reciprocals(counts: Counts, totals: Floats) -> Floats:
    """Return E(1 / F | f) for every combination, from its f records and the sum of their weights.

    With p = f / sum of weights, at most 1, and z = (1 - p) / p, it is

        integral from 0 to 1 of v^(f - 1) / (1 + z v) dv

    which is 1 / f if the sample is the population. Three forms of it are exact to some units in the
    last place, each where the others are slow or lose digits.

    >>> expected_reciprocals(np.array([1, 2, 3, 4]), np.array([17.0, 110.0, 3.0, 4e9])).round(8)
    array([0.17707583, 0.01714426, 0.33333333, 0.        ])
    """
    f = counts.astype(np.float64)
    z = np.maximum(totals - f, 0.0) / f
    share_outside = z / (1.0 + z)
    found = np.ones(len(f))
    one = (counts == 1) & (z > 0.0)
    found[one] = np.log1p(z[one]) / z[one]
    few = (counts > 1) & (counts <= _MANY) & (share_outside > _NEARLY_ALL)
    found[few] = _by_recurrence(counts[few], z[few])
    rest = (counts > 1) & ~few
    found[rest] = _by_series(f[rest], share_outside[rest], 1.0 / (1.0 + z[rest]))
    return found


def _by_recurrence(counts: Counts, z: Floats) -> Floats:
    """Return the integrals I_f from I_1 = log(1 + z) / z and I_(f+1) = (1 / f - I_f) / z.

    For z above 4, errors become smaller at every step. f = 2 and 3 are the closed forms of the
    literature.
    """
    found = np.log1p(z) / z
    for f in range(1, int(counts.max(initial=1))):
        found = np.where(counts > f, (1.0 / f - found) / z, found)
    return found


def _by_series(f: Floats, q: Floats, p: Floats) -> Floats:
    """Return p / f * sum over j of j! q^j / ((f + 1) (f + 2) ... (f + j)), which has no minus."""
    term, total, j = np.ones(len(f)), np.ones(len(f)), 0.0
    while bool((term > np.finfo(float).eps / 8 * total).any()):
        j += 1.0
        term = term * (j * q / (f + j))
        total += term
    found: Floats = p / f * total
    return found
