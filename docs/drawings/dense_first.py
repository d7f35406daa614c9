"""Methods that choose among all groups that could come next."""

import numpy as np
from matplotlib.figure import Figure

from docs.drawings.tools import (
    Points,
    clustered,
    draw_groups,
    draw_seed,
    lost,
    nearest,
    panels,
    scattered,
)
from microagg.partitions import DBA, GSMS

K = 4


def _errors(X: Points) -> tuple[Points, Points]:
    """Return the squared error and the mean of every record with its K - 1 nearest."""
    groups = [X[nearest(X, x, K)] for x in X]
    means = np.array([group.mean(axis=0) for group in groups])
    errors = [((group - mean) ** 2).sum() for group, mean in zip(groups, means, strict=True)]
    return np.array(errors), means


def dba() -> Figure:
    """Density decides who comes first; then groups are dissolved backwards."""
    X = clustered([9, 7, 6, 5, 8], seed=4, spread=0.6)
    first, both = DBA(k=K, refine=False).fit_predict(X), DBA(k=K).fit_predict(X)
    titles = ["density", f"phase 1: {lost(X, first)}", f"phase 2: {lost(X, both)}"]
    figure, (density, one, two) = panels(titles)
    errors, _ = _errors(X)
    order = np.argsort(np.argsort(-errors))
    density.scatter(*X.T, c=order, cmap="Blues", s=24, ec="0.5", lw=0.5)
    draw_seed(density, X, int(errors.argmin()), K, "C1")
    draw_groups(one, X, first)
    draw_groups(two, X, both)
    return figure


def gsms() -> Figure:
    """Every record with its nearest is a candidate; the one that leaves least behind is taken."""
    X = scattered(40, seed=9)
    first, both = GSMS(k=K, refine=False).fit_predict(X), GSMS(k=K).fit_predict(X)
    titles = ["candidates", f"phase 1: {lost(X, first)}", f"phase 2: {lost(X, both)}"]
    figure, (candidates, one, two) = panels(titles)
    errors, means = _errors(X)
    m = len(X)
    value = errors + K * m / (m - K) * ((means - X.mean(axis=0)) ** 2).sum(axis=1)
    drawn = candidates.scatter(*X.T, c=value, cmap="viridis_r", s=24)
    draw_seed(candidates, X, int(value.argmax()), K, "C3")
    figure.colorbar(
        drawn, ax=candidates, location="bottom", shrink=0.7, label="error taken away", ticks=[]
    )
    draw_groups(one, X, first)
    draw_groups(two, X, both)
    return figure
