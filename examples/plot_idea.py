"""The idea of microaggregation

Records that are alike form groups of at least k, and each record is released with the mean of its
group. Nobody stands alone afterwards, and what the table says as a whole stays true: here, that
incomes rise with age. The lines show how far each record has to move. `microagg` looks for the
groups that keep them short.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

# %%
# Forty people: a neighbour may know their age and income.
rng = np.random.default_rng(3)
age = rng.integers(20, 66, 40)
people = pl.DataFrame({"age": age, "income": (1200 + 45 * age + rng.normal(0, 500, 40)).round()})

# %%
# Every released combination stands for four of them or more.
release = microagg.protect(people, k=4, random_state=0)
released = release.table
print(release)

# %%
# A dot on the right is as large as the group behind it.
figure, (before, after) = plt.subplots(1, 2, sharex=True, sharey=True, layout="constrained")
before.plot(
    [people["age"], released["age"]], [people["income"], released["income"]], color="C1", lw=1
)
before.plot(people["age"], people["income"], "o", color="C0")
before.set_title("Forty people, and where they go")

groups = released.group_by("age", "income").len()
after.scatter(groups["age"], groups["income"], s=25 * groups["len"], color="C1")
for x, y, size in groups.iter_rows():
    after.annotate(str(size), (x, y), ha="center", va="center", fontsize=8)
after.set_title(f"What is released: {len(groups)} combinations")

for axes in (before, after):
    axes.set_xlabel("age")
before.set_ylabel("income")
plt.show()
