"""Totals that add up

Net plus tax is gross in every record, and should still be in the release. Means of whole numbers,
rounded one by one, are off by one here and there; with a constraint, the nearest whole numbers that
add up are released.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import microagg

rng = np.random.default_rng(17)
gross = rng.lognormal(8, 0.5, 400).round()
tax = (gross * np.clip(rng.normal(0.22, 0.06, 400), 0, 0.5)).round()
incomes = pl.DataFrame(
    {"age": rng.integers(18, 67, 400), "net": gross - tax, "tax": tax, "gross": gross}
)

# %%
options = {"k": 5, "effort": "fast", "random_state": 0}
without = microagg.protect(incomes, **options)
within = microagg.protect(incomes, **options, constraints=["net + tax = gross", "tax >= 0"])
print("groups whose values were moved:", within.manifest.constraints.groups_moved)

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.8), width_ratios=(1, 1.3), layout="constrained"
)
off = {}
for name, release in (("rounded one by one", without), ("with the constraint", within)):
    table = release.table
    off[name] = (table["net"] + table["tax"] - table["gross"]).to_numpy()
    print(f"{name:20} {release.information_loss:.4f} % lost")
steps = np.arange(-1, 2)
for shift, (name, values) in zip((-0.2, 0.2), off.items(), strict=True):
    counts = [np.count_nonzero(values == step) for step in steps]
    bars = left.bar(steps + shift, counts, 0.38, label=name)
    left.bar_label(bars, padding=2, fontsize=8.5)
left.set(xticks=steps, xlabel="net + tax - gross", ylabel="records", ylim=(0, 520))
left.set_title("How far totals are off")
left.legend(fontsize=8.5, loc="upper left")

right.plot(incomes["gross"], incomes["tax"], "o", ms=3, alpha=0.5, label="original")
right.plot(within.table["gross"], within.table["tax"], "o", ms=4, label="released")
right.set(xlabel="gross", ylabel="tax")
right.set_title(f"{within.information_loss:.1f} % of the spread is lost")
right.legend()
plt.show()
