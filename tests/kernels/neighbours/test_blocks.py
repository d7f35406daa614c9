import numpy as np
import pytest

from microagg.kernels.neighbours import blocks as kernels
from microagg.kernels.neighbours.blocks import farthest, make_blocks, nearest, remove


@pytest.fixture(params=["one block", "many blocks"], autouse=True)
def layout(request, monkeypatch):
    if request.param == "many blocks":
        monkeypatch.setattr(kernels, "ONE_BLOCK", 0)


def brute_force(X, rows, point, count):
    distances = np.zeros(len(rows))
    for j in range(X.shape[1]):  # column by column, as the kernel adds up
        distances += (X[rows, j] - point[j]) ** 2
    near = rows[np.lexsort((rows, distances))[:count]]
    far = rows[np.lexsort((rows, -distances))[0]]
    return near, far


def data(kind, n, d, rng):
    if kind == "normal":
        return rng.normal(size=(n, d))
    if kind == "ties":
        return rng.integers(0, 3, (n, d)).astype(float)
    if kind == "offset":
        return rng.normal(size=(n, d)) + 1e9
    return rng.standard_cauchy((n, d)) * 1e6


@pytest.mark.parametrize("kind", ["normal", "ties", "offset", "heavy tails"])
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_queries_are_exact_while_records_go(kind, d):
    rng = np.random.default_rng(d)
    X = data(kind, 500, d, rng)
    blocks = make_blocks(X, np.arange(500))
    rows = np.arange(500)
    distances, found = np.empty(7), np.empty(7, dtype=np.intp)
    while len(rows) > 10:
        for point in (X[rng.integers(500)], X[rows].mean(axis=0), rng.normal(size=d) * 100):
            near, far = brute_force(X, rows, point, 7)
            assert nearest(blocks, point, distances, found) == 7
            assert found.tolist() == near.tolist()
            assert farthest(blocks, point)[0] == far
        gone = rng.choice(rows, size=min(17, len(rows) - 5), replace=False)
        remove(blocks, gone)
        rows = np.setdiff1d(rows, gone)


def test_fewer_records_than_wanted():
    X = np.arange(3.0)[:, None]
    distances, found = np.empty(5), np.empty(5, dtype=np.intp)
    count = nearest(make_blocks(X, np.arange(3)), np.array([2.2]), distances, found)
    assert found[:count].tolist() == [2, 1, 0]


def test_a_subset_of_the_rows():
    X = np.arange(100.0)[:, None]
    blocks = make_blocks(X, np.array([3, 50, 97]))
    assert farthest(blocks, np.array([0.0])) == (97, 97.0**2)


def test_the_uncompiled_kernels_agree(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 3))
    compiled = make_blocks(X, np.arange(70))
    point = np.array([0.1, 0.2, 0.3])
    expected = nearest(compiled, point, np.empty(4), found := np.empty(4, dtype=np.intp))
    names = [name for name in dir(kernels) if hasattr(getattr(kernels, name), "py_func")]
    for name in names:
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    plain = kernels.make_blocks(X, np.arange(70))
    for left, right in zip(compiled[:7], plain[:7]):
        np.testing.assert_array_equal(left, right)
    again = np.empty(4, dtype=np.intp)
    assert kernels.nearest(plain, point, np.empty(4), again) == expected
    assert again.tolist() == found.tolist()
    assert kernels.farthest(plain, point) == farthest(compiled, point)
    kernels.remove(plain, found[:1])
    kernels.nearest(plain, point, np.empty(4), again)
    assert again[:3].tolist() == found[1:].tolist()
