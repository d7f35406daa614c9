"""The near neighbours of every record, whose groups a search looks at."""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.parallel import side_by_side
from microagg.core.progress import report
from microagg.kernels.neighbours.blocks import list_neighbours, make_blocks

# Rows between two looks at the keyboard: a fraction of a second.
_ROWS_PER_CALL = 2_000
# Parts of a table whose neighbours are listed side by side, and rows in one, at least.
_PARTS, _LEAST_ROWS = 8, 5_000
_TASK = "finding neighbours"
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


def near_lists(X: Floats, count: int, n_jobs: int = 1) -> Labels:
    """The nearest other records of every record, nearest first.

    Of equal records a list holds one, drawn for each list anew: a heap of them would fill it, and
    the groups on the other side of the heap would never be looked at. Where there are not as many
    kinds of records as the list is long, it goes through them again.
    """
    count = min(count, len(X) - 1)
    kinds = kinds_of_records(X)
    if len(kinds.sizes) == len(X):
        return _nearest_others(X, count, n_jobs)
    own = np.arange(len(kinds.sizes))[:, None]
    others = _nearest_others(X[kinds.rows[kinds.begins]], count, n_jobs)
    with_own = np.hstack((own, others))
    if (short := count - others.shape[1]) > 0:
        others = np.pad(with_own, ((0, 0), (0, short)), mode="wrap")[:, 1:]
        with_own = np.hstack((own, others))
    listed = np.where(kinds.sizes[:, None] > 1, with_own[:, :-1], others)
    return _one_of_each(kinds, listed)


def _nearest_others(X: Floats, count: int, n_jobs: int) -> Labels:
    """The nearest other rows of every row; where many are equally near, which ones is random."""
    n = len(X)
    near = np.empty((n, min(count, n - 1)), dtype=np.intp)
    X = X + _TIE_BREAK * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape)
    width = max(_LEAST_ROWS, -(-n // _PARTS))

    def fill(first: int) -> None:
        blocks = make_blocks(X, np.arange(n))  # its own: they hold what a search writes down
        part = near[first : first + width]
        for begin in range(0, len(part), _ROWS_PER_CALL):
            list_neighbours(X, blocks, first + begin, part[begin : begin + _ROWS_PER_CALL])
            report(_TASK, begin, len(part))

    side_by_side(fill, range(0, n, width), n_jobs=n_jobs, task=_TASK)
    return near


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
