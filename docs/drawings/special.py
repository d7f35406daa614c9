"""Methods for t-closeness, and those whose records draw."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from docs.drawings.tools import lost, panels, scattered
from microagg.fuzzy import EFCM, FCM
from microagg.partitions import TCloseFirst, TCloseMerge
from microagg.requirements import GroupRule


def tclose() -> Figure:
    """Groups with one record of each part of the sensitive column, and merged groups."""
    X = scattered(48, seed=23)
    income = np.argsort(np.argsort(X[:, 0] + np.random.default_rng(1).normal(0, 0.7, 48)))
    rule = GroupRule.ordered_closeness(income, 0.25)
    first = TCloseFirst(k=3).fit(X, requirements=[rule]).labels_
    merged = TCloseMerge(k=3).fit(X, requirements=[rule]).labels_
    titles = [f"tclose-first: {lost(X, first)}", f"tclose-merge: {lost(X, merged)}"]
    figure, drawn = panels(titles, width=3.7, height=3.6)
    for axes, labels in zip(drawn, (first, merged), strict=True):
        for group in range(labels.max() + 1):
            members = X[labels == group]
            for member in members:
                axes.plot(*np.stack([members.mean(axis=0), member]).T, color="0.75", lw=1)
        dots = axes.scatter(*X.T, c=income, cmap="viridis", s=26, zorder=3)
    figure.colorbar(dots, ax=drawn, shrink=0.7, label="sensitive column, by rank")
    return figure


def fuzzy() -> Figure:
    """Memberships in one centre of six, by powers of distances and by exponentials."""
    X = scattered(120, seed=24)
    models = (FCM(k=20, random_state=2).fit(X), EFCM(k=20, random_state=2).fit(X))
    side = np.linspace(-3, 3, 121)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    figure, drawn = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    for axes, model, title in zip(
        drawn,
        models,
        (f"fcm, m = {models[0].m2_:.2f}", f"efcm, lambda = {models[1].lambda2_:.1f}"),
        strict=True,
    ):
        squared = ((grid[:, :, None] - model.centers_) ** 2).sum(axis=-1)
        if isinstance(model, FCM):
            weight = squared ** (-1 / (model.m2_ - 1))
        else:
            weight = np.exp(-model.lambda2_ * squared)
        share = weight / weight.sum(axis=-1, keepdims=True)
        chosen = int(((model.centers_ - X.mean(axis=0)) ** 2).sum(axis=1).argmin())
        levels = np.linspace(0, 1, 11)
        shown = axes.contourf(side, side, share[:, :, chosen], levels, cmap="Blues")
        axes.plot(*X.T, "o", color="0.35", ms=2.5)
        axes.plot(*model.centers_.T, "*", color="C1", ms=12, mec="black")
        axes.plot(*model.centers_[chosen], "*", color="C3", ms=16, mec="black")
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.set_axis_off()
    figure.colorbar(shown, ax=drawn, shrink=0.8, label="membership in the red centre")
    return figure
