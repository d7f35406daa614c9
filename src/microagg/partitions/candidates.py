"""What DBA and GSMS share: one by one, a record with its k-1 nearest becomes a group."""

from microagg.core.arrays import Floats
from microagg.kernels.construction.candidates import (
    Choice,
    make_candidates,
    rounds_of_candidates,
)
from microagg.orderings.neighbours import nearest_neighbours
from microagg.partitions.fixed_size import Peeling

# Listed neighbours for each member of a candidate: longer lists are searched for less often.
_LISTED = 4


class Selection(Peeling):
    """A grouping under way: the candidates are all records left, each with its k-1 nearest."""

    def __init__(self, X: Floats, k: int) -> None:
        super().__init__(X, k)
        near = nearest_neighbours(self.X, _LISTED * (k - 1)).rows
        self.candidates = make_candidates(self.X, near, k)

    def take_densest(self) -> None:
        """Take off the candidate of least error while k records are left."""
        choice = Choice(self.candidates, share=-1.0, leaves_least=False)
        self.take_off(rounds_of_candidates, choice, while_left=self.k)

    def take_sparsest(self, n_groups: int) -> None:
        """Take off the candidate of largest error, so many times or while k records are left."""
        choice = Choice(self.candidates, share=1.0, leaves_least=False)
        last = len(self.X) - (n_groups - 1) * self.k
        self.take_off(rounds_of_candidates, choice, while_left=max(self.k, last))

    def take_leaving_least(self, *, counts_own: bool) -> None:
        """Take off the candidate that leaves the least error behind, while k records are left.

        With `counts_own` the error of the candidate itself counts, too.
        """
        choice = Choice(self.candidates, share=0.0 if counts_own else 1.0, leaves_least=True)
        self.take_off(rounds_of_candidates, choice, while_left=self.k)
