"""Survey weights

Each record of a survey stands for many people. With `weights` the released means are weighted, so
that means of the population stay as they were, up to rounding, and the risk can be estimated for
the population: somebody who is unique in the sample may share all values with a hundred others
outside it.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(18)
n = 600
rural = rng.random(n) < 0.5
survey = pl.DataFrame(
    {
        "age": rng.integers(18, 90, n),
        "income": (rng.lognormal(7.6, 0.5, n) * np.where(rural, 0.8, 1.2)).round(),
        "rent": (rng.gamma(6, 120, n) * np.where(rural, 0.7, 1.1)).round(),
        "w": np.where(rural, 40.0, 120.0),  # half of the sample is rural, a quarter of the people
    }
)

# %%
release = microagg.protect(survey, k=5, weights="w", effort="fast", random_state=0)
risk = release.risk().individual
print(f"expected re-identifications: {risk.before.expected:.1f}, then {risk.after.expected:.2f}")

# %%
# Weighted means of the columns, before and after, and what becomes of the individual risk.
figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained")
w = survey["w"].to_numpy()
names = ["age", "income", "rent"]
change = [
    100 * (np.average(release.table[c], weights=w) / np.average(survey[c], weights=w) - 1)
    for c in names
]
bars = left.barh(names, change)
left.bar_label(bars, fmt="%+.3f %%", padding=4)
left.axvline(0, color="0.4", lw=0.8)
left.set(
    xlim=(-0.3, 0.3),
    xticks=(-0.2, 0, 0.2),
    xlabel="change of the weighted mean (%)",
    title="Means stay",
)
bars = right.barh(
    ["before", "after"], [risk.before.share * 100, risk.after.share * 100], color=["C0", "C1"]
)
right.bar_label(bars, fmt="%.2f %%", padding=4)
right.set(xlabel="records expected to be re-identified (%)", title="Individual risk falls")
right.set_xlim(0, risk.before.share * 125)
plt.show()
