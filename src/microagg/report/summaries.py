"""What the report may show about columns: only aggregates of k records or more.

The rules, with `least` = k, or 3 if k is smaller:

- Bins have round edges (for skewed amounts powers of ten, or 1, 2 and 5 times these), the first and
  last are open, and neighbours are merged until no bin has 1 to `least` - 1 records, before or
  after. The ends of the grid are derived from means of `least` neighbouring records, not from
  single ones. With fewer than 6 * `least` values there is no histogram.
- Categories of fewer than `least` records are combined in "all others", which the next smallest
  ones join until it has `least` records, and until any number below `least` is possible for those.
- A quantile is the mean of `least` neighbouring records (one more if `least` is even) around its
  position; it is left out with fewer than ten times as many records, or if they do not fit around
  it. If all but one of them are equal, that one could be worked out: then it is the value of the
  others, if `least` records have it, and otherwise left out.
- There is no minimum and no maximum.
- Means and standard deviations are of all records that have a value. They are left out with fewer
  than `least` of them, if fewer than `least` differ from the most frequent value, and if fewer than
  `least` records make up more than half of the sum of squares about the median, or of the weights:
  their values could be worked out.
- All figures of values before are made without rare values (`microagg.report.rare`). Fewer than
  `least` missing values count in the fullest bin of a histogram.
- If records have weights, means, deviations, the position of quantiles and all shares are weighted;
  what may be shown depends on the number of records, and missing values are counted as records.
- Rules against working out single values apply only to values before: released ones are published
  anyway.
- Numbers are rounded to a hundredth of the power of ten below their standard deviation, skewed
  amounts to three digits; means and deviations of whole numbers, and of numbers with few different
  values, to what `least` records that differ by one step make up of them, if that is more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from microagg.core.arrays import Counts, Floats
from microagg.report.bars import Bars, bars_of
from microagg.report.grids import (
    SECONDS,
    Grid,
    are_years,
    counts_between,
    date_grid,
    is_skewed,
    log_grid,
    merged_starts,
    number_grid,
    open_width,
    trimmed_range,
    up_to_zero,
)
from microagg.report.guarded import is_dominated, moments, safe_quantile, sorted_values
from microagg.report.rare import CATEGORIES, without_rare
from microagg.report.rounding import (
    Word,
    duration,
    number_step,
    number_word,
    skewed_word,
    time_word,
)
from microagg.report.whole import Spread, WholeColumn
from microagg.tables.columns import ColumnType
from microagg.tables.pairs import PairedColumn
from microagg.tables.sides import ColumnSide
from microagg.tables.units import Units

FLOOR = 3  # even if k is 1 or 2, no figure is about one or two records only
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
HISTOGRAM_GROUPS = 6  # with fewer records, bins are too wide to show anything
_NO_FIGURE = "Too few records, or too many equal ones, for a figure."
_EVERY = (1, 2, 4, 5, 10, 20, 40, 50, 100)  # which edges have labels
_SHORTEST_DAYS = {"M": 28, "Y": 365}


@dataclass(frozen=True, eq=False)
class Histogram:
    """Shares of the records between edges; the first and last bins have only one.

    `places` are the edges on the axis, which are others only if it is logarithmic. The first and
    last bins are drawn as wide as `outer` says; `ticks` are places with their labels. A side
    without figures is None.
    """

    edges: Floats
    places: Floats
    outer: tuple[float, float]
    before: Floats | None
    after: Floats
    ticks: tuple[tuple[float, str], ...]
    is_logarithmic: bool = False


@dataclass(frozen=True)
class Line:
    """A figure of a column as text, before and after; empty if it is left out."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """What the report shows of one column."""

    name: str
    type: ColumnType
    figure: Histogram | Bars | None
    lines: tuple[Line, ...]
    note: str = ""
    deviation_change: float | None = None


@dataclass(frozen=True, eq=False)
class Side:
    """The values of a column on one side, sorted; those that are not published are `guarded`.

    `weights` are those of the records in this order. `n_unseen` values are missing, but too few to
    tell their number.
    """

    ordered: Floats
    weights: Floats | None
    mean: float | None
    deviation: float | None
    guarded: bool
    n_unseen: int = 0

    @classmethod
    def of(
        cls, values: ColumnSide, least: int, scale: float, weights: Floats | None, *, guarded: bool
    ) -> "Side":
        """Return one side, in units of the table or, for times, in seconds."""
        ordered, own = sorted_values(values, weights)
        ordered = ordered * scale
        mean, deviation = moments(ordered, own)
        if len(ordered) < least or (guarded and is_dominated(ordered, least, own)):
            mean = deviation = None
        n_unseen = values.n_missing if guarded and values.n_missing < least else 0
        return cls(ordered, own, mean, deviation, guarded, n_unseen)

    def of_all(self, spread: Spread | None, scale: float) -> "Side":
        """Return the side with the mean and deviation of all records, of which it is a sample."""
        if spread is None or spread[0] is None:
            return self
        deviation = None if spread[1] is None else spread[1] * scale
        return replace(self, mean=spread[0] * scale, deviation=deviation)

    def shares_between(self, edges: Floats, starts: Sequence[int]) -> Floats:
        """Return the share of each bin, merged where `starts` say."""
        if self.weights is None:
            held: Floats = counts_between(self.ordered, edges).astype(np.float64)
        else:
            places = np.searchsorted(self.ordered, edges, side="left")
            totals = np.concatenate([[0.0], self.weights.cumsum()])
            held = np.diff(np.concatenate([[0.0], totals[places], totals[-1:]]))
        sums: Floats = np.add.reduceat(held, starts)
        if self.weights is None:
            sums[sums.argmax()] += self.n_unseen
        shares: Floats = sums / sums.sum()
        return shares


def least_of(k: int, units: Units | None = None) -> int:
    """Return the least number of records behind every figure.

    Any records of that number are of k units or more, if there are units: the largest ones and
    records without a unit may be among them. That is rounded up, so that it does not tell their
    number.

    >>> least_of(2), least_of(5)
    (3, 5)
    >>> least_of(3, Units("who", np.repeat(np.arange(9), 4)))
    10
    """
    least = max(k, FLOOR)
    if units is None:
        return least
    return least_of_units(k, np.sort(units.sizes)[::-1][: least - 1], units.n_without)


def least_of_units(k: int, largest: Counts, n_without: int) -> int:
    """Return the same for units; `largest` are the sizes of the largest, and some may have none."""
    least = max(k, FLOOR)
    needed = int(largest[: least - 1].sum()) + n_without + 1
    if needed <= least:
        return least
    unit = int(10 ** (len(str(needed)) - 1))
    return next(step * unit for step in (1, 2, 5, 10) if step * unit >= needed)


def summary_of(
    column: PairedColumn,
    least: int,
    *,
    public: bool,
    weights: Floats | None = None,
    whole: WholeColumn | None = None,
    n_records: int = 0,
) -> ColumnSummary:
    """Return what may be shown of a column; if public, nothing about values before.

    If it is a sample, `whole` is what is known of all `n_records` records.
    """
    n_missing = (column.before.n_missing, column.after.n_missing)
    n = len(column.after.numbers)
    if whole is not None:
        n_missing, n = whole.n_missing, n_records
    missing = _missing_line(n_missing, n, least, public=public)
    if column.type.is_categorical:
        return _of_categories(column, least, weights, missing, whole, public=public)
    return _of_numbers(column, least, weights, missing, whole, public=public)


def _seconds(unit: str, step: int) -> float:
    """Return how long a step of a column of times is, at least."""
    return SECONDS[unit] * step if unit in SECONDS else _SHORTEST_DAYS[unit] * SECONDS["D"] * step


def _of_numbers(
    column: PairedColumn,
    least: int,
    weights: Floats | None,
    missing: Line,
    known: WholeColumn | None,
    *,
    public: bool,
) -> ColumnSummary:
    is_time = column.unit != ""
    scale = _seconds(column.unit, column.step) if is_time else 1.0
    shortest = scale if column.released_in is None else _seconds(*column.released_in)
    after = Side.of(column.after, least, scale, weights, guarded=False)
    merged = without_rare(column, least)
    before = Side.of(merged.before, least, scale, weights, guarded=True)
    is_hidden = merged is not column and (merged.is_constant or not len(before.ordered))
    if is_hidden:  # all records that differ are rare
        before = replace(before, mean=None, deviation=None)
    sampled = ""
    if known is not None:
        after = after.of_all(known.after, scale)
        if known.before is not None and before.mean is not None:
            before = before.of_all(known.before, scale)
        elif before.mean is not None and not public:
            sampled = "Mean and standard deviation before are from the sample as well."
    seen = after if public or is_hidden else before
    spread = moments(seen.ordered, seen.weights)[1]
    whole = column.type is ColumnType.INTEGER
    few = 0.0 if is_time else least / len(column.before.numbers)
    steps = _steps_of_few(before.ordered, few, whole=whole)
    change = _deviation_change(before, after, steps)
    finest = 0.0 if public else steps
    comma = not (whole and are_years(*trimmed_range(seen.ordered, least)))
    word = number_word(spread, whole=whole, finest=finest, comma=comma)
    word = time_word(spread) if is_time else word
    lasting = duration if is_time else number_word(spread, finest=finest)
    sides = (None if public else before), after
    figure, note = None, ""
    if is_hidden and not public:
        note = _NO_FIGURE
    elif len(seen.ordered) < least:
        note = "Too few values for any figure." if len(seen.ordered) else "Every value is missing."
    elif not spread:
        note = "All values are the same."
    else:
        figure = _histogram(sides, least, column.type, shortest)
        note = "" if figure else _NO_FIGURE
        if figure and figure.is_logarithmic:
            note, word, lasting = _logarithmic(figure), skewed_word, skewed_word
    lines = [
        Line("mean", *_worded(sides, lambda side: side.mean, word)),
        Line("standard deviation", *_worded(sides, lambda side: side.deviation, lasting)),
    ]
    for share in QUANTILES:
        found = _worded(sides, partial(_quantile, share=share, least=least, whole=whole), word)
        lines.append(Line("median" if share == 0.5 else f"{100 * share:.0f} % quantile", *found))
    lines.append(missing)
    note = " ".join(filter(None, (note, sampled)))
    kept = tuple(line for line in lines if line.before or line.after)
    return ColumnSummary(column.name, column.type, figure, kept, note, change)


def _worded(
    sides: tuple[Side | None, Side], figure: Callable[[Side], float | None], word: Word
) -> tuple[str, str]:
    found = [None if side is None else figure(side) for side in sides]
    before, after = ("" if value is None else word(value) for value in found)
    return before, after


def _logarithmic(figure: Histogram) -> str:
    """Explain a logarithmic axis to those who have never seen one."""
    note = "Skewed amounts, on a logarithmic scale: equal distances are equal factors."
    if any(text == "0" for _, text in figure.ticks):
        note += " Amounts near zero are in the bin around 0."
    return note


def _quantile(side: Side, *, share: float, least: int, whole: bool) -> float | None:
    found = safe_quantile(side.ordered, share, least, side.weights, guarded=side.guarded)
    # The mean of neighbours would tell how many of them have one of two whole numbers.
    return found if found is None or not whole else float(round(found))


def _steps_of_few(ordered: Floats, few: float, *, whole: bool) -> float:
    """Return by how much a mean moves if a share of `few` records differ by one step of the values.

    0 if they have no steps: many different values that are not whole numbers.
    """
    values = np.unique(ordered)
    if whole:
        return few
    return float(np.diff(values).min()) * few if 1 < len(values) <= CATEGORIES else 0.0


def _deviation_change(before: Side, after: Side, steps: float) -> float | None:
    """Return the change of the standard deviation in per cent; the one before is rounded."""
    if not before.deviation or after.deviation is None:
        return None
    known = before.deviation
    if steps:
        step = number_step(known, finest=steps)
        known = max(1, round(known / step)) * step
    return 100.0 * (after.deviation / known - 1.0)


def _histogram(
    sides: tuple[Side | None, Side], least: int, kind: ColumnType, shortest: float
) -> Histogram | None:
    """Return merged bins of the values present on both sides; none is below `shortest`."""
    present = [side.ordered for side in sides if side is not None]
    if any(len(ordered) < HISTOGRAM_GROUPS * least for ordered in present):
        return None
    grid = _grid(present[0], least, kind, shortest)
    if grid is None:
        return None
    counts = np.stack([counts_between(ordered, grid.edges) for ordered in present])
    starts = merged_starts(counts, least)
    if len(starts) < 2:
        return None
    edges: Floats = grid.edges[np.array(starts[1:]) - 1]
    places, placed = grid.place(edges), grid.place(present[0])
    outer = (
        open_width(places[0] - placed, places, grid.step, least),
        open_width(placed - places[-1], places, grid.step, least),
    )
    if grid.ticks is not None:
        outer = up_to_zero(outer, places, has_zero=0.0 in grid.ticks)
    shares = [None if side is None else side.shares_between(grid.edges, starts) for side in sides]
    assert shares[1] is not None
    ticks = _ticks(grid, places, sum(outer))
    return Histogram(edges, places, outer, shares[0], shares[1], ticks, grid.is_logarithmic)


def _grid(ordered: Floats, least: int, kind: ColumnType, shortest: float) -> Grid | None:
    """Return where bins begin and end: on a logarithmic axis if amounts are skewed."""
    low, high = trimmed_range(ordered, least)
    bins = int(np.clip(2.0 * len(ordered) ** (1 / 3), 6, 24))
    if kind in (ColumnType.DATE, ColumnType.DATETIME):
        return date_grid(low, high, bins, shortest)
    whole = kind is ColumnType.INTEGER
    grid = log_grid(ordered, least, bins, whole=whole) if is_skewed(ordered) else None
    return grid or number_grid(low, high, bins, whole=whole)


def _ticks(grid: Grid, edges: Floats, outer: float) -> tuple[tuple[float, str], ...]:
    """Return a few evenly spaced edges with labels; labels of whole numbers lie between edges."""
    if grid.ticks is not None:
        return tuple((float(grid.place(at)), grid.word(float(at))) for at in grid.ticks)
    span = float(edges[-1] - edges[0]) + outer
    places = grid.edges
    if len(places) and places[0] % 1.0 == 0.5 and grid.step == 1.0:
        places = np.append(places - 0.5, places[-1] + 0.5)
    longest = max(len(grid.word(float(place))) for place in places)
    labels = 6 if longest < 7 else 4 if longest < 9 else 3
    every = max(1, round(span / (labels * grid.step) + 0.49))
    chosen = places[::every]
    if not grid.is_time:  # multiples of 20 rather than 5, 25, 45
        every = next((n for n in _EVERY if n >= every), every)
        multiples = places[np.rint(places / grid.step) % every == 0]
        chosen = multiples if len(multiples) > 1 else chosen
    return tuple((float(place), grid.word(float(place))) for place in chosen)


def _of_categories(
    column: PairedColumn,
    least: int,
    weights: Floats | None,
    line: Line,
    whole: WholeColumn | None,
    *,
    public: bool,
) -> ColumnSummary:
    known = None if whole is None else whole.categories
    bars, note = bars_of(column, least, weights, public=public, known=known)
    lines = (line,) if line.before or line.after else ()
    return ColumnSummary(column.name, column.type, bars, lines, note)


def _missing_line(n_missing: tuple[int, int], n: int, least: int, *, public: bool) -> Line:
    """Return a line on missing values, if there are any."""
    before, after = n_missing
    if not after and (public or not before):
        return Line("missing", "", "")
    hidden = "" if public else counted_share(before, n, least)
    return Line("missing", hidden, counted_share(after, n, least))


def counted_share(count: int, n: int, least: int) -> str:
    """Write a share of records, if enough are in it and enough are not.

    >>> counted_share(0, 200, 5), counted_share(4, 200, 5), counted_share(50, 200, 5)
    ('none', 'fewer than 5', '25 %')
    """
    if count in (0, n):
        return "all" if count else "none"
    if count < least:
        return f"fewer than {least:,}"
    if n - count < least:
        return f"all but fewer than {least:,}"
    return f"{100.0 * count / n:.2g} %" if count < 0.995 * n else "over 99 %"
