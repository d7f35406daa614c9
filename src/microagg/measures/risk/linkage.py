"""Distance-based record linkage: records whose nearest released record is the own one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from microagg.core.parallel import as_completed
from microagg.core.progress import paced, report
from microagg.core.validation import check_count, check_jobs
from microagg.kernels.linking import Tree, make_tree, rank_own_points
from microagg.measures.sampling import MOST_RECORDS, sampled_rows, standard_error
from microagg.tables.pairs import Pair

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

CANDIDATES = (1, 2, 5, 10)
TASK = "linking records"

# What a thread takes at a time; of it, it reports every fraction of a second.
_PER_ITEM = 2000


@dataclass(frozen=True)
class DistanceLinkage:
    """Shares of records whose own released record is among the j nearest, by j.

    `guessed` is what pure guessing reaches, `standard_errors` what the shares may be off by where
    only `n_sampled` of all records were linked; they are 0 where all were.
    """

    linked: dict[int, float]
    guessed: dict[int, float]
    standard_errors: dict[int, float]
    n_records: int
    n_sampled: int


def distance_linkage(
    pair: Pair,
    *,
    candidates: Sequence[int] = CANDIDATES,
    most: int = MOST_RECORDS,
    seed: int = 0,
    n_jobs: int | None = -1,
) -> DistanceLinkage:
    """Return the expected share of records that an intruder links by distance.

    He has the original quasi-identifiers and takes the nearest released records, in units of the
    original's standard deviations (`Pair.spaces`). Where `less` released records are strictly
    nearer than the own one and `equal`, the own one included, exactly as near, the own one is
    among the first j with the probability

        clip((j - less) / equal, 0, 1)

    Of more than `most` records a sample of `most` is linked, to all released ones. The result is
    the same on any number of threads. Time at worst O(n) for each record linked, mostly far less;
    memory O(n d). Source: Pagliuca and Seri (1999); Domingo-Ferrer and Torra (2001).
    """
    wanted = [check_count("candidates", j) for j in candidates]
    rows = sampled_rows(pair.n_records, most, seed)
    less, equal = own_ranks(pair, rows, enough=max(wanted), n_jobs=n_jobs)
    linked, errors = {}, {}
    for j in wanted:
        chances = np.clip((j - less) / np.maximum(equal, 1), 0.0, 1.0)
        linked[j] = float(chances.mean())
        errors[j] = standard_error(chances, pair.n_records)
    guessed = {j: min(1.0, j / pair.n_records) for j in wanted}
    return DistanceLinkage(linked, guessed, errors, pair.n_records, len(rows))


def own_ranks(pair: Pair, rows: Rows, *, enough: int, n_jobs: int | None) -> tuple[Rows, Rows]:
    """For each of the rows, released records nearer than the own one, and exactly as near.

    Where at least `enough` are nearer, the numbers are `enough` and 0.
    """
    X, Z = pair.spaces
    _, first, sizes = np.unique(pair.classes, return_index=True, return_counts=True)
    tree = make_tree(Z[first], sizes)
    less, equal = np.zeros(len(X), dtype=np.intp), np.zeros(len(X), dtype=np.intp)
    # Neighbours one after another find the tree's leaves in the cache.
    ordered = rows[np.argsort(tree.places[pair.classes[rows]], kind="stable")]
    items = [ordered[at : at + _PER_ITEM] for at in range(0, len(ordered), _PER_ITEM)]

    link = partial(_link, tree, X, pair.classes, enough)
    for place, ranks in as_completed(link, items, n_jobs=check_jobs(n_jobs), task=TASK):
        less[items[place]], equal[items[place]] = ranks
    return less[rows], equal[rows]


def _link(tree: Tree, X: Floats, classes: Rows, enough: int, rows: Rows) -> tuple[Rows, Rows]:
    """For each of some rows, released records nearer than its own, and exactly as near."""
    points, own = X[rows], classes[rows]
    less, equal = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    done = 0
    for part in paced(np.arange(len(rows))):
        rank_own_points(tree, points, part, own, enough, less, equal)
        done += len(part)
        report(TASK, done, len(rows))
    return less, equal
