"""Steps that lower the squared error: migrations, exchanges and chains of two migrations.

D(i, B) is the squared distance of record i from the centre of group B, a and b are the sizes of
A and B. The squared error changes as follows if record i of A

- moves to B: b/(b+1) D(i, B) - a/(a-1) D(i, A);
- changes places with j of B: D(i, B) + D(j, A) - D(i, A) - D(j, B) - |i-j|^2 (1/a + 1/b);
- is replaced in A by j, in A alone: D(j, A) - D(i, A) - |i-j|^2 / a.

Only groups with a near neighbour of the record are tried. A step is undone unless it lowers the
recomputed errors of its groups. So no sequence of steps can return to where it began, however the
changes that are found from the centres are rounded.
"""

import numpy as np

from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import inner_kernel, kernel
from microagg.kernels.search.assignment import Assignment, join, least_gain, leave, refresh
from microagg.kernels.search.state import (
    MARK,
    WAITING,
    Search,
    dequeue,
    enqueue_members,
    send,
    touch,
)

# Neighbours of a record that are tried for the second half of a chain.
_NEAREST = 8
# Rounding of a centre, as a share of its group's noise.
_OF_NOISE = 0.1
# Allowances for rounding in bounds on the change of a step, as shares of its terms.
_ROUNDING, _CANCELLED = 1e-12, 1e-15


@kernel
def descend(search: Search, k: int, most: int) -> int:
    """Improve until no queued record can gain, or `most` were tried; return how many were."""
    seen = 0
    while search.counters[WAITING] > 0 and seen < most:
        row = dequeue(search)
        improve_record(search, k, row)
        seen += 1
    return seen


@inner_kernel
def improve_record(search: Search, k: int, i: int) -> bool:
    """Make the best step that starts with record i, if any gains."""
    assignment = search.assignment
    A = assignment.labels[i]
    change, j, B, C = best_between_two(search, k, i, -assignment.noise[A])
    change, home, filler = best_refill(search, k, i, change)
    if home >= 0:
        j, B, C = filler, home, A
    if B < 0:
        return False
    third = A  # the third group that takes part, if any
    if j >= 0:
        third = C if C != A else assignment.labels[j]
    least = least_gain(assignment, (A, B)) + least_gain(assignment, (third, third))
    if -change <= least + rounding_of(search, i, j, (A, B, third)):
        return False
    return make_if_it_gains(search, i, B, j, C, third)


@inner_kernel
def make_if_it_gains(search: Search, i: int, B: int, j: int, C: int, third: int) -> bool:
    """Send record i to group B and j, if any, to C, if the error of all groups falls."""
    assignment = search.assignment
    labels, errors = assignment.labels, assignment.errors
    A, source = labels[i], labels[max(0, j)]
    before = errors[A], errors[B], errors[third]
    error = error_of(assignment, A, B, third)
    touch(search, A)
    touch(search, B)
    send_both(search, i, B, j, C)
    refresh_each(search, A, B, third)
    if error_of(assignment, A, B, third) < error:
        enqueue_members(search, A)
        enqueue_members(search, B)
        if third not in (A, B):
            enqueue_members(search, third)
        return True
    send_both(search, i, A, j, source)
    refresh_each(search, A, B, third)
    # As they were, to the last digit: the sums depend on the order of the members.
    errors[A], errors[B], errors[third] = before
    return False


@inner_kernel
def send_both(search: Search, i: int, B: int, j: int, C: int) -> None:
    """Send record i to group B and j, unless it is -1, to C; `refresh_each` must follow."""
    leave(search.assignment, i)  # first, so that a full group has room for j
    if j >= 0:
        send(search, j, C)
    join(search.assignment, i, B)


@inner_kernel
def refresh_each(search: Search, A: int, B: int, third: int) -> None:
    """Recompute two or three groups whose members changed; the third may be one of the two."""
    refresh(search.X, search.assignment, A)
    refresh(search.X, search.assignment, B)
    if third not in (A, B):
        refresh(search.X, search.assignment, third)


