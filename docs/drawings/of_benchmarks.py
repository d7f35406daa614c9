"""Plots of the figures in docs/benchmarks.md, which are read from its tables."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from docs.builder.errors import BuildError
from docs.builder.tables import Table, number

Tables = Mapping[str, Table]
DATA = {"diabetes": "C4", "tarragona": "C0", "census": "C1", "eia": "C2"}
_RECORDS = "number of records"


def loss(tables: Tables, _text: str) -> Figure:
    """What every method loses, relative to auto, on four tables at k = 5."""
    table = tables["IL of every method with its default options"]
    names = [row["method"].replace("`", "") for row in table.rows]
    of_data = {name: np.array(table.numbers(f"{name} k=5")) for name in DATA}
    relative = {name: lost / lost[names.index("auto")] for name, lost in of_data.items()}
    order = np.argsort(-np.mean([np.log(ratio) for ratio in relative.values()], axis=0))
    figure, axes = plt.subplots(figsize=(7.6, 6.2), layout="constrained")
    for (name, ratio), marker in zip(relative.items(), "osD^", strict=True):
        axes.plot(ratio[order], range(len(names)), marker, color=DATA[name], label=name)
    axes.axvline(1, color="0.5", lw=1, zorder=0)
    axes.set_xscale("log")
    axes.set_xticks(
        [1, 1.25, 1.5, 2, 3, 5, 10, 25], ["1", "1.25", "1.5", "2", "3", "5", "10", "25"]
    )
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), [names[at] for at in order])
    axes.grid(axis="y", color="0.85", lw=0.6)
    axes.set_axisbelow(True)
    axes.set(xlabel="information loss at k = 5, as a multiple of that of auto")
    axes.legend(loc="upper right")
    return figure


def bounds(tables: Tables, _text: str) -> Figure:
    """By how much MDAV, the literature's best and auto are above the proved bound."""
    proved = tables["No partition can be better than this"]
    found = tables['`auto` with effort="best" on the tables used in the literature']
    series = {
        "MDAV": ("MDAV", "o", "C3"),
        "best published": ("best published", "s", "C2"),
        "auto, effort best": ("IL", "D", "C0"),
    }
    figure, panels = plt.subplots(1, 3, figsize=(8.6, 3.6), sharey=True, layout="constrained")
    for axes, data in zip(panels, ("tarragona", "census", "eia"), strict=True):
        bound = np.array(proved.numbers("tight bound", data=data))
        ks = [f"{k:.0f}" for k in proved.numbers("k", data=data)]
        for label, (column, marker, colour) in series.items():
            above = 100 * (np.array(found.numbers(column, data=data)) / bound - 1)
            axes.plot(ks, above, f"{marker}-", color=colour, label=label, lw=1)
        axes.set(title=data, xlabel="k", yscale="log")
        axes.grid(axis="y", color="0.85", lw=0.6)
    panels[0].set_ylabel("above the bound (%)")
    panels[0].yaxis.set_major_formatter("{x:g}")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def growth(tables: Tables, _text: str) -> Figure:
    """Seconds by the number of records, in memory and beyond it."""
    figure, (methods, datasets) = plt.subplots(
        1, 2, figsize=(8.6, 4.0), width_ratios=(3, 2), layout="constrained"
    )
    searches = tables["Searches on n x 10 normal records, k = 5"]
    for what, own in (
        ("MDAV", "mdav"),
        ("RepOrdMic, 1 start", "reporder, 1 start"),
        ("ICSM", "icsm"),
    ):
        _line(
            methods, searches.numbers("n", what=what), searches.numbers("CPU (s)", what=what), own
        )
    kmeans = tables["kmeans on n x 10 normal records, k = 5"]
    _line(methods, kmeans.numbers("n"), kmeans.numbers("kmeans (s)"), "kmeans")
    _by_size(methods, tables["Orderings and MD on n x 10 normal records"], ("tsp", "md"))
    methods.margins(x=0.35)
    methods.set(title="methods on ten normal columns", ylabel="seconds")
    normal = tables["Ten normal columns"]
    kept = normal.numbers("records", where="`--memory 2GB`")
    for column, axes_label, marker in (("CPU (s)", "CPU", "o"), ("wall (s)", "wall clock", "s")):
        seconds = normal.numbers(column, where="`--memory 2GB`")
        datasets.plot(kept, seconds, f"{marker}-", label=axes_label)
    datasets.set(title="auto beyond memory, 2 GB")
    datasets.legend(loc="upper left")
    for axes in (methods, datasets):
        axes.set(xscale="log", yscale="log", xlabel=_RECORDS)
        axes.grid(color="0.88", lw=0.6)
    _part(figure, methods)
    return figure


