import numpy as np
import pytest

from microagg.kernels.basics import group_sums as kernels
from microagg.kernels.basics.group_sums import summarise
from tests.references import number_by_first_record, sse


def test_summary_of_a_partition():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 1e-5, 1e5]
    raw = rng.integers(0, 30, 200)
    groups = summarise(X, raw)
    assert groups.labels.tolist() == number_by_first_record(raw)
    assert groups.sizes.tolist() == np.bincount(groups.labels).tolist()
    for number, center in enumerate(groups.centers):
        np.testing.assert_allclose(center, X[groups.labels == number].mean(axis=0), rtol=1e-9)
    assert groups.sse == pytest.approx(sse(X, raw), rel=1e-12)


def test_equal_records_keep_their_value_and_lose_nothing():
    X = np.repeat([[0.1, 1e9 + 0.3], [0.7, -2e-9]], 7, axis=0)
    groups = summarise(X, np.repeat([0, 1], 7))
    assert groups.sse == 0.0
    assert groups.centers.tolist() == [[0.1, 1e9 + 0.3], [0.7, -2e-9]]


def test_an_offset_costs_no_digits():
    X = np.random.default_rng(0).integers(0, 100, (60, 2)).astype(float)
    labels = np.repeat(np.arange(12), 5)
    assert summarise(X + 1e12, labels).sse == pytest.approx(summarise(X, labels).sse, rel=1e-12)


@pytest.mark.parametrize(
    ("values", "mean"),
    [([1, 2], 2), ([-1, -2], -2), ([0, 1], 1), ([0, -1], -1), ([-1, 2], 1), ([1, -2], -1)],
)
def test_halves_go_away_from_zero(values, mean):
    column = np.array(values, dtype=np.int64)[:, None]
    for order in (column, column[::-1]):
        assert summarise(order, np.zeros(2, dtype=np.intp)).centers.tolist() == [[mean]]


def test_whole_numbers_are_exact_near_the_end_of_their_range():
    column = np.array([2**62, 2**62 + 1, 2**62 + 5], dtype=np.int64)[:, None]
    groups = summarise(column, np.zeros(3, dtype=np.intp))
    assert groups.centers.tolist() == [[2**62 + 2]]
    assert groups.sse == 4 + 1 + 9


def test_the_uncompiled_kernels_agree(monkeypatch):
    X = np.random.default_rng(0).integers(-50, 50, (40, 2))
    raw = np.random.default_rng(1).integers(0, 6, 40)
    matrices = (X.astype(float), X.astype(np.int64))
    expected = [summarise(matrix, raw) for matrix in matrices]
    for name in (
        "number_by_first_record",
        "tally_groups",
        "mean_centers",
        "rounded_centers",
        "squared_error",
    ):
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    for matrix, groups in zip(matrices, expected):
        for left, right in zip(summarise(matrix, raw), groups):
            np.testing.assert_array_equal(left, right)