@inner_kernel
def error_of(assignment: Assignment, A: int, B: int, third: int) -> float:
    """The error of two or three groups; the third may be one of the two."""
    error = assignment.errors[A] + assignment.errors[B]
    return error if third in (A, B) else error + assignment.errors[third]


@inner_kernel
def rounding_of(search: Search, i: int, j: int, groups: tuple[int, int, int]) -> float:
    """How inaccurate the computed change of a step can be, because centres are rounded.

    In tight groups of large numbers that is more than the noise of their errors, and many steps
    that change nothing would be made and undone.
    """
    assignment, X = search.assignment, search.X
    reach = np.sqrt(assignment.own[i])
    reach += np.sqrt(squared_distance(X[i], assignment.centers[groups[1]]))
    if j >= 0:
        reach += np.sqrt(squared_distance(X[i], X[j]))
    noise = 0.0
    for group in groups:
        noise = max(noise, assignment.noise[group])
    return _OF_NOISE * np.sqrt(noise) * reach


@inner_kernel
def best_between_two(search: Search, k: int, i: int, limit: float) -> tuple[float, int, int, int]:
    """The best move or exchange of record i: change, j, B, C; i goes to B, and j (or -1) to C.

    Also notes the groups with room that i could join, for `best_refill`.
    """
    assignment, X = search.assignment, search.X
    A = assignment.labels[i]
    a, own = assignment.sizes[A], assignment.own[i]
    freed = own * a / (a - 1) if a > k else 0.0
    best, best_j, best_B, best_C = limit, -1, -1, -1
    search.counters[MARK] += 1
    search.marked[A] = search.counters[MARK]
    search.homes[:] = -1
    search.home_costs[:] = np.inf
    for m in search.near[i]:
        B = assignment.labels[m]
        if search.marked[B] == search.counters[MARK]:
            continue
        search.marked[B] = search.counters[MARK]
        b = assignment.sizes[B]
        to_B = squared_distance(X[i], assignment.centers[B])
        if b < 2 * k - 1:
            cost = to_B * b / (b + 1)
            note_home(search, B, cost)
            if a > k and cost - freed < best:
                best, best_j, best_B = cost - freed, -1, B
        change, j = best_exchange(search, i, B, to_B, best)
        if j >= 0:
            best, best_j, best_B, best_C = change, j, B, A
        if a > k:
            change, j, C = best_push(search, k, i, B, to_B, freed, best)
            if j >= 0:
                best, best_j, best_B, best_C = change, j, B, C
    return best, best_j, best_B, best_C


@inner_kernel
def best_exchange(search: Search, i: int, B: int, to_B: float, limit: float) -> tuple[float, int]:
    """The member of B with which exchanging record i changes the error least, below `limit`.

    The four distances reduce to 2 (x_i - x_j).(c_A - c_B), and `to_B` is D(i, B). With j at a
    distance r from c_B, the change is at least what it would be with j at c_B, less
    share r^2 + 2 r sqrt(slope). So the members within some distance of c_B are passed over.
    """
    assignment, X = search.assignment, search.X
    A = assignment.labels[i]
    center, other = assignment.centers[A], assignment.centers[B]
    share = 1.0 / assignment.sizes[A] + 1.0 / assignment.sizes[B]
    between = squared_distance(center, other)
    along = to_B + between - assignment.own[i]  # 2 (x_i - c_B).(c_A - c_B)
    # How far the change is above the limit with j at c_B.
    at_center = along - share * to_B - limit - _ROUNDING * (to_B + between + assignment.own[i])
    best_j, least = -1, -1.0
    if at_center > 0.0:
        # The square of |(c_A - c_B) - share (x_i - c_B)|, of which cancellation may leave nothing.
        slope = max(0.0, between - share * (along - share * to_B))
        slope += _CANCELLED * (between + share * (to_B + assignment.own[i]))
        reach = at_center / (np.sqrt(slope) + np.sqrt(slope + share * at_center))
        if assignment.radii[B] <= reach:
            return limit, best_j
        least = reach * reach
    for slot in range(assignment.sizes[B]):
        j = assignment.members[B, slot]
        if assignment.own[j] <= least:
            continue
        cross, square = 0.0, 0.0
        for column in range(X.shape[1]):
            gap = X[i, column] - X[j, column]
            cross += gap * (center[column] - other[column])
            square += gap * gap
        change = 2.0 * cross - square * share
        if change < limit:
            limit, best_j = change, j
    return limit, best_j


