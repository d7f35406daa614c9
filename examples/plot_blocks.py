"""Blocks of columns

Grouping by all columns at once loses much when there are many. Grouping by a few at a time loses
less, and promises less: k holds within each block only, and anyone who knows values from two blocks
can link records again. The release says so. Look at both sides before you choose.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import microagg

patients = load_diabetes(as_frame=True, scaled=False).frame
columns = [name for name in patients.columns if name != "target"]

# %%
# Ten columns in one block, in two, in five, and each on its own.
found = []
for width in (10, 5, 2, 1):
    blocks = [columns[at : at + width] for at in range(0, 10, width)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", microagg.errors.PrivacyWarning)  # k within blocks only
        release = microagg.protect(
            patients, k=5, sensitive=["target"], blocks=blocks, effort="fast", random_state=0
        )
    found.append((len(blocks), release.information_loss, 100 * release.risk().linkage.linked[1]))
    print(f"{len(blocks):2} blocks: {release.manifest.promise.value}")

# %%
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
names = [f"{n} block{'s' if n > 1 else ''}" for n, _, _ in found]
for shift, values, label in (
    (-0.2, [loss for _, loss, _ in found], "information lost (%)"),
    (0.2, [linked for _, _, linked in found], "records linked (%)"),
):
    bars = axes.bar([i + shift for i in range(4)], values, 0.36, label=label)
    axes.bar_label(bars, fmt="%.0f", padding=2)
axes.axhline(20, color="0.3", ls=":", lw=1.2, label="1/k: the most, if k holds for all columns")
axes.set_xticks(range(4), names)
axes.set(ylim=(0, 112), xlabel="how the ten columns are grouped", ylabel="per cent")
figure.legend(loc="outside upper center", ncols=3)
plt.show()
