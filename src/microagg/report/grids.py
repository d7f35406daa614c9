"""Bins that reveal no single values: edges at round numbers or dates, and no bin of few records."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Counts, Floats
from microagg.report.rounding import DAY, Word, number_formatter, time_formatter

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
    """Edges between bins, the first and last of which are open; `word` writes an edge."""

    edges: Floats
    step: float
    word: Word


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
    if whole and step <= 1.0:
        edges = np.arange(np.floor(low) + 0.5, np.ceil(high), 1.0)
        return Grid(edges, 1.0, number_formatter(1.0, max(abs(low), abs(high))))
    first, last = np.ceil(low / step), np.floor(high / step)
    if last < first or abs(first) > 2.0**52 or abs(last) > 2.0**52:
        return None
    return Grid(
        np.arange(first, last + 1.0) * step, step, number_formatter(step, max(abs(low), abs(high)))
    )


def round_step(width: float) -> float:
    """Return the least of 1, 2, 5 times a power of ten that is not below `width`.

    >>> round_step(0.3), round_step(4.0), round_step(700.0)
    (0.5, 5.0, 1000.0)
    """
    power = float(10.0 ** np.floor(np.log10(width)))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0, 20.0) if m * power >= width * (1 - 1e-9))


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
    return Grid(edges, float(seconds), time_formatter(_SHOWN_AS[unit])) if len(edges) else None


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
