"""A linkage attack, drawn

The intruder has a list of names with everybody's true age and income, and picks for each the
nearest released record. In the original table that is always the right one. In the release all
records of a group are equally near: the intruder mostly finds the right group, and then has to
guess among its records.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(12)
people = pl.DataFrame(
    {"age": rng.integers(20, 80, 60), "income": rng.lognormal(8, 0.35, 60).round(-1)}
)
release = microagg.protect(people, k=4, random_state=0)
linkage = release.risk().linkage
print(f"linked: {linkage.linked[1]:.1%}, by guessing {linkage.guessed[1]:.1%}")

# %%
# The attack by hand: distances in standard deviations, nearest first.
scale = people.std().row(0)
known, released = people.to_numpy() / scale, release.table.to_numpy() / scale
distance = ((known[:, None] - released[None]) ** 2).sum(axis=2)
nearest = distance.argmin(axis=1)
right_group = release.labels[nearest] == release.labels

# %%
# Blue arrows end at a person's own group, orange ones at another.
figure, axes = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
for colour, mask, name in (("C0", right_group, "own group"), ("C1", ~right_group, "another group")):
    for i in np.flatnonzero(mask):
        axes.annotate(
            "",
            release.table.row(nearest[i]),
            people.row(i),
            arrowprops={"arrowstyle": "->", "color": colour, "lw": 1},
        )
    part = people.filter(mask)
    axes.plot(part["age"], part["income"], "o", color=colour, ms=4, label=f"nearest is {name}")
groups = release.table.group_by("age", "income").len()
axes.scatter(
    groups["age"], groups["income"], s=22 * groups["len"], fc="0.85", ec="0.4", label="released"
)
axes.set(xlabel="age", ylabel="income")
axes.set_title(
    f"Right group: {right_group.mean():.0%}.  Right record: {linkage.linked[1]:.0%}, "
    f"at most 1/k = 25%"
)
axes.legend(loc="upper right")
plt.show()
