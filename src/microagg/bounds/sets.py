"""Sets of records that hold fewer groups than a relaxed solution has in them."""

import numpy as np

from microagg.bounds.proof import RegionSets
from microagg.core.arrays import Floats, Rows

# Groups by which a set must be exceeded to be taken; how many sets for each hundred records of a
# region, and the most records in a set, for each unit of k.
_LEAST_EXCESS, _SETS_PER_HUNDRED, _LARGEST = 0.02, 10, 20
# Entries of Z that count as zero.
_TINY = 1e-4


def no_sets() -> RegionSets:
    """Return no sets."""
    return RegionSets(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))


def find_sets(Z: Floats, k: int, known: RegionSets) -> RegionSets:
    """Return the known sets that have an effect, and new ones that Z violates most.

    Candidates are the sets that come together when records are joined one pair after another, those
    with the largest z_ij first (single linkage).
    """
    ends = np.cumsum(known.sizes)
    used = [
        (multiplier, members)
        for multiplier, members in zip(
            known.multipliers, np.split(known.members, ends[:-1]), strict=False
        )
        if multiplier > 0.0
    ]
    taken = {members.tobytes() for _, members in used}
    found = [own for own in _violated(Z, k) if own[1].tobytes() not in taken]
    found.sort(key=lambda own: -own[0])
    most = max(1, _SETS_PER_HUNDRED * len(Z) // 100)
    sets = used + [(0.0, members) for _, members in found[:most]]
    if not sets:
        return no_sets()
    return RegionSets(
        np.array([len(members) for _, members in sets], dtype=np.intp),
        np.concatenate([members for _, members in sets]),
        np.array([multiplier for multiplier, _ in sets]),
    )


def _violated(Z: Floats, k: int) -> list[tuple[float, Rows]]:
    """Return violated sets, each with by how many groups it is exceeded."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    rows, columns = np.nonzero(np.triu(Z, 1) > _TINY)
    lengths = 2.0 - Z[rows, columns].astype(np.float64)
    where = (rows.astype(np.int32), columns.astype(np.int32))  # all that csgraph takes
    tree = minimum_spanning_tree(coo_array((lengths, where), shape=Z.shape)).tocoo()
    members = {row: np.array([row]) for row in range(len(Z))}
    inside = dict(enumerate(np.diagonal(Z).astype(np.float64)))
    diagonal = dict(inside)
    joined = np.arange(len(Z))
    found = []
    for edge in np.argsort(tree.data, kind="stable"):
        one, other = joined[tree.row[edge]], joined[tree.col[edge]]
        if len(members[one]) < len(members[other]):
            one, other = other, one
        ours, theirs = members[one], members.pop(other)
        size = len(ours) + len(theirs)
        members[one] = np.concatenate([ours, theirs])
        joined[theirs] = one
        if size > _LARGEST * k:
            continue
        inside[one] += inside[other] + 2.0 * float(Z[np.ix_(ours, theirs)].sum())
        diagonal[one] += diagonal[other]
        n_groups, beyond = divmod(size, k)
        excess = diagonal[one] - n_groups - (size - inside[one]) / (k - beyond)
        if beyond and excess > _LEAST_EXCESS:
            found.append((excess, np.sort(members[one])))
    return found
