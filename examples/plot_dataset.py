"""A folder of files

Data that do not fit into memory are protected file by file, and k holds for the folder as a whole:
the records behind a combination may be in different files. The output mirrors the input, with the
same names, rows and order. Here four small Parquet files stand in for a large dataset.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

folder = Path(tempfile.mkdtemp())
(folder / "visits").mkdir()
rng = np.random.default_rng(22)
for year in range(2021, 2025):
    n = 400
    pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "cost": rng.lognormal(5, 0.8, n).round(2),
            "diagnosis": rng.choice(["flu", "cold", "cough"], n),
        }
    ).write_parquet(folder / "visits" / f"{year}.parquet")

# %%
manifest = microagg.protect_dataset(
    folder / "visits", folder / "safe", k=5, sensitive=["diagnosis"], effort="fast", random_state=0
)
print(f"{manifest.n_records} records, {manifest.information_loss:.2f} % lost")

# %%
# Combinations by the number of records behind them: in the folder, and in the file of one year.
released = {
    path.stem: pl.read_parquet(path) for path in sorted((folder / "safe").glob("*.parquet"))
}
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.5), layout="constrained")
for axes, table, title in (
    (panels[0], pl.concat(released.values()), "all files: k holds"),
    (panels[1], released["2021"], "2021 alone: it does not"),
):
    sizes = np.bincount(table.group_by("age", "cost").len()["len"], minlength=10)
    axes.bar(
        range(len(sizes)), sizes, color=["C3" if size < 5 else "C0" for size in range(len(sizes))]
    )
    axes.set(
        title=title, xlabel="records behind a combination", xticks=range(1, 10), xlim=(0.3, 9.7)
    )
panels[0].set_ylabel("combinations")
plt.show()
