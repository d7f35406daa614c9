"""Fewer groups to begin with, so that some can spare a record.

If all groups hold exactly k records, no record can move: all that is left are exchanges, and a
search soon ends. With a few groups dissolved, chains of moves run through the table.
"""

from microagg.core.arrays import Mask, Rows
from microagg.kernels.compile import inner_kernel, kernel


@kernel
def dissolve_groups(
    near: Rows,
    k: int,
    chosen: Rows,
    is_chosen: Mask,
    members: Rows,
    begins: Rows,
    labels: Rows,
    sizes: Rows,
) -> int:
    """Dissolve the chosen groups; returns how many. Changes `labels` and `sizes`.

    Each member joins the group of its nearest neighbour that has room for it and is not chosen
    itself. A group stays if one of its members finds none. The members of group g are
    `members[begins[g] : begins[g + 1]]`.
    """
    dissolved = 0
    for group in chosen:
        placed = begins[group]
        while placed < begins[group + 1]:
            row = members[placed]
            home = nearest_home(near[row], k, is_chosen, labels, sizes)
            if home < 0:
                break
            labels[row] = home
            sizes[home] += 1
            placed += 1
        if placed == begins[group + 1]:
            sizes[group] = 0
            dissolved += 1
            continue
        for at in range(begins[group], placed):
            sizes[labels[members[at]]] -= 1
            labels[members[at]] = group
    return dissolved


@inner_kernel
def nearest_home(near: Rows, k: int, is_chosen: Mask, labels: Rows, sizes: Rows) -> int:
    """The group of the nearest neighbour whose group has room; -1 if there is none."""
    for other in near:
        group = labels[other]
        if not is_chosen[group] and sizes[group] < 2 * k - 1:
            return int(group)
    return -1
