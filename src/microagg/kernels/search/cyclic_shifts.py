"""Cyclic shifts of records through several groups, found as shortest paths.

A path begins with a member of a group, which takes the place of a member of a second group, which
takes the place of one of a third, and so on; its end takes the place of the first. A path may also
visit a group as a whole: a record joins it and none leaves, and another group gives one up. The
gains add up only if no group occurs twice, so the groups are ranked, and paths only lead to higher
ranks: what remains is a shortest path in an acyclic graph. It is sought among the groups nearest to
the first, ranked by their distance from it; if that gains nothing, ranked as a chain in which each
group is the nearest to the one before. The number of nodes is bounded, whatever k is.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import allocating_inner_kernel, allocating_kernel, inner_kernel
from microagg.kernels.neighbours.blocks import Blocks, nearest
from microagg.kernels.search.assignment import Assignment, improve, least_gain

MOST_MEMBERS = 20


@allocating_kernel
def shift_from_groups(
    X: Floats,
    k: int,
    assignment: Assignment,
    in_use: Rows,
    blocks: Blocks,
    n_near: int,
    groups: Rows,
    tried: Rows,
) -> int:
    """Make the best cyclic shift that begins at each of the groups, in turn; returns how many.

    `blocks` holds the centres of the groups `in_use`. `tried` is the step at which each group was
    last tried without gain: it is tried again only if it or one of its `n_near` nearest has
    changed since.
    """
    distances = np.empty(n_near + 1)
    near = np.empty(n_near + 1, dtype=np.intp)
    made = 0
    for group in groups:
        count = nearest(blocks, assignment.centers[group], distances, near)
        ranked = rank_groups(in_use, near[: min(count, n_near + 1)], group)
        if not any_changed(assignment, ranked, tried[group]):
            continue
        if shift_from(X, k, assignment, ranked):
            made += 1
            continue
        rank_as_chain(assignment.centers, ranked)
        if shift_from(X, k, assignment, ranked):
            made += 1
        else:
            tried[group] = assignment.clock[0]
    return made


@allocating_inner_kernel
def rank_groups(in_use: Rows, near: Rows, group: int) -> Rows:
    """The group itself, then the others from the nearest on."""
    ranked = np.empty(near.shape[0], dtype=np.intp)
    ranked[0] = group
    count = 1
    for place in near:
        if in_use[place] != group and count < ranked.shape[0]:
            ranked[count] = in_use[place]
            count += 1
    return ranked[:count]


@inner_kernel
def any_changed(assignment: Assignment, groups: Rows, since: int) -> bool:
    """Whether one of the groups changed after the given step."""
    latest = -1
    for group in groups:
        latest = max(latest, assignment.changed[group])
    return latest > since


@inner_kernel
def rank_as_chain(centers: Floats, ranked: Rows) -> None:
    """Rearrange the groups after the first so that each is the nearest to the one before."""
    for place in range(1, ranked.shape[0] - 1):
        best = place
        least = np.inf
        for candidate in range(place, ranked.shape[0]):
            apart = squared_distance(centers[ranked[place - 1]], centers[ranked[candidate]])
            if apart < least:
                least, best = apart, candidate
        ranked[place], ranked[best] = ranked[best], ranked[place]


@allocating_inner_kernel
def shift_from(X: Floats, k: int, assignment: Assignment, ranked: Rows) -> bool:
    """Make the best cyclic shift along the ranked groups that begins at the first of them."""
    node_rows, node_ranks = make_nodes(assignment, ranked)
    n_nodes = node_rows.shape[0]
    n_sources = 1
    while node_rows[n_sources - 1] >= 0:
        n_sources += 1
    costs = np.full((n_nodes, n_sources), np.inf)
    parents = np.full((n_nodes, n_sources), -1, dtype=np.intp)
    for source in range(n_sources):
        costs[source, source] = 0.0
    to_centers = distances_from_centers(X, assignment, ranked, node_rows)
    extend_paths(X, k, assignment, ranked, node_rows, node_ranks, to_centers, costs, parents)
    end, source = best_end(X, k, assignment, ranked, node_rows, to_centers, costs)
    if end < 0:
        return False
    return shift_along(X, assignment, ranked, node_rows, node_ranks, parents, end, source)


@allocating_inner_kernel
def make_nodes(assignment: Assignment, ranked: Rows) -> tuple[Rows, Rows]:
    """Nodes in the order of their ranks: the members of each group, then the group as a whole.

    Returns their rows, -1 for a group as a whole, and their ranks. Those of the first group are the
    sources, where paths begin. Of large groups only the members farthest from the centre count.
    """
    n_nodes = 0
    for group in ranked:
        n_nodes += min(assignment.sizes[group], MOST_MEMBERS) + 1
    rows = np.full(n_nodes, -1)
    ranks = np.empty(n_nodes, dtype=np.intp)
    at = 0
    for rank in range(ranked.shape[0]):
        members = assignment.members[ranked[rank], : assignment.sizes[ranked[rank]]]
        if members.shape[0] > MOST_MEMBERS:
            members = members[np.argsort(-assignment.own[members])[:MOST_MEMBERS]]
        for row in members:
            rows[at], ranks[at] = row, rank
            at += 1
        ranks[at] = rank
        at += 1
    return rows, ranks


@allocating_inner_kernel
def distances_from_centers(
    X: Floats, assignment: Assignment, ranked: Rows, node_rows: Rows
) -> Floats:
    """Squared distances of the nodes' records from the centre of each group."""
    distances = np.zeros((node_rows.shape[0], ranked.shape[0]))
    for node in range(node_rows.shape[0]):
        if node_rows[node] >= 0:
            for rank in range(ranked.shape[0]):
                distances[node, rank] = squared_distance(
                    X[node_rows[node]], assignment.centers[ranked[rank]]
                )
    return distances


