"""Groups that improve by migrations and exchanges of records, until none gains."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from microagg.core.arrays import Floats, Labels, Mask
from microagg.core.progress import paced, report
from microagg.core.validation import check_count, check_number
from microagg.kernels.neighbours.blocks import Blocks, make_blocks
from microagg.kernels.search.assignment import make_assignment
from microagg.kernels.search.exchanges import apply_best, largest_radii, no_changes, search_changes

# Changes made before searching again: this many, or a tenth of the number of groups if more.
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

    def within(self, share: float) -> Self:
        """Return the limits for a part of the work that may take a share of the time left."""
        if math.isinf(self.deadline):
            return self
        return replace(self, deadline=time.monotonic() + share * self.seconds_left())

    def seconds_left(self) -> float:
        """How much time is left."""
        return self.deadline - time.monotonic()

    def out_of_time(self) -> bool:
        """Whether the time is up."""
        return self.seconds_left() <= 0.0

    def reached(self, iterations: int) -> bool:
        """Whether a search has to end after this many iterations."""
        return iterations >= self.max_iterations or self.out_of_time()


NO_LIMITS = Limits()


class Exchanging:
    """Groups of k to 2k-1 records, and the best change known for each."""

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
        """Number of groups at present."""
        return int(np.count_nonzero(self.assignment.sizes))

    def make_pool(self) -> bool:
        """Make the best migrations and exchanges between different groups, if any gains."""
        self._search_changes()
        gains = self.changes.gains * (self.assignment.sizes > 0)
        order = np.flatnonzero(gains > 0.0)
        order = order[np.argsort(-gains[order], kind="stable")]
        pool_size = max(_POOL, self.n_groups // 10)
        return apply_best(self.X, self.assignment, self.changes, order, pool_size) > 0

    def _search_changes(self) -> None:
        """Find the best changes of groups that changed, or whose partner did.

        Gains of the others with those that changed are found from the side of the latter.
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
        """Yield the groups part by part, until all are done or the time is up."""
        for some in paced(groups):
            yield some
            if self.limits.out_of_time():
                break
            settled = np.count_nonzero(self._settled() & (self.assignment.sizes > 0))
            report("improving", int(settled), self.n_groups)

    def _centers(self) -> tuple[Labels, Blocks]:
        in_use = np.flatnonzero(self.assignment.sizes)
        return in_use, make_blocks(self.assignment.centers[in_use], np.arange(len(in_use)))

    def _settled(self) -> Mask:
        """Which groups have nothing to gain, as far as known."""
        settled: Mask = self.searched >= self.assignment.changed
        settled &= self.changes.gains == 0.0
        return settled
