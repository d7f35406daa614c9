"""The p per cent rule

A group's mean times its size is a total, and the second largest contributor can subtract their own
share and estimate the largest. The p per cent rule requires that even this estimate be off by p per
cent or more. Firms are the classic case: turnovers are skewed, and one giant makes up most of its
group.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(15)
size = rng.lognormal(3, 1.7, 90)
firms = pl.DataFrame(
    {
        "founded": rng.integers(1950, 2024, 90),
        "staff": size.round() + 1,
        "turnover": (size * rng.lognormal(2, 1, 90)).round(),
    }
)

# %%
plain = microagg.protect(firms, k=3, effort="fast", random_state=0)
ruled = microagg.protect(firms, k=3, effort="fast", random_state=0, p_percent={"turnover": 20})


def remainder(release):
    """Return, of each group, its total, and the rest in per cent of the largest contribution."""
    groups = firms.group_by(pl.Series("group", release.labels)).agg(
        total=pl.col("turnover").sum(),
        largest=pl.col("turnover").max(),
        second=pl.col("turnover").sort(descending=True).get(1),
    )
    return groups.with_columns(
        rest=100 * (pl.col("total") - pl.col("largest") - pl.col("second")) / pl.col("largest")
    )


# %%
# What is left of a group's total without its two largest firms, relative to the largest.
figure, panels = plt.subplots(
    1, 2, figsize=(8.4, 3.8), sharex=True, sharey=True, layout="constrained"
)
for axes, release, title in ((panels[0], plain, "k = 3"), (panels[1], ruled, "k = 3, p = 20 %")):
    groups = remainder(release)
    safe = groups["rest"] >= 20
    axes.axhspan(0, 20, color="C3", alpha=0.12, lw=0)
    for mask, colour in ((safe, "C0"), (~safe, "C3")):
        part = groups.filter(mask)
        axes.plot(part["total"], part["rest"], "o", color=colour)
    axes.set(xscale="log", ylim=(0, None), xlabel="turnover of the group")
    axes.set_title(
        f"{title}: {(~safe).sum()} groups at risk, {release.information_loss:.1f} % lost"
    )
panels[0].set_ylabel("rest, in % of the largest firm")
plt.show()
