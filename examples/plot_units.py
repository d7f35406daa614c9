"""Several rows per person

A table of visits has several rows for each patient, and five visits that look alike may be those of
one person. With `unit` k counts patients. The figure counts them behind every released combination:
without a unit most stand for one or two patients only.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

# %%
# A hundred patients with one to eight visits each; a patient's values are nearly the same in all
# visits.
rng = np.random.default_rng(16)
patient = np.repeat(np.arange(100), rng.integers(1, 9, 100))
n = len(patient)
visits = pl.DataFrame(
    {
        "patient": patient,
        "age": rng.integers(18, 90, 100)[patient],
        "weight": (rng.normal(75, 13, 100)[patient] + rng.normal(0, 1, n)).round(1),
        "diagnosis": rng.choice(["flu", "cold", "cough", "none"], n),
    }
).sample(fraction=1, shuffle=True, seed=1)

# %%
# An identifier that repeats stops the run until you say what k should count. "rows" says that every
# row is about a different person, which is wrong here.
options = {"k": 5, "sensitive": ["diagnosis"], "effort": "fast", "random_state": 0}
rows = microagg.protect(visits, identifiers=["patient"], unit="rows", **options)
people = microagg.protect(visits, unit="patient", **options)
print(people.manifest.units)

# %%
# How many patients are behind each released combination.
figure, panels = plt.subplots(
    1, 2, figsize=(8.4, 3.6), sharex=True, sharey=True, layout="constrained"
)
for axes, release, title in (
    (panels[0], rows, "k counts rows"),
    (panels[1], people, "k counts patients"),
):
    combinations = release.table.with_columns(visits["patient"]).group_by("age", "weight")
    behind = combinations.agg(pl.col("patient").n_unique())["patient"].to_numpy()
    counts = np.bincount(behind, minlength=12)
    colours = ["C3" if size < 5 else "C0" for size in range(len(counts))]
    axes.bar(range(len(counts)), counts, color=colours)
    axes.set(xlabel="patients behind a combination", xticks=range(1, len(counts)), xlim=(0.3, None))
    axes.set_title(f"{title}: {release.information_loss:.1f} % lost")
panels[0].set_ylabel("combinations")
plt.show()
