"""Bins that reveal no single values: edges at round numbers or dates, and no bin of few records."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Counts, Floats
from microagg.report.rounding import (
    DAY,
    Word,
    amount_word,
    number_formatter,
    round_step,
    time_formatter,
)

SECONDS = {"D": DAY, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

# Round spans of time: a number of NumPy units, and about how many seconds that is.
_SPANS = (
    *((n, "s", n) for n in (1, 5, 15)),
    *((n, "m", n * 60) for n in (1, 5, 15)),
    *((n, "h", n * 3_600) for n in (1, 3, 6, 12)),
    *((n, "D", n * DAY) for n in (1, 7)),
    *((n, "M", n * 30.44 * DAY) for n in (1, 3, 6)),
    *((n, "Y", n * 365.25 * DAY) for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
)
_SHOWN_AS = {"s": "s", "m": "m", "h": "m", "D": "D", "M": "M", "Y": "Y"}


@dataclass(frozen=True)
class Grid:
    """Edges between bins, the first and last of which are open; `word` writes an edge.

    `place` says where a number is on the axis, in the units of `step`; `ticks` are the edges to
    label, or any if None. `is_time` if numbers are seconds.
    """

    edges: Floats
    step: float
    word: Word
    place: Callable[[Floats], Floats] = np.asarray
    ticks: Floats | None = None
    is_time: bool = False

    @property
    def is_logarithmic(self) -> bool:
        """Whether equal distances on the axis are equal factors."""
        return self.ticks is not None


def trimmed_range(ordered: Floats, least: int) -> tuple[float, float]:
    """Return a low and a high value: means of `least` neighbours, with `least` or more beyond.

    Grids begin and end there; an edge next to a single record would reveal its value.

    >>> trimmed_range(np.arange(100.0), least=5)
    (7.0, 92.0)
    """
    first = max(least, len(ordered) // 100)
    low = ordered[first : first + least]
    high = ordered[len(ordered) - first - least : len(ordered) - first]
    return _mean(low), _mean(high)


def _mean(values: Floats) -> float:
    """Return a mean that cannot overflow."""
    return float((values / len(values)).sum())


def are_years(low: float, high: float) -> bool:
    """Whether whole numbers in this range are written as years are, without a comma.

    >>> are_years(1931.4, 2003.2), are_years(420.0, 8100.0)
    (True, False)
    """
    return 1000.0 <= low <= high < 3000.0


def number_grid(low: float, high: float, bins: int, *, whole: bool) -> Grid | None:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers; None if none fit.

    >>> number_grid(17.3, 61.8, 10, whole=False).edges
    array([20., 25., 30., 35., 40., 45., 50., 55., 60.])

    If every whole number has its own bin, edges lie between them:

    >>> number_grid(0, 3, 10, whole=True).edges
    array([0.5, 1.5, 2.5])
    """
    with np.errstate(over="ignore"):
        width = float(np.float64(high) - low) / bins
    if not np.isfinite(width) or width <= 0.0:
        return None
    step = round_step(width)
    largest, comma = max(abs(low), abs(high)), not (whole and are_years(low, high))
    if whole and step <= 1.0:
        edges = np.arange(np.floor(low) + 0.5, np.ceil(high), 1.0)
        return Grid(edges, 1.0, number_formatter(1.0, largest, comma=comma))
    first, last = np.ceil(low / step), np.floor(high / step)
    if last < first or abs(first) > 2.0**52 or abs(last) > 2.0**52:
        return None
    word = number_formatter(step, largest, comma=comma)
    return Grid(np.arange(first, last + 1.0) * step, step, word)


# Amounts are skewed if, without zeros and signs, the upper half reaches this many times as far from
# the median as the lower half (5 and 95 % quantiles), and those two are this many times apart.
_SKEWED, _APART = 4.0, 10.0
_MOST_TICKS = 10  # on each side of zero
_NEAR_ZERO = 0.4  # how wide each side of the bin around zero is drawn, in powers of ten


def is_skewed(ordered: Floats) -> bool:
    """Whether most amounts would be in one or two bins of equal width.

    Quantiles decide, so that no single record does; zeros and signs do not matter.

    >>> rng = np.random.default_rng(0)
    >>> is_skewed(np.sort(rng.lognormal(9, 1, 500))), is_skewed(np.sort(rng.exponential(9, 500)))
    (True, False)
    """
    sizes = np.abs(ordered[ordered != 0.0])
    if not len(sizes):
        return False
    low, middle, high = np.quantile(sizes, (0.05, 0.5, 0.95))
    return bool(high / 2 - middle / 2 > _SKEWED * (middle / 2 - low / 2) and high / _APART > low)


