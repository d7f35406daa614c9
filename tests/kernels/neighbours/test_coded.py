"""Categories as codes have the distances of their indicators, and ties go to the lower row."""

import numpy as np
import pytest

from microagg.kernels.neighbours.blocks import make_blocks
from microagg.kernels.neighbours.coded import list_nearest_coded


@pytest.mark.parametrize("n", [2, 40, 1300])
def test_lists_are_those_of_sorting_all_distances(n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.integers(0, 9, n), rng.normal(size=n).round(1)]).astype(float)
    rows = np.arange(0, n, 40 if n > 40 else 1)
    width = min(5, n - 1)
    distances, others = np.zeros((n, width)), np.zeros((n, width), dtype=np.intp)
    blocks = make_blocks(X, np.arange(n))
    list_nearest_coded(X, rows, blocks, np.array([0.3, 0.0]), distances, others)
    for row in rows.tolist():
        differ = np.where(X[:, 0] == X[row, 0], 0.0, 0.3)
        expected = differ + differ + (X[:, 1] - X[row, 1]) ** 2
        expected[row] = np.inf  # a record is not its own neighbour
        order = np.lexsort((np.arange(n), expected))[:width]
        assert distances[row].tolist() == expected[order].tolist()
        assert others[row].tolist() == order.tolist()
