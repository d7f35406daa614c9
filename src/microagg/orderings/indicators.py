"""Columns that together are the indicators of a category, such as those of a nominal column."""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask

# Fewer columns than this are not worth another search, which has to be compiled.
_LEAST_SAVED = 16
# Rows that most columns of numbers are recognised by.
_FEW = 64


class Coded(NamedTuple):
    """A matrix with one column in place of all indicators of a category.

    `steps` is the square of such an indicator, and 0 for other columns; `firsts` is the column of
    the matrix that each is, or begins at.
    """

    values: Floats
    steps: Floats
    firsts: tuple[int, ...]


def coded(X: Floats) -> Coded | None:
    """Return the matrix with categories for indicators; None if that would save little.

    The indicators of a category are side by side. In each row one of them is positive, the same
    number in all rows, and the others are 0. Codes are in the order of the columns, and as far from
    first to last as two categories are from each other, as boxes are split where they are widest.

    >>> coded(np.eye(3)) is None
    True
    >>> X = np.column_stack([[7.0, 8.0, 9.0, 7.0] * 5, np.eye(20)])
    >>> found = coded(X)
    >>> found.steps.tolist(), found.firsts, found.values[:3, 0].tolist()
    ([0.0, 1.0], (0, 1), [7.0, 8.0, 9.0])
    """
    largest = _indicated(X)
    columns, steps, firsts = [], [], []
    at = 0
    while at < X.shape[1]:
        stop = _end_of_category(X, largest, at) if largest[at] > 0.0 else at
        if stop > at + 1:
            size = largest[at] * np.sqrt(2.0) / (stop - at - 1)
            columns.append(np.argmax(X[:, at:stop], axis=1) * size)
            steps.append(largest[at] ** 2)
        else:
            stop = at + 1
            columns.append(X[:, at])
            steps.append(0.0)
        firsts.append(at)
        at = stop
    if X.shape[1] - len(columns) < _LEAST_SAVED:
        return None
    return Coded(np.column_stack(columns), np.array(steps), tuple(firsts))


def _indicated(X: Floats) -> Floats:
    """Return the value of each column that has only 0 and one positive value; 0 for others."""
    found = np.zeros(X.shape[1])
    if len(found) <= _LEAST_SAVED:
        return found
    likely = np.flatnonzero(_is_indicator(X[:_FEW]))
    own = X[:, likely]
    found[likely] = np.where(_is_indicator(own), own.max(axis=0, initial=0.0), 0.0)
    return found


def _is_indicator(X: Floats) -> Mask:
    is_zero, is_largest = X == 0.0, np.equal(X, X.max(axis=0, initial=0.0))
    found: Mask = (is_zero | is_largest).all(axis=0)
    return found


def _end_of_category(X: Floats, largest: Floats, begin: int) -> int:
    """Return where the indicators end that begin at a column, or `begin` if these are none."""
    is_known = X[:, begin] > 0.0
    for stop in range(begin + 1, X.shape[1] + 1):
        if is_known.all():
            return stop
        if stop == X.shape[1] or largest[stop] != largest[begin]:
            return begin
        own = X[:, stop] > 0.0
        if (own & is_known).any():
            return begin
        is_known |= own
    return begin
