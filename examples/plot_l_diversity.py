"""l-diversity

Records that look alike do not help if all of them have the same diagnosis: anyone who knows
that a person is among them knows the diagnosis. l-diversity asks for several values of a sensitive
column in every group. Diagnoses depend on age here, so groups of one colour are common without it,
and there are none with it.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(7)
age = rng.integers(20, 90, 150)
names = np.array(["asthma", "back pain", "diabetes", "stroke"])
patients = pl.DataFrame(
    {
        "age": age,
        "weight": rng.normal(75, 12, 150).round(),
        "diagnosis": names[np.clip((age - 20) // 18 + rng.choice([-1, 0, 0, 0, 1], 150), 0, 3)],
    }
)

# %%
# The same k, without and with three diagnoses in every group.
options = {"k": 4, "sensitive": ["diagnosis"], "effort": "fast", "random_state": 0}
plain = microagg.protect(patients, **options)
diverse = microagg.protect(patients, **options, l_diversity={"diagnosis": 3})
print(plain.manifest.shared_values)
for requirement in diverse.manifest.requirements:
    print(f"{requirement.asked}: {requirement.worst:.0f} at worst")

# %%
# Lines lead to the group's mean; thick ones belong to groups that give a diagnosis away.
figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for axes, release, title in ((panels[0], plain, "k = 4"), (panels[1], diverse, "k = 4 and l = 3")):
    values = patients.with_columns(group=release.labels).with_columns(
        alone=pl.col("diagnosis").n_unique().over("group") == 1,
        to_age=pl.col("age").mean().over("group"),
        to_weight=pl.col("weight").mean().over("group"),
    )
    for alone, width, colour in ((False, 0.8, "0.75"), (True, 2.2, "black")):
        part = values.filter(alone=alone)
        axes.plot(
            [part["age"], part["to_age"]],
            [part["weight"], part["to_weight"]],
            color=colour,
            lw=width,
            zorder=1,
        )
    for i, name in enumerate(names):
        part = values.filter(diagnosis=name)
        axes.scatter(part["age"], part["weight"], s=18, color=f"C{i}", label=name, zorder=2)
    groups = values.filter("alone")["group"].n_unique()
    axes.set_title(
        f"{title}: {release.information_loss:.1f} % lost, {groups} groups of one diagnosis"
    )
    axes.set_xlabel("age")
panels[0].set_ylabel("weight (kg)")
figure.legend(
    *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, markerscale=1.5
)
plt.show()
