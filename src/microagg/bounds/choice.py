"""Which bound a release gets: the one asked for, or by default a fast one if it is cheap."""

from typing import NamedTuple

from microagg.bounds.choices import AUTO, NONE
from microagg.bounds.lower import TIGHT_SECONDS, bound_on, gap, proves_optimal
from microagg.core.arrays import Floats, Labels
from microagg.partitions.search.neighbours import DistinctNeighbours

# Records up to which the default is a fast bound: with a search, which takes longer than that, and
# without one, where the bound takes a second or two.
_WITH_A_SEARCH, _WITHOUT = 50_000, 10_000


class Bound(NamedTuple):
    """A lower bound on the SSE and its tightness; both None without a bound.

    `why_none` says why there is none, unless nobody asked for one.
    """

    tightness: str | None = None
    sse: float | None = None
    why_none: str = ""

    def gap(self, sse: float) -> float | None:
        """Return by how many per cent at most an SSE is above the optimum."""
        return None if self.sse is None else gap(sse, self.sse)

    def proves_optimal(self, sse: float) -> bool:
        """Say whether no partition has a lower SSE."""
        return self.sse is not None and proves_optimal(sse, self.sse)


def find_bound(
    asked: str,
    X: Floats,
    labels: Labels,
    k: int,
    *,
    searched: bool,
    time_budget: float | None,
    share: float = 1.0,
    near: DistinctNeighbours | None = None,
) -> Bound:
    """Return the bound that was asked for; `searched` says whether the groups took a search.

    One column always gets a bound: its optimum, which costs next to nothing. X may be a `share` of
    all records, and gets that share of the time. `near` are the neighbours that a search listed.
    """
    tightness = asked
    if asked == AUTO:
        most = _WITH_A_SEARCH if searched and time_budget is None else _WITHOUT
        tightness = "fast" if len(X) <= most * share or X.shape[1] == 1 else NONE
    if tightness == NONE:
        takes_long = "with so many records it takes long; --bound fast asks for it"
        return Bound(why_none="" if asked == NONE else takes_long)
    seconds = TIGHT_SECONDS if time_budget is None else time_budget
    return Bound(tightness, bound_on(X, k, tightness, seconds * share, labels, near))
