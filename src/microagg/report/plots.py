"""Figures as inline SVG: text stays text, and the same input gives the same bytes.

Matplotlib never sees the name of a column or category. It gets placeholders of the same length, and
the names are inserted afterwards, escaped: so no name is interpreted as a formula or markup, and
none needs a glyph that the font lacks.
"""

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import cycle, product
from threading import Lock
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from markupsafe import escape
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from microagg.core.arrays import Floats
from microagg.report.bars import Bars
from microagg.report.correlations import Correlations
from microagg.report.labels import CARD, LETTER, Names, apart, shortened, width_of
from microagg.report.rounding import is_zero, share_word, with_minus
from microagg.report.summaries import Histogram

# Two colours of Okabe and Ito (2008) that colour-blind readers can distinguish.
BEFORE, AFTER = "#0072B2", "#D55E00"
_PALE, _PALE_AFTER = "#8FC0DE", "#F4CDB0"
_GREY = "#555555"
_MOST_SIZES = 40
_MARKS = "osD^vP*X"
_LABEL = 7.0
# Between a bar and its figure, in points.
_GAP = 2.0

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _GREY,
    "axes.linewidth": 0.6,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "xtick.labelcolor": "#222222",
    "ytick.labelcolor": "#222222",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "hatch.linewidth": 0.6,
    "path.simplify": False,
}
_DRAWING = Lock()  # Matplotlib's settings are process-wide


def histogram(found: Histogram, label: str, salt: str) -> str:
    """Return bins before (filled) and after (a line), as densities of records."""
    first, last = found.places[0] - found.outer[0], found.places[-1] + found.outer[1]
    edges = np.concatenate([[first], found.places, [last]])
    ticks = [(at, text) for at, text in found.ticks if first <= at <= last]
    labels = apart([((at - first) / (last - first), text) for at, text in ticks])

    def draw(axes: Axes, _: Names) -> None:
        if found.before is not None:
            heights = _padded(found.before / np.diff(edges))
            axes.fill_between(edges, heights, step="post", color=_PALE, linewidth=0)
            axes.step(edges, heights, where="post", color=BEFORE, linewidth=0.8)
        heights = _padded(found.after / np.diff(edges))
        if found.before is None:
            axes.fill_between(edges, heights, step="post", color=_PALE_AFTER, linewidth=0)
        corners = np.repeat(edges, 2)[1:-1], np.repeat(heights[:-1], 2)
        axes.plot(*corners, color=AFTER, linewidth=1.6)
        axes.set_ylim(bottom=0.0)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xticks([at for at, _ in ticks], [label.text for label in labels])
        for shown, label in zip(axes.get_xticklabels(), labels, strict=True):
            shown.set_horizontalalignment(label.side)

    return _drawn(draw, (CARD, 1.6), label, salt, (0.02, 0.13, 0.96, 0.85))


def _padded(heights: Floats) -> Floats:
    return np.append(heights, heights[-1])


def bars(found: Bars, label: str, salt: str) -> str:
    """Return a bar before and one after for every category."""
    n = len(found.names)
    sides = [(found.after, AFTER)]
    if found.before is not None:
        sides.insert(0, (found.before, BEFORE))
    thickness = 0.8 / len(sides)

    def draw(axes: Axes, names: Names) -> None:
        for place, (shares, colour) in enumerate(sides):
            at = np.arange(n) + (place - (len(sides) - 1) / 2) * thickness
            fill = _PALE if colour == BEFORE else colour
            axes.barh(at, shares, thickness * 0.88, color=fill, edgecolor=colour, linewidth=0.6)
            for y, share in zip(at, shares, strict=True):
                axes.annotate(
                    share_word(share),
                    (share, y),
                    xytext=(_GAP, 0.0),
                    textcoords="offset points",
                    va="center",
                    fontsize=6.5,
                )
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_xlim(0.0, max(float(shares.max()) for shares, _ in sides) * 1.25 or 1.0)
        axes.set_yticks(range(n), [names.place(name) for name in found.names])
        axes.tick_params(axis="y", length=0)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)

    names = max(width_of(shortened(name)) for name in found.names)
    left = min(0.55, 0.04 + 0.0195 * names)
    height = 0.1 + n * (0.17 * len(sides) + 0.08)
    return _drawn(draw, (CARD, height), label, salt, (left, 0.02, 0.98 - left, 0.96))


def group_sizes(sizes: Mapping[str, int], k: int, label: str, salt: str) -> str:
    """Return the number of groups of each size; those below k are highlighted."""
    return _group_sizes(tuple((int(size), count) for size, count in sizes.items()), k, label, salt)


