"""Methods that cut a sequence of records."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

import microagg
from docs.drawings.tools import Labels, Points, lost, panels, scattered
from microagg.partitions import Univariate

K = 4


def _draw_path(axes: Axes, X: Points, order: Labels, labels: Labels) -> None:
    axes.plot(*X[order].T, color="0.8", lw=1, zorder=0)
    for i, run in enumerate(np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)):
        axes.plot(*X[run].T, "o-", color=f"C{i % 6}", lw=1.8, ms=4.5)


def univariate() -> Figure:
    """The best cut of ten values, with means as they are and with whole ones."""
    values = np.array([1, 2, 2, 3, 4, 4, 6, 6, 8, 10])
    X = values[:, None].astype(float)
    figure, rows = plt.subplots(2, 1, figsize=(6.4, 2.9), sharex=True, layout="constrained")
    height = [np.count_nonzero(values[:i] == value) for i, value in enumerate(values)]
    for axes, whole in zip(rows, (False, True), strict=True):
        labels = Univariate(k=3, integer=whole).fit_predict(X)
        error = 0.0
        for group in range(labels.max() + 1):
            inside = labels == group
            mean = values[inside].mean()
            released = np.floor(mean + 0.5) if whole else mean
            error += ((values[inside] - released) ** 2).sum()
            axes.plot(values[inside], np.array(height)[inside], "o", ms=9, color=f"C{group}")
            axes.plot([released] * 2, [-0.6, 1.6], color=f"C{group}", lw=2)
        kind = "whole means" if whole else "means as they are"
        axes.set_title(f"{kind}: squared error {error:.2f}")
        axes.set(yticks=[], ylim=(-0.8, 1.8))
        axes.spines["left"].set_visible(False)
    rows[1].set(xticks=range(1, 11), xlabel="value; vertical lines are released")
    return figure


def ordered() -> Figure:
    """The same records in four orders, each cut optimally."""
    X = scattered(44, seed=5)
    names = ("tsp", "npn", "pca", "zscore")
    orders = {name: microagg.orderings.get(name)(X) for name in names}
    cuts = {name: microagg.cut_path(X, order, K) for name, order in orders.items()}
    titles = [f"{name}: {lost(X, cuts[name])}" for name in names]
    figure, drawn = panels(titles, width=2.6, height=3)
    for axes, name in zip(drawn, names, strict=True):
        _draw_path(axes, X, orders[name], cuts[name])
    return figure


def reporder() -> Figure:
    """Clusters, the path through them, its cut, and the path through the groups of that."""
    X = scattered(44, seed=5)
    labels = KMeans(6, n_init=1, random_state=0).fit_predict(X)
    rounds = []
    for _ in range(8):
        order = microagg.orderings.get("by_groups")(X, labels)
        labels = microagg.cut_path(X, order, K)
        rounds.append((order, labels))
    shown = (0, 1, 7)
    titles = [f"round {i + 1}: {lost(X, rounds[i][1])}" for i in shown]
    figure, drawn = panels(titles)
    for axes, i in zip(drawn, shown, strict=True):
        _draw_path(axes, X, *rounds[i])
    return figure
