"""Trials of simulated annealing: perturb a few neighbouring groups, improve them, keep or undo."""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import allocating_kernel, inner_kernel
from microagg.kernels.search.assignment import join, refresh
from microagg.kernels.search.descent import descend
from microagg.kernels.search.state import (
    FREE,
    MARK,
    TOUCHED,
    Search,
    begin_trial,
    draw,
    draw_share,
    errors_of_touched,
    make_search,
    release_number,
    send,
    touch,
    undo_trial,
    update_group,
    use_number,
)

# Largest number of groups that a trial perturbs, and that one perturbs that merges none.
MOST_GROUPS, _FEW_GROUPS = 6, 4
# One trial in this many gathers spare records from the whole table, which takes longer.
_RARELY = 24
_UNTIL_ALL_IS_SETTLED = 1 << 62


@allocating_kernel
def run_trials(
    search: Search,
    k: int,
    begin: int,
    stop: int,
    total: int,
    hot: float,
    cold: float,
    merges: bool,
) -> None:
    """Make trials `begin` to `stop` of `total`; a worse outcome is accepted less and less often.

    It is accepted with probability exp(-loss / (t * error)), where `error` is that of the touched
    groups before, so that sparse and dense regions cool alike; the temperature t falls
    geometrically from `hot` to `cold`. Unless a trial `merges` groups now and then, their number
    only grows: most mergers take long and are undone, so they pay only if there is much time.
    """
    groups = np.empty(MOST_GROUPS + 2, dtype=np.intp)
    rows = np.empty((MOST_GROUPS + 2) * 2 * k, dtype=np.intp)
    distances = np.empty(rows.shape[0])
    for trial in range(begin, stop):
        temperature = hot * (cold / hot) ** (trial / total)
        try_once(search, k, temperature, merges, groups, rows, distances)


@inner_kernel
def try_once(
    search: Search,
    k: int,
    temperature: float,
    merges: bool,
    groups: Rows,
    rows: Rows,
    distances: Floats,
) -> None:
    """Make one trial at a temperature; the last three arrays are scratch."""
    begin_trial(search)
    if draw(search, _RARELY) == 0:
        gather_spare_records(search, k)
    elif not perturb_neighbours(search, k, merges, groups, rows, distances):
        return
    descend(search, k, _UNTIL_ALL_IS_SETTLED)
    before, after = errors_of_touched(search)
    if after > before + temperature * before * -np.log(draw_share(search)):
        undo_trial(search)


