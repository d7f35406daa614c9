"""Local search

No record should be better off in another group. Local search takes the groups of a simple method
and moves and exchanges records for as long as that lowers the loss; here ICSM improves the groups
of MDAV. Records that changed their group are filled. It ends where no move or exchange, and no
chain of them, helps.
"""

import matplotlib.pyplot as plt
import numpy as np

import microagg
from microagg.partitions import ICSM, MDAV

rng = np.random.default_rng(8)
X = rng.normal(size=(120, 2))
k = 4

# %%
# The same search, stopped after more and more rounds.
start = MDAV(k=k).fit(X)
losses = [microagg.information_loss(X, start.labels_)]
for rounds in range(1, 40):
    search = ICSM(k=k, initial=start.labels_, max_iterations=rounds, random_state=0).fit(X)
    losses.append(microagg.information_loss(X, search.labels_))
    if search.n_iterations_ < rounds:
        break
print(f"from {losses[0]:.2f} % to {losses[-1]:.2f} % in {search.n_iterations_} rounds")

# %%
# A record has changed its group if most of its former companions are elsewhere.
together = start.labels_[:, None] == start.labels_
still = together & (search.labels_[:, None] == search.labels_)
moved = still.sum(axis=1) <= together.sum(axis=1) / 2

# %%
figure, panels = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for axes, groups, title in (
    (panels[0], start, "MDAV"),
    (panels[1], search, "after the search"),
):
    centres = groups.centers_[groups.labels_]
    axes.plot([X[:, 0], centres[:, 0]], [X[:, 1], centres[:, 1]], color="0.6", lw=1)
    axes.plot(*X.T, "o", color="C0", mfc="white", ms=4)
    axes.plot(*X[moved].T, "o", color="C1", ms=4.5)
    axes.set_title(f"{title}: {microagg.information_loss(X, groups.labels_):.2f} % lost")
    axes.set_aspect("equal")
    axes.set_axis_off()
panels[2].plot(losses, "o-", color="C0", ms=4)
panels[2].set(title="Loss by round", xlabel="round", ylabel="information loss (%)")
plt.show()
