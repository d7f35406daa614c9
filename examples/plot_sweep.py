"""A sweep over k

A larger k protects more and loses more. How much more depends on the table, so look before you
choose: `sweep` finds groups for every k in a range, and proves what no grouping can beat. Loss
rises steeply at first and then flattens out, so going from 3 to 5 costs more than going from 10 to
12.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import microagg

wine = load_wine(as_frame=True).frame

# %%
found = microagg.sweep(wine, range(2, 21), sensitive=["target"], random_state=0)
print(found)

# %%
# What the released values lose, and the band in which the loss of the best groups lies.
ks = [row.k for row in found]
figure, axes = plt.subplots(layout="constrained")
axes.fill_between(
    ks,
    [row.lower_bound for row in found],
    [row.grouping_loss for row in found],
    color="C2",
    alpha=0.25,
    label="the best groups lose",
)
axes.plot(ks, [row.information_loss for row in found], "o-", label="released values lose")
axes.set(xlabel="k", ylabel="information loss (%)", xticks=ks, ylim=(0, None))
axes.legend(loc="upper left")
plt.show()
