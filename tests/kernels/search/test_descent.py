"""Steps that lower the squared error come to an end, whatever the numbers."""

import numpy as np
import pytest

from microagg.kernels.search.descent import descend
from microagg.kernels.search.state import WAITING, make_search
from microagg.partitions.search.neighbours import near_lists

NO_END = 10_000  # records tried: fifty times what any search here takes
SCALES = {
    "tight and far from zero": (1.0, [0.0, 1e-12, 3e-10, 1e-9, 2e-9]),
    "squares that underflow": (0.0, [0.0, 1e-160, 3e-160, 1e-159]),
    "squares that underflow next to others": (0.0, [0.0, 1e-160, 3e-160, 1e-159, 1e-5]),
    "squares without digits": (1e-155, [0.0, 1e-162, 3e-162, 2e-161]),
    "ordinary": (1.0, [0.0, 1.0, 2.5, 7.0]),
}


@pytest.mark.parametrize("scale", SCALES)
def test_the_steps_come_to_an_end_and_lower_the_error(scale):
    offset, gaps = SCALES[scale]
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(6, 24)), int(rng.integers(1, 3)), int(rng.integers(1, 4))
        X = offset * rng.normal(size=d) + rng.choice(gaps, size=(n, d))
        search = make_search(X, near_lists(X, n - 1), np.arange(n) % (n // k), k, seed)
        error = search.assignment.errors.sum()
        descend(search, k, NO_END)
        assert search.counters[WAITING] == 0
        sizes = np.bincount(search.assignment.labels)
        assert set(sizes[sizes > 0]) <= set(range(k, 2 * k))
        assert search.assignment.errors.sum() <= error * (1.0 + 1e-12)
