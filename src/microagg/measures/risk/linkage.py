"""Distance-based record linkage: records whose nearest released record is their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from microagg.core.arrays import Rows
from microagg.core.parallel import as_completed
from microagg.core.progress import paced, report
from microagg.core.validation import check_count, check_jobs
from microagg.kernels.attacks.distance_linkage import BoxTree, make_box_tree, rank_own_points
from microagg.measures.sampling import MOST_RECORDS, sampled_rows, standard_error
from microagg.tables.pairs import Pair

CANDIDATES = (1, 2, 5, 10)
TASK = "linking records"

# Records that a thread takes at a time; it reports progress several times a second.
_PER_ITEM = 2000


@dataclass(frozen=True)
class DistanceLinkage:
    """Shares of records whose own released record is among the j nearest, by j.

    `guessed` are the shares reached by guessing. `standard_errors` are those of the shares if only
    `n_sampled` of the records were linked, and 0 if all were.
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

    The intruder has the original quasi-identifiers and picks the nearest released records, in units
    of the original's standard deviations. If `less` released records are strictly nearer than a
    record's own, and `equal` of them (its own included) exactly as near, its own is among the first
    j with probability

        clip((j - less) / equal, 0, 1)

    If there are more than `most` records, a sample of that size is linked to all released ones. The
    result does not depend on the number of threads. Time at worst O(n) per linked record, usually
    far less; memory O(n d). Source: Pagliuca and Seri (1999); Domingo-Ferrer and Torra (2001).
    """
    wanted = [check_count("candidates", j) for j in candidates]
    rows = sampled_rows(pair.n_records, most, seed)
    less, equal = own_ranks(pair, rows, enough=max(wanted), n_jobs=n_jobs)
    return linkage_of(less, equal, wanted, pair.n_records)


def linkage_of(less: Rows, equal: Rows, wanted: Sequence[int], n_records: int) -> DistanceLinkage:
    """Return the shares, from how many released records are nearer to each record, or as near."""
    linked, errors = {}, {}
    for j in wanted:
        chances = np.clip((j - less) / np.maximum(equal, 1), 0.0, 1.0)
        linked[j] = float(chances.mean())
        errors[j] = standard_error(chances, n_records)
    guessed = {j: min(1.0, j / n_records) for j in wanted}
    return DistanceLinkage(linked, guessed, errors, n_records, len(less))


def own_ranks(pair: Pair, rows: Rows, *, enough: int, n_jobs: int | None) -> tuple[Rows, Rows]:
    """Count, for each row, the released records nearer than its own, and those exactly as near.

    Where at least `enough` are nearer, the counts are `enough` and 0.
    """
    own = pair.classes
    _, first = np.unique(own, return_index=True)
    tree = make_box_tree(pair.points_after(first), pair.class_sizes, pair.code_distances)
    # Records that are close together find the same leaves of the tree in the cache.
    order = np.argsort(tree.places[own[rows]], kind="stable")
    items = [order[at : at + _PER_ITEM] for at in range(0, len(order), _PER_ITEM)]
    less, equal = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    link = partial(_link, tree, pair, enough)
    linked = as_completed(
        link, [rows[item] for item in items], n_jobs=check_jobs(n_jobs), task=TASK
    )
    for place, ranks in linked:
        less[items[place]], equal[items[place]] = ranks
    return less, equal


def _link(tree: BoxTree, pair: Pair, enough: int, rows: Rows) -> tuple[Rows, Rows]:
    """Count for some records; only they are held as points."""
    points, own = pair.points_before(rows), pair.classes[rows]
    less, equal = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    done = 0
    for part in paced(np.arange(len(rows))):
        rank_own_points(tree, points, part, own, enough, less, equal)
        done += len(part)
        report(TASK, done, len(rows))
    return less, equal
