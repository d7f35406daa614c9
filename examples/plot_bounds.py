"""How far from optimal?

The best grouping of more than a handful of records is out of reach, but a loss that no grouping can
beat can be proved. The optimum lies between this lower bound and the loss of the groups that were
found. The fast bound is computed along with every release; the tight one takes longer and, on a
small table, leaves hardly a gap.
"""

import matplotlib.pyplot as plt
import numpy as np

import microagg
from microagg.partitions import MDAV, Auto

rng = np.random.default_rng(0)
X = rng.normal(size=(32, 2))
total = ((X - X.mean(axis=0)) ** 2).sum()

# %%
# Losses of two methods, and both bounds, in per cent of the total squared error.
ks = range(2, 5)
lines = {
    "mdav": [MDAV(k=k).fit(X).sse_ for k in ks],
    "auto": [Auto(k=k, effort="fast", random_state=0).fit(X).sse_ for k in ks],
    "tight bound": [microagg.lower_bound(X, k, tightness="tight") for k in ks],
    "fast bound": [microagg.lower_bound(X, k) for k in ks],
}
percent = {name: 100 * np.array(values) / total for name, values in lines.items()}
for name, values in percent.items():
    print(f"{name:12}", *(f"{value:6.2f}" for value in values))

# %%
# No grouping lies below a bound: the optimum is in the shaded band, and is found where the band
# closes.
figure, axes = plt.subplots(layout="constrained")
axes.fill_between(ks, percent["fast bound"], percent["auto"], color="C0", alpha=0.1)
axes.fill_between(ks, percent["tight bound"], percent["auto"], color="C0", alpha=0.3)
for (name, values), style in zip(percent.items(), ("s--C1", "o-C0", "^:C2", "v:C2"), strict=True):
    axes.plot(ks, values, style, label=name, ms=5 if name != "auto" else 9)
axes.set(xlabel="k", ylabel="grouping loss (%)", xticks=ks, ylim=(0, None))
axes.legend()
plt.show()
