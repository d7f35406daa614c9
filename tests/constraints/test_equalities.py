"""The nearest point that satisfies equalities: by the textbook, and by what it has to be."""

import numpy as np
import pytest

from microagg.constraints.equalities import Equalities
from microagg.core.errors import ParameterError

RNG = np.random.default_rng(0)
A, B, POINTS = RNG.normal(size=(3, 7)), RNG.normal(size=3), RNG.normal(size=(50, 7))


def test_the_textbook_formula():
    expected = POINTS - (POINTS @ A.T - B) @ np.linalg.solve(A @ A.T, A)
    assert np.allclose(Equalities.of(A, B).project(POINTS), expected, rtol=0, atol=1e-13)


def test_one_equality_may_be_a_single_row():
    found = Equalities.of([1.0, 1.0], 3.0).project(np.array([[1.0, 1.0]]))
    assert np.allclose(found, [[1.5, 1.5]])


def test_rows_of_very_different_size_hold_to_the_last_digits():
    factors = np.array([1e-9, 1.0, 1e9])
    found = Equalities.of(A * factors[:, None], B * factors).project(POINTS * 1e3)
    assert np.abs(found @ A.T - B).max() < 1e-11


def test_rows_that_follow_from_others_change_nothing():
    more, sides = np.vstack([A, A[0] - 2 * A[2], A[1]]), np.append(B, [B[0] - 2 * B[2], B[1]])
    equalities = Equalities.of(more, sides)
    assert np.linalg.matrix_rank(equalities.steps) == 3
    assert np.allclose(equalities.project(POINTS), Equalities.of(A, B).project(POINTS))


def test_each_holds_to_the_last_digits_of_its_own_terms():
    # Moments of time, and a short span between them that is made of two shorter ones.
    rows = np.array([[1.0, -1, 1, 0, 0], [0, 0, 1, -1, -1]])
    points = np.array([[1.7e15, 1.7e15 + 3, 2e-3, 5e-4, 5e-4]])
    (found,) = Equalities.measured(rows, np.zeros(2), np.array([1e3, 1e3, 1, 1, 1])).project(points)
    assert abs(rows[1] @ found) < 1e-15 * np.abs(found[2:]).sum()
    assert abs(rows[0] @ found) < 1e-15 * np.abs(found[:3]).sum()


def test_distances_are_measured_in_scales_and_nothing_of_scale_zero_moves():
    scales = np.array([1.0, 2.0, 0.5, 0.0, 3.0, 1.0, 1.0])
    found = Equalities.measured(A, B, scales).project(POINTS)
    assert np.allclose(found @ A.T, B, atol=1e-12)
    assert np.array_equal(found[:, 3], POINTS[:, 3])
    some = scales > 0
    rest = Equalities.of(A[:, some] * scales[some], B - 1.5 * A[:, 3])
    plain = rest.project(np.where(some, POINTS / np.where(some, scales, 1), 0)[:, some])
    fixed = np.array(POINTS)
    fixed[:, 3] = 1.5
    again = Equalities.measured(A, B, scales).project(fixed)
    assert np.allclose(again[:, some] / scales[some], plain, atol=1e-12)


def test_points_that_satisfy_them_stay_where_they_are():
    equalities = Equalities.of(A, B)
    there = equalities.project(POINTS)
    assert np.abs(equalities.project(there) - there).max() < 1e-14


@pytest.mark.parametrize(
    ("rows", "sides"),
    [([[1, 1], [2, 2]], [1, 3]), ([[1, 0], [0, 1], [1, 1]], [1, 1, 1]), ([[0, 0]], [1])],
)
def test_contradictions_are_refused(rows, sides):
    with pytest.raises(ParameterError, match="contradict"):
        Equalities.of(rows, sides)
    steps = Equalities.of(rows, np.zeros(len(sides))).steps
    assert np.linalg.matrix_rank(steps) == np.linalg.matrix_rank(rows)


@pytest.mark.parametrize(
    ("rows", "sides"), [([[1, 1]], [1, 2]), ([[np.nan, 1]], [1]), ([[[1.0]]], [1])]
)
def test_no_matrix_and_vector(rows, sides):
    with pytest.raises(ParameterError, match="a matrix A and a vector b"):
        Equalities.of(rows, sides)
