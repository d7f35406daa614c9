"""Strata

With `strata` only records of the same region share a group, and the region is published. Statistics
by region then stay right, as no record takes on values from another region. Groups that cross
borders lose less, but move the means of regions towards each other.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(19)
regions = ["north", "east", "south", "west"]
region = rng.choice(regions, 240)
level = dict(zip(regions, (1800, 2100, 2600, 3000), strict=True))
people = pl.DataFrame(
    {
        "region": region,
        "age": rng.integers(18, 80, 240),
        "income": [round(level[name] + rng.normal(0, 700)) for name in region],
    }
)

# %%
options = {"k": 12, "effort": "fast", "random_state": 0}
within = microagg.protect(people, strata="region", **options)
across = microagg.protect(people, publish=["region"], **options)

# %%
# How far the mean income of each region moves.
before = people.group_by("region").agg(pl.col("income").mean()).sort("income")
figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
for shift, release, name in ((-0.2, across, "across regions"), (0.2, within, "within regions")):
    means = dict(release.table.group_by("region").agg(pl.col("income").mean()).iter_rows())
    change = [means[region] - income for region, income in before.iter_rows()]
    label = f"groups {name}: {release.information_loss:.0f} % lost"
    bars = axes.bar(np.arange(4) + shift, change, 0.38, label=label)
    axes.bar_label(bars, fmt="%+.1f", padding=2, fontsize=9)
axes.axhline(0, color="0.3", lw=0.8)
axes.set_xticks(range(4), [f"{region}\n{income:.0f}" for region, income in before.iter_rows()])
axes.set(xlabel="region, and its mean income", ylabel="change of the mean")
axes.legend()
axes.margins(y=0.2)
plt.show()