@inner_kernel
def best_push(
    search: Search, k: int, i: int, B: int, to_B: float, freed: float, limit: float
) -> tuple[float, int, int]:
    """Record i joins B, and a member j of B moves to a third group C.

    `to_B` is D(i, B), and `freed` what A gains. The change is at least
    D(i, B) - freed - D(j, B) - |i-j|^2 / b, so the members near the centre are passed over.
    """
    assignment, X = search.assignment, search.X
    A, b = assignment.labels[i], assignment.sizes[B]
    best_j, best_C, least = -1, -1, -1.0
    entry = to_B - freed
    # b times how far the change is above the limit with j at c_B.
    at_center = b * (entry - limit) - to_B - _ROUNDING * b * (to_B + freed)
    if at_center > 0.0:
        reach = at_center / (np.sqrt(to_B) + np.sqrt(to_B + (b + 1) * at_center))
        if assignment.radii[B] <= reach:
            return limit, best_j, best_C
        least = reach * reach
    for slot in range(b):
        j = assignment.members[B, slot]
        if assignment.own[j] <= least:
            continue
        rest = entry - assignment.own[j] - squared_distance(X[i], X[j]) / b
        if rest >= limit:
            continue
        for at in range(min(_NEAREST, search.near.shape[1])):
            C = assignment.labels[search.near[j, at]]
            c = assignment.sizes[C]
            if C in (A, B) or c >= 2 * k - 1:
                continue
            change = rest + squared_distance(X[j], assignment.centers[C]) * c / (c + 1)
            if change < limit:
                limit, best_j, best_C = change, j, C
    return limit, best_j, best_C


@inner_kernel
def best_refill(search: Search, k: int, i: int, limit: float) -> tuple[float, int, int]:
    """Record i joins another group, and its place in A is filled by one that a third can spare.

    Returns the change, the group that i joins and the record that fills its place.
    """
    assignment, X = search.assignment, search.X
    A = assignment.labels[i]
    a, own = assignment.sizes[A], assignment.own[i]
    home, second = search.homes
    cost, second_cost = search.home_costs
    best_home, best_filler = -1, -1
    if home < 0:
        return limit, best_home, best_filler
    for slot in range(a):
        member = assignment.members[A, slot]
        for at in range(min(_NEAREST, search.near.shape[1])):
            j = search.near[member, at]
            C = assignment.labels[j]
            c = assignment.sizes[C]
            if C == A or c <= k:
                continue
            entry = cost if home != C else second_cost
            change = entry - own - assignment.own[j] * c / (c - 1)
            if change - own / (a - 1) >= limit:  # no filler saves more than i itself costs
                continue
            change += squared_distance(X[j], assignment.centers[A])
            change -= squared_distance(X[i], X[j]) / a
            if change < limit:
                limit, best_filler = change, j
                best_home = home if home != C else second
    return limit, best_home, best_filler


@inner_kernel
def note_home(search: Search, group: int, cost: float) -> None:
    """Keep the two groups with room that the record in question would join most cheaply."""
    homes, costs = search.homes, search.home_costs
    if cost < costs[0]:
        homes[1], costs[1] = homes[0], costs[0]
        homes[0], costs[0] = group, cost
    elif cost < costs[1]:
        homes[1], costs[1] = group, cost
