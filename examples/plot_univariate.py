"""One column: the optimum

A single column can be grouped optimally, in no time: the best groups are runs of the sorted values,
and dynamic programming finds where to cut. Cutting after every k values, as fixed-size methods do,
splits values that belong together and joins others across gaps.
"""

import matplotlib.pyplot as plt
import numpy as np

import microagg
from microagg.partitions import Univariate

rng = np.random.default_rng(9)
income = np.sort(
    np.concatenate([rng.normal(c, 1.2, n) for c, n in ((20, 8), (32, 5), (45, 7), (70, 4))])
)
X = income[:, None]
k = 4

# %%
best = Univariate(k=k).fit(X)
fixed = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
print("sizes of the optimal groups:", np.bincount(best.labels_).tolist())

# %%
figure, panels = plt.subplots(2, 1, figsize=(7.6, 3.4), sharex=True, layout="constrained")
for axes, labels, title in (
    (panels[0], fixed, "Four at a time"),
    (panels[1], best.labels_, "Optimal"),
):
    for group in range(labels.max() + 1):
        values = income[labels == group]
        colour = f"C{group % 6}"
        axes.plot(values[[0, -1]], [0, 0], color=colour, lw=8, alpha=0.3, solid_capstyle="round")
        axes.plot(values, np.zeros(len(values)), "o", color=colour, ms=5)
        axes.plot([values.mean()] * 2, [-0.6, 0.6], color=colour, lw=2)
    axes.set_title(f"{title}: {microagg.information_loss(X, labels):.2f} % lost")
    axes.set(yticks=[], ylim=(-1, 1))
    axes.spines["left"].set_visible(False)
panels[1].set_xlabel("income (1,000); vertical lines are released")
plt.show()
