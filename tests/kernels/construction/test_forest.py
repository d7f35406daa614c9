import numpy as np

from microagg.kernels.basics import distances, smallest
from microagg.kernels.construction import forest
from microagg.partitions import mu_approx
from microagg.partitions.mu_approx import tree_groups


def test_the_uncompiled_kernels_agree(monkeypatch):
    rng = np.random.default_rng(0)
    tables = [(rng.normal(size=(80, 2)), 4), (np.arange(80.0)[:, None] ** 2, 3)]
    compiled = [tree_groups(X, k).tolist() for X, k in tables]
    for module in (distances, smallest, forest, mu_approx):
        for name in dir(module):
            if hasattr(getattr(module, name), "py_func"):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)
    assert [tree_groups(X, k).tolist() for X, k in tables] == compiled
