"""What must hold of an arrangement after any step."""

import numpy as np
import pytest

from microagg.kernels.annealing.arrangement import FREE, copy_of_members
from tests.references import sse


def assert_the_books_balance(arrangement):
    labels, sizes = arrangement.labels, arrangement.sizes
    assert sizes.tolist() == np.bincount(labels, minlength=len(sizes)).tolist()
    for group in np.flatnonzero(sizes):
        rows = copy_of_members(arrangement, group)
        assert sorted(rows) == np.flatnonzero(labels == group).tolist()
        np.testing.assert_allclose(arrangement.centers[group], arrangement.X[rows].mean(axis=0))
    assert arrangement.errors.sum() == pytest.approx(sse(arrangement.X, labels))
    free = arrangement.free[: arrangement.counters[FREE]]
    assert sorted(free) == np.flatnonzero(sizes == 0).tolist()
