"""Keeping the totals of categories

A group releases the categories of one of its records, usually the most frequent ones, so rare
categories become rarer. With `keep_margins` groups choose so that the totals over the whole table
come out nearly as they were, for a little more loss.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(11)
n = 1000
degree = rng.choice(["none", "school", "trade", "bachelor", "master", "doctorate"], n,
                    p=[0.09, 0.31, 0.34, 0.14, 0.09, 0.03])  # fmt: skip
people = pl.DataFrame(
    {
        "age": rng.integers(25, 80, n),
        "income": rng.lognormal(8, 0.5, n).round(),
        "rooms": rng.integers(1, 9, n),
        "commute": rng.gamma(2, 12, n).round(),
        "degree": degree,
        "tenure": rng.choice(["owner", "tenant", "other"], n, p=[0.5, 0.44, 0.06]),
    }
)

# %%
options = {"k": 6, "quasi_identifiers": ["degree", "tenure"], "effort": "fast", "random_state": 0}
plain = microagg.protect(people, **options)
kept = microagg.protect(people, **options, keep_margins=True)
print(f"lost: {plain.information_loss:.2f} %, with totals kept {kept.information_loss:.2f} %")

# %%
# By how many records the total of each category is off.
figure, panels = plt.subplots(
    1, 2, figsize=(8.4, 3.6), width_ratios=(2, 1), layout="constrained", sharey=True
)
for axes, column in zip(panels, ("degree", "tenure"), strict=True):
    before = people[column].value_counts(sort=True)
    at = np.arange(len(before))
    for shift, release, name in ((-0.2, plain, "least loss"), (0.2, kept, "totals kept")):
        after = dict(release.table[column].value_counts().iter_rows())
        change = [after.get(value, 0) - count for value, count in before.iter_rows()]
        bars = axes.bar(at + shift, change, 0.36, label=name)
        axes.bar_label(bars, fmt="{:+.0f}", fontsize=8, padding=2)
    axes.axhline(0, color="0.3", lw=0.8)
    ticks = [f"{value}\n{count}" for value, count in before.iter_rows()]
    axes.set_xticks(at, ticks, fontsize=8.5)
    axes.set_title(f"{column} (records before)")
panels[0].set_ylabel("change of the total (records)")
panels[0].legend()
plt.show()
