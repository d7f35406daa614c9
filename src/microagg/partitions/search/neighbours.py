"""The nearest neighbours of every record, whose groups a search tries."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import paced, report
from microagg.kernels.neighbours.listing import order_listed
from microagg.orderings.forest import forest_neighbours
from microagg.orderings.neighbours import Neighbours, fill_in, nearest_neighbours

# Standard deviations by which records are moved to break ties between neighbours.
_TIE_BREAK = 1e-12
# Up to here exact lists take no longer than those of a forest.
_FEW_RECORDS = 5_000


class DistinctRecords(NamedTuple):
    """Records sorted so that equal ones are next to each other: each run is a distinct record."""

    of_record: Labels  # the distinct record that each row equals
    rows: Labels  # sorted
    begins: Labels  # where each run begins
    sizes: Labels  # how many rows are equal


def distinct_records(X: Floats) -> DistinctRecords:
    """Find which records are equal.

    >>> distinct_records(np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])).of_record.tolist()
    [0, 1, 0]
    """
    rows = np.lexsort(X.T)
    is_new = np.ones(len(X), dtype=np.bool_)
    is_new[1:] = (X[rows[1:]] != X[rows[:-1]]).any(axis=1)
    begins = np.flatnonzero(is_new)
    of_record = np.empty(len(X), dtype=np.intp)
    of_record[rows] = np.cumsum(is_new) - 1
    return DistinctRecords(of_record, rows, begins, np.diff(begins, append=len(X)))


def has_equal_records(X: Floats) -> bool:
    """Whether any two records are equal."""
    return len(distinct_records(X).sizes) < len(X)


@dataclass(frozen=True, eq=False)
class DistinctNeighbours:
    """The nearest distinct records of every distinct record, for a search and for a bound.

    A search gets one row of each (`for_search`): otherwise many equal records would fill its lists,
    and groups beyond them would never be tried. A tour or a bound needs the exact neighbours
    (`exact`), which are nearly always among those listed.
    """

    distinct: DistinctRecords
    listed: Labels  # distinct record x neighbours
    count: int  # neighbours of a record that a search uses
    slack: float  # how much nearer than the farthest listed record an unlisted one may be

    def for_search(self) -> Labels:
        """Return the nearest other records of every record, nearest first, one of several equal.

        Which one is drawn separately for each list. If there are fewer distinct records than
        entries in a list, it goes through them again.
        """
        distinct, others = self.distinct, self.listed
        if len(distinct.sizes) == len(distinct.rows):
            return others
        own = np.arange(len(distinct.sizes))[:, None]
        with_own = np.hstack((own, others))
        if (short := self.count - others.shape[1]) > 0:
            others = np.pad(with_own, ((0, 0), (0, short)), mode="wrap")[:, 1:]
            with_own = np.hstack((own, others))
        has_equals = distinct.sizes[:, None] > 1
        return _one_of_each(distinct, np.where(has_equals, with_own[:, :-1], others))

    def exact(self, X: Floats, width: int, n_jobs: int = 1) -> Neighbours:
        """Return what `nearest_neighbours` would, for the matrix that these lists were made from.

        All records are searched only where the lists do not settle it.
        """
        n, distinct = len(X), self.distinct
        width = min(width, n - 1)
        found = Neighbours(np.empty((n, width)), np.empty((n, width), dtype=np.intp))
        certain = np.zeros(n, dtype=np.bool_)
        points, done = X[distinct.rows[distinct.begins]], 0
        members = (distinct.rows, distinct.begins, distinct.sizes)
        for some in paced(np.arange(len(points))):
            order_listed(
                *(points, some, self.listed, *members, self.slack),
                *(found.distances, found.rows, certain),
            )
            done += len(some)
            report("finding neighbours", done, len(points))
        if not certain.all():
            fill_in(found, X, X, np.flatnonzero(~certain), n_jobs=n_jobs)
        return found


def list_near(X: Floats, count: int, n_jobs: int = 1) -> DistinctNeighbours:
    """List the nearest distinct records, as many as a search with `count` neighbours needs."""
    count = min(count, len(X) - 1)
    distinct = distinct_records(X)
    if len(distinct.sizes) == len(X):
        own = np.arange(len(X))
        distinct = DistinctRecords(own, own, own, np.ones(len(X), dtype=np.intp))
        points = X
    else:
        points = X[distinct.rows[distinct.begins]]
    moved = points + _TIE_BREAK * points.std(axis=0) * np.random.default_rng(0).normal(
        size=points.shape
    )
    # Moving records changes a distance by no more than its two ends move; here two distances are
    # compared: that of an unlisted record, and that of the farthest one listed.
    slack = 4.0 * float(np.sqrt(((moved - points) ** 2).sum(axis=1).max()))
    listed = nearest_neighbours(moved, count, n_jobs=n_jobs).rows
    return DistinctNeighbours(distinct, listed, count, slack)


def near_lists(X: Floats, count: int, n_jobs: int = 1) -> Labels:
    """Return the nearest other records of every record, nearest first, one of several equal."""
    return list_near(X, count, n_jobs).for_search()


def close_lists(X: Floats, count: int, n_jobs: int = 1) -> Labels:
    """Return what `near_lists` does, with some neighbours missing, in nearly linear time.

    Neighbours come from a forest. Where too few are found, a list ends with the record itself,
    which searches ignore.
    """
    own = np.arange(len(X))
    distinct = DistinctRecords(own, own, own, np.ones(len(X), dtype=np.intp))
    if may_have_equal_records(X):
        distinct = distinct_records(X)
    if len(distinct.sizes) <= _FEW_RECORDS:
        return near_lists(X, count, n_jobs)
    all_differ = len(distinct.sizes) == len(X)
    points = X if all_differ else X[distinct.rows[distinct.begins]]
    listed = forest_neighbours(points, count, n_jobs=n_jobs)
    missing = np.nonzero(listed < 0)
    listed[missing] = missing[0]
    return DistinctNeighbours(distinct, listed, count, slack=np.inf).for_search()


def may_have_equal_records(X: Floats) -> bool:
    """Whether two records agree in a random combination of their columns, as equal ones do.

    >>> may_have_equal_records(np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]]))
    True
    """
    along = np.zeros(len(X))
    for j, factor in enumerate(np.random.default_rng(0).normal(size=X.shape[1])):
        along += factor * X[:, j]  # not a product of matrices, which may round rows differently
    along.sort()
    return bool((along[1:] == along[:-1]).any())


def _one_of_each(distinct: DistinctRecords, listed: Labels) -> Labels:
    """Return for every record a random other row equal to each distinct record in its list."""
    rng = np.random.default_rng(0)
    n = len(distinct.rows)
    place = np.empty(n, dtype=np.intp)
    place[distinct.rows] = np.arange(n)
    near = np.empty((n, listed.shape[1]), dtype=np.intp)
    for column in range(listed.shape[1]):
        other = listed[distinct.of_record, column]
        is_own, sizes = other == distinct.of_record, distinct.sizes[other]
        drawn = rng.integers(np.maximum(1, sizes - is_own)) + distinct.begins[other]
        near[:, column] = distinct.rows[drawn + (is_own & (drawn >= place) & (sizes > 1))]
    return near


def near_within(near: Labels, rows: Labels) -> Labels:
    """Return the listed neighbours of each row that are among the rows, by their index there.

    Missing neighbours are filled with the row itself, which searches ignore.

    >>> near_within(np.array([[1, 2], [0, 2], [1, 0]]), np.array([1, 2])).tolist()
    [[1, 0], [0, 1]]
    """
    if len(rows) == len(near):
        return near
    own = np.arange(len(rows))[:, None]
    place = np.full(len(near), -1, dtype=np.intp)
    place[rows] = own[:, 0]
    places = place[near[rows]]
    order = np.argsort(places < 0, axis=1, kind="stable")
    places = np.take_along_axis(places, order, axis=1)
    return np.where(places < 0, own, places)