def log_grid(ordered: Floats, least: int, bins: int, *, whole: bool) -> Grid | None:
    """Return 1, 2 and 5 times powers of ten, or powers only, and their negatives; None if too few.

    Between the smallest of them and its negative the axis is linear: zero has a place there.

    >>> amounts = np.repeat([0.0, 3.0, 30.0, 300.0, 3000.0], 20)
    >>> log_grid(amounts, 3, 8, whole=False).edges
    array([   1.,   10.,  100., 1000.])
    """
    sizes = np.sort(np.abs(ordered[ordered != 0.0]))
    if len(sizes) < 3 * least:
        return None
    low, high = trimmed_range(sizes, least)
    low = max(low, 1.0 if whole else 1e-300)
    first, last = int(np.floor(np.log10(low))), int(np.floor(np.log10(max(high, low))))
    signs = [s for s in (-1.0, 1.0) if np.count_nonzero(np.sign(ordered) == s) >= least]
    if last <= first or not signs:
        return None
    powers: Floats = 10.0 ** np.arange(first, last + 1, dtype=np.float64)
    per_side = bins // len(signs)
    if 3 * len(powers) <= per_side:
        edges: Floats = np.outer(powers, (1.0, 2.0, 5.0)).ravel()
        edges, step = edges[edges <= high], float(np.log10(2.0))
    else:
        every = -(-len(powers) // per_side)
        edges, step = powers[::every], float(every)
    smallest = powers[0]

    def place(values: Floats) -> Floats:
        sizes = np.abs(values)
        near = _NEAR_ZERO * np.minimum(sizes, smallest) / smallest
        beyond = np.log10(np.maximum(sizes, smallest)) - np.log10(smallest)
        return np.asarray(np.sign(values) * (near + beyond))

    ticks = powers[:: -(-len(powers) // _MOST_TICKS)]
    edges, ticks = (np.sort(np.concatenate([s * some for s in signs])) for some in (edges, ticks))
    if len(signs) == 2 or np.count_nonzero(ordered == 0.0) >= least:
        ticks = np.sort(np.append(ticks, 0.0))
    return Grid(edges, step, amount_word, place, ticks)


def date_grid(low: float, high: float, bins: int, shortest: float = 1.0) -> Grid | None:
    """Return starts of years, months, days or parts of them between two times in seconds.

    No bin is shorter than `shortest`, the resolution of the column.

    >>> grid = date_grid(10 * DAY, 2 * 365.25 * DAY, 5)
    >>> [grid.word(edge) for edge in grid.edges]
    ['1970-07', '1971-01', '1971-07', '1972-01']
    """
    width = (high - low) / bins
    if width <= 0.0:
        return None
    count, unit, seconds = next(
        (span for span in _SPANS if span[2] >= max(width, shortest)), _SPANS[-1]
    )
    first = np.datetime64(int(np.floor(low)), "s").astype(f"datetime64[{unit}]").astype(int)
    last = np.datetime64(int(np.floor(high)), "s").astype(f"datetime64[{unit}]").astype(int)
    whole = np.arange(-(-first // count), last // count + 1) * count
    edges = whole.astype(f"datetime64[{unit}]").astype("datetime64[s]").astype(np.float64)
    edges = edges[(edges >= low) & (edges <= high)]
    if not len(edges):
        return None
    return Grid(edges, float(seconds), time_formatter(_SHOWN_AS[unit]), is_time=True)


def counts_between(ordered: Floats, edges: Floats) -> Counts:
    """Count the sorted numbers below the first edge, between edges, and from the last one on."""
    places = np.searchsorted(ordered, edges, side="left")
    return np.diff(np.concatenate([[0], places, [len(ordered)]]))


def few(counts: Counts, least: int) -> bool:
    """Whether any count is from 1 to `least` - 1."""
    return bool(((counts > 0) & (counts < least)).any())


def merged_starts(counts: Counts, least: int) -> list[int]:
    """Return where merged bins begin, so that none has 1 to `least` - 1 records on any side.

    `counts` has a row for each side and a column for each bin. Bins join the next until they have
    enough; the rest joins the bin before. If no merging helps, the list is empty.

    >>> merged_starts(np.array([[9, 1, 1, 5, 2]]), least=3)
    [0, 1]
    """
    starts: list[int] = []
    begin, held = 0, np.zeros(len(counts), dtype=np.intp)
    for place in range(counts.shape[1]):
        held = held + counts[:, place]
        if not few(held, least):
            starts.append(begin)
            begin, held = place + 1, np.zeros_like(held)
    if begin < counts.shape[1]:
        while few(held, least) and starts:
            begin = starts.pop()
            held = counts[:, begin:].sum(axis=1)
        if few(held, least):
            return []
        starts.append(begin)
    return starts


def open_width(beyond: Floats, edges: Floats, step: float, least: int) -> float:
    """Return the width to draw an open bin with, as if its records were spread evenly.

    `beyond` has the distances of records from the edge. There are two estimates: from the mean of
    all records in the bin, and from the density of the `least` records next to the edge. The width
    is the smaller one in whole steps, at most that of all other bins together, so that no outlier
    shows.

    >>> open_width(np.arange(20.0), np.array([-30.0, 0.0]), step=5.0, least=5)
    15.0
    """
    outside = np.sort(beyond[beyond >= 0.0])
    if not len(outside):
        return step
    nearest = outside[:least]
    dense = float((nearest / len(nearest)).sum()) * len(outside) / len(nearest)
    width = 2.0 * min(dense, float((outside / len(outside)).sum()))
    most = max(1.0, round(float(edges[-1] - edges[0]) / step))
    return step * float(np.clip(round(width / step), 1.0, most))


def up_to_zero(
    outer: tuple[float, float], places: Floats, *, has_zero: bool
) -> tuple[float, float]:
    """Return the widths of open bins, if the axis ends at zero for amounts of one sign."""
    left, right = outer
    low, high = float(places[0]), -float(places[-1])
    if low > 0.0:
        left = low if has_zero else min(left, low)
    if high > 0.0:
        right = high if has_zero else min(right, high)
    return left, right
