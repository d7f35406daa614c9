"""How records are compared

Incomes have a long tail. Compared in standard deviations, most of them are close together and the
few large ones decide which groups are worth keeping apart. Compared by their logarithm, ratios
count; by rank, every record counts the same. The scale decides who is grouped; values are released
in their own units either way.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(10)
people = pl.DataFrame(
    {
        "age": rng.integers(20, 70, 160),
        "income": rng.lognormal(7.6, 0.9, 160).round(),
    }
)

# %%
scales = ("standardise", "log", "rank")
releases = [microagg.protect(people, k=5, scale=s, effort="fast", random_state=0) for s in scales]

# %%
# Lines lead from each record to what is released for it, on a logarithmic axis.
figure, panels = plt.subplots(
    1, 3, figsize=(9, 3.6), sharex=True, sharey=True, layout="constrained"
)
for axes, scale, release in zip(panels, scales, releases, strict=True):
    to = release.table
    axes.plot([people["age"], to["age"]], [people["income"], to["income"]], color="0.7", lw=0.9)
    axes.plot(people["age"], people["income"], "o", color="C0", ms=3)
    axes.plot(to["age"], to["income"], "o", color="C1", ms=5)
    axes.set_yscale("log")
    axes.set(title=f'scale="{scale}"', xlabel="age")
panels[0].set_ylabel("income")
plt.show()
