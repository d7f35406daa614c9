"""Fuzzy memberships

With fuzzy c-means a record belongs to every centre, to near ones more, and draws the one that
represents it. Even somebody who knows the method cannot be sure which centre that was. The
fuzziness decides how much is left to chance: with little, nearly every record takes the nearest
centre; with much, distant ones are likely too, and the release loses more.
"""

import matplotlib.pyplot as plt
import numpy as np

from microagg.fuzzy import FCM

rng = np.random.default_rng(2)
X = np.concatenate([rng.normal(c, 0.8, (25, 2)) for c in ((-2, 0), (2, 0), (0, 2.6), (0, -1.8))])

# %%
# The same centres, and draws with little fuzziness (m2 near 1) and with more. `doubt_` is how
# uncertain a record is about its centre on average, in bits.
models = [FCM(k=25, m1=1.2, m2=m2, random_state=4).fit(X) for m2 in (1.2, 1.7, 2.5)]

# %%
# A line leads from each record to the centre that it drew.
figure, panels = plt.subplots(
    1, 3, figsize=(9, 3.3), sharex=True, sharey=True, layout="constrained"
)
for axes, model in zip(panels, models, strict=True):
    centres = model.centers_[model.labels_]
    axes.plot([X[:, 0], centres[:, 0]], [X[:, 1], centres[:, 1]], color="0.8", lw=0.8, zorder=0)
    for i, centre in enumerate(model.centers_):
        axes.plot(*X[model.labels_ == i].T, "o", color=f"C{i}", ms=4)
        axes.plot(*centre, "*", color=f"C{i}", ms=15, mec="black")
    axes.set_title(f"m2 = {model.m2}: {model.doubt_:.2f} bits of doubt")
    axes.set_aspect("equal")
    axes.set_axis_off()
plt.show()
