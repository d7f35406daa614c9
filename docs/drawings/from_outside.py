"""Methods that take groups off from the outside in."""

import numpy as np
from matplotlib.figure import Figure

from docs.drawings.tools import (
    clustered,
    draw_groups,
    draw_records,
    draw_seed,
    farthest,
    lost,
    name,
    panels,
    scattered,
)
from microagg.partitions import CBFS, MD, MDAV, TFRP, VMDAV

K = 4


def mdav() -> Figure:
    """The first two groups, and all of them."""
    X = scattered()
    labels = MDAV(k=K).fit_predict(X)
    figure, (first, last) = panels(["the first round", f"all groups: {lost(X, labels)}"])
    mean = X.mean(axis=0)
    r = farthest(X, mean)
    s = farthest(X, X[r])
    draw_records(first, X)
    first.plot(*mean, "+", color="black", ms=13, mew=2)
    name(first, mean, "mean")
    for record, letter, colour in ((r, "r", "C0"), (s, "s", "C1")):
        draw_seed(first, X, record, K, colour)
        name(first, X[record], letter)
    draw_groups(last, X, labels)
    return figure


def fixed_size() -> Figure:
    """How MD and CBFS begin, and the groups they end with."""
    X = scattered()
    of_md, of_cbfs = MD(k=K).fit_predict(X), CBFS(k=K).fit_predict(X)
    titles = ["MD: the farthest pair", lost(X, of_md), "CBFS: one by one", lost(X, of_cbfs)]
    figure, (pair, md_groups, one, cbfs_groups) = panels(titles, width=2.6, height=3)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    a, b = np.unravel_index(distances.argmax(), distances.shape)
    draw_records(pair, X)
    pair.plot(*X[[a, b]].T, color="0.4", ls=":")
    draw_seed(pair, X, int(a), K, "C0")
    draw_seed(pair, X, int(b), K, "C1")
    draw_records(one, X)
    mean = X.mean(axis=0)
    one.plot(*mean, "+", color="black", ms=13, mew=2)
    draw_seed(one, X, farthest(X, mean), K, "C0")
    draw_groups(md_groups, X, of_md)
    draw_groups(cbfs_groups, X, of_cbfs)
    return figure


def v_mdav() -> Figure:
    """Groups of exactly k cut through clusters; groups that grow do not."""
    X = clustered([3, 5, 4, 5, 3, 4, 5, 3], seed=6)
    rigid = VMDAV(k=3, gain=0).fit_predict(X)
    growing = VMDAV(k=3).fit(X)
    titles = [
        f"gain 0: {lost(X, rigid)}",
        f"gain {growing.gain_}: {lost(X, growing.labels_)}",
    ]
    figure, (left, right) = panels(titles)
    draw_groups(left, X, rigid)
    draw_groups(right, X, growing.labels_)
    return figure


def tfrp() -> Figure:
    """The two fixed corners, and the groups before and after some are dissolved."""
    X = clustered([6, 5, 7, 4, 5, 6], seed=10, spread=0.5)
    first = TFRP(k=K, refine=False).fit_predict(X)
    both = TFRP(k=K).fit_predict(X)
    titles = ["two fixed corners", f"phase 1: {lost(X, first)}", f"phase 2: {lost(X, both)}"]
    figure, (corners, one, two) = panels(titles)
    draw_records(corners, X)
    low, high = X.min(axis=0), X.max(axis=0)
    for point, text, colour in ((low, "R1", "C0"), (high, "R2", "C1")):
        corners.plot(*point, "s", color="black", ms=7)
        name(corners, point, text)
        draw_seed(corners, X, farthest(X, point), K, colour)
        corners.plot(*np.stack([point, X[farthest(X, point)]]).T, color=colour, ls=":", lw=1)
    draw_groups(one, X, first)
    draw_groups(two, X, both)
    return figure
