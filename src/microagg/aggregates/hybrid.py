"""Hybrid records: synthetic ones with the mean and covariance of their group."""

import numpy as np

from microagg.core.arrays import Floats, Labels


def hybrid_records(X: Floats, labels: Labels, rng: np.random.Generator) -> Floats:
    """Return other records, with the mean and covariance matrix of every group of X.

    Exact up to rounding, also for groups whose covariance matrix is singular: columns that are
    constant within a group, or depend on each other linearly, still do. With R the deviations of a
    group from its mean c, of rank r, and R = U S V' its singular value decomposition, the records
    are c + Q S V', where Q has r random columns that are orthonormal and sum to zero. Nothing is
    left of U, which tells the records of a group apart, if the group has at least 2d + 1 records in
    d columns; in fewer, Q cannot avoid the space that U spans.

    A number that is too large for floats is infinite. Time O(n d^2), memory O(n d). Source: after
    Domingo-Ferrer and Gonzalez-Nicolas (2010), "Hybrid microdata using microaggregation".

    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [6.0, 12.0], [8.0, 16.0]])
    >>> made = hybrid_records(X, np.zeros(5, dtype=np.intp), np.random.default_rng(0))
    >>> np.allclose(made.mean(axis=0), [4.0, 8.0]), np.allclose(np.cov(made.T), np.cov(X.T))
    (True, True)
    >>> np.allclose(made[:, 1], 2.0 * made[:, 0])
    True
    """
    from threadpoolctl import threadpool_limits

    # A power of two: it costs no digits, and squares of very large or small numbers stay in range.
    exponents = np.frexp(np.abs(X).max(axis=0))[1]
    scaled = np.ldexp(X, -exponents)
    made = np.empty_like(scaled)
    order = np.argsort(labels, kind="stable")
    ends = np.bincount(labels).cumsum()
    with threadpool_limits(limits=1, user_api="blas"):  # several threads would round differently
        for rows in np.split(order, ends[:-1]):
            made[rows] = _like(scaled[rows], rng)
    with np.errstate(over="ignore"):
        released: Floats = np.ldexp(made, exponents)
    return released


def _like(group: Floats, rng: np.random.Generator) -> Floats:
    """Return other records with the mean and covariance of these."""
    size, d = group.shape
    # As many whatever the rank is: rounding in one group must not change the others.
    normal = rng.standard_normal((size, d))
    center = group[0] + (group - group[0]).mean(axis=0)  # exact for constant columns
    apart = group - center
    apart -= apart.mean(axis=0)
    widths = np.abs(apart).max(axis=0)
    varies = (group != group[0]).any(axis=0) & (widths > 0.0)
    if not varies.any():
        return np.broadcast_to(center, group.shape)
    # In units of their own, columns of small numbers keep their digits beside those of large ones.
    factor = _factor(apart[:, varies] / widths[varies])
    made = np.broadcast_to(center, group.shape).copy()
    made[:, varies] += _directions(normal[:, : len(factor)]) @ factor * widths[varies]
    return made


def _factor(apart: Floats) -> Floats:
    """Return S V' of the singular value decomposition; values of the size of rounding are zero."""
    _, values, rows = np.linalg.svd(apart, full_matrices=False)
    least = values[0] * max(apart.shape) * np.finfo(np.float64).eps
    rank = min(int(np.count_nonzero(values > least)), len(apart) - 1)  # deviations sum to zero
    axes = rows[:rank]
    # Which of the two signs an axis gets differs between processors: its largest entry is positive.
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    factor: Floats = values[:rank, None] * axes * np.where(largest < 0.0, -1.0, 1.0)
    return factor


def _directions(normal: Floats) -> Floats:
    """Return orthonormal columns that sum to zero, drawn uniformly."""
    Q, T = np.linalg.qr(normal - normal.mean(axis=0))
    # Of the two signs that a column may have, the one that makes T positive is unique.
    directions: Floats = Q * np.where(np.diagonal(T) < 0.0, -1.0, 1.0)
    return directions
