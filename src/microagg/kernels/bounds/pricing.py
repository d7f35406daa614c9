"""Groups that cost less than their records pay, found by depth-first search from each record.

Every record pays a dual; a group S of s records costs SSE(S), plus a penalty for each cut of which
it holds two records or more. If it costs less than its members pay, the duals are lowered at once
until it does not: a record whose groups have all been searched is settled, and no later search has
to include it. Duals only ever decrease, so what was ruled out stays ruled out, and once all records
are settled no group costs less than its members pay.

With W the sum of squared distances over the pairs in S, SSE(S) = W / s. A partial group P that
lacks t records is bounded by the distances between P and what may be added, and, for each added
record, half of its t - 1 smallest distances to any record: each pair of added ones counts twice.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.basics.smallest import keep_smallest
from microagg.kernels.compile import (
    allocating_inner_kernel,
    allocating_kernel,
    inner_kernel,
    kernel,
)


class Cuts(NamedTuple):
    """Triples of which at most one group may hold two; those of row i begin at `begins[i]`."""

    begins: Rows
    of: Rows
    penalties: Floats
    held: Rows  # scratch: how many records of each triple the partial group holds


class Prices(NamedTuple):
    """What the search reads and lowers."""

    duals: Floats
    settled: Mask
    closeness: Floats  # row x t: half the sum of the t smallest squared distances to others
    cuts: Cuts


class SearchTree(NamedTuple):
    """Scratch of the search from one root, for groups of one size."""

    rows: Rows  # candidates, the most promising first
    apart: Floats  # candidate x candidate: squared distances, once `known`
    known: Mask
    sums: Floats  # depth x candidate: squared distances to the partial group, summed
    bounds: Floats  # depth x candidate: least cost of groups with this candidate next
    path: Rows  # depth: the candidate that was added
    pairs: Floats  # depth: squared distances within the partial group, summed
    penalties: Floats  # depth


class Found(NamedTuple):
    """Groups that cost too little, padded with -1, and the numbers of groups and nodes."""

    groups: Rows
    counts: Rows


@allocating_kernel
def settle_records(
    X: Floats,
    k: int,
    roots: Rows,
    n_nodes: int,
    slack: float,
    prices: Prices,
    tree: SearchTree,
    found: Found,
) -> float:
    """Settle the given records one by one; return by how much unfinished searches lowered duals.

    A search that needs more than `n_nodes` nodes is stopped, and the dual of its root is lowered by
    the most that may be left.
    """
    distances = np.empty(X.shape[0])
    fallen = 0.0
    for root in roots:
        for i in range(X.shape[0]):
            distances[i] = squared_distance(X[root], X[i])
        stop = found.counts[1] + n_nodes
        lowest = 0.0
        count_in_triples(prices.cuts, root, 1)
        for size in range(k, min(2 * k - 1, X.shape[0]) + 1):
            n_candidates, beyond = list_candidates(distances, root, size, slack, prices, tree)
            lowest = min(lowest, beyond)
            if n_candidates >= size - 1:
                left_open = search_from_root(
                    X, root, size, n_candidates, stop, slack, distances, prices, tree, found
                )
                lowest = min(lowest, left_open)
        count_in_triples(prices.cuts, root, -1)
        prices.duals[root] += lowest
        fallen -= lowest
        prices.settled[root] = True
    return fallen


@inner_kernel
def count_in_triples(cuts: Cuts, row: int, change: int) -> None:
    """Add a record to the counts of its triples, or remove it."""
    for at in range(cuts.begins[row], cuts.begins[row + 1]):
        cuts.held[cuts.of[at]] += change


@inner_kernel
def penalty_of(cuts: Cuts, row: int) -> float:
    """Penalty for adding a record: that of the triples of which one record is already held."""
    total = 0.0
    for at in range(cuts.begins[row], cuts.begins[row + 1]):
        if cuts.held[cuts.of[at]] == 1:
            total += cuts.penalties[cuts.of[at]]
    return total


@allocating_inner_kernel
def list_candidates(
    distances: Floats, root: int, size: int, slack: float, prices: Prices, tree: SearchTree
) -> tuple[int, float]:
    """List records that may be in a group with the root that costs too little, best first.

    Returns how many there are, and a lower bound (at most zero) on the cost of groups with any
    for which there was no room.
    """
    n = distances.shape[0]
    lacking = size - 1
    values = np.full(n, np.inf)
    least, places = np.empty(lacking), np.empty(lacking, dtype=np.intp)
    count = 0
    for i in range(n):
        if i != root and not prices.settled[i]:
            near = distances[i] + prices.closeness[i, lacking - 1]
            values[i] = near / size - prices.duals[i]
            count = keep_smallest(values[i], i, count, least, places)
    if count < lacking:
        return 0, 0.0
    total = least.sum() - prices.duals[root]
    if total >= -slack:
        return 0, 0.0
    listed = np.flatnonzero(total + (values - least[lacking - 1]) < -slack)
    ordered = listed[np.argsort(values[listed], kind="mergesort")]
    room = min(len(ordered), tree.rows.shape[0])
    tree.rows[:room] = ordered[:room]
    beyond = 0.0
    if room < len(ordered):
        beyond = total + max(0.0, values[ordered[room]] - least[lacking - 1])
    return room, beyond


@allocating_inner_kernel
def search_from_root(
    X: Floats,
    root: int,
    size: int,
    n_candidates: int,
    stop: int,
    slack: float,
    distances: Floats,
    prices: Prices,
    tree: SearchTree,
    found: Found,
) -> float:
    """Search all groups of one size with the root; return a lower bound for those left out."""
    tree.known[:n_candidates] = False
    for j in range(n_candidates):
        tree.sums[0, j] = distances[tree.rows[j]]
    tree.pairs[0] = 0.0
    tree.penalties[0] = 0.0
    tree.path[0] = -1
    depth = 0
    lowest = 0.0
    next_of = np.zeros(size, dtype=np.intp)
    bound_children(root, size, depth, n_candidates, prices, tree)
    while depth >= 0:
        if size - 1 - depth == 1:
            take_leaves(root, size, depth, n_candidates, slack, prices, tree, found)
            next_of[depth] = n_candidates
        j = next_of[depth]
        while j < n_candidates and tree.bounds[depth, j] >= -slack:
            j += 1
        next_of[depth] = j + 1
        if j >= n_candidates:
            if depth > 0:
                count_in_triples(prices.cuts, tree.rows[tree.path[depth]], -1)
            depth -= 1
        elif found.counts[1] >= stop:
            lowest = min(lowest, tree.bounds[depth, j])
        else:
            found.counts[1] += 1
            add_candidate(X, j, depth, n_candidates, prices, tree)
            depth += 1
            bound_children(root, size, depth, n_candidates, prices, tree)
            next_of[depth] = j + 1
    return lowest


@inner_kernel
def add_candidate(
    X: Floats, j: int, depth: int, n_candidates: int, prices: Prices, tree: SearchTree
) -> None:
    """Put a candidate into the partial group, one level deeper."""
    row = tree.rows[j]
    if not tree.known[j]:
        for i in range(n_candidates):
            tree.apart[j, i] = squared_distance(X[row], X[tree.rows[i]])
        tree.known[j] = True
    tree.path[depth + 1] = j
    tree.pairs[depth + 1] = tree.pairs[depth] + tree.sums[depth, j]
    tree.penalties[depth + 1] = tree.penalties[depth] + penalty_of(prices.cuts, row)
    count_in_triples(prices.cuts, row, 1)
    for i in range(j + 1, n_candidates):
        tree.sums[depth + 1, i] = tree.sums[depth, i] + tree.apart[j, i]


@inner_kernel
def paid_by(root: int, depth: int, prices: Prices, tree: SearchTree) -> float:
    """Sum of the duals of the partial group."""
    total = prices.duals[root]
    for level in range(1, depth + 1):
        total += prices.duals[tree.rows[tree.path[level]]]
    return total


@allocating_inner_kernel
def bound_children(
    root: int, size: int, depth: int, n_candidates: int, prices: Prices, tree: SearchTree
) -> None:
    """Least cost of groups that continue with each candidate and then only with later ones."""
    lacking = size - 1 - depth
    least, places = np.empty(max(lacking - 1, 1)), np.empty(max(lacking - 1, 1), dtype=np.intp)
    count = 0
    rest = 0.0
    so_far = tree.pairs[depth] / size + tree.penalties[depth] - paid_by(root, depth, prices, tree)
    for j in range(n_candidates - 1, tree.path[depth], -1):
        row = tree.rows[j]
        near = tree.sums[depth, j] + prices.closeness[row, lacking - 1]
        value = near / size - prices.duals[row]
        bound = so_far + value + rest if count == lacking - 1 else np.inf
        if bound < 0.0:
            bound += penalty_of(prices.cuts, row)
        tree.bounds[depth, j] = bound
        if lacking > 1 and (count < lacking - 1 or value < least[count - 1]):
            count = keep_smallest(value, j, count, least, places)
            rest = least[:count].sum()


@inner_kernel
def take_leaves(
    root: int,
    size: int,
    depth: int,
    n_candidates: int,
    slack: float,
    prices: Prices,
    tree: SearchTree,
    found: Found,
) -> None:
    """Complete the partial group with last records for which it costs too little, best first."""
    while True:
        best = -1
        for j in range(tree.path[depth] + 1, n_candidates):
            if tree.bounds[depth, j] < -slack and (
                best < 0 or tree.bounds[depth, j] < tree.bounds[depth, best]
            ):
                best = j
        if best < 0:
            return
        keep_group(root, size, depth, best, found, tree)
        lower = tree.bounds[depth, best] / size
        prices.duals[root] += lower
        for level in range(1, depth + 1):
            prices.duals[tree.rows[tree.path[level]]] += lower
        prices.duals[tree.rows[best]] += lower
        bound_children(root, size, depth, n_candidates, prices, tree)
        tree.bounds[depth, best] = np.inf


@inner_kernel
def keep_group(root: int, size: int, depth: int, last: int, found: Found, tree: SearchTree) -> None:
    """Store a group, as long as there is room."""
    at = found.counts[0]
    if at == found.groups.shape[0]:
        return
    found.groups[at] = -1
    found.groups[at, 0] = root
    for level in range(1, depth + 1):
        found.groups[at, level] = tree.rows[tree.path[level]]
    found.groups[at, size - 1] = tree.rows[last]
    found.counts[0] += 1


@kernel
def group_errors(X: Floats, groups: Rows, out_errors: Floats) -> None:
    """SSE of each group, padded with -1: summed over pairs, so that nothing cancels."""
    for g in range(groups.shape[0]):
        size = 0
        pairs = 0.0
        for a in range(groups.shape[1]):
            if groups[g, a] >= 0:
                size += 1
                for b in range(a):
                    if groups[g, b] >= 0:
                        pairs += squared_distance(X[groups[g, a]], X[groups[g, b]])
        out_errors[g] = pairs / size


@inner_kernel
def in_group(groups: Rows, g: int, row: int) -> bool:
    """Whether a group holds a record."""
    held = False
    for slot in range(groups.shape[1]):
        held |= groups[g, slot] == row
    return held


@allocating_kernel
def violated_triples(
    groups: Rows,
    weights: Floats,
    begins: Rows,
    of: Rows,
    least: float,
    out_triples: Rows,
    out_excess: Floats,
) -> int:
    """List triples for which the groups that hold two or more have a weight above 1 + `least`.

    The groups of record i are `of[begins[i] : begins[i + 1]]`. Only triples whose pairs all share
    a group matter: otherwise one record is in all groups that count. Returns how many there are.
    """
    count = 0
    for i in range(begins.shape[0] - 1):
        near = np.unique(groups[of[begins[i] : begins[i + 1]]])
        near = near[near > i]
        for a in range(near.shape[0]):
            for b in range(a + 1, near.shape[0]):
                j, m = near[a], near[b]
                total = 0.0
                for at in range(begins[i], begins[i + 1]):
                    g = of[at]
                    if in_group(groups, g, j) or in_group(groups, g, m):
                        total += weights[g]
                for at in range(begins[j], begins[j + 1]):
                    g = of[at]
                    if in_group(groups, g, m) and not in_group(groups, g, i):
                        total += weights[g]
                if total > 1.0 + least and count < out_excess.shape[0]:
                    out_triples[count, 0] = i
                    out_triples[count, 1] = j
                    out_triples[count, 2] = m
                    out_excess[count] = total - 1.0
                    count += 1
    return count
