"""The semidefinite bound, proved: from any multipliers to what every record pays at least.

Let Z be the matrix of a partition: z_ij = 1/s if i and j are in the same group of s records, else
0. Its SSE is the sum of c_ij z_ij with c_ij = |x_i - x_j|^2 / 2. Nothing is lost by groups of k to
2k-1 records, as larger ones can be split. Add to the costs

- minus S, for any positive semidefinite S: Z is positive semidefinite, so that costs no less;
- any K with k_ij = -k_ji: as Z is symmetric, it cancels;
- for any cut, an amount that partitions cannot gain from;
- for any set of records, an amount by which partitions gain at most a constant.

Call the result A. Row by row, a partition pays (a_ii + the sum of a_ij over the s-1 others) / s, at
least the smallest such value over all s and all others. The sum of these shares, less the
constants, bounds the SSE of every partition, however the multipliers were found. Without sets, the
shares of a group's members sum to at most its SSE.

What a set Q of mk + r records (0 < r < k) says is that it holds m groups at most. With f_G the
share of group G that lies in Q, the sum of all f_G is the sum of z_ii in Q; groups across its
border count for the more, the fewer of their records are outside, and

    sum of z_ii in Q  <=  m + (sum of z_ij, i in Q, j not in Q) / (k - r).

For a group of s >= k records with q in Q, the difference of both sums is (q/s) (1 - (s-q) / (k-r)),
which falls as s grows. So it is at most 1, its value at s = q, if q >= k, and otherwise at most
q (q-r) / (k (k-r)), its value at s = k, which is convex in q and is 0, 0, 1 at q = 0, r, k. So over
all groups it is largest with m groups of k in Q and one that has the other r, and then it is m;
groups with more than k in Q only use up records. As rows sum to 1, the last sum is |Q| less that of
z_ij within Q, which is the form used here.

S is block diagonal, with a factor F for each region of records: F F' is positive semidefinite
whatever F is. Pairs of records of different regions have prices, k_ij = m_i - m_j, and those listed
a K of their own.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from microagg.bounds.fast import UNDERFLOW, Shares
from microagg.core.arrays import Floats, Rows
from microagg.kernels.bounds.semidefinite import Pairs, Sets, add_cuts, add_sets, least_shares

_EPS = float(np.finfo(np.float64).eps)
# Multipliers of cuts are multiples of a power of two, this many bits below the largest: then sums
# of up to a million of them are exact.
_BITS = 30


class Cuts(NamedTuple):
    """Record i and others B, padded with -1: the sum of z_ij is at most z_ii + all z_jl in B.

    For i's group G it says |B & G| <= 1 + pairs within B & G, and nothing for other groups.
    """

    of: Rows
    multipliers: Floats


class RegionSets(NamedTuple):
    """Sets of records of a region, by their places in it, one after another, and multipliers."""

    sizes: Rows
    members: Rows
    multipliers: Floats

    def terms(self, k: int) -> Sets:
        """Return the sets with what is lacking to another group, and limits: all are whole."""
        n_groups, beyond = np.divmod(self.sizes, k)
        lacking = k - beyond
        begins = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)
        limits = lacking * n_groups + self.sizes
        return Sets(begins, self.members, lacking.astype(np.float64), limits.astype(np.float64))


class RegionProof(NamedTuple):
    """The multipliers of a region: a factor of S, a matrix whose antisymmetric part is K, cuts."""

    rows: Rows
    factor: Floats
    asymmetric: Floats
    cuts: Cuts
    sets: RegionSets


class Proof(NamedTuple):
    """What each record pays at least, and what partitions gain from sets at most."""

    shares: Shares
    gained: float

    @property
    def bound(self) -> float:
        """A lower bound on the SSE of every partition."""
        lowered = [-self.shares.margin, -self.gained, -UNDERFLOW]
        return max(0.0, math.fsum([*self.shares.values, *lowered]))


class Listed(NamedTuple):
    """Pairs of records of different regions, each both ways.

    `mirrors` are the places of the reverse pairs; `asymmetric` is a matrix whose antisymmetric part
    is K. Any other record of another region costs record i at least `others[i]`.
    """

    begins: Rows
    ends: Rows
    mirrors: Rows
    asymmetric: Floats
    others: Floats


def half_squares(X: Floats, Y: Floats) -> Floats:
    """Return half of the squared distances between the records of two tables."""
    out = np.zeros((len(X), len(Y)))
    for own, other in zip(X.T, Y.T, strict=True):
        apart = np.subtract.outer(own, other)
        apart *= apart
        out += apart
    out *= 0.5
    return out


def half_squares_of(X: Floats, starts: Rows, ends: Rows) -> Floats:
    """Return half of the squared distances of pairs of records, column by column to save memory."""
    out = np.zeros(len(starts))
    for values in X.T:
        apart = values[starts]
        apart -= values[ends]
        apart *= apart
        out += apart
    out *= 0.5
    return out


def prove(X: Floats, k: int, regions: Iterable[RegionProof], listed: Listed) -> Proof:
    """Return what each record pays at least; every record must be in one of the regions."""
    pairs = Pairs(listed.begins, listed.ends, _pair_costs(X, listed))
    shares, gained = np.empty(len(X)), []
    for region in regions:
        costs, gain = region_costs(X, k, region)
        if not (np.isfinite(gain) and np.isfinite(costs).all() and np.isfinite(pairs.values).all()):
            return Proof(Shares(np.zeros(len(X)), 0.0), 0.0)  # a search that failed proves nothing
        least_shares(costs, region.rows, pairs, listed.others, k, shares)
        gained.append(gain)
    margin = 4.0 * _EPS * (abs(math.fsum(shares)) + math.fsum(gained))
    return Proof(Shares(shares, margin), math.fsum(gained))


def region_costs(X: Floats, k: int, region: RegionProof) -> tuple[Floats, float]:
    """Return the costs A of pairs in a region, and what partitions gain from its sets at most.

    The costs are lowered by more than rounding can have raised them. An entry of F F' is a sum of
    products: its error is at most their number times the rounding unit times the lengths of both
    rows of F. Other terms have relative errors, and sums over cuts and sets have none.
    """
    X, n_terms = X[region.rows], region.factor.shape[1] + 8
    costs = half_squares(X, X)
    sizes = costs.copy()
    terms, gain = _terms_without_rounding(region, k)
    costs += terms
    sizes += np.abs(terms, out=terms)
    asymmetric = region.asymmetric.astype(np.float64)
    antisymmetric = asymmetric - asymmetric.T
    antisymmetric *= 0.5
    costs += antisymmetric
    sizes += np.abs(antisymmetric, out=antisymmetric)
    sizes *= _EPS * (X.shape[1] + 8)
    costs -= region.factor @ region.factor.T
    lengths = np.sqrt(np.square(region.factor).sum(axis=1)) * (1.0 + n_terms * _EPS)
    sizes += np.multiply.outer(_EPS * n_terms * lengths, lengths)
    costs -= sizes
    return costs, gain


def _terms_without_rounding(region: RegionProof, k: int) -> tuple[Floats, float]:
    """Return what cuts and sets add to the costs, and what partitions gain from sets at most.

    All multipliers are rounded to multiples of the same power of two, so that no sum is rounded.
    """
    cuts, sets = region.cuts, region.sets
    largest = max(cuts.multipliers.max(initial=0.0), k * sets.multipliers.max(initial=0.0))
    of_cuts, of_sets = (rounded_down(own, largest) for own in (cuts.multipliers, sets.multipliers))
    costs, ones = np.zeros((len(region.rows),) * 2), np.ones(len(region.rows))
    add_cuts(cuts.of, of_cuts, ones, costs)
    terms = sets.terms(k)
    add_sets(terms, of_sets, ones, costs)
    return costs, math.fsum(of_sets * terms.limits)


def _pair_costs(X: Floats, listed: Listed) -> Floats:
    """Return the costs of listed pairs, lowered in the same way."""
    starts = np.repeat(np.arange(len(X)), np.diff(listed.begins))
    squares = half_squares_of(X, starts, listed.ends)
    antisymmetric = 0.5 * (listed.asymmetric - listed.asymmetric[listed.mirrors])
    sizes = squares + np.abs(antisymmetric)
    lowered: Floats = squares + antisymmetric - _EPS * (X.shape[1] + 8) * sizes
    return lowered


def rounded_down(multipliers: Floats, largest: float) -> Floats:
    """Round multipliers down to multiples of a power of two; none is below zero."""
    if largest <= 0.0:
        return np.zeros_like(multipliers)
    unit = math.ldexp(1.0, math.frexp(largest)[1] - _BITS)
    rounded: Floats = np.floor(np.maximum(multipliers, 0.0) / unit) * unit
    return rounded