def speed(tables: Tables, text: str) -> Figure:
    """Others beside ours: MDAV, one column, and loss against time."""
    figure, (mdav, column, both) = plt.subplots(1, 3, figsize=(9.6, 3.6), layout="constrained")
    scan = tables["MDAV on n x 10 normal records, k = 5"]
    for name, colour, marker in (("plain scan (s)", "C3", "s"), ("microagg (s)", "C0", "o")):
        label = name.removesuffix(" (s)")
        mdav.plot(scan.numbers("n"), scan.numbers(name), f"{marker}-", color=colour, label=label)
    mdav.set(xscale="log", yscale="log", xlabel=_RECORDS, ylabel="seconds", title="MDAV, k = 5")
    mdav.legend()
    one = tables["Univariate optimum of 5,000,000 uniform integers, sorting included"]
    places = np.arange(len(one.rows))
    column.bar(places - 0.2, one.numbers("microagg1d (s)"), 0.4, color="C3", label="microagg1d")
    column.bar(places + 0.2, one.numbers("microagg (s)"), 0.4, color="C0", label="microagg")
    column.set_xticks(places, [f"k = {k:.0f}" for k in one.numbers("k")])
    column.set(title="one column of 5 million", ylabel="seconds")
    column.legend()
    _loss_and_time(both, tables["`auto` on 100,000 x 10 normal records, k = 5"], text)
    return figure


PLOTS = {"loss": loss, "bounds": bounds, "growth": growth, "speed": speed}


def _line(axes: Axes, x: Sequence[float], y: Sequence[float], name: str) -> None:
    """Draw a line with its name at its end, in its colour."""
    (line,) = axes.plot(x, y, "o-", ms=4)
    place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(name, (x[-1], y[-1]), color=line.get_color(), fontsize=9, **place)


def _part(figure: Figure, axes: Axes) -> None:
    """Move names of lines up where they would be written on each other."""
    figure.canvas.draw()
    written: list[Bbox] = []
    for name in sorted(axes.texts, key=lambda text: text.get_window_extent().y0):
        box = name.get_window_extent()
        below = [own for own in written if own.overlaps(box)]
        if below:
            up = max(own.y1 for own in below) - box.y0 + 1  # pixel
            x, y = name.get_position()
            name.set_position((x, y + 72 * up / figure.dpi))
            box = box.translated(0, up)
        written.append(box)


def _by_size(axes: Axes, table: Table, names: Sequence[str]) -> None:
    """Draw rows of a table that has a column for every number of records."""
    sizes = {name: number(size[1]) for name in table.columns if (size := _SIZE.match(name))}
    for name in names:
        seconds = [table.numbers(column, what=name)[0] for column in sizes]
        _line(axes, list(sizes.values()), seconds, name)


_SIZE = re.compile(r"n = ([\d,]+) \(s\)")
_SCCLUST = re.compile(
    r"scclust \(the R package\) takes (?P<cpu>\d+) s of CPU for 100,000 such records and loses "
    r"(?P<lost>[\d.]+) %"
)


def _loss_and_time(axes: Axes, table: Table, text: str) -> None:
    """Draw what is lost against the time it takes, scclust of R among ours."""
    of_peer = _SCCLUST.search(text)
    if of_peer is None:
        raise BuildError("docs/benchmarks.md no longer says what scclust takes and loses")
    points = {"scclust (R)": (float(of_peer["cpu"]), float(of_peer["lost"]), "C3")}
    for row in table.rows:
        if row["IL"]:
            seconds = number(row["CPU seconds"] or row["seconds"])  # mdav has one thread
            name = re.sub(r'auto, effort="(\w+)"', r"auto, \1", row["method"])
            points[name] = (seconds, number(row["IL"]), "C0")
    for at, (name, (seconds, lost, colour)) in enumerate(points.items()):
        axes.plot(seconds, lost, "o", color=colour)
        # Neighbours leave each other room: below and to the left, or above.
        place, side = ((6, -14), "right") if at % 2 else ((0, 7), "center")
        axes.annotate(name, (seconds, lost), place, textcoords="offset points", ha=side)
    axes.margins(0.25, 0.2)
    axes.set(xscale="log", xlabel="CPU seconds", ylabel="information loss (%)")
    axes.set_title("100,000 records, k = 5")
