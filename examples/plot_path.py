"""A path, and its optimal cut

Records in several columns have no natural order, but any order can be cut into groups in the best
way there is, as a sorted column can. So put similar records next to each other, here along a short
tour, and cut: the cut finds group sizes from k to 2k - 1 that lose least along this path, and saves
a good deal over a cut after every k records.
"""

import matplotlib.pyplot as plt
import numpy as np

import microagg

rng = np.random.default_rng(1)
centres = rng.uniform(-4, 4, (11, 2))
X = np.concatenate([c + rng.normal(0, 0.45, (rng.integers(3, 6), 2)) for c in centres])
k = 3

# %%
# A short tour through all records, and two ways to cut it.
order = microagg.orderings.get("tsp")(X)
every_k = np.empty(len(X), dtype=int)
every_k[order] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
optimal = microagg.cut_path(X, order, k)
for name, labels in (("every k records", every_k), ("optimal", optimal)):
    print(f"{name:16} {microagg.information_loss(X, labels):6.2f} % lost")


# %%
# Coloured stretches of the path are groups, grey ones are cut.
def draw(axes, labels, title):
    """Draw the path, and the groups along it."""
    axes.plot(*X[order].T, color="0.85", lw=1, zorder=0)
    runs = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    for i, run in enumerate(runs):
        axes.plot(*X[run].T, "o-", color=f"C{i % 6}", lw=2)
    axes.set_title(f"{title}: {microagg.information_loss(X, labels):.1f} % lost")
    axes.set_aspect("equal")
    axes.set_axis_off()


figure, (left, right) = plt.subplots(1, 2, layout="constrained")
draw(left, every_k, "Cut after every 3 records")
draw(right, optimal, "Optimal cut")
plt.show()
