"""Centres: initial ones, convergence, and merging of those that coincide."""

import math
from dataclasses import dataclass

import numpy as np

from microagg.constraints.equalities import Equalities
from microagg.core.arrays import Floats, Rows
from microagg.core.progress import report
from microagg.fuzzy.blocks import in_blocks
from microagg.fuzzy.fuzziness import Fuzziness
from microagg.kernels.fuzzy.memberships import first_alike

# A centre stays where it is if the total weight of its records is below this.
_NOTHING = 1e-200


@dataclass(frozen=True)
class Converged:
    """Centres after the last iteration; the objective is that of the last memberships."""

    centers: Floats
    objective: float
    n_iterations: int


def random_start(Z: Floats, n_centers: int, rng: np.random.Generator) -> Floats:
    """Return random records as initial centres.

    So a region has centres in proportion to its records, and classes have about equal sizes;
    k-means++ would put a centre, and hence a class, on each outlier.
    """
    return Z[rng.permutation(len(Z))[:n_centers]]


def converge(
    Z: Floats,
    centers: Floats,
    fuzziness: Fuzziness,
    equalities: Equalities | None,
    *,
    max_iterations: int,
    tolerance: float,
    n_jobs: int,
) -> Converged:
    """Iterate until the centres hardly move.

    They have converged when the root mean square of their moves is at most `tolerance`.
    """
    centers = centers if equalities is None else equalities.project(centers)
    n_iterations, step = 0, math.inf
    while n_iterations < max_iterations and step > tolerance:
        means, objective = weighted_means(Z, centers, fuzziness, n_jobs=n_jobs)
        moved = means if equalities is None else equalities.project(means)
        step = math.sqrt(np.square(moved - centers).sum() / len(centers))
        centers, n_iterations = moved, n_iterations + 1
    return Converged(centers, objective, n_iterations)


def weighted_means(
    Z: Floats, centers: Floats, fuzziness: Fuzziness, *, n_jobs: int
) -> tuple[Floats, float]:
    """Return the membership-weighted mean of the records for each centre, and the objective.

    This is one iteration. The scales of the records, such as sums^-m, span hundreds of orders of
    magnitude if m is large, so they are relative to the largest so far.
    """
    columns = np.ascontiguousarray(centers.T)
    with_ones = np.column_stack([Z, np.ones(len(Z))])

    def add_up(rows: slice) -> tuple[Floats, float, float]:
        found = fuzziness.raised(Z[rows], columns)
        logs = fuzziness.log_scales(found.sums)
        top = float(logs.max())
        scaled = with_ones[rows] * np.exp(logs - top)[:, None]
        return scaled.T @ found.values, top, fuzziness.objective(found.nearest, found.sums)

    totals, highest, objective = np.zeros((Z.shape[1] + 1, len(centers))), -math.inf, 0.0
    blocks = in_blocks(add_up, len(Z), len(centers), n_jobs=n_jobs, task="clustering")
    for _, (part, top, gained) in blocks:
        if top > highest:
            totals *= math.exp(highest - top)
            highest = top
        totals += part * math.exp(top - highest)
        objective += gained
    weights = totals[-1]
    known = weights > _NOTHING
    means = np.divide(totals[:-1], weights, out=columns, where=known).T
    return np.ascontiguousarray(means), objective


def merge_coinciding(centers: Floats, within: float) -> tuple[Floats, Rows]:
    """Merge centres that coincide; return the centres and how many each represents.

    Those at most `within` away from the first of them are replaced by their mean.
    """
    first = np.empty(len(centers), dtype=np.intp)
    first_alike(centers, within * within, first)
    kept, group, copies = np.unique(first, return_inverse=True, return_counts=True)
    if len(kept) == len(centers):
        return centers, copies
    apart = centers - centers[first]
    means = [np.bincount(group, column) / copies for column in apart.T]
    return centers[kept] + np.column_stack(means), copies


def merge_small(centers: Floats, sizes: Rows, k: int) -> tuple[Rows, Floats]:
    """Return for each centre the one it is merged into, so that all that remain have k records.

    As long as a centre has fewer, the smallest one (the first of equals) is merged with the one
    for which this moves records least, and both are replaced by their mean, weighted by size: it
    satisfies the equalities that both satisfy. Time O(c^2 d).
    """
    centers, sizes = centers.copy(), sizes.copy()
    into, left = np.arange(len(centers)), np.arange(len(centers))
    while sizes[left].min() < k:
        at = int(sizes[left].argmin())
        small, left = left[at], np.delete(left, at)
        shares = sizes[left] / np.maximum(sizes[left] + sizes[small], 1)
        costs = np.square(centers[left] - centers[small]).sum(axis=1) * shares
        costs[sizes[left] == 0] = np.inf
        other = left[costs.argmin()]
        sizes[other] += sizes[small]
        centers[other] += (centers[small] - centers[other]) * (sizes[small] / max(sizes[other], 1))
        into[into == small] = other
        report("merging small classes", len(centers) - len(left), len(centers))
    return into, centers
