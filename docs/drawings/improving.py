"""Methods that improve groups, and the search behind auto."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

import microagg
from docs.drawings.tools import Labels, Points, clustered, draw_groups, lost, panels, scattered
from microagg.partitions import ICSM, IGD, MDAV, Auto, KMeansMicro

K = 4


def _moved(before: Labels, after: Labels) -> Labels:
    """Return the records that have left most of those they were with."""
    together = before[:, None] == before
    still = together & (after[:, None] == after)
    return np.flatnonzero(still.sum(axis=1) <= together.sum(axis=1) / 2)


def _circle(axes: Axes, X: Points, records: Labels) -> None:
    axes.plot(*X[records].T, "o", ms=10, mfc="none", mec="black", mew=1.1)


def igd() -> Figure:
    """A group that is not worth keeping, and where its members go."""
    X = clustered([5, 6, 4, 7, 5, 6], seed=21, spread=0.45)
    start = MDAV(k=K).fit_predict(X)
    end = IGD(k=K, initial=start).fit_predict(X)
    figure, (left, right) = panels([f"MDAV: {lost(X, start)}", f"after IGD: {lost(X, end)}"])
    draw_groups(left, X, start)
    draw_groups(right, X, end)
    for axes in (left, right):
        _circle(axes, X, _moved(start, end))
    return figure


def icsm() -> Figure:
    """The first round of moves and exchanges, and the end."""
    X = scattered(60, seed=11)
    start = MDAV(k=K).fit_predict(X)
    once = ICSM(k=K, initial=start, max_iterations=1).fit_predict(X)
    end = ICSM(k=K, initial=start).fit_predict(X)
    titles = [f"MDAV: {lost(X, start)}", f"one round: {lost(X, once)}", f"end: {lost(X, end)}"]
    figure, drawn = panels(titles)
    for axes, labels in zip(drawn, (start, once, end), strict=True):
        draw_groups(axes, X, labels)
        if labels is not start:
            _circle(axes, X, _moved(start, labels))
    return figure


def kmeans() -> Figure:
    """Plain k-means beside groups whose sizes are part of the problem."""
    X = scattered(48, seed=14)
    plain = KMeans(len(X) // K, n_init=1, random_state=0).fit_predict(X)
    sized = KMeansMicro(k=K).fit_predict(X)
    smallest = np.bincount(plain).min()
    titles = [f"plain: groups of {smallest} or more", f"sizes 4 to 7: {lost(X, sized)}"]
    figure, (left, right) = panels(titles)
    draw_groups(left, X, plain)
    small = np.flatnonzero(np.bincount(plain)[plain] < K)
    _circle(left, X, small)
    draw_groups(right, X, sized)
    return figure


def auto() -> Figure:
    """Groups of MDAV and of auto, and what each of several searches loses."""
    X = scattered(60, seed=11)
    start, end = MDAV(k=K).fit(X), Auto(k=K, random_state=0).fit(X)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.3, 3.4), layout="constrained")
    for axes, groups, title in ((left, start, "MDAV"), (middle, end, "auto")):
        draw_groups(axes, X, groups.labels_)
        axes.set_title(f"{title}: {lost(X, groups.labels_)}")
        axes.set_aspect("equal")
        axes.set_axis_off()
    _circle(middle, X, _moved(start.labels_, end.labels_))
    total = ((X - X.mean(axis=0)) ** 2).sum()
    found = {
        "mdav": start.sse_,
        "igd": IGD(k=K).fit(X).sse_,
        "icsm": ICSM(k=K).fit(X).sse_,
        "auto": end.sse_,
    }
    bars = right.bar(list(found), [100 * sse / total for sse in found.values()], color="C0")
    right.bar_label(bars, fmt="%.1f", padding=2)
    bound = 100 * microagg.lower_bound(X, K, tightness="tight") / total
    right.axhline(bound, color="C3", ls="--", label="no grouping loses less")
    right.margins(y=0.25)
    right.legend(loc="upper right", fontsize=8.5)
    right.set_ylabel("grouping loss (%)")
    return figure
