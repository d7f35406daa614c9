"""Regions and seams

A table that is too large is cut into regions, each of which is grouped on its own. Groups at a seam
are then worse than inside, as the records that would complete them are on the other side. So whole
groups are grouped again in regions that are cut in other directions, and the seams disappear.
`protect_dataset` and `auto` do this for large tables; here it is done by hand, with four regions.
"""

import matplotlib.pyplot as plt
import numpy as np

import microagg
from microagg.partitions import ICSM, MDAV

rng = np.random.default_rng(4)
X = rng.uniform(-1, 1, (500, 2))
k = 5


def quadrants(points, angle):
    """Return the region of every point: four, cut by two lines at an angle."""
    turned = points @ [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return (turned[:, 0] > 0) + 2 * (turned[:, 1] > 0)


# %%
# First round: every region is grouped by itself.
def group_each(regions, start):
    """Return the groups of all regions, each improved from its own start."""
    labels, n_groups = np.zeros(len(X), dtype=int), 0
    for region in range(4):
        inside = np.flatnonzero(regions == region)
        search = ICSM(k=k, initial=start(inside)).fit(X[inside])
        labels[inside] = n_groups + search.labels_
        n_groups += search.n_groups_
    return labels


first = group_each(quadrants(X, 0), lambda inside: MDAV(k=k).fit_predict(X[inside]))

# %%
# Second round: the regions are turned by 45 degrees, and a group goes where its mean is, as a
# whole.
centres = np.array([X[first == group].mean(axis=0) for group in range(first.max() + 1)])
second = group_each(quadrants(centres, np.pi / 4)[first], lambda inside: first[inside])


# %%
def draw(axes, labels, angle, title):
    """Draw records in the colour of what they lose, and the seams."""
    means = np.array([X[labels == group].mean(axis=0) for group in range(labels.max() + 1)])
    error = ((X - means[labels]) ** 2).sum(axis=1)
    lost = np.array([error[labels == group].mean() for group in range(len(means))])[labels]
    axes.plot([X[:, 0], means[labels, 0]], [X[:, 1], means[labels, 1]], color="0.6", lw=0.8)
    drawn = axes.scatter(*X.T, c=100 * lost, s=16, cmap="viridis_r", vmin=0, vmax=1.2, zorder=3)
    for turn in (angle, angle + np.pi / 2):
        axes.axline((0, 0), (np.cos(turn), np.sin(turn)), color="C3", lw=1.2, ls="--")
    axes.set(title=f"{title}: {microagg.information_loss(X, labels):.3f} % lost", aspect="equal")
    axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
    axes.set_axis_off()
    return drawn


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.3), layout="constrained")
draw(left, first, 0, "Four regions")
drawn = draw(right, second, np.pi / 4, "Regrouped in others")
figure.colorbar(
    drawn, ax=[left, right], shrink=0.8, label="squared error of the group, per record (x 100)"
)
plt.show()
