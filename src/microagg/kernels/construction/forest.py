"""A forest of short edges in which every tree has k records, and large trees taken apart.

Every record has at most one edge of its own, to its parent, so that a tree has exactly one record
without: its root.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.basics.smallest import heap_push, heap_sink
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel


@allocating_kernel
def join_trees(distances: Floats, near: Rows, k: int, out_parents: Rows) -> None:
    """Join trees of fewer than k records to others, until there is none; -1 marks a root.

    At first every record is a tree. The edge of a small tree leads from its root to the nearest
    record outside; of all such edges the longest comes first, then that of the lower root. `near`
    lists the k-1 nearest others of every record, one of which is always outside a small tree.
    """
    n = near.shape[0]
    tree = np.arange(n)
    sizes = np.ones(n, dtype=np.intp)
    slots = np.zeros(n, dtype=np.intp)
    lengths = np.empty(n)
    roots = np.empty(n, dtype=np.intp)  # negative: the lower row is to be the last among equals
    for row in range(n):
        out_parents[row] = -1
        heap_push(lengths, roots, row, distances[row, 0], -row)
    waiting = n
    while waiting > 0:
        length, row = lengths[0], -roots[0]
        waiting -= 1
        heap_sink(lengths, roots, waiting, float(lengths[waiting]), int(roots[waiting]))
        outdated = length != distances[row, slots[row]] or out_parents[row] >= 0
        if outdated or sizes[row] >= k:
            continue
        out_parents[row] = near[row, slots[row]]
        other = find(tree, near[row, slots[row]])
        tree[row] = other
        sizes[other] += sizes[row]
        slot = slots[other]
        while sizes[other] < k and find(tree, near[other, slot]) == other:
            slot += 1
        if slot > slots[other]:
            slots[other] = slot
            heap_push(lengths, roots, waiting, distances[other, slot], -other)
            waiting += 1


@inner_kernel
def find(tree: Rows, row: int) -> int:
    """The root of a tree; the way there is made shorter for the next one."""
    while tree[row] != row:
        tree[row] = tree[tree[row]]
        row = tree[row]
    return row


class Forest(NamedTuple):
    """Trees with their children in chains: `first` of a record, then `after` of each; -1 ends."""

    X: Floats
    first: Rows
    after: Rows
    sizes: Rows  # records in the subtree, up to date in the tree that is looked at
    waiting: Rows  # roots of trees to look at
    order: Rows  # scratch: the records of a tree, parents before children
    labels: Rows
    state: Rows  # how many are waiting, trees labelled, records labelled


def make_forest(X: Floats, parents: Rows) -> Forest:
    """Lay out the trees of the given parents, all of them waiting."""
    n = len(X)
    roots = np.flatnonzero(parents < 0)
    waiting = np.empty(n, dtype=np.intp)
    waiting[: len(roots)] = roots[::-1]
    forest = Forest(
        X=X,
        first=np.full(n, -1, dtype=np.intp),
        after=np.full(n, -1, dtype=np.intp),
        sizes=np.empty(n, dtype=np.intp),
        waiting=waiting,
        order=np.empty(n, dtype=np.intp),
        labels=np.full(n, -1, dtype=np.intp),
        state=np.array([len(roots), 0, 0]),
    )
    hang_children(forest, parents)
    return forest


@kernel
def hang_children(forest: Forest, parents: Rows) -> None:
    """Hang every record on its parent."""
    for row in range(parents.shape[0]):
        if parents[row] >= 0:
            add_child(forest, parents[row], row)


@kernel
def take_apart(forest: Forest, k: int, work: int) -> None:
    """Take trees of more than max(2k-1, 3k-5) records apart and label the parts.

    Returns when none is waiting, or the work, counted in records, is done.
    """
    limit = max(2 * k - 1, 3 * k - 5)
    waiting, state = forest.waiting, forest.state
    while state[0] > 0 and work > 0:
        state[0] -= 1
        root = waiting[state[0]]
        size = survey(forest, root)
        work -= size
        if size > limit:
            one, other = halve(forest, k, root, size)
            waiting[state[0]] = one
            waiting[state[0] + 1] = other
            state[0] += 2
        else:
            for row in forest.order[:size]:
                forest.labels[row] = state[1]
            state[1] += 1
            state[2] += size


@inner_kernel
def survey(forest: Forest, root: int) -> int:
    """List the records of a tree and count its subtrees; returns its size."""
    order, sizes = forest.order, forest.sizes
    order[0] = root
    count = 1
    at = 0
    while at < count:
        child = forest.first[order[at]]
        while child >= 0:
            order[count] = child
            count += 1
            child = forest.after[child]
        at += 1
    for at in range(count):
        sizes[order[at]] = 1
    for at in range(count - 1, -1, -1):
        child = forest.first[order[at]]
        while child >= 0:
            sizes[order[at]] += sizes[child]
            child = forest.after[child]
    return count


@inner_kernel
def halve(forest: Forest, k: int, root: int, size: int) -> tuple[int, int]:
    """Divide a tree into two of at least k records; returns their roots.

    The root moves towards the largest subtree while fewer than k-1 records are outside it.
    """
    sizes = forest.sizes
    child = largest_child(forest, root)
    while size - sizes[child] < k - 1:
        remove_child(forest, root, child)
        add_child(forest, child, root)
        sizes[root], sizes[child] = size - sizes[child], size
        root = child
        child = largest_child(forest, root)
    branch = sizes[child]
    if size - branch == k - 1:  # the child makes up the k records outside, without its subtrees
        return root, promote(forest, child)
    remove_child(forest, root, child)
    if branch >= k:
        return root, child
    if branch == k - 1:  # the root makes up the k records
        rest = promote(forest, root)
        add_child(forest, root, child)
        return root, rest
    add_child(forest, root, child)
    return gather(forest, k, root)


@inner_kernel
def gather(forest: Forest, k: int, root: int) -> tuple[int, int]:
    """Divide a tree whose subtrees all have fewer than k-1 records; returns the roots of both.

    The subtrees nearest to the root make up one part, as many as it takes to have k-1 records. The
    root goes to that part if it has no more than those, else to the other one.
    """
    part = -1
    count = 0
    while count < k - 1:
        child = nearest_child(forest, root)
        remove_child(forest, root, child)
        count += forest.sizes[child]
        if part < 0:
            part = child
        else:
            add_child(forest, part, child)
    if count == k - 1:
        rest = promote(forest, root)
        add_child(forest, root, part)
        return root, rest
    return part, root


@inner_kernel
def promote(forest: Forest, parent: int) -> int:
    """Take the subtrees off a record: the nearest takes in the others; returns its root."""
    root = nearest_child(forest, parent)
    remove_child(forest, parent, root)
    while forest.first[parent] >= 0:
        child = forest.first[parent]
        remove_child(forest, parent, child)
        add_child(forest, root, child)
    return root


@inner_kernel
def largest_child(forest: Forest, parent: int) -> int:
    """Child with the largest subtree; among equals the one farthest away, then the lower row."""
    best = -1
    best_distance = 0.0
    child = forest.first[parent]
    while child >= 0:
        distance = squared_distance(forest.X[child], forest.X[parent])
        more = 1 if best < 0 else forest.sizes[child] - forest.sizes[best]
        farther = distance > best_distance or (distance == best_distance and child < best)
        if more > 0 or (more == 0 and farther):
            best, best_distance = child, distance
        child = forest.after[child]
    return best


@inner_kernel
def nearest_child(forest: Forest, parent: int) -> int:
    """Child nearest to its parent, the lower row among equals."""
    best = -1
    best_distance = np.inf
    child = forest.first[parent]
    while child >= 0:
        distance = squared_distance(forest.X[child], forest.X[parent])
        if best < 0 or distance < best_distance or (distance == best_distance and child < best):
            best, best_distance = child, distance
        child = forest.after[child]
    return best


@inner_kernel
def add_child(forest: Forest, parent: int, child: int) -> None:
    """Hang a subtree on a record."""
    forest.after[child] = forest.first[parent]
    forest.first[parent] = child


@inner_kernel
def remove_child(forest: Forest, parent: int, child: int) -> None:
    """Take a subtree off its parent."""
    if forest.first[parent] == child:
        forest.first[parent] = forest.after[child]
        return
    before = forest.first[parent]
    while forest.after[before] != child:
        before = forest.after[before]
    forest.after[before] = forest.after[child]
