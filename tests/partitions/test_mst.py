"""MST against scipy's tree, cut edge by edge with both sides counted anew."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.csgraph import minimum_spanning_tree as scipy_tree

from microagg.partitions import CBFS, MD, MDAV, MST
from tests.references import number_by_first_record

METHODS = {"mdav": MDAV, "md": MD, "cbfs": CBFS}


def reference(X, k, split):
    apart = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    tree = scipy_tree(apart).tocoo()
    kept = sorted(zip(tree.data, tree.row, tree.col), reverse=True)

    def parts(edges):
        lengths, rows, columns = zip(*edges) if edges else ((), (), ())
        graph = csr_array((lengths, (rows, columns)), shape=apart.shape)
        return connected_components(graph, directed=False)[1]

    for edge in list(kept):
        rest = [other for other in kept if other is not edge]
        if np.bincount(parts(rest)).min() >= k:
            kept = rest
    labels = parts(kept)
    for part in range(labels.max() + 1):
        rows = np.flatnonzero(labels == part)
        if len(rows) >= 2 * k:
            labels[rows] = labels.max() + 1 + METHODS[split](k=k).fit_predict(X[rows])
    return number_by_first_record(labels)


@pytest.mark.parametrize("split", METHODS)
def test_label_for_label(split):
    rng = np.random.default_rng(0)
    for case in range(12):
        n, d = int(rng.integers(1, 90)), int(rng.integers(1, 6))
        k = int(rng.integers(1, min(n, 7) + 1))
        X = rng.normal(size=(n, d)) if case % 2 else rng.standard_cauchy((n, d))
        assert MST(k=k, split=split).fit_predict(X).tolist() == reference(X, k, split)


def test_separate_clusters_are_found():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(12), [3, 4, 5] * 4)
    X = np.arange(12.0)[truth, None] * [100.0, 0.0] + rng.normal(size=(48, 2))
    assert MST(k=3).fit_predict(X).tolist() == truth.tolist()
