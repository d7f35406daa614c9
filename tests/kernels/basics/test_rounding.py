import numpy as np

from microagg.kernels.basics.rounding import without_offset


def test_differences_between_records_keep_every_bit():
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 1.0, 1e-3, 1e9] + [1e9, 0, -7, 0]
    shifted = without_offset(X)
    np.testing.assert_array_equal(X[:, None] - X[None], shifted[:, None] - shifted[None])
    assert np.abs(shifted[:, [0, 2]]).max() < 10
    np.testing.assert_array_equal(shifted[:, [1, 3]], X[:, [1, 3]])
