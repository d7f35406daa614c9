"""The cheapest assignment of records to centres, with limits on the number of records at each."""

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.flow.candidates import list_preferred, offer_centres
from microagg.kernels.flow.min_cost_flow import (
    Flow,
    PathSearch,
    index_by_centre,
    link_members,
    make_path_search,
    measure_candidates,
    prefer_another,
    rebalance,
    take_preferred,
)
from microagg.kernels.neighbours.blocks import Blocks, make_blocks

# Nearest centres that each record is matched with at first.
_CANDIDATES = 10
# In front of these: the record's present centre, its initial one, the centres numbered next to
# that, and up to three that have it among their nearest records.
_NEIGHBOURS = slice(2, 4)
_OFFERED = slice(4, 7)
_FIXED = 7
# A centre becomes a candidate of this many times the records that it needs.
_OFFERS = 4
# Candidate lists are widened after this many searches among all centres.
_SEARCHES_PER_WIDTH = 6
_RECORDS_PER_CALL = 1_000
_WORK_PER_CALL = 2_000_000


class Transport:
    """The cheapest assignments of records to centres, for centres that move little by little.

    Every centre gets `fewest` to `most` records. The assignment is optimal up to rounding: it is
    found by a min-cost flow on a few candidate centres of each record, and its prices prove it
    against all centres. Where a record prefers a centre that is not a candidate, its candidates
    are listed again and the flow continues. Candidates and prices are kept for the next call.

    Memory O(n (d + candidates)). The time depends on how far the records' preferences are from
    the sizes: one shortest path, usually a short one, for every record too many or too few.
    """

    def __init__(self, X: Floats, n_centres: int, fewest: int, most: int) -> None:
        self.X = X
        self.fewest, self.most = fewest, most
        self.price = np.zeros(n_centres)
        self.blocks = make_blocks(X, np.arange(len(X)))
        self.candidates: Labels | None = None

    def forget_candidates(self) -> None:
        """List the candidates again at the next call, for centres that have moved far."""
        self.candidates = None

    def assign(
        self, centres: Floats, home: Labels, stretch: Floats | None = None, *, proven: bool = True
    ) -> Labels:
        """Return the cheapest assignment; `home` is any one within the size limits.

        `stretch` multiplies the squared distance of every record to its home, by 1 or more.
        Without `proven`, the assignment is the cheapest among the candidates only.
        """
        n, c = len(self.X), len(centres)
        stretch = np.ones(n) if stretch is None else stretch
        if self.candidates is None:
            self.candidates = self._listed(centres, min(_CANDIDATES, c))
        self.candidates[:, :2] = home[:, None]
        # They link centres that coincide, of which a list holds only a few.
        self.candidates[:, _NEIGHBOURS] = np.clip(home[:, None] + (-1, 1), 0, c - 1)
        owner, paid = home.copy(), np.empty(n)
        search, unhappy, searches = make_path_search(c), np.arange(n), 0
        while True:
            flow = self._flow(owner, paid, self.candidates)
            measure_candidates(self.X, centres, home, stretch, flow.centre, flow.distance)
            index_by_centre(flow)
            take_preferred(flow, unhappy)
            self._rebalance(flow, search)
            width = self.candidates.shape[1] - _FIXED
            if width == c or not proven:
                return owner
            unhappy = self._unhappy(centres, flow, home)
            if not len(unhappy):
                return owner
            searches += 1
            if searches % _SEARCHES_PER_WIDTH == 0:
                fixed = self.candidates[:, : _OFFERED.start]
                self.candidates = self._listed(centres, min(2 * width, c))
                self.candidates[:, : _OFFERED.start] = fixed
            else:
                self._list(centres, unhappy, self.candidates)
            self.candidates[:, 0] = owner

    def _flow(self, owner: Labels, paid: Floats, candidates: Labels) -> Flow:
        """Return the assignment in the form that the kernels take."""
        n, c = len(owner), len(self.price)
        return Flow(
            centre=candidates,
            distance=np.empty(candidates.shape),
            owner=owner,
            paid=paid,
            price=self.price,
            kept=np.empty(c, dtype=np.intp),
            excess=np.empty(c, dtype=np.intp),
            first=np.empty(c, dtype=np.intp),
            after=np.empty(n, dtype=np.intp),
            before=np.empty(n, dtype=np.intp),
            reverse_start=np.zeros(c + 1, dtype=np.intp),
            reverse=np.empty(candidates.size, dtype=np.intp),
            reverse_row=np.empty(candidates.size, dtype=np.intp),
            reverse_distance=np.empty(candidates.size),
        )

    def _rebalance(self, flow: Flow, search: PathSearch) -> None:
        """Move records along shortest paths until every centre has a permitted number of them."""
        link_members(flow, self.fewest, self.most)
        at, end = 0, 2 * len(flow.price)
        while at < end:
            at = rebalance(flow, search, self.fewest, self.most, at, _WORK_PER_CALL)
            report("assigning", at, end)

    def _lifted(self, centres: Floats) -> Blocks:
        """Return the centres with one more column, so that the nearest is the preferred one.

        The square of that column is the highest price minus the centre's own.
        """
        column = np.sqrt(self.price.max() - self.price)
        return make_blocks(np.column_stack((centres, column)), np.arange(len(centres)))

    def _listed(self, centres: Floats, width: int) -> Labels:
        n = len(self.X)
        candidates = np.empty((n, _FIXED + width), dtype=np.intp)
        self._list(centres, np.arange(n), candidates)
        candidates[:, _OFFERED] = candidates[:, [_FIXED]]
        used = np.full(n, _OFFERED.start, dtype=np.intp)
        for begin in range(0, len(centres), _RECORDS_PER_CALL):
            stop = min(begin + _RECORDS_PER_CALL, len(centres))
            offer_centres(
                self.blocks,
                centres,
                begin,
                stop,
                min(_OFFERS * self.fewest, n),
                _FIXED,
                used,
                candidates,
            )
            report("finding near groups", stop, len(centres))
        return candidates

    def _list(self, centres: Floats, rows: Labels, out_candidates: Labels) -> None:
        lifted = self._lifted(centres)
        for begin in range(0, len(rows), _RECORDS_PER_CALL):
            part = rows[begin : begin + _RECORDS_PER_CALL]
            list_preferred(self.X, part, lifted, _FIXED, out_candidates)
            report("finding near groups", begin + len(part), len(rows))

    def _unhappy(self, centres: Floats, flow: Flow, home: Labels) -> Labels:
        """Return the rows of records that prefer another centre to the one they have."""
        lifted, n = self._lifted(centres), len(self.X)
        marks = np.zeros(n, dtype=np.bool_)
        for begin in range(0, n, _RECORDS_PER_CALL):
            stop = min(begin + _RECORDS_PER_CALL, n)
            prefer_another(self.X, lifted, flow, home, begin, stop, marks)
            report("checking", stop, n)
        return np.flatnonzero(marks)
