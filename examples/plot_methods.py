"""Every method on one table

All registered methods group the same table at the same k. Bars are what they lose; no grouping at
all loses less than the line. `compare` does this for any table.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import microagg

patients = load_diabetes(as_frame=True, scaled=False).frame

# %%
# Left out are methods that need a single column or t-closeness, and those that draw.
found = microagg.compare(patients, 5, sensitive=["target"], effort="fast", random_state=1)
rows = sorted((row for row in found if row.error is None), key=lambda row: -row.grouping_loss)
print("left out:", ", ".join(found.left_out))

# %%
# The bound is that of the same columns, as `protect` compares them.
release = microagg.protect(patients, k=5, sensitive=["target"], effort="fast", random_state=1)

figure, axes = plt.subplots(figsize=(7.2, 5), layout="constrained")
colours = ["C1" if row.method == "auto" else "C0" for row in rows]
bars = axes.barh([row.method for row in rows], [row.grouping_loss for row in rows], color=colours)
axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=8.5)
axes.axvline(release.lower_bound, color="C3", ls="--", label="no grouping loses less")
axes.legend(loc="center right")
axes.set(xlabel="grouping loss (%), diabetes data, k = 5")
plt.show()
