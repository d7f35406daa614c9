"""Constraints as a projection

Rent and other costs make up all of a household's spending, so their shares should add up to 100. In
a survey they often do not. With a constraint each group releases the nearest values that satisfy
it: its mean is projected onto the line. Whole numbers stay whole, so that the nearest points of a
grid on the line are released.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(6)
rent = rng.uniform(20, 80, 40).round()
error = np.where(rng.random(40) < 0.45, rng.normal(-3, 9, 40), 0).round()
shares = pl.DataFrame({"rent": rent, "other": 100 - rent + error})

# %%
# The same groups, released without and with the constraint.
free = microagg.protect(shares, k=5, random_state=0, digits="all")
bound = microagg.protect(shares, k=5, random_state=0, constraints=["rent + other = 100"])
print(bound.table.select(total=pl.col("rent") + pl.col("other"))["total"].unique().to_list())

# %%
means = shares.group_by(pl.Series("group", free.labels)).mean().sort("group")
released = bound.table.with_columns(group=bound.labels).unique("group").sort("group")
figure, axes = plt.subplots(figsize=(6.4, 5), layout="constrained")
axes.axline((0, 100), slope=-1, color="0.7", label="rent + other = 100")
axes.plot(shares["rent"], shares["other"], "o", color="C0", ms=4, alpha=0.5, label="households")
axes.plot(means["rent"], means["other"], "o", color="C2", ms=8, mfc="white", label="group means")
axes.plot(released["rent"], released["other"], "o", color="C1", ms=8, label="released")
for (_, x, y), (u, v, _) in zip(means.iter_rows(), released.iter_rows(), strict=True):
    axes.annotate("", (u, v), (x, y), arrowprops={"arrowstyle": "-", "color": "C1"})
axes.set(xlabel="rent (%)", ylabel="other costs (%)", xlim=(15, 85), ylim=(15, 85), aspect="equal")
axes.legend()
plt.show()
