"""Annealing: random migrations and exchanges, more and more rarely for the worse."""

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.assignments import join, leave, refresh
from microagg.kernels.compile import kernel
from microagg.kernels.distances import squared_distance
from microagg.kernels.journal import Search, draw, draw_share, enqueue

Floats = NDArray[np.float64]

# Beyond so many temperatures a loss is not worth a logarithm.
_NEVER = 20.0


@kernel
def anneal(
    search: Search, k: int, begin: int, stop: int, total: int, hot: float, cold: float
) -> None:
    """Try steps `begin` to `stop` of `total`; all groups are up to date again afterwards.

    A loss is taken with probability exp(-loss / (t * error)), error that of a record of the two
    groups when they were last up to date; t falls from `hot` to `cold` geometrically.
    """
    assignment = search.assignment
    n, n_near = search.near.shape
    heat = hot
    for step in range(begin, stop):
        if step % 256 == 0 or step == begin:
            heat = hot * (cold / hot) ** ((step - step % 256) / total)
        i = draw(search, n)
        A, B = assignment.labels[i], assignment.labels[search.near[i, draw(search, n_near)]]
        if A == B:
            continue
        a, b = assignment.sizes[A], assignment.sizes[B]
        scale = heat * (assignment.errors[A] + assignment.errors[B]) / (a + b)
        if a > k and b < 2 * k - 1 and draw(search, 2) == 0:
            change = change_by_move(search, i, B)
            if bearable(search, change, scale):
                shift_center(search, A, i, -1.0 / (a - 1))
                shift_center(search, B, i, 1.0 / (b + 1))
                leave(assignment, i)
                join(assignment, i, B)
        else:
            slot = draw(search, b)
            change = change_by_exchange(search, i, assignment.members[B, slot])
            if bearable(search, change, scale):
                exchange(search, i, slot, B)
    for group in range(assignment.sizes.shape[0]):
        if assignment.sizes[group] > 0:
            refresh(search.X, assignment, group)


@kernel
def bearable(search: Search, change: float, scale: float) -> bool:
    """Whether chance lets a change of the squared error pass."""
    if change <= 0.0:
        return True
    return change < _NEVER * scale and change < scale * -np.log(draw_share(search))


@kernel
def change_by_move(search: Search, i: int, B: int) -> float:
    """What the squared error changes by when record i joins group B."""
    assignment = search.assignment
    A = assignment.labels[i]
    a, b = assignment.sizes[A], assignment.sizes[B]
    joined = squared_distance(search.X[i], assignment.centers[B]) * b / (b + 1)
    return joined - squared_distance(search.X[i], assignment.centers[A]) * a / (a - 1)


@kernel
def change_by_exchange(search: Search, i: int, j: int) -> float:
    """What the squared error changes by when records i and j change places."""
    X, assignment = search.X, search.assignment
    A, B = assignment.labels[i], assignment.labels[j]
    center_A, center_B = assignment.centers[A], assignment.centers[B]
    # (x_i - x_j) . 2 (c_A - c_B) is what the four distances from the centres come down to.
    cross = 0.0
    square = 0.0
    for column in range(X.shape[1]):
        gap = X[i, column] - X[j, column]
        cross += gap * (center_A[column] - center_B[column])
        square += gap * gap
    return 2.0 * cross - square * (1.0 / assignment.sizes[A] + 1.0 / assignment.sizes[B])


@kernel
def shift_center(search: Search, group: int, row: int, share: float) -> None:
    """Move a centre towards a record by a share of the distance, or away from it."""
    center = search.assignment.centers[group]
    for column in range(center.shape[0]):
        center[column] += (search.X[row, column] - center[column]) * share


@kernel
def exchange(search: Search, i: int, slot: int, B: int) -> None:
    """Record i and the one in a slot of group B change places."""
    X, assignment = search.X, search.assignment
    A = assignment.labels[i]
    j = assignment.members[B, slot]
    own = 0
    while assignment.members[A, own] != i:
        own += 1
    assignment.members[A, own], assignment.members[B, slot] = j, i
    assignment.labels[i], assignment.labels[j] = B, A
    a, b = assignment.sizes[A], assignment.sizes[B]
    for column in range(X.shape[1]):
        gap = X[i, column] - X[j, column]
        assignment.centers[A, column] -= gap / a
        assignment.centers[B, column] += gap / b


@kernel
def enqueue_all(search: Search) -> None:
    """Have every record looked at."""
    for row in range(search.queue.shape[0]):
        enqueue(search, row)
