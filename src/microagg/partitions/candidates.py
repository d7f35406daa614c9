"""What DBA and GSMS share: one by one, a record with its k-1 nearest becomes a group."""

import numpy as np

from microagg.core.arrays import Floats
from microagg.kernels.construction.candidates import (
    Choice,
    make_candidates,
    rounds_of_candidates,
)
from microagg.kernels.neighbours.blocks import Blocks, make_blocks
from microagg.orderings.neighbours import nearest_neighbours
from microagg.partitions.fixed_size import Peeling
from microagg.partitions.search.neighbours import distinct_records

# Listed neighbours for each member of a candidate: longer lists are searched for less often.
_LISTED = 4


class Selection(Peeling):
    """A grouping under way: the candidates are all records left, each with its k-1 nearest."""

    def __init__(self, X: Floats, k: int) -> None:
        super().__init__(X, k)
        kinds = distinct_records(self.X)
        # Numbered by their first records, so that ties go to the lower row.
        number = np.argsort(np.argsort(kinds.rows[kinds.begins]))[kinds.of_record]
        rows, sizes = np.argsort(number, kind="stable"), np.bincount(number)
        points = self.X[rows[sizes.cumsum() - sizes]]
        near = nearest_neighbours(points, _LISTED * (k - 1)).rows
        self.candidates = make_candidates(points, rows, sizes, near, k)

    def lay_out(self) -> Blocks:
        """Lay out the distinct records that are left."""
        return make_blocks(self.candidates.points, np.flatnonzero(self.candidates.left))

    def take_densest(self) -> None:
        """Take off the candidate of least error while k records are left."""
        choice = Choice(self.candidates, share=-1.0, leaves_least=False)
        self.peel(rounds_of_candidates, choice, while_left=self.k)

    def take_sparsest(self, n_groups: int) -> None:
        """Take off the candidate of largest error, this many times or while k records are left."""
        choice = Choice(self.candidates, share=1.0, leaves_least=False)
        last = len(self.X) - (n_groups - 1) * self.k
        self.peel(rounds_of_candidates, choice, while_left=max(self.k, last))

    def take_leaving_least(self, *, counts_own: bool) -> None:
        """Take off the candidate that leaves the least error behind, while k records are left.

        With `counts_own` the error of the candidate itself counts as well.
        """
        choice = Choice(self.candidates, share=0.0 if counts_own else 1.0, leaves_least=True)
        self.peel(rounds_of_candidates, choice, while_left=self.k)
