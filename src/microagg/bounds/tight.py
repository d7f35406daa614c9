"""The tight bound: the semidefinite one and column generation, one after the other.

Column generation is the better one where groups are small enough to be searched, and it starts from
the shares that the semidefinite bound has proved: those of a group's members sum to at most its
error. The larger bound counts.
"""

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np

from microagg.bounds.fast import UNDERFLOW, Shares, list_for_bound, neighbour_shares, prices_among
from microagg.bounds.generation import Generation
from microagg.bounds.lower import InterruptedBound
from microagg.bounds.regions import list_pairs, no_pairs, region_size, split_records
from microagg.bounds.semidefinite import Relaxation, Start
from microagg.core.arrays import Floats, Labels
from microagg.core.progress import without_reports
from microagg.kernels.basics.group_sums import summarise
from microagg.orderings.neighbours import Neighbours
from microagg.partitions.auto import Auto
from microagg.partitions.splitting import split_large

# Share of the time for finding an initial partition, if none is given: it is only a start.
_SHARE_OF_SEARCH = 0.1
# Share of the time after which column generation goes on, up to this k and above it. On tables of a
# thousand records it closes all but half a per cent of the gap up to k = 5, within minutes, and the
# relaxation only gives it a better start; above, its search for groups grows too fast with k.
_SMALL_K, _SHARE_AT_SMALL_K, _SHARE_AT_LARGE_K = 5, 0.2, 0.8
# Above it, column generation ends unless it closes this share of the gap in as many seconds as the
# semidefinite bound took, or in these, so that it does not double the time for nothing.
_HELPS, _PATIENCE = 0.03, 10.0


def bound_within(
    X: Floats,
    k: int,
    seconds: float,
    labels: Labels | None = None,
    neighbours: Neighbours | None = None,
) -> float:
    """Bound every partition of n >= 2k records, k >= 2, within the given seconds.

    Finds a good partition and the neighbours first, unless they are given.
    """
    _compile()
    deadline = time.monotonic() + seconds
    if neighbours is None:
        neighbours = list_for_bound(X, k)
    shares = neighbour_shares(X, k, neighbours)
    if labels is None:
        try:
            labels = _some_groups(X, k, seconds * _SHARE_OF_SEARCH)
        except KeyboardInterrupt:
            raise InterruptedBound(shares.bound) from None
    return tight_bound(X, k, split_large(X, labels, k), shares, deadline, neighbours)


def _some_groups(X: Floats, k: int, seconds: float) -> Labels:
    search = Auto(k, time_budget=seconds, random_state=0).fit(X)
    if search.interrupted_:
        raise KeyboardInterrupt
    return search.labels_


def _compile() -> None:
    """Bound a few records, so that a first run does not spend its time budget on compiling."""
    few = np.random.default_rng(0).normal(size=(9, 2))
    with without_reports():
        tight_bound(few, 2, np.repeat(np.arange(3), 3), neighbour_shares(few, 2))


def tight_bound(
    X: Floats,
    k: int,
    labels: Labels,
    shares: Shares,
    deadline: float = math.inf,
    neighbours: Neighbours | None = None,
) -> float:
    """Bound every partition, given one of them and the shares of the neighbour bound.

    Ends when the bound reaches the given partition, when it rises no more, at the deadline (of
    `time.monotonic`), or when interrupted, with an `InterruptedBound`; it is a bound in each case.
    """
    if summarise(X, labels).sse <= UNDERFLOW:  # nothing above zero can be proved
        return shares.bound
    if neighbours is None:
        neighbours = list_for_bound(X, k)
    stages: list[Relaxation | Generation] = []
    began = time.monotonic()
    try:
        for relaxation in _relaxations(X, k, labels, neighbours, deadline):
            stages.append(relaxation)
            while relaxation.advance():
                pass
            shares = max(shares, relaxation.shares(), key=lambda own: own.bound)
        generation = Generation(X, k, labels, shares, deadline, neighbours)
        stages.append(generation)
        patience = math.inf if k <= _SMALL_K else max(_PATIENCE, time.monotonic() - began)
        _advance(generation, patience)
    except KeyboardInterrupt:
        raise InterruptedBound(_best(shares, stages)) from None
    return _best(shares, stages)


def _best(shares: Shares, stages: Sequence[Relaxation | Generation]) -> float:
    return max([shares.bound, *(stage.bound for stage in stages)])


def _advance(generation: Generation, patience: float) -> None:
    """Generate columns until the end, or until they have not helped for this many seconds."""
    reached, since = generation.bound, time.monotonic()
    while generation.advance() and time.monotonic() - since < patience:
        if generation.bound - reached >= _HELPS * (generation.target - reached):
            reached, since = generation.bound, time.monotonic()


def _relaxations(
    X: Floats, k: int, labels: Labels, neighbours: Neighbours, deadline: float
) -> Iterator[Relaxation]:
    """Yield the semidefinite relaxation, if there are time and memory for it."""
    share = _SHARE_AT_SMALL_K if k <= _SMALL_K else _SHARE_AT_LARGE_K
    seconds = share * (deadline - time.monotonic())
    if (most := region_size(len(X), k, seconds)) == 0:
        return
    prices = prices_among(neighbours, k)
    regions = split_records(X, labels, most)
    listed = no_pairs(len(X)) if len(regions) == 1 else list_pairs(X, k, regions, prices)
    start = Start(labels, prices)
    yield Relaxation(X, k, start, regions, listed, time.monotonic() + seconds)
