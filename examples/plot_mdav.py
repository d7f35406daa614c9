"""MDAV, step by step

MDAV takes groups off from the outside in: the record farthest from the mean of what is left forms a
group with its nearest neighbours, and so does the record farthest from that one. It is the method
that most tools offer. Here it is written out in a few lines of NumPy, drawn after each round, and
compared with the estimator.
"""

import matplotlib.pyplot as plt
import numpy as np

from microagg.partitions import MDAV

rng = np.random.default_rng(5)
X = rng.normal(size=(26, 2))
k = 3


# %%
# One round takes two groups off. It ends when fewer than 3k records are left.
def take(left, centre):
    """Return the k records of `left` that are nearest to a centre."""
    return left[np.argsort(((X[left] - X[centre]) ** 2).sum(axis=1), kind="stable")[:k]]


def farthest(left, point):
    """Return the record of `left` that is farthest from a point."""
    return left[np.argmax(((X[left] - point) ** 2).sum(axis=1))]


groups, rounds, left = [], [], np.arange(len(X))
while len(left) >= 3 * k:
    mean = X[left].mean(axis=0)
    r = farthest(left, mean)
    s = farthest(left, X[r])
    for seed in (r, s):
        groups.append(take(left, seed))
        left = np.setdiff1d(left, groups[-1])
    rounds.append((mean, r, s, len(groups)))

# %%
# What is left becomes two groups, or one if it is fewer than 2k records.
if len(left) >= 2 * k:
    groups.append(take(left, farthest(left, X[left].mean(axis=0))))
    left = np.setdiff1d(left, groups[-1])
groups.append(left)

# %%
# The estimator makes the same groups.
labels = MDAV(k=k).fit_predict(X)
assert {frozenset(group) for group in groups} == {
    frozenset(np.flatnonzero(labels == label)) for label in range(labels.max() + 1)
}

# %%
figure, panels = plt.subplots(
    2, 2, figsize=(7.6, 6), sharex=True, sharey=True, layout="constrained"
)
rounds.append((None, None, None, len(groups)))
for number, (axes, (mean, r, s, done)) in enumerate(zip(panels.flat, rounds, strict=True), 1):
    axes.plot(*X.T, "o", color="0.75")
    for i, group in enumerate(groups[:done]):
        new = mean is None or i >= done - 2
        centre = np.broadcast_to(X[group].mean(axis=0), (len(group), 2))
        axes.plot(*np.stack([centre, X[group]]).T.swapaxes(1, 2), color=f"C{i % 6}", lw=1.2)
        axes.plot(*X[group].T, "o", color=f"C{i % 6}", alpha=1 if new else 0.35)
    if mean is not None:
        axes.plot(*mean, "+", color="black", ms=11, mew=1.5)
        for name, seed in (("r", r), ("s", s)):
            axes.annotate(name, X[seed], xytext=(8, -3), textcoords="offset points", weight="bold")
    axes.set_title(f"round {number}" if mean is not None else "all groups")
    axes.set_axis_off()
figure.suptitle("+ mean of what is left,  r farthest from it,  s farthest from r")
plt.show()
