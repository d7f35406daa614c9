import numpy as np
import pytest

from microagg.kernels.basics import sorting
from microagg.kernels.basics.sorting import stable_sort

RNG = np.random.default_rng(0)
N = 30_000


@pytest.mark.parametrize(
    "values",
    [
        RNG.integers(-10, 10, N),
        RNG.integers(-(2**63), 2**63 - 1, N),
        np.array([2**63 - 1, -(2**63)] * (N // 2)),
        RNG.normal(size=N),
        RNG.integers(-5, 5, N).astype(float),
        np.append(RNG.normal(size=N) * 1e300, [0.0, -0.0, 5e-324, -5e-324]),
        np.zeros(N),
        -np.abs(RNG.normal(size=N)),
        np.arange(100.0)[::-1],
    ],
    ids=["small", "all", "ends", "normal", "ties", "range", "equal", "negative", "few"],
)
def test_sorts_stably(values):
    before = values.copy()
    found, order = stable_sort(values)
    expected = np.argsort(values, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(found, values[expected])
    np.testing.assert_array_equal(values, before)
    assert found.dtype == values.dtype


def test_the_uncompiled_kernels_agree(monkeypatch):
    monkeypatch.setattr(sorting, "FEW", 0)
    for name in ("sort_by_digit", "keys_from_bits", "bits_from_keys"):
        monkeypatch.setattr(sorting, name, getattr(sorting, name).py_func)
    values = RNG.normal(size=200).round(1)
    found, order = stable_sort(values)
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(found, np.sort(values))
