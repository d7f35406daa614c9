"""Trees of cuts that divide a stratum into regions of about the same number of records.

They are grown on a sample, and route all records, or whole groups by their means. Products are
added up axis by axis, so that they round alike on every machine.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.scale.storage.hashing import mixed

# With this seed, rows get other numbers than those by which they are sampled.
_SHARE = 2
# Directions that are tried until some records differ along one.
_TRIES = 3


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in the order in which they were cut; a child below 0 is leaf number -1 - child.

    Records at or below the `threshold` along the `direction` of a node go to the `left`. A leaf of
    nothing but equal records that are too many for one region is shared among several, of which
    `first_regions` has the first, and where the last leaf ends.
    """

    directions: Floats
    thresholds: Floats
    left: Rows
    right: Rows
    first_regions: Rows

    @property
    def n_regions(self) -> int:
        """How many regions there are."""
        return int(self.first_regions[-1])

    def route(self, X: Floats, identities: Rows) -> Rows:
        """Return the region of every record, or group; `identities` tell equal ones apart."""
        leaves = self._leaves(X)
        shares = np.diff(self.first_regions)[leaves]
        places = (mixed(identities, _SHARE) % shares.astype(np.uint64)).astype(np.intp)
        return self.first_regions[leaves] + places

    def _leaves(self, X: Floats) -> Rows:
        leaves = np.zeros(len(X), dtype=np.intp)
        if not len(self.thresholds):
            return leaves
        pending = [(0, np.arange(len(X)))]
        while pending:
            node, rows = pending.pop()
            if node < 0:
                leaves[rows] = -1 - node
            elif len(rows):
                is_left = along(X[rows], self.directions[node]) <= self.thresholds[node]
                pending.append((int(self.left[node]), rows[is_left]))
                pending.append((int(self.right[node]), rows[~is_left]))
        return leaves

    def families(self) -> list[list[int]]:
        """Return the regions below every node, from the smallest families to all regions."""
        below: dict[int, list[int]] = {}
        for leaf, (first, end) in enumerate(pairwise(self.first_regions.tolist())):
            below[-1 - leaf] = [*range(first, end)]
        found = [own for own in below.values() if len(own) > 1]
        for node in range(len(self.thresholds) - 1, -1, -1):  # children come after their parent
            below[node] = sorted(below[int(self.left[node])] + below[int(self.right[node])])
            found.append(below[node])
        return sorted(found, key=lambda own: (len(own), own))


def along(X: Floats, direction: Floats) -> Floats:
    """Return where records are along a direction."""
    total = np.zeros(len(X))
    for axis, factor in zip(X.T, direction, strict=True):
        total += axis * factor
    return total


def grow(X: Floats, records_each: float, most: int, rng: np.random.Generator) -> Tree:
    """Grow a tree on a sample in which every row stands for so many records.

    Nodes are cut at the median along a random direction, in which records differ more where they
    vary more, until their records are at most `most`.
    """
    directions: list[Floats] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    shares: list[int] = []
    pending: list[tuple[Rows, int, int]] = [(np.arange(len(X)), -1, 0)]
    while pending:
        rows, parent, side = pending.pop()
        cut = None
        if len(rows) * records_each > most:
            cut = _cut(X[rows], rng)
        if cut is None:
            shares.append(max(1, int(np.ceil(len(rows) * records_each / most))))
            number = -len(shares)
        else:
            direction, threshold = cut
            directions.append(direction)
            thresholds.append(threshold)
            children.append([0, 0])
            number = len(thresholds) - 1
            is_left = along(X[rows], direction) <= threshold
            pending += [(rows[~is_left], number, 1), (rows[is_left], number, 0)]
        if parent >= 0:
            children[parent][side] = number
    each = np.array(children, dtype=np.intp).reshape(-1, 2)
    return Tree(
        np.array(directions).reshape(-1, X.shape[1]),
        np.array(thresholds),
        each[:, 0].copy(),
        each[:, 1].copy(),
        np.concatenate(([0], np.cumsum(shares))).astype(np.intp),
    )


def _cut(X: Floats, rng: np.random.Generator) -> tuple[Floats, float] | None:
    """Return a direction and where to cut along it; None if all records are equal."""
    spread = X - X[0]
    spread = spread - spread.mean(axis=0)
    for _ in range(_TRIES):
        random = along(spread, np.asarray(rng.normal(size=X.shape[1])))
        direction = np.array([float((axis * random).sum()) for axis in spread.T])
        length = float(np.abs(direction).max())
        found = None if length == 0.0 else _median(X, direction / length)
        if found is not None:
            return found
    for axis in np.eye(X.shape[1]):
        found = _median(X, axis)
        if found is not None:
            return found
    return None


def _median(X: Floats, direction: Floats) -> tuple[Floats, float] | None:
    """Return the cut nearest to the median that has records on both sides, if there is one."""
    places = np.sort(along(X, direction))
    middle = places[(len(places) - 1) // 2]
    if middle < places[-1]:
        return direction, float(middle)
    below = places[places < middle]
    return (direction, float(below[-1])) if len(below) else None