@lru_cache(maxsize=8)  # both reports on a release show it, and its layout takes longest
def _group_sizes(sizes: tuple[tuple[int, int], ...], k: int, label: str, salt: str) -> str:
    counts = dict(sizes)
    low, high = min(counts), max(counts)
    width = -(-(high - low + 1) // _MOST_SIZES)
    starts = np.arange(low, high + 1, width)
    totals = np.zeros(len(starts))
    for size, count in counts.items():
        totals[(size - low) // width] += count

    def draw(axes: Axes, _: Names) -> None:
        colours = [AFTER if start < k else BEFORE for start in starts]
        axes.bar(starts + (width - 1) / 2, totals, width * 0.85, color=colours)
        if len(starts) < 4:  # a single bar as wide as the page looks odd
            middle = (low + high) / 2
            axes.set_xlim(middle - 4 * width, middle + 4 * width)
        axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else "")
        axes.set_xlabel("records in a group")
        axes.set_ylabel("groups")

    return _drawn(draw, (4.6, 1.9), label, salt)


def heatmap(found: Correlations, label: str, salt: str) -> str:
    """Return correlations as coloured cells: before below the diagonal, after above it."""
    n = len(found.names)
    shown = found.after.copy()
    if found.before is not None:
        below = np.tril_indices(n, -1)
        shown[below] = found.before[below]
    np.fill_diagonal(shown, np.nan)
    colours = LinearSegmentedColormap.from_list("pair", [AFTER, "#FFFFFF", BEFORE])
    cell = 0.3 if n <= 16 else 0.24

    def draw(axes: Axes, names: Names) -> None:
        mesh = axes.pcolormesh(
            np.ma.masked_invalid(shown), cmap=colours, vmin=-1, vmax=1, edgecolors="#DDDDDD",
            linewidth=0.4,
        )  # fmt: skip
        axes.set_ylim(n, 0)
        axes.set_aspect("equal")
        places = np.arange(n) + 0.5
        axes.set_yticks(places, [names.place(name) for name in found.names])
        # Anchored where they end, at the cells: the reader's font is not as wide as ours.
        axes.set_xticks(
            places, [names.place(name) for name in found.names],
            rotation=90, rotation_mode="anchor", ha="right", va="center",
        )  # fmt: skip
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        if n <= 16:
            _write_cells(axes, shown)
        if n > 16:
            bar = axes.figure.colorbar(mesh, ax=axes, shrink=0.6, ticks=[-1, -0.5, 0, 0.5, 1])
            bar.outline.set_visible(False)

    longest = max(width_of(shortened(name)) for name in found.names) * LETTER
    return _drawn(draw, (n * cell + longest + 0.7, n * cell + longest + 0.2), label, salt)


def _write_cells(axes: Axes, shown: Floats) -> None:
    for row, column in np.argwhere(np.isfinite(shown)):
        value = shown[row, column]
        text = f"{value:.1f}".replace("0.", ".")
        text = text.lstrip("-") if is_zero(text) else with_minus(text)
        colour = "#FFFFFF" if abs(value) > 0.6 else "#222222"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour)


def changes(found: Correlations, label: str, salt: str) -> str:
    """Return a dot for every pair of columns: its correlation before against that after."""
    assert found.before is not None
    upper = np.triu_indices(len(found.names), 1)
    before, after = found.before[upper], found.after[upper]
    there = np.isfinite(before) & np.isfinite(after)

    def draw(axes: Axes, _: Names) -> None:
        axes.plot([-1, 1], [-1, 1], color=_GREY, linewidth=0.7)
        axes.plot(before[there], after[there], "o", color=BEFORE, markersize=2, markeredgewidth=0)
        axes.set_xlim(-1.02, 1.02)
        axes.set_ylim(-1.02, 1.02)
        axes.set_aspect("equal")
        ticks = [-1.0, -0.5, 0.0, 0.5, 1.0]
        words = [with_minus(f"{tick:g}") for tick in ticks]
        axes.set_xticks(ticks, words)
        axes.set_yticks(ticks, words)
        axes.set_xlabel("correlation before")
        axes.set_ylabel("correlation after")

    return _drawn(draw, (4.0, 3.8), label, salt)


class Choice(NamedTuple):
    """A method at a k on the map: its loss and the share of records linked, in per cent."""

    method: str
    k: int
    loss: float
    linkage: float
    efficient: bool


