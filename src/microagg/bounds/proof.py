"""The semidefinite bound, proved: from any multipliers to what every record pays at least.

Let Z be the matrix of a partition: z_ij = 1/s if i and j are in the same group of s records, else
0. Its SSE is the sum of c_ij z_ij with c_ij = |x_i - x_j|^2 / 2. Nothing is lost by groups of k to
2k-1 records, as larger ones can be split. Add to the costs

- minus S, for any positive semidefinite S: Z is positive semidefinite, so that costs no less;
- any K with k_ij = -k_ji: as Z is symmetric, it cancels;
- for any cut, an amount that partitions cannot gain from.

Call the result A. Row by row, a partition pays (a_ii + the sum of a_ij over the s-1 others) / s, at
least the smallest such value over all s and all others. These shares bound the SSE of every
partition, however the multipliers were found, and within every group they sum to at most its SSE.

S is block diagonal, with a factor F for each region of records: F F' is positive semidefinite
whatever F is. Pairs of records of different regions have prices, k_ij = m_i - m_j, and those listed
a K of their own.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from microagg.bounds.fast import Shares
from microagg.core.arrays import Floats, Rows
from microagg.kernels.bounds.semidefinite import Pairs, add_cuts, least_shares

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


class RegionProof(NamedTuple):
    """The multipliers of a region: a factor of S, a matrix whose antisymmetric part is K, cuts."""

    rows: Rows
    factor: Floats
    asymmetric: Floats
    cuts: Cuts


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


def proved_shares(X: Floats, k: int, regions: Iterable[RegionProof], listed: Listed) -> Shares:
    """Return what each record pays at least; every record must be in one of the regions."""
    pairs = Pairs(listed.begins, listed.ends, _pair_costs(X, listed))
    shares = np.empty(len(X))
    for region in regions:
        least_shares(region_costs(X, region), region.rows, pairs, listed.others, k, shares)
    return Shares(shares, 2.0 * _EPS * abs(math.fsum(shares)))


def region_costs(X: Floats, region: RegionProof) -> Floats:
    """Return the costs A of pairs in a region, lowered by more than rounding can have raised them.

    An entry of F F' is a sum of products: its error is at most their number times the rounding unit
    times the lengths of both rows of F. Other terms have relative errors, and sums of cuts none.
    """
    X, n_terms = X[region.rows], region.factor.shape[1] + 8
    costs = half_squares(X, X)
    sizes = costs.copy()
    cut_costs = np.zeros_like(costs)
    add_cuts(region.cuts.of, _without_rounding(region.cuts.multipliers), np.ones(len(X)), cut_costs)
    costs += cut_costs
    sizes += np.abs(cut_costs, out=cut_costs)
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
    return costs


def _pair_costs(X: Floats, listed: Listed) -> Floats:
    """Return the costs of listed pairs, lowered in the same way."""
    starts = np.repeat(np.arange(len(X)), np.diff(listed.begins))
    squares = 0.5 * np.square(X[starts] - X[listed.ends]).sum(axis=1)
    antisymmetric = 0.5 * (listed.asymmetric - listed.asymmetric[listed.mirrors])
    sizes = squares + np.abs(antisymmetric)
    lowered: Floats = squares + antisymmetric - _EPS * (X.shape[1] + 8) * sizes
    return lowered


def _without_rounding(multipliers: Floats) -> Floats:
    """Round multipliers, so that no sum of them is rounded; none is below zero."""
    largest = float(multipliers.max(initial=0.0))
    if largest <= 0.0:
        return np.zeros_like(multipliers)
    unit = math.ldexp(1.0, math.frexp(largest)[1] - _BITS)
    rounded: Floats = np.floor(np.maximum(multipliers, 0.0) / unit) * unit
    return rounded
