"""Figures as SVG from binned data, in the colours of the page: light, dark, and for the keyboard.

The bins are those of the report (`microagg.report.summaries`), which no single record can be read
from. The report's own figures have fixed colours and nothing to click on.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, pairwise
from unicodedata import east_asian_width

from markupsafe import escape

from microagg.app.answers import Bars, Correlations, Histogram
from microagg.core.words import percent
from microagg.report.labels import shortened
from microagg.report.rounding import MINUS, share_word, with_minus

WIDTH = 320
_HEIGHT, _AXIS, _EDGE = 120, 18, 6
_BAR, _BETWEEN, _NAMES = 9, 7, 110
_LETTERS = 18  # that a name has room for
_MARKS = ("circle", "square", "diamond", "triangle", "cross")
_CELL = 26
_MOST_SIZES = 40


def _svg(width: float, height: float, label: str, content: Iterable[str], *, kind: str) -> str:
    said = escape(label)
    body = "".join(content)
    return (
        f'<svg class="figure {kind}" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{said}"><title>{said}</title>{body}</svg>'
    )


def histogram(found: Histogram, label: str) -> str:
    """Return bins before (filled) and after (a line), as densities of records."""
    edges = [
        found.places[0] - found.outer[0],
        *found.places,
        found.places[-1] + found.outer[1],
    ]
    low, high = edges[0], edges[-1]
    widths = [right - left for left, right in pairwise(edges)]
    sides = [side for side in (found.before, found.after) if side is not None]
    most = max(share / width for side in sides for share, width in zip(side, widths, strict=True))

    def x(at: float) -> float:
        return round(_EDGE + (at - low) / (high - low) * (WIDTH - 2 * _EDGE), 1)

    def outline(side: Sequence[float]) -> str:
        corners = []
        for share, left, right in zip(side, edges, edges[1:], strict=False):
            y = round(_HEIGHT - share / (right - left) / most * (_HEIGHT - 8), 1)
            corners += [f"{x(left)},{y}", f"{x(right)},{y}"]
        return " ".join([f"{x(low)},{_HEIGHT}", *corners, f"{x(high)},{_HEIGHT}"])

    parts = []
    if found.before is not None:
        parts.append(f'<polygon class="before" points="{outline(found.before)}"/>')
    parts.append(f'<polyline class="after" points="{outline(found.after)}"/>')
    parts.append(f'<line class="axis" x1="0" x2="{WIDTH}" y1="{_HEIGHT}" y2="{_HEIGHT}"/>')
    last = -math.inf
    for at, text in found.ticks:
        half = 3.1 * len(text)
        if not low <= at <= high or x(at) - half < last:
            continue
        middle = min(max(x(at), half), WIDTH - half)
        last = middle + half + 4
        parts.append(
            f'<line class="axis" x1="{x(at)}" x2="{x(at)}" y1="{_HEIGHT}" y2="{_HEIGHT + 3}"/>'
        )
        parts.append(
            f'<text x="{middle:.1f}" y="{_HEIGHT + _AXIS - 4}" text-anchor="middle">'
            f"{escape(text)}</text>"
        )
    return _svg(WIDTH, _HEIGHT + _AXIS, label, parts, kind="histogram")


def bars(found: Bars, label: str) -> str:
    """Return a bar before and one after for every category."""
    sides = [("after", found.after)]
    if found.before is not None:
        sides.insert(0, ("before", found.before))
    most = max((share for _, shares in sides for share in shares), default=1.0) or 1.0
    room = WIDTH - _NAMES - 48
    height = _BAR * len(sides) + _BETWEEN
    parts = []
    for at, name in enumerate(found.names):
        top = at * height
        middle = top + (height - _BETWEEN) / 2
        parts.append(
            f'<text x="{_NAMES - 6}" y="{middle:.1f}" text-anchor="end" '
            f'dominant-baseline="central">{escape(shortened(name, _LETTERS))}<title>{escape(name)}'
            "</title></text>"
        )
        for place, (side, shares) in enumerate(sides):
            y = top + place * _BAR
            width = shares[at] / most * room
            parts.append(
                f'<rect class="{side}" x="{_NAMES}" y="{y + 0.5:.1f}" '
                f'width="{max(width, 0.5):.1f}" height="{_BAR - 1}"/>'
                f'<text class="small" x="{_NAMES + width + 4:.1f}" y="{y + _BAR / 2:.1f}" '
                f'dominant-baseline="central">'
                f"{escape(share_word(shares[at]))}</text>"
            )
    return _svg(WIDTH, max(1, len(found.names)) * height, label, parts, kind="bars")


def group_sizes(sizes: Mapping[str, int], k: int, label: str) -> str:
    """Return the number of groups of each size; those below k stand out."""
    counts = {int(size): count for size, count in sizes.items()}
    low, high = min(counts), max(counts)
    step = -(-(high - low + 1) // _MOST_SIZES)
    n = (high - low) // step + 1
    totals = [0] * n
    for size, count in counts.items():
        totals[(size - low) // step] += count
    width = min(40.0, (WIDTH - 2 * _EDGE) / n)
    parts, most = [], max(totals)
    for at, total in enumerate(totals):
        start, height = low + at * step, total / most * (_HEIGHT - 20)
        x = _EDGE + at * width
        words = f"{start:,}" if step == 1 else f"{start:,} to {start + step - 1:,}"
        kind = "before" if start >= k else "after"
        parts.append(
            f'<rect class="{kind}" x="{x + 1:.1f}" y="{_HEIGHT - height:.1f}" '
            f'width="{max(1.0, width - 2):.1f}" height="{height:.1f}">'
            f"<title>{words} records: {total:,} groups</title></rect>"
        )
        every = -(-n // 10)
        if at % every == 0:
            parts.append(
                f'<text x="{x + width / 2:.1f}" y="{_HEIGHT + 12}" text-anchor="middle">'
                f"{start:,}</text>"
            )
        if n <= 8:
            parts.append(
                f'<text class="small" x="{x + width / 2:.1f}" y="{_HEIGHT - height - 4:.1f}" '
                f'text-anchor="middle">{total:,}</text>'
            )
    parts.append(f'<line class="axis" x1="0" x2="{WIDTH}" y1="{_HEIGHT}" y2="{_HEIGHT}"/>')
    return _svg(WIDTH, _HEIGHT + _AXIS, label, parts, kind="sizes")


def heatmap(found: Correlations, label: str) -> str:
    """Return correlations as coloured cells: before below the diagonal, after above it."""
    n = len(found.names)
    names = [shortened(name, _LETTERS) for name in found.names]
    longest = max(_room(name) for name in names) + 6
    parts = []
    for row, (name, shown) in enumerate(zip(found.names, names, strict=True)):
        middle = longest + row * _CELL + _CELL / 2
        title = f"<title>{escape(name)}</title>"
        parts.append(
            f'<text x="{longest - 6:.1f}" y="{middle:.1f}" text-anchor="end" '
            f'dominant-baseline="central">{escape(shown)}{title}</text>'
            f'<text transform="translate({middle:.1f} {longest - 6:.1f}) rotate(-90)" '
            f'dominant-baseline="central">{escape(shown)}{title}</text>'
        )
        for column, other in enumerate(found.names):
            if row == column:
                continue
            side = "before" if row > column else "after"
            value = (found.before if row > column else found.after)[row][column]
            parts.append(_cell(longest, row, column, value, f"{name} and {other}, {side}"))
    size = longest + n * _CELL + 2
    drawn = _svg(size, size, label, parts, kind="heatmap")
    return drawn.replace("<svg ", f'<svg width="{1.15 * size:.0f}" ', 1)


def _cell(left: float, row: int, column: int, value: float | None, words: str) -> str:
    x, y = left + column * _CELL, left + row * _CELL
    if value is None:
        return (
            f'<rect class="none" x="{x:.1f}" y="{y:.1f}" width="{_CELL - 1}" height="{_CELL - 1}">'
            f"<title>{escape(words)}: not shown</title></rect>"
        )
    side = "plus" if value >= 0 else "minus"
    shown = with_minus(f"{value:.1f}").replace("0.", ".")
    shown = shown.lstrip(MINUS) if not float(f"{value:.1f}") else shown
    strong = " strong" if abs(value) > 0.6 else ""
    return (
        f'<rect class="{side}" x="{x:.1f}" y="{y:.1f}" width="{_CELL - 1}" height="{_CELL - 1}" '
        f'fill-opacity="{abs(value):.2f}"><title>{escape(words)}: {value:.2f}</title></rect>'
        f'<text class="small{strong}" x="{x + _CELL / 2:.1f}" y="{y + _CELL / 2:.1f}" '
        f'text-anchor="middle" dominant-baseline="central">{shown}</text>'
    )


def _room(text: str) -> float:
    """Return the width that a text has at most, in whatever font a browser has."""
    return sum(11.0 if east_asian_width(letter) in "WF" else 8.0 for letter in text)


def risk_utility_map(rows: Sequence[Mapping[str, object]], chosen: tuple[str, int]) -> str:
    """Return loss against linkage: a mark for every method and k, which can be chosen."""
    points = [
        row
        for row in rows
        if isinstance(row["information_loss"], float) and isinstance(row["linkage"], float)
    ]
    width, height, left, below = 560, 340, 46, 40
    losses = [float(str(row["information_loss"])) for row in points]
    risks = [float(str(row["linkage"])) for row in points]
    most_loss, most_risk = _round_up(max(losses)), _round_up(max(risks))

    def place(row: Mapping[str, object]) -> tuple[float, float]:
        loss, risk = float(str(row["information_loss"])), float(str(row["linkage"]))
        x = left + loss / most_loss * (width - left - 20)
        return x, 10 + (1 - risk / most_risk) * (height - below - 10)

    ks = list(dict.fromkeys(int(str(row["k"])) for row in points))
    marks = dict(zip(ks, cycle(_MARKS), strict=False))
    parts = _axes(width, height, left, below, most_loss, most_risk)
    best = sorted(place(row) for row in points if row["efficient"])
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in best)
    parts.append(f'<polyline class="frontier" points="{line}"/>')
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in map(place, points)]
    for row in points:
        parts.append(_mark(row, place(row), marks, chosen, taken))
    for at, (k, mark) in enumerate(marks.items()):
        y = 18 + 16 * at
        parts.append(
            f'<g class="legend">{_shape(mark, width - 66, y)}'
            f'<text x="{width - 54}" y="{y}" dominant-baseline="central">k = {k:,}</text></g>'
        )
    said = escape("Records that can be linked against information lost")
    body = "".join(parts)
    return (
        f'<svg class="figure map" viewBox="0 0 {width} {height}" role="group" aria-label="{said}">'
        f"{body}</svg>"
    )


def _axes(
    width: float, height: float, left: float, below: float, most_loss: float, most_risk: float
) -> list[str]:
    bottom = height - below
    parts = [
        f'<line class="axis" x1="{left}" x2="{width - 10}" y1="{bottom}" y2="{bottom}"/>',
        f'<line class="axis" x1="{left}" x2="{left}" y1="10" y2="{bottom}"/>',
        f'<text x="{(width + left) / 2}" y="{height - 6}" text-anchor="middle">'
        "information loss in %</text>",
        f'<text transform="translate(12 {bottom / 2}) rotate(-90)" text-anchor="middle">'
        "records linked in %</text>",
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + share * (width - left - 20)
        y = 10 + (1 - share) * (bottom - 10)
        parts.append(
            f'<text class="small" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">'
            f"{share * most_loss:.3g}</text>"
            f'<text class="small" x="{left - 6}" y="{y:.1f}" text-anchor="end" '
            f'dominant-baseline="central">{share * most_risk:.3g}</text>'
        )
    return parts


def _mark(
    row: Mapping[str, object],
    at: tuple[float, float],
    marks: Mapping[int, str],
    chosen: tuple[str, int],
    taken: list[tuple[float, float, float, float]],
) -> str:
    method, k = str(row["method"]), int(str(row["k"]))
    loss = percent(float(str(row["information_loss"])), 3)
    risk = percent(float(str(row["linkage"])), 3)
    words = f"{method}, k = {k:,}: loses {loss}, {risk} of records linked. Choose it."
    kinds = ["mark", "best" if row["efficient"] else "", "chosen" if chosen == (method, k) else ""]
    text = ""
    if row["efficient"]:
        text = _label(f"{method} {k:,}", at, taken)
    return (
        f'<g class="{" ".join(filter(None, kinds))}" role="button" tabindex="0" '
        f'id="map-{escape(method)}-{k}" data-do="adopt" data-method="{escape(method)}" '
        f'data-k="{k}" aria-label="{escape(words)}"><title>{escape(words)}</title>'
        f'<circle class="hit" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="12"/>'
        f"{_shape(marks[k], *at)}{text}</g>"
    )


def _label(
    text: str, at: tuple[float, float], taken: list[tuple[float, float, float, float]]
) -> str:
    """Return a label beside a mark, at the first place that is free."""
    width = 6.0 * len(text)
    for dx, dy in ((9, -8), (9, 10), (-9 - width, -8), (-9 - width, 10), (9, -20), (9, 22)):
        left, top = at[0] + dx, at[1] + dy
        box = (left, top - 6, left + width, top + 6)
        if all(not _meet(box, other) for other in taken):
            taken.append(box)
            return (
                f'<text class="small" x="{left:.1f}" y="{top:.1f}" dominant-baseline="central">'
                f"{escape(text)}</text>"
            )
    return ""


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _shape(mark: str, x: float, y: float) -> str:
    if mark == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    corners = {
        "square": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
        "triangle": ((0, -6), (5.5, 4.5), (-5.5, 4.5)),
        "cross": (
            (-6, -2),
            (-2, -2),
            (-2, -6),
            (2, -6),
            (2, -2),
            (6, -2),
            (6, 2),
            (2, 2),
            (2, 6),
            (-2, 6),
            (-2, 2),
            (-6, 2),
        ),
    }[mark]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}"/>'


def _round_up(value: float) -> float:
    """Return a round number that is at least as large.

    >>> _round_up(7.3), _round_up(0.012), _round_up(0.0)
    (8.0, 0.012, 1.0)
    """
    if value <= 0.0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    steps = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)
    return float(next(unit * step for step in steps if unit * step >= value * (1 - 1e-12)))