def risk_utility_map(choices: Sequence[Choice], label: str) -> str:
    """Return risk against loss as an SVG file: a marker for each k, names where none is better."""
    best = sorted((c.loss, c.linkage) for c in choices if c.efficient)

    def draw(axes: Axes, names: Names) -> None:
        axes.plot(*zip(*best, strict=True), color=_PALE, linewidth=1.0, zorder=1)
        for mark, k in zip(cycle(_MARKS), dict.fromkeys(c.k for c in choices)):
            of_k = [c for c in choices if c.k == k]
            axes.scatter([], [], marker=mark, color=_GREY, s=22, label=f"k = {k:,}")
            for chosen in of_k:
                axes.scatter(
                    chosen.loss,
                    chosen.linkage,
                    marker=mark,
                    s=26,
                    facecolor=BEFORE if chosen.efficient else "white",
                    edgecolor=BEFORE if chosen.efficient else _GREY,
                    linewidth=0.8,
                    zorder=3 if chosen.efficient else 2,
                )
        axes.margins(0.15)
        axes.autoscale_view()
        named = [c for c in choices if c.efficient]
        texts = [f"{c.method} {c.k:,}" for c in named]
        points = [(c.loss, c.linkage) for c in named]
        marks = [(c.loss, c.linkage) for c in choices]
        places = _beside(axes, points, texts, marks, best)
        for text, point, (dx, dy) in zip(texts, points, places, strict=True):
            axes.annotate(
                names.place(text),
                point,
                xytext=(dx, dy),
                textcoords="offset points",
                ha="left" if dx > 0 else "right",
                fontsize=_LABEL,
            )
        axes.set_xlabel("information loss in %")
        axes.set_ylabel("records linked in %")
        axes.legend(frameon=False, fontsize=_LABEL)

    page = _drawn(draw, (6.0, 4.2), label, "map")
    alone = '<svg xmlns="http://www.w3.org/2000/svg" font-family="DejaVu Sans, Verdana, sans-serif"'
    return f"{page.replace('<svg', alone, 1)}\n"


def _beside(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    marks: Sequence[tuple[float, float]],
    line: Sequence[tuple[float, float]],
) -> list[tuple[float, float]]:
    """Return where to put the label of each point, in printer's points.

    The nearest of several places that is free of other labels, marks and the line; if none is, of
    labels and marks; and if none is either, the nearest.
    """
    per_point = axes.get_figure().dpi / 72  # type: ignore[union-attr]

    def on_paper(some: Sequence[tuple[float, float]]) -> Floats:
        return np.asarray(axes.transData.transform(some)) / per_point

    taken = [(x - 3.0, y - 3.0, x + 3.0, y + 3.0) for x, y in on_paper(marks)]
    ends = on_paper(line)
    steps = np.linspace(0.0, 1.0, 100)[:, np.newaxis, np.newaxis]
    drawn = (ends[:-1] + steps * (ends[1:] - ends[:-1])).reshape(-1, 2)

    def crossed(box: Sequence[float]) -> bool:
        return bool(((drawn > box[:2]) & (drawn < box[2:])).all(axis=1).any())

    found = []
    for at, text in zip(on_paper(points), texts, strict=True):
        boxes = {}
        for dy, dx in product((2.5, -8.0, 11.0, -16.5, 19.5, -25.0), (5.0, -5.0)):
            width = 0.62 * _LABEL * len(text)
            left = at[0] + dx - (width if dx < 0 else 0.0)
            boxes[dx, dy] = (left, at[1] + dy - 1, left + width, at[1] + dy + _LABEL)
        free = [place for place, box in boxes.items() if not any(_meet(box, b) for b in taken)]
        clear = [place for place in free if not crossed(boxes[place])]
        place = (clear or free or [(5.0, 2.5)])[0]
        taken.append(boxes[place])
        found.append(place)
    return found


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _drawn(
    draw: Callable[[Axes, Names], None],
    size: tuple[float, float],
    label: str,
    salt: str,
    within: tuple[float, float, float, float] | None = None,
) -> str:
    """Return what `draw` puts on axes, as inline SVG; `salt` makes its ids unique.

    `within` is the position of the axes; computing it would take longer than drawing.
    """
    names = Names()
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    style: Any = {**_STYLE, "svg.hashsalt": salt}
    with _DRAWING, mpl.rc_context(style):
        figure = Figure(figsize=size, layout=None if within else "constrained")
        draw(figure.add_axes(within) if within else figure.add_subplot(), names)
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    return _inlined(buffer.getvalue(), label, names.texts)


def _inlined(svg: str, label: str, names: Mapping[str, str]) -> str:
    """Return the SVG without prolog, URLs, unused ids, fonts and long decimals."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL)  # it would style the page
    body = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", body).replace("xlink:href", "href")
    body = re.sub(r" font-family: [^;\"]*;", "", body)
    body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', body))
    body = _without_ids(body, used)
    body = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag.group()), body)
    body = re.sub(r"\n\s*", "\n", body)
    body = re.sub(r"Q\d{3}Zn*", lambda mark: str(escape(names[mark.group()])), body)
    said = escape(label)
    opening = f'<svg role="img" aria-label="{said}" class="figure"'
    return re.sub(
        r"<svg([^>]*)>", lambda m: f"{opening}{m[1]}><title>{said}</title>", body, count=1
    )


def _without_ids(body: str, used: Iterable[str]) -> str:
    kept = set(used)
    return re.sub(r'\s+id="([^"]*)"', lambda found: found[0] if found[1] in kept else "", body)