def compile_search() -> None:
    """Search among a few records, so that everything a search calls is compiled."""
    n = 8
    X = np.random.default_rng(0).normal(size=(n, 2))
    near = np.array([np.delete(np.arange(n), i) for i in range(n)])
    search = make_search(X, near, np.arange(n) // 2, 2, seed=0)
    descend(search, 2, n)
    run_trials(search, 2, 0, 1, 1, 1e-3, 1e-4, True)


@inner_kernel
def perturb_neighbours(
    search: Search, k: int, merges: bool, groups: Rows, rows: Rows, distances: Floats
) -> bool:
    """Rebuild some neighbouring groups, or exchange some of their records."""
    count = choose_groups(search, MOST_GROUPS if merges else _FEW_GROUPS, groups)
    if count < 2:
        return False
    if draw(search, 3) > 0:
        rebuild(search, k, merges, groups, count, rows, distances)
    else:
        exchange_some(search, groups, count)
    return True


@inner_kernel
def gather_spare_records(search: Search, k: int) -> None:
    """Make one more group, of the spare records nearest to a random one.

    Spare records, those beyond k in their groups, may be far apart, so that no group made of
    neighbours could collect them.
    """
    sizes, members = search.assignment.sizes, search.assignment.members
    donor = choose_donor(search, k)
    if donor < 0:
        return
    seed = members[donor, draw(search, sizes[donor])]
    group = search.free[search.counters[FREE] - 1]
    touch(search, group)
    use_number(search, group)
    for _ in range(k):
        best, nearest = np.inf, -1
        for other in range(sizes.shape[0]):
            if other == group or sizes[other] <= k:
                continue
            for slot in range(sizes[other]):
                row = members[other, slot]
                distance = squared_distance(search.X[seed], search.X[row])
                if nearest < 0 or distance < best:
                    best, nearest = distance, row
        send(search, nearest, group)
    for at in range(search.counters[TOUCHED]):
        update_group(search, search.touched[at])


@inner_kernel
def choose_donor(search: Search, k: int) -> int:
    """The group of a random spare record; -1 if there are not enough of them for a group."""
    spare = 0
    for size in search.assignment.sizes:
        spare += max(0, size - k)
    if spare < k or search.counters[FREE] == 0:
        return -1
    left = draw(search, spare)
    for group in range(search.assignment.sizes.shape[0]):
        left -= max(0, search.assignment.sizes[group] - k)
        if left < 0:
            return group
    return -1


@inner_kernel
def choose_groups(search: Search, most: int, out_groups: Rows) -> int:
    """A random record's group and others that hold near neighbours of it; returns how many."""
    labels = search.assignment.labels
    row = draw(search, labels.shape[0])
    wanted = 2 + draw(search, most - 1)
    search.counters[MARK] += 1
    out_groups[0] = labels[row]
    search.marked[labels[row]] = search.counters[MARK]
    count = 1
    for _ in range(4 * wanted):
        group = labels[search.near[row, draw(search, search.near.shape[1])]]
        if count < wanted and search.marked[group] != search.counters[MARK]:
            search.marked[group] = search.counters[MARK]
            out_groups[count] = group
            count += 1
    return count


@inner_kernel
def exchange_some(search: Search, groups: Rows, count: int) -> None:
    """Let one to three random pairs of records change places."""
    members, sizes = search.assignment.members, search.assignment.sizes
    for _ in range(1 + draw(search, 3)):
        at = draw(search, count)
        A, B = groups[at], groups[(at + 1 + draw(search, count - 1)) % count]
        touch(search, A)
        touch(search, B)
        slot, other = draw(search, sizes[A]), draw(search, sizes[B])
        i, j = members[A, slot], members[B, other]
        members[A, slot], members[B, other] = j, i
        search.assignment.labels[i], search.assignment.labels[j] = B, A
        update_group(search, A)
        update_group(search, B)


@inner_kernel
def rebuild(
    search: Search,
    k: int,
    merges: bool,
    groups: Rows,
    count: int,
    rows: Rows,
    distances: Floats,
) -> None:
    """Make as many groups, or one more or fewer, of the same records, around random ones."""
    assignment = search.assignment
    m = 0
    for g in range(count):
        touch(search, groups[g])
        for slot in range(assignment.sizes[groups[g]]):
            rows[m] = assignment.members[groups[g], slot]
            m += 1
        assignment.sizes[groups[g]] = 0
    count = change_count(search, k, merges, groups, count, m)
    left = m
    for g in range(count):
        left = form_random_group(search, k, groups[g], rows, left, distances)
    for at in range(left):
        join_cheapest(search, k, groups, count, rows[at])
    for g in range(count):
        update_group(search, groups[g])


@inner_kernel
def change_count(search: Search, k: int, merges: bool, groups: Rows, count: int, m: int) -> int:
    """Decide how many groups to make of m records; take or free a number accordingly."""
    luck = draw(search, 4)
    least = (m + 2 * k - 2) // (2 * k - 1)
    if luck == 0 and merges and count - 1 >= least:
        count -= 1
        release_number(search, groups[count])
    elif (luck == 1 or not merges) and count + 1 <= m // k and search.counters[FREE] > 0:
        groups[count] = search.free[search.counters[FREE] - 1]
        touch(search, groups[count])
        use_number(search, groups[count])
        count += 1
    return count


@inner_kernel
def form_random_group(
    search: Search, k: int, group: int, rows: Rows, left: int, distances: Floats
) -> int:
    """Make a group of a random one of the first `left` rows and its k-1 nearest.

    Returns how many rows are left.
    """
    X = search.X
    seed = rows[draw(search, left)]
    for at in range(left):
        distances[at] = squared_distance(X[seed], X[rows[at]])
    for _ in range(k):
        best = 0
        for at in range(1, left):
            if distances[at] < distances[best]:
                best = at
        join(search.assignment, rows[best], group)
        left -= 1
        rows[best], distances[best] = rows[left], distances[left]
    refresh(X, search.assignment, group)
    return left


@inner_kernel
def join_cheapest(search: Search, k: int, groups: Rows, count: int, row: int) -> None:
    """Add a record to the group with room where it costs least."""
    assignment = search.assignment
    best, home = np.inf, -1
    for g in range(count):
        size = assignment.sizes[groups[g]]
        if size < 2 * k - 1:
            cost = squared_distance(search.X[row], assignment.centers[groups[g]])
            cost *= size / (size + 1)
            if home < 0 or cost < best:
                best, home = cost, groups[g]
    join(assignment, row, home)
    refresh(search.X, assignment, home)
