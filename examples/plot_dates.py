"""Dates

Dates of birth and of admission identify people like no other column. They are averaged like numbers
and released as dates: whole days, or months or years if that is all you publish. A constraint keeps
them in order, so that nobody is discharged before being admitted.
"""

from datetime import date, timedelta

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.dates import DateFormatter

import microagg

rng = np.random.default_rng(21)
admitted = [date(2024, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 366, 120)]
stays = pl.DataFrame(
    {
        "born": [
            date(1930, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 29000, 120)
        ],
        "admitted": admitted,
    }
).with_columns(discharged=pl.col("admitted") + pl.duration(days=rng.gamma(1.5, 6, 120).round()))

# %%
# Years of birth, and stays in whole days.
release = microagg.protect(
    stays,
    k=5,
    columns={"born": {"resolution": "year"}},
    quasi_identifiers=["born", "admitted", "discharged"],
    constraints=["admitted <= discharged"],
    effort="fast",
    random_state=0,
)
print(release.table.head(3))

# %%
# Each bar is a stay, from admission to discharge.
figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for axes, table, colour, title in (
    (panels[0], stays, "C0", "original"),
    (panels[1], release.table, "C1", f"released: {release.information_loss:.1f} % lost"),
):
    axes.hlines(table["born"], table["admitted"], table["discharged"], color=colour, lw=2.5)
    axes.set(title=title, xlabel="2024")
    axes.xaxis.set_major_formatter(DateFormatter("%b"))
panels[0].set_ylabel("born")
plt.show()