@inner_kernel
def extend_paths(
    X: Floats,
    k: int,
    assignment: Assignment,
    ranked: Rows,
    node_rows: Rows,
    node_ranks: Rows,
    to_centers: Floats,
    out_costs: Floats,
    out_parents: Rows,
) -> None:
    """Least cost of a path from each source to each node, and the node before it."""
    n_nodes, n_sources = out_costs.shape
    for node in range(n_sources, n_nodes):
        rank = node_ranks[node]
        size = assignment.sizes[ranked[rank]]
        row = node_rows[node]
        if row < 0 and size >= 2 * k - 1:
            continue
        first_of_rank = node
        while node_ranks[first_of_rank - 1] == rank:
            first_of_rank -= 1
        for before in range(first_of_rank):
            if node_rows[before] >= 0 and row >= 0:
                apart = squared_distance(X[node_rows[before]], X[row])
                cost = to_centers[before, rank] - to_centers[node, rank] - apart / size
            elif node_rows[before] >= 0:
                cost = to_centers[before, rank] * size / (size + 1)
            elif row >= 0 and size > k:
                cost = -to_centers[node, rank] * size / (size - 1)
            else:
                continue
            for source in range(n_sources):
                total = out_costs[before, source] + cost
                if total < out_costs[node, source]:
                    out_costs[node, source] = total
                    out_parents[node, source] = before


@inner_kernel
def best_end(
    X: Floats,
    k: int,
    assignment: Assignment,
    ranked: Rows,
    node_rows: Rows,
    to_centers: Floats,
    costs: Floats,
) -> tuple[int, int]:
    """End and source of the path that gains most when its end closes it; -1 if none gains."""
    n_nodes, n_sources = costs.shape
    first = ranked[0]
    size = assignment.sizes[first]
    best = -least_gain(assignment, ranked)
    best_node, best_source = -1, -1
    for node in range(n_sources, n_nodes):
        row = node_rows[node]
        for source in range(n_sources):
            start = node_rows[source]
            if row >= 0 and start >= 0:
                apart = squared_distance(X[row], X[start])
                closing = to_centers[node, 0] - to_centers[source, 0] - apart / size
            elif row >= 0 and size < 2 * k - 1:
                closing = to_centers[node, 0] * size / (size + 1)
            elif start >= 0 and size > k:
                closing = -to_centers[source, 0] * size / (size - 1)
            else:
                continue
            if costs[node, source] + closing < best:
                best = costs[node, source] + closing
                best_node, best_source = node, source
    return best_node, best_source


@allocating_inner_kernel
def shift_along(
    X: Floats,
    assignment: Assignment,
    ranked: Rows,
    node_rows: Rows,
    node_ranks: Rows,
    parents: Rows,
    end: int,
    source: int,
) -> bool:
    """Shift the records along the path to `end` and back to its source, if that gains."""
    rows = np.empty(ranked.shape[0] + 1, dtype=np.intp)
    targets = np.empty(ranked.shape[0] + 1, dtype=np.intp)
    count = 0
    node, next_group = end, ranked[0]
    while node >= 0:
        if node_rows[node] >= 0:
            rows[count], targets[count] = node_rows[node], next_group
            count += 1
        next_group = ranked[node_ranks[node]]
        node = parents[node, source] if node != source else -1
    return improve(X, assignment, rows[:count], targets[:count])
