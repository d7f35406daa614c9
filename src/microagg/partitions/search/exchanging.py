"""Groups that improve by migrations and exchanges of records, until none gains."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from microagg.core.arrays import Floats, Labels, Mask
from microagg.core.progress import paced, report
from microagg.core.validation import check_count, check_number
from microagg.kernels.neighbours.blocks import Blocks, make_blocks
from microagg.kernels.search.assignment import make_assignment
from microagg.kernels.search.exchanges import apply_best, largest_radii, no_changes, search_changes

# Changes made before the best are looked for again, at least; of many groups, a tenth of them.
_POOL = 100


@dataclass(frozen=True)
class Limits:
    """When a search ends early."""

    max_iterations: float = math.inf
    deadline: float = math.inf

    @classmethod
    def checked(cls, max_iterations: object, time_budget: object) -> Self:
        """Return the limits for a search that begins now; None is no limit."""
        iterations, deadline = math.inf, math.inf
        if max_iterations is not None:
            iterations = check_count("max_iterations", max_iterations)
        if time_budget is not None:
            deadline = time.monotonic() + check_number("time_budget", time_budget, low=0.0)
        return cls(iterations, deadline)

    def seconds_left(self) -> float:
        """How much time is left."""
        return self.deadline - time.monotonic()

    def out_of_time(self) -> bool:
        """Whether the time is over."""
        return self.seconds_left() <= 0.0

    def reached(self, iterations: int) -> bool:
        """Whether a search that made so many iterations has to end."""
        return iterations >= self.max_iterations or self.out_of_time()


NO_LIMITS = Limits()


class Exchanging:
    """Groups of k to 2k-1 records under way, with what is known of their best changes."""

    def __init__(self, X: Floats, labels: Labels, k: int, limits: Limits = NO_LIMITS) -> None:
        self.X = X
        self.k = k
        self.limits = limits
        self.assignment = make_assignment(X, labels, k)
        room = len(self.assignment.sizes)
        self.changes = no_changes(room)
        self.searched = np.full(room, -1, dtype=np.intp)  # step of the last search for a change

    @property
    def error(self) -> float:
        """Squared error of all groups."""
        return math.fsum(self.assignment.errors)

    @property
    def n_groups(self) -> int:
        """Groups at present."""
        return int(np.count_nonzero(self.assignment.sizes))

    def make_pool(self) -> bool:
        """Make the best migrations and exchanges that concern different groups, if any gains."""
        self._search_changes()
        gains = self.changes.gains * (self.assignment.sizes > 0)
        order = np.flatnonzero(gains > 0.0)
        order = order[np.argsort(-gains[order], kind="stable")]
        pool_size = max(_POOL, self.n_groups // 10)
        return apply_best(self.X, self.assignment, self.changes, order, pool_size) > 0

    def _search_changes(self) -> None:
        """Look for the best changes of groups that changed, or whose partner did.

        What the others could gain with those that changed is found from the other side.
        """
        assignment, changes = self.assignment, self.changes
        in_use, blocks = self._centers()
        partner_changed = assignment.changed[changes.partners] > self.searched
        stale = (assignment.changed > self.searched) | (partner_changed & (changes.partners >= 0))
        groups = np.flatnonzero(stale & (assignment.sizes > 0))
        block_radii = largest_radii(blocks, assignment.radii[in_use])
        for some in self._in_calls(groups):
            search_changes(self.X, self.k, assignment, in_use, blocks, block_radii, some, changes)
            self.searched[some] = assignment.clock[0]

    def _in_calls(self, groups: Labels) -> Iterator[Labels]:
        """Yield the groups part by part, until all are through or the time is over."""
        for some in paced(groups):
            yield some
            if self.limits.out_of_time():
                break
            settled = np.count_nonzero(self._settled() & (self.assignment.sizes > 0))
            report("improving until all is settled", int(settled), self.n_groups)

    def _centers(self) -> tuple[Labels, Blocks]:
        in_use = np.flatnonzero(self.assignment.sizes)
        return in_use, make_blocks(self.assignment.centers[in_use], np.arange(len(in_use)))

    def _settled(self) -> Mask:
        """Which groups have nothing to gain, as far as is known."""
        settled: Mask = self.searched >= self.assignment.changed
        settled &= self.changes.gains == 0.0
        return settled
