"""Releasing the same table twice

One release hides everybody among k. Two of the same table, with another k or seed, do not: anyone
who has both knows that a person is in one group here and in another there, and few records are in
both. So publish one release of a table. `microagg` warns you if you write a second one next to the
first.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_diabetes

import microagg

patients = pl.from_pandas(load_diabetes(as_frame=True, scaled=False).frame)

# %%
# The same table with k = 5 and k = 6: rows are in the same order, so that the two files can be
# matched.
releases = [
    microagg.protect(patients, k=k, sensitive=["target"], effort="fast", random_state=k)
    for k in (5, 6)
]
both = np.stack([release.labels for release in releases], axis=1)

# %%
# How many records share a combination: in one release, and in both together.
figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
for shift, labels, name in (
    (-0.27, both[:, :1], "first, k = 5"),
    (0.0, both[:, 1:], "second, k = 6"),
    (0.27, both, "both together"),
):
    _, group, sizes = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    hidden = np.bincount(sizes[group], minlength=10)[1:10]
    axes.bar(np.arange(1, 10) + shift, 100 * hidden / len(both), 0.26, label=name)
    print(f"{name:14} {100 * hidden[0] / len(both):.0f} % of the records are alone")
axes.set(xlabel="records that look alike", ylabel="share of the records (%)", xticks=range(1, 10))
axes.legend()
plt.show()
