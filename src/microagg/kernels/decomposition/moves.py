"""The two moves of iterative group decomposition: dissolve a group, shrink a group.

A move is found from the centres, and made only if the recomputed error of all groups it affects
falls by more than rounding error. So no sequence of moves can return to where it began, whatever
ties and duplicates the data contain.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import mean_and_error, squared_distance
from microagg.kernels.basics.smallest import comes_before
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel, kernel
from microagg.kernels.decomposition.grouping import Grouping, cheapest_home, drop, split_and_update

# Share of the affected groups' error that a move must save; sums are accurate to about 1e-14.
LEAST_GAIN = 1e-9


@kernel
def sweep(grouping: Grouping, groups: Rows, shrinks: bool) -> int:
    """Dissolve the groups in turn or, with `shrinks`, else shrink them; return how many moves."""
    moves = 0
    for group in groups:
        if grouping.sizes[group] > 0 and dissolve(grouping, group):
            moves += 1
        elif shrinks:
            while grouping.sizes[group] > 0 and shrink(grouping, group):
                moves += 1
    return moves


@allocating_inner_kernel
def dissolve(grouping: Grouping, group: int) -> bool:
    """Move every member to another group and drop this one, if that lowers the error.

    The members leave one by one, nearest to the centre first, each for the group that it costs
    least to join, taking into account those that joined before.
    """
    X = grouping.X
    members = by_distance(
        X, grouping.members[group, : grouping.sizes[group]], grouping.centers[group]
    )
    homes = np.empty(members.shape[0], dtype=np.intp)  # numbers of the groups that receive some
    sizes = np.empty(members.shape[0], dtype=np.intp)
    centers = np.empty((members.shape[0], X.shape[1]))
    goes_to = np.empty(members.shape[0], dtype=np.intp)
    n_homes = 0
    left = grouping.errors[group]
    grouping.closed[group] = True
    for m in range(members.shape[0]):
        point = X[members[m]]
        best, cost = cheapest_open_home(point, sizes[:n_homes], centers, left)
        new, new_cost = cheapest_home(grouping, point, cost)
        if new >= 0:
            best, cost = n_homes, new_cost
            homes[n_homes] = new
            sizes[n_homes] = grouping.sizes[new]
            for j in range(X.shape[1]):
                centers[n_homes, j] = grouping.centers[new, j]
            grouping.closed[new] = True
            n_homes += 1
        if best < 0:
            break
        left -= cost
        goes_to[m] = best
        sizes[best] += 1
        for j in range(X.shape[1]):
            centers[best, j] += (point[j] - centers[best, j]) / sizes[best]
    found = best >= 0
    grouping.closed[group] = False
    for h in range(n_homes):
        grouping.closed[homes[h]] = False
    return found and move_members(grouping, group, members, goes_to, homes[:n_homes])


@allocating_inner_kernel
def move_members(grouping: Grouping, group: int, members: Rows, goes_to: Rows, homes: Rows) -> bool:
    """Move members[m] to homes[goes_to[m]] and drop their group, if the error falls."""
    before = grouping.errors[group]
    after = 0.0
    center = np.empty(grouping.X.shape[1])
    for h in range(homes.shape[0]):
        home = homes[h]
        size = grouping.sizes[home]
        for m in range(members.shape[0]):
            if goes_to[m] == h:
                grouping.members[home, size] = members[m]
                size += 1
        before += grouping.errors[home]
        after += mean_and_error(grouping.X, grouping.members[home, :size], center)
    if before - after <= LEAST_GAIN * before:
        return False
    drop(grouping, group)
    for h in range(homes.shape[0]):
        for m in range(members.shape[0]):
            grouping.sizes[homes[h]] += goes_to[m] == h
    for home in homes:
        split_and_update(grouping, home)
    return True


@inner_kernel
def cheapest_open_home(
    point: Floats, sizes: Rows, centers: Floats, limit: float
) -> tuple[int, float]:
    """As `cheapest_home`, among the few groups that have already received some."""
    best = -1
    for h in range(sizes.shape[0]):
        cost = squared_distance(point, centers[h]) * (sizes[h] / (sizes[h] + 1.0))
        if cost < limit:
            best, limit = h, cost
    return best, limit


@allocating_inner_kernel
def by_distance(X: Floats, rows: Rows, center: Floats) -> Rows:
    """The rows, nearest to the centre first; ties go to the lower row."""
    ordered = np.empty_like(rows)
    distances = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        distance = squared_distance(X[rows[i]], center)
        at = i
        while at > 0 and comes_before(distance, rows[i], distances[at - 1], ordered[at - 1]):
            distances[at], ordered[at] = distances[at - 1], ordered[at - 1]
            at -= 1
        distances[at], ordered[at] = distance, rows[i]
    return ordered


@allocating_inner_kernel
def shrink(grouping: Grouping, group: int) -> bool:
    """Move the member with the largest gain to another group, if any gains and k remain."""
    X, members, sizes = grouping.X, grouping.members, grouping.sizes
    size = sizes[group]
    if size <= members.shape[1] // 4:
        return False
    most = 0.0
    leaves = -1
    home = -1
    grouping.closed[group] = True
    for m in range(size):
        row = members[group, m]
        saved = squared_distance(X[row], grouping.centers[group]) * (size / (size - 1.0))
        if saved > most:
            new, cost = cheapest_home(grouping, X[row], saved - most)
            if new >= 0:
                most, leaves, home = saved - cost, m, new
    grouping.closed[group] = False
    if leaves < 0:
        return False
    last = size - 1
    members[group, leaves], members[group, last] = members[group, last], members[group, leaves]
    members[home, sizes[home]] = members[group, last]
    center = np.empty(X.shape[1])
    before = grouping.errors[group] + grouping.errors[home]
    after = mean_and_error(X, members[group, :last], center)
    after += mean_and_error(X, members[home, : sizes[home] + 1], center)
    if before - after <= LEAST_GAIN * before:
        return False
    sizes[group] -= 1
    sizes[home] += 1
    split_and_update(grouping, group)
    split_and_update(grouping, home)
    return True
