"""Risk-utility map

Each point is a release that could be made: how much information it loses, and how many records
somebody who knows all true values would still link correctly. Points below and to the left are
better. `compare` runs the methods, here at three values of k, and says which releases no other
beats on both counts.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import microagg

patients = load_diabetes(as_frame=True, scaled=False).frame

# %%
# Nothing is released: this only shows what each method would lose and leave at risk.
found = microagg.compare(
    patients,
    [3, 5, 10],
    ["auto", "mdav", "v-mdav", "mst", "pca-mhm", "zscore-mhm", "tsp-mhm", "kmeans"],
    sensitive=["target"],
    effort="fast",
    random_state=1,
)

# %%
# Filled points are efficient: no other release has less of one without more of the other.
figure, axes = plt.subplots(layout="constrained")
for i, k in enumerate((3, 5, 10)):
    rows = [row for row in found if row.k == k]
    for row in rows:
        axes.plot(
            row.information_loss,
            row.linkage,
            "osD"[i],
            color=f"C{i}",
            mfc=None if row.efficient else "white",
        )
    axes.axhline(100 / k, color=f"C{i}", lw=0.8, ls=":")
    axes.annotate(
        f"k = {k}: {100 / k:.0f} % at most", (0.99, 100 / k), xycoords=("axes fraction", "data"),
        xytext=(0, 3), textcoords="offset points", ha="right", color=f"C{i}", fontsize=9,
    )  # fmt: skip
    for row in rows:
        if row.method in ("auto", "mdav", "zscore-mhm"):
            axes.annotate(
                row.method,
                (row.information_loss, row.linkage),
                xytext=(2, 7) if row.method == "auto" else (6, -3),
                textcoords="offset points",
                fontsize=8,
            )
axes.set(xlabel="information loss (%)", ylabel="records linked (%)", xlim=(8, 68), ylim=(0, 37))
plt.show()
