"""Which records are grouped together: regions of large strata, and small strata that share a task.

A region is the work of one task. In every round large strata are cut in other directions, so that
no seam stays; strata that were grouped as a whole have none, and keep their groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats, Labels, Rows
from microagg.scale.steps.fitted import Fitted
from microagg.scale.steps.trees import Tree, grow
from microagg.scale.storage.work import WorkFolder


@dataclass(frozen=True, eq=False)
class Layout:
    """The regions of one round: those of strata that share them, then those of trees.

    `shared` has the region of every stratum that is not cut, -1 for the others; `trees` are those
    of strata that are, with the number of their first region.
    """

    shared: Rows
    trees: dict[int, tuple[int, Tree]]
    n_regions: int

    @classmethod
    def of(cls, work: WorkFolder, number: int) -> "Layout":
        """Return the layout of a round."""
        found: Layout = work.facts(layout_name(number))
        return found

    @property
    def n_shared(self) -> int:
        """How many regions hold whole strata."""
        return int(self.shared.max(initial=-1)) + 1

    def route(self, X: Floats, strata: Labels, identities: Rows) -> Rows:
        """Return the region of every record, or group, by its stratum and where it is."""
        regions = self.shared[strata]
        for stratum, (first, tree) in self.trees.items():
            rows = np.flatnonzero(strata == stratum)
            if len(rows):
                regions[rows] = first + tree.route(X[rows], identities[rows])
        return regions

    def families(self) -> list[list[int]]:
        """Return sets of regions that may be joined to one, the smallest sets first."""
        found = [
            [first + region for region in own]
            for first, tree in self.trees.values()
            for own in tree.families()
        ]
        return sorted(found, key=lambda own: (len(own), own))

    def is_whole(self, regions: Sequence[int]) -> bool:
        """Whether these regions hold whole strata, so that there are no others to join."""
        if regions[0] < self.n_shared:
            return True
        ends = {first: first + tree.n_regions for first, tree in self.trees.values()}
        return [*regions] == [*range(regions[0], ends.get(regions[0], regions[0]))]


def layout_name(number: int) -> str:
    """Return the name under which the layout of a round is kept."""
    return f"layout{number}"


def lay_out(fitted: Fitted, X: Floats, strata: Labels, number: int) -> Layout:
    """Lay out the regions of a round by a sample of the records, and how many each stratum has."""
    setting = fitted.setting
    most = max(setting.region_size, 20 * setting.plan.k)
    n_rows = setting.listing.n_rows
    sizes = np.array([n_rows]) if fitted.strata is None else fitted.strata.sizes
    shared = np.full(len(sizes), -1, dtype=np.intp)
    region, held = -1, most + 1
    for stratum, size in enumerate(sizes.tolist()):
        if 0 < size <= most:
            if held + size > most:
                region, held = region + 1, 0
            shared[stratum] = region
            held += size
    n_regions = region + 1
    trees: dict[int, tuple[int, Tree]] = {}
    for stratum in np.flatnonzero(sizes > most).tolist():
        rows = np.flatnonzero(strata == stratum)
        rng = np.random.default_rng([setting.seed, number, stratum])
        tree = grow(X[rows], int(sizes[stratum]) / max(1, len(rows)), most, rng)
        trees[stratum] = (n_regions, tree)
        n_regions += tree.n_regions
    return Layout(shared, trees, n_regions)
