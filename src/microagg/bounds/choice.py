"""Which bound a release gets: the one that is asked for, or a fast one where that is cheap."""

from typing import NamedTuple

from microagg.bounds.choices import AUTO, NONE
from microagg.bounds.lower import PATIENCE, bound_on, gap, proves_optimal
from microagg.core.arrays import Floats, Labels
from microagg.partitions.search.neighbours import NearKinds

# Records up to which the fast bound takes less time than grouping: with a search, and where the
# grouping itself takes no time worth mentioning, a second or two at most.
_WITH_A_SEARCH, _WITHOUT = 50_000, 10_000


class Bound(NamedTuple):
    """What no SSE goes below, and how that was found; all None without a bound."""

    tightness: str | None = None
    sse: float | None = None

    def gap(self, sse: float) -> float | None:
        """Return by how many per cent an SSE is above the best possible, at most."""
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
    near: NearKinds | None = None,
) -> Bound:
    """Return the bound that was asked for; `searched` says whether the groups took long to find.

    One column has its optimum at no cost worth mentioning. X may be a `share` of all records: it
    gets as much of the time. `near` are the neighbours that a search listed.
    """
    tightness = asked
    if asked == AUTO:
        most = _WITH_A_SEARCH if searched and time_budget is None else _WITHOUT
        tightness = "fast" if len(X) <= most * share or X.shape[1] == 1 else NONE
    if tightness == NONE:
        return Bound()
    seconds = PATIENCE if time_budget is None else time_budget
    return Bound(tightness, bound_on(X, k, tightness, seconds * share, labels, near))
