"""A whole release

From a table to a release that can be published: roles, k, protection, verification, and a look at
what it means for every column. Means stay, standard deviations shrink by about a tenth, and the
shapes are still recognisable.
"""

import matplotlib.pyplot as plt
import polars as pl
from sklearn.datasets import load_diabetes

import microagg

patients = pl.from_pandas(load_diabetes(as_frame=True, scaled=False).frame)

# %%
# Age, sex, body and blood values may be known to somebody; how the disease progressed is what the
# table is published for.
release = microagg.protect(
    patients,
    k=5,
    sensitive=["target"],
    columns={"sex": {"type": "nominal"}},
    effort="fast",
    random_state=0,
)
print(release)
print(microagg.verify(release.table, k=5, sensitive=["target"]))

# %%
# `release.save("patients.csv")` writes the table with its manifest, `release.report("report.html")`
# a page to read.
columns = [name for name in patients.columns if name not in ("sex", "target")]
figure, axes = plt.subplots(figsize=(9, 4.6), layout="constrained")
for at, name in enumerate(columns):
    spread = patients[name].std()
    for side, table, colour in ((-1, patients, "C0"), (1, release.table, "C1")):
        values = ((table[name] - patients[name].mean()) / spread).to_numpy()
        parts = axes.violinplot(
            values, [at], widths=0.85, side="low" if side < 0 else "high", showextrema=False
        )
        parts["bodies"][0].set(facecolor=colour, alpha=0.8)
        axes.plot([at, at + 0.4 * side], [values.mean()] * 2, color="black", lw=1.2)
kept = [release.table[name].std() / patients[name].std() for name in columns]
axes.set_xticks(range(len(columns)), [f"{n}\n{k:.0%}" for n, k in zip(columns, kept, strict=True)])
axes.set(xlabel="column, and how much of its standard deviation is kept", ylim=(-3.5, 4.5))
axes.set_ylabel("standard deviations from the mean")
axes.set_title("original (left, blue) and released (right, orange); lines: means")
plt.show()
