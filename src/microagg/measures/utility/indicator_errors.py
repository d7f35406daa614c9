"""Squared errors of groups in a nominal column, from counts: there may be many categories."""

import numpy as np

from microagg.core.arrays import Floats, Labels, Rows
from microagg.measures.utility.information_loss import Errors


def indicator_errors(
    codes: Rows, labels: Labels, weights: Floats | None = None, shares: Floats | None = None
) -> Errors:
    """Return the errors about the means of groups, and of all, on an axis for each category.

    Two different categories have a distance of 1. Where `shares` are given, the code that follows
    the last of them is that of a record whose value is imputed, and which is at the mean of all.

    >>> indicator_errors(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    Errors(sse=0.5, sst=0.75)
    """
    counts = np.ones(len(codes)) if weights is None else weights
    everyone = np.zeros_like(labels)
    sse, sst = (_error(codes, own, counts, shares) for own in (labels, everyone))
    return Errors(sse, sst)


def _error(codes: Rows, labels: Labels, weights: Floats, shares: Floats | None) -> float:
    """Sum up |x|^2 less the squared length of the mean, for every group."""
    n_groups = int(labels.max()) + 1
    width = int(codes.max()) + 1 if shares is None else len(shares)
    there = np.ones(len(codes), dtype=np.bool_) if shares is None else codes < width
    cells, places = np.unique(labels[there] * width + codes[there], return_inverse=True)
    sums = np.bincount(places.reshape(-1), weights=weights[there])
    groups = cells // width
    squares: Floats = np.bincount(groups, weights=np.square(sums), minlength=n_groups).astype(float)
    own = float(weights[there].sum())
    if shares is not None:
        absent = np.bincount(labels[~there], weights=weights[~there], minlength=n_groups)
        near = np.bincount(groups, weights=sums * shares[cells % width], minlength=n_groups)
        length = float(shares @ shares)
        squares = squares + 2.0 * absent * near + np.square(absent) * length
        own += float(absent.sum()) * length
    totals = np.bincount(labels, weights=weights, minlength=n_groups)
    return max(0.0, (own - float((squares / totals).sum())) / 2.0)
