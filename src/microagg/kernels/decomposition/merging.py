"""The second phase of DBA: groups that are dissolved into the nearest others, each tried once.

Groups may grow without a limit here; callers that want them small split them afterwards.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import mean_and_error, squared_distance
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.compile import allocating_inner_kernel, allocating_kernel, kernel
from microagg.kernels.construction.variable_size import nearest_other
from microagg.kernels.decomposition.grouping import move_center
from microagg.kernels.decomposition.moves import LEAST_GAIN
from microagg.kernels.neighbours.blocks import Blocks, make_blocks, remove


class Growing(NamedTuple):
    """Groups by number; the members of a group form a chain, begun by `heads`, ended by -1."""

    X: Floats
    labels: Rows
    heads: Rows
    after: Rows
    sizes: Rows  # 0 for a group that is gone
    centers: Floats
    blocks: Blocks  # of the centres


def make_growing(X: Floats, labels: Rows) -> Growing:
    """Lay out the groups 0, 1, ... of the given labels, which are copied."""
    groups = summarise(X, labels)
    first = np.unique(labels, return_index=True)[1]
    centers = groups.centers[groups.labels[first]]
    growing = Growing(
        X=X,
        labels=labels.copy(),
        heads=np.full(len(centers), -1, dtype=np.intp),
        after=np.empty(len(X), dtype=np.intp),
        sizes=np.bincount(labels),
        centers=centers,
        blocks=make_blocks(centers, np.arange(len(centers))),
    )
    chain_members(growing)
    return growing


@kernel
def chain_members(growing: Growing) -> None:
    """Link the members of every group, the lower row first."""
    for row in range(growing.X.shape[0] - 1, -1, -1):
        group = growing.labels[row]
        growing.after[row] = growing.heads[group]
        growing.heads[group] = row


@allocating_kernel
def merge_groups(growing: Growing, groups: Rows, k: int) -> None:
    """Dissolve each of the groups in turn, if that lowers the squared error.

    Every member goes to the group with the nearest centre, as it is before any of them arrives.
    """
    X, centers, sizes = growing.X, growing.centers, growing.sizes
    mean = np.empty(X.shape[1])
    for group in groups:
        members = members_of(growing, group)
        error = mean_and_error(X, members, mean)
        homes = nearest_homes(growing, group, members, error, k)
        if homes[homes.shape[0] - 1] < 0 or not cost(growing, members, homes) < error * (
            1.0 - LEAST_GAIN
        ):
            continue
        sizes[group] = 0
        remove(growing.blocks, np.array([group]))
        for m in range(members.shape[0]):
            row, home = members[m], homes[m]
            growing.labels[row] = home
            growing.after[row] = growing.heads[home]
            growing.heads[home] = row
            sizes[home] += 1
            for j in range(X.shape[1]):
                centers[home, j] += (X[row, j] - centers[home, j]) / sizes[home]
            move_center(growing.blocks, home, centers[home])


@allocating_inner_kernel
def members_of(growing: Growing, group: int) -> Rows:
    """The rows of a group."""
    members = np.empty(growing.sizes[group], dtype=np.intp)
    row = growing.heads[group]
    for m in range(members.shape[0]):
        members[m] = row
        row = growing.after[row]
    return members


@allocating_inner_kernel
def nearest_homes(growing: Growing, group: int, members: Rows, error: float, k: int) -> Rows:
    """For each member the other group with the nearest centre; the last is -1 if it cannot pay.

    Members that join s records together cost at least s / (s + their number) of the sum of their
    squared distances from the centre.
    """
    homes = np.full(members.shape[0], -1, dtype=np.intp)
    limit = error * (k + members.shape[0]) / k * (1.0 + LEAST_GAIN)
    for m in range(members.shape[0]):
        homes[m], distance = nearest_other(growing.blocks, growing.X[members[m]], group, -1, limit)
        if homes[m] < 0:
            homes[members.shape[0] - 1] = -1
            break
        limit -= distance
    return homes


@allocating_inner_kernel
def cost(growing: Growing, members: Rows, homes: Rows) -> float:
    """By how much the error of the homes would rise."""
    X = growing.X
    mean = np.empty(X.shape[1])
    joining = np.empty_like(members)
    counted = np.zeros(members.shape[0], dtype=np.bool_)
    total = 0.0
    for first in range(members.shape[0]):
        count = 0
        for m in range(first, members.shape[0]):
            if not counted[m] and homes[m] == homes[first]:
                counted[m] = True
                joining[count] = members[m]
                count += 1
        if count > 0:
            size = growing.sizes[homes[first]]
            total += mean_and_error(X, joining[:count], mean)
            total += squared_distance(mean, growing.centers[homes[first]]) * (
                size * count / (size + count)
            )
    return total
