"""Missing values

Missing values stop a run until you say how to treat them. With `missing="value"` they stay: they
count as a value, and records without an answer share groups. With `missing="impute"` the group's
mean replaces them. Whether that is right depends on who did not answer: here it is those with high
incomes, so that the imputed values are too low.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(20)
n = 300
age = rng.integers(20, 70, n)
income = 900 + 40 * age + rng.normal(0, 500, n)
silent = rng.random(n) < 1 / (1 + np.exp(-(income - 3800) / 250))
people = pl.DataFrame({"age": age, "income": np.where(silent, np.nan, income).round()}).fill_nan(
    None
)
print(f"{people['income'].null_count()} of {n} did not answer")

# %%
options = {"k": 5, "effort": "fast", "random_state": 0}
kept = microagg.protect(people, missing="value", **options)
filled = microagg.protect(people, missing="impute", **options)

# %%
# Released records; those without an income stand on the bottom line.
figure, panels = plt.subplots(
    1, 3, figsize=(9.2, 3.6), sharex=True, sharey=True, layout="constrained"
)
bottom = 500
for axes, table, title in (
    (panels[0], people, "original"),
    (panels[1], kept.table, 'missing="value"'),
    (panels[2], filled.table, 'missing="impute"'),
):
    was_missing = people["income"].is_null()
    for mask, colour, name in (
        (~was_missing, "C0", "answered"),
        (was_missing, "C1", "did not answer"),
    ):
        part = table.filter(mask)
        axes.plot(
            part["age"], part["income"].fill_null(bottom), "o", color=colour, ms=4, label=name
        )
    axes.axhline(bottom, color="0.85", lw=6, zorder=0)
    axes.set(title=f"{title}: {table['income'].null_count()} missing", xlabel="age")
panels[0].set_ylabel("income")
panels[0].annotate("missing", (20, bottom), xytext=(0, 7), textcoords="offset points", fontsize=8.5)
panels[1].legend(loc="upper left")
plt.show()
