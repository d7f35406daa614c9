"""Methods that join records by short edges."""

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from docs.drawings.tools import clustered, draw_groups, draw_records, lost, panels
from microagg.partitions import HAC, MST, MuApprox

K = 4


def mst() -> Figure:
    """The minimum spanning tree, the edges that are cut, and the groups."""
    X = clustered([6, 5, 8, 5, 6], seed=12, spread=0.4)
    labels = MST(k=K).fit_predict(X)
    figure, (tree, groups) = panels(["the tree, and its cuts", f"groups: {lost(X, labels)}"])
    edges = np.argwhere(minimum_spanning_tree(squareform(pdist(X))).toarray())
    for a, b in edges:
        is_cut = labels[a] != labels[b]
        style = {"color": "C3", "ls": "--", "lw": 1.6} if is_cut else {"color": "0.6", "lw": 1.2}
        tree.plot(*X[[a, b]].T, **style)
    draw_records(tree, X, "C0")
    draw_groups(groups, X, labels)
    return figure


def mu_approx() -> Figure:
    """Edges to the nearest record, which join small trees, and the groups."""
    X = clustered([7, 6, 8, 5, 6], seed=15, spread=0.5)
    labels = MuApprox(k=K).fit_predict(X)
    figure, (forest, groups) = panels(["first edges", f"groups: {lost(X, labels)}"])
    distances = squareform(pdist(X))
    np.fill_diagonal(distances, np.inf)
    for i, j in enumerate(distances.argmin(axis=1)):
        forest.annotate("", X[j], X[i], arrowprops={"arrowstyle": "->", "color": "0.35", "lw": 1.3})
    forest.plot(*X.T, "o", color="C0", ms=3)
    draw_groups(groups, X, labels)
    return figure


def hac() -> Figure:
    """The same records with two linkages and two limits."""
    X = clustered([6, 5, 8, 5, 6, 4], seed=18, spread=0.55)
    variants = {
        "single, up to k": HAC(k=K),
        "ward, up to k": HAC(k=K, linkage="ward"),
        "ward, up to 2k-1": HAC(k=K, linkage="ward", max_size="2k-1"),
    }
    found = {title: method.fit_predict(X) for title, method in variants.items()}
    titles = [f"{title}: {lost(X, labels)}" for title, labels in found.items()]
    figure, drawn = panels(titles)
    for axes, labels in zip(drawn, found.values(), strict=True):
        draw_groups(axes, X, labels)
    return figure
