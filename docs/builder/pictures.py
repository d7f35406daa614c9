"""The picture of the README: `make pictures` writes docs/images/before-after.svg."""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure

import microagg

TARGET = Path(__file__).parents[1] / "images" / "before-after.svg"
METHODS = ("auto", "mdav", "v-mdav", "hac", "pca-mhm", "kmeans", "igd", "tsp-mhm")
BLUE, ORANGE, GREY = "#2f6db3", "#d9822b", "#9aa5b1"
K = 5


def people() -> pl.DataFrame:
    """Return the ages and incomes of sixty made-up people, in three clusters."""
    rng = np.random.default_rng(3)
    centres = np.array([[28, 1900], [47, 3300], [68, 2200]]).repeat(20, axis=0)
    drawn = centres + rng.normal(size=centres.shape) * [6, 420]
    return pl.DataFrame({"age": drawn[:, 0].round().astype(int), "income": drawn[:, 1].round(-1)})


def main() -> int:
    """Draw the records before and after, and what each method loses and leaves to be linked."""
    table = people()
    release = microagg.protect(table, K, random_state=1)
    found = microagg.compare(table, [3, 5, 10], METHODS, random_state=1)
    style = {
        "svg.hashsalt": "microagg",
        "svg.fonttype": "path",
        "font.size": 9,
        "axes.titlesize": 9,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(9, 2.6), layout="constrained")
        before, after, map_ = figure.subplots(1, 3)
        draw_records(before, table, "Before: everyone stands out", BLUE)
        draw_move(after, table, release.table)
        after.sharey(before)
        draw_map(map_, found)
        figure.savefig(TARGET, metadata={"Date": None})
    return 0


def draw_records(axes: Any, table: pl.DataFrame, title: str, colour: str) -> None:
    """Draw every record as a point."""
    axes.scatter(table["age"], table["income"], s=14, color=colour, zorder=2)
    axes.set(title=title, xlabel="age", ylabel="income")
    axes.spines[["top", "right"]].set_visible(False)


def draw_move(axes: Any, before: pl.DataFrame, after: pl.DataFrame) -> None:
    """Draw where records were and where they are released."""
    for (x, y), (to_x, to_y) in zip(before.rows(), after.rows(), strict=True):
        axes.plot([x, to_x], [y, to_y], color=GREY, linewidth=0.6, zorder=1)
    axes.scatter(before["age"], before["income"], s=5, color=GREY, zorder=1)
    draw_records(axes, after, f"After: at least {K} share each point", ORANGE)
    axes.set_ylabel("")


def draw_map(axes: Any, found: microagg.Comparison) -> None:
    """Draw what is lost and what can be linked, for every method and k."""
    for k, marker in ((3, "o"), (5, "s"), (10, "^")):
        rows = [row for row in found if row.k == k and row.error is None]
        others = [row for row in rows if row.method != "auto"]
        own = [row for row in rows if row.method == "auto"]
        for shown, colour in ((others, GREY), (own, ORANGE)):
            x = [row.information_loss for row in shown]
            axes.scatter(x, [row.linkage for row in shown], s=20, marker=marker, color=colour)
        axes.annotate(
            f"k = {k}",
            (own[0].information_loss, own[0].linkage),
            (5, 6),
            textcoords="offset points",
        )
    axes.set(
        title="The map: auto (orange), other methods",
        xlabel="information lost (%)",
        ylabel="records linked (%)",
        xlim=(0, None),
        ylim=(0, 33),
    )
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    sys.exit(main())
