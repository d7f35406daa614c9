"""t-closeness

Groups of people who are alike also have similar salaries, so a group reveals much about them.
t-closeness limits how far the distribution of a sensitive column in a group may be from that in the
whole table. Each thin line is the distribution of one group; with a smaller t they come closer to
the thick line, and groups become larger and lose more.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(14)
age = rng.integers(20, 66, 200)
staff = pl.DataFrame(
    {
        "age": age,
        "years": np.minimum(age - 18, rng.gamma(2, 6, 200)).round(),
        "salary": (1500 + 35 * age + rng.gamma(2, 400, 200)).round(-1),
    }
)

# %%
options = {"k": 5, "sensitive": ["salary"], "effort": "fast", "random_state": 0}
releases = {"no limit": microagg.protect(staff, **options)}
for t in (0.2, 0.1):
    releases[f"t = {t}"] = microagg.protect(staff, **options, t_closeness={"salary": t})

# %%
# Shares of records with a salary up to each amount.
figure, panels = plt.subplots(1, 3, figsize=(9, 3.5), sharey=True, layout="constrained")
for axes, (name, release) in zip(panels, releases.items(), strict=True):
    for group in range(release.labels.max() + 1):
        salaries = staff["salary"].filter(release.labels == group)
        axes.ecdf(salaries, color="C0", lw=0.8, alpha=0.5)
    axes.ecdf(staff["salary"], color="C1", lw=2.5)
    worst = release.risk().attributes.columns["salary"].largest_distance
    axes.set_title(f"{name}: {release.information_loss:.0f} % lost\nfarthest group {worst:.2f}")
    axes.set_xlabel("salary")
panels[0].set_ylabel("share of records")
plt.show()
