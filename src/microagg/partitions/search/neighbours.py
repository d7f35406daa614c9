"""The near neighbours of every record, whose groups a search looks at."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import paced, report
from microagg.kernels.neighbours.listing import order_listed
from microagg.orderings.neighbours import Neighbours, fill_in, nearest_neighbours

# Standard deviations by which a record is moved to break ties of neighbours.
_TIE_BREAK = 1e-12


class Kinds(NamedTuple):
    """Records sorted so that equal ones stand side by side: a kind is a stretch of equal ones."""

    of_record: Labels
    rows: Labels  # in that order
    begins: Labels  # where each kind begins
    sizes: Labels


def kinds_of_records(X: Floats) -> Kinds:
    """Find out which records are equal.

    >>> kinds_of_records(np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])).of_record.tolist()
    [0, 1, 0]
    """
    rows = np.lexsort(X.T)
    is_new = np.ones(len(X), dtype=np.bool_)
    is_new[1:] = (X[rows[1:]] != X[rows[:-1]]).any(axis=1)
    begins = np.flatnonzero(is_new)
    of_record = np.empty(len(X), dtype=np.intp)
    of_record[rows] = np.cumsum(is_new) - 1
    return Kinds(of_record, rows, begins, np.diff(begins, append=len(X)))


def has_equal_records(X: Floats) -> bool:
    """Whether any two records are equal."""
    return len(kinds_of_records(X).sizes) < len(X)


@dataclass(frozen=True, eq=False)
class NearKinds:
    """The nearest kinds of every kind of equal records: a list that a search and a bound share.

    A search is given one record of each kind (`for_search`): of more, a heap of equal ones would
    fill its list, and the groups on the other side of the heap would never be looked at. A tour or
    a bound needs the exact neighbours (`exact`), which are nearly always among those listed.
    """

    kinds: Kinds
    listed: Labels  # kind x neighbours
    count: int  # neighbours of a record that a search looks at
    slack: float  # how much nearer a kind that is not listed may be than the farthest listed one

    def for_search(self) -> Labels:
        """The nearest other records of every record, nearest first, one of each kind.

        Which one is drawn for each list anew. Where there are not as many kinds of records as the
        list is long, it goes through them again.
        """
        kinds, others = self.kinds, self.listed
        if len(kinds.sizes) == len(kinds.rows):
            return others
        own = np.arange(len(kinds.sizes))[:, None]
        with_own = np.hstack((own, others))
        if (short := self.count - others.shape[1]) > 0:
            others = np.pad(with_own, ((0, 0), (0, short)), mode="wrap")[:, 1:]
            with_own = np.hstack((own, others))
        return _one_of_each(kinds, np.where(kinds.sizes[:, None] > 1, with_own[:, :-1], others))

    def exact(self, X: Floats, width: int, n_jobs: int = 1) -> Neighbours:
        """What `nearest_neighbours` lists, of the matrix that these lists were made of.

        Only where the lists do not settle it are neighbours looked for among all records.
        """
        n, kinds = len(X), self.kinds
        width = min(width, n - 1)
        found = Neighbours(np.empty((n, width)), np.empty((n, width), dtype=np.intp))
        certain = np.zeros(n, dtype=np.bool_)
        points, done = X[kinds.rows[kinds.begins]], 0
        members = (kinds.rows, kinds.begins, kinds.sizes)
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


def list_near(X: Floats, count: int, n_jobs: int = 1) -> NearKinds:
    """List the nearest kinds of records, as many as a search for `count` neighbours needs."""
    count = min(count, len(X) - 1)
    kinds = kinds_of_records(X)
    if len(kinds.sizes) == len(X):
        own = np.arange(len(X))
        kinds = Kinds(own, own, own, np.ones(len(X), dtype=np.intp))
        points = X
    else:
        points = X[kinds.rows[kinds.begins]]
    moved = points + _TIE_BREAK * points.std(axis=0) * np.random.default_rng(0).normal(
        size=points.shape
    )
    # Ties are broken by moving records, and a distance changes by no more than its two ends do:
    # once where it is compared with that of the farthest one listed, and once for that one.
    slack = 4.0 * float(np.sqrt(((moved - points) ** 2).sum(axis=1).max()))
    return NearKinds(kinds, nearest_neighbours(moved, count, n_jobs=n_jobs).rows, count, slack)


def near_lists(X: Floats, count: int, n_jobs: int = 1) -> Labels:
    """The nearest other records of every record, nearest first, one of each kind of equal ones."""
    return list_near(X, count, n_jobs).for_search()


def _one_of_each(kinds: Kinds, listed: Labels) -> Labels:
    """For every record, a random other record of each kind that is listed for its own."""
    rng = np.random.default_rng(0)
    n = len(kinds.rows)
    place = np.empty(n, dtype=np.intp)
    place[kinds.rows] = np.arange(n)
    near = np.empty((n, listed.shape[1]), dtype=np.intp)
    for column in range(listed.shape[1]):
        kind = listed[kinds.of_record, column]
        is_own = kind == kinds.of_record
        drawn = rng.integers(np.maximum(1, kinds.sizes[kind] - is_own)) + kinds.begins[kind]
        near[:, column] = kinds.rows[drawn + (is_own & (drawn >= place) & (kinds.sizes[kind] > 1))]
    return near


def near_within(near: Labels, rows: Labels) -> Labels:
    """Each row's listed neighbours that are among the rows, as their places there.

    A row stands in for those that it lacks: that is no neighbour to any search.

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
