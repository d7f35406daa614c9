"""Hybrid records

Means shrink variances: what differed within a group is gone. Hybrid records keep the mean and the
covariance of every group, and so all variances and correlations of the table, by replacing the
records of a group by synthetic ones. The price is k-anonymity: no two records look alike any more,
and the release says so.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(13)
height = rng.normal(172, 9, 300)
people = pl.DataFrame({"height": height, "weight": 0.9 * height - 80 + rng.normal(0, 9, 300)})

# %%
# The same groups of 20 or more, released as means and as hybrid records.
means = microagg.protect(people, k=20, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", microagg.errors.PrivacyWarning)  # it says: not k-anonymous
    hybrid = microagg.protect(people, k=20, hybrid=True, random_state=0)
print(hybrid.manifest.promise.value)

# %%
figure, panels = plt.subplots(
    1, 3, figsize=(9, 3.5), sharex=True, sharey=True, layout="constrained"
)
for axes, table, title in (
    (panels[0], people, "original"),
    (panels[1], means.table, "means"),
    (panels[2], hybrid.table, "hybrid"),
):
    x, y = table["height"].to_numpy(), table["weight"].to_numpy()
    axes.plot(x, y, "o", ms=3.5, alpha=0.6, color="C1" if table is not people else "C0")
    axes.set_title(title)
    axes.set_xlabel("height (cm)")
    axes.annotate(
        f"sd of weight {y.std(ddof=1):.1f} kg\ncorrelation {np.corrcoef(x, y)[0, 1]:.2f}",
        (0.04, 0.96),
        xycoords="axes fraction",
        va="top",
        fontsize=9,
    )
panels[0].set_ylim(None, people["weight"].max() + 22)
panels[0].set_ylabel("weight (kg)")
plt.show()
