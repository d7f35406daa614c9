"""What the drawings share: records, panels, and how groups and steps are drawn."""

from collections.abc import Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import microagg

Points = NDArray[np.float64]
Labels = NDArray[np.intp]


def scattered(n: int = 42, seed: int = 3) -> Points:
    """Return normal records in two columns."""
    return np.random.default_rng(seed).normal(size=(n, 2))


def clustered(sizes: Sequence[int], seed: int = 1, spread: float = 0.35) -> Points:
    """Return clusters of the given sizes."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-3, 3, (len(sizes), 2))
    return np.concatenate(
        [rng.normal(centre, spread, (size, 2)) for centre, size in zip(centres, sizes, strict=True)]
    )


def panels(titles: Sequence[str], height: float = 3.4, width: float = 3.1) -> tuple[Figure, list]:
    """Return a row of panels without axes, on which distances are true."""
    figure, found = plt.subplots(
        1, len(titles), figsize=(width * len(titles), height), layout="constrained"
    )
    found = list(np.atleast_1d(found))
    for axes, title in zip(found, titles, strict=True):
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.set_axis_off()
    return figure, found


def lost(X: Points, labels: Labels) -> str:
    """Return the information loss in words."""
    return f"{microagg.information_loss(X, labels):.1f} % lost"


def draw_records(axes: Axes, X: Points, colour: str = "0.75") -> None:
    """Draw records as dots."""
    axes.plot(*X.T, "o", color=colour, ms=4.5)


def draw_groups(
    axes: Axes, X: Points, labels: Labels, only: Sequence[int] | None = None, **style: object
) -> None:
    """Draw the records of groups in one colour each, with lines to their mean."""
    draw_records(axes, X)
    for group in range(labels.max() + 1) if only is None else only:
        members = X[labels == group]
        mean = members.mean(axis=0)
        line = {"color": f"C{group % 6}", "lw": 1.2, **style}
        for member in members:
            axes.plot(*np.stack([mean, member]).T, **line)
        axes.plot(*members.T, "o", ms=4.5, color=line["color"])


def name(axes: Axes, point: Points, text: str, offset: tuple[float, float] = (7, 4)) -> None:
    """Write a name beside a point."""
    axes.annotate(text, point, xytext=offset, textcoords="offset points", weight="bold")


def farthest(X: Points, point: Points) -> int:
    """Return the record that is farthest from a point."""
    return int(np.argmax(((X - point) ** 2).sum(axis=1)))


def nearest(X: Points, point: Points, k: int) -> Labels:
    """Return the k records that are nearest to a point."""
    return np.argsort(((X - point) ** 2).sum(axis=1), kind="stable")[:k]


def draw_seed(axes: Axes, X: Points, record: int, k: int, colour: str) -> None:
    """Draw a record with its k - 1 nearest, as a group that is being formed."""
    for other in nearest(X, X[record], k):
        axes.plot(*X[[record, other]].T, color=colour, lw=1.4)
        axes.plot(*X[other], "o", color=colour, ms=4.5)
    axes.plot(*X[record], "o", color=colour, ms=8, mec="black")
