"""Exact algebra: against exhaustive search in small boxes, and by what lattices have to be."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.constraints.exact import echelon, reduced, short_basis, whole_row, whole_solutions

SMALL = st.integers(-4, 4)
MATRICES = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(SMALL, min_size=n, max_size=n), min_size=1, max_size=3)
)


@given(MATRICES, st.data())
def test_every_whole_solution_in_a_box_and_no_other(matrix, data):
    sides = data.draw(st.lists(st.integers(-8, 8), min_size=len(matrix), max_size=len(matrix)))
    n = len(matrix[0])
    found = whole_solutions(matrix, [Fraction(side) for side in sides], n)
    points = [
        point
        for point in product(range(-6, 7), repeat=n)
        if (np.array(matrix) @ point == sides).all()
    ]
    if found is None:
        assert not points
        return
    origin, basis = found
    assert (np.array(matrix) @ origin == sides).all()
    assert len(basis) == n - np.linalg.matrix_rank(np.array(matrix))
    for vector in basis:
        assert not (np.array(matrix) @ vector).any()
    for point in points:
        ahead = np.array(point) - origin
        if basis:
            z = np.linalg.lstsq(np.array(basis, float).T, ahead, rcond=None)[0]
            assert (np.array(basis).T @ np.rint(z).astype(int) == ahead).all()
        else:
            assert not ahead.any()


def test_fractions_on_the_right_side_have_no_whole_solution():
    assert whole_solutions([[2, 4]], [Fraction(1, 2)], 2) is None
    assert whole_solutions([[2, 4]], [Fraction(3)], 2) is None
    assert whole_solutions([[2, 4]], [Fraction(6)], 2) is not None


@given(MATRICES)
def test_echelon_keeps_the_span(matrix):
    n = len(matrix[0])
    rows = [[Fraction(value) for value in row] for row in matrix]
    pivots = echelon(rows, n)
    assert len(pivots) == np.linalg.matrix_rank(np.array(matrix))
    for at, (pivot, row) in enumerate(pivots):
        assert [other[pivot] for _, other in pivots] == [int(i == at) for i in range(len(pivots))]
        assert row[pivot] == 1
    for row in rows:
        assert not any(reduced(row, pivots))


def test_a_row_without_pivot_is_a_contradiction():
    rows = [[Fraction(value) for value in row] for row in ([1, 1, 2], [2, 2, 5])]
    assert [pivot for pivot, _ in echelon(rows, 2)] == [0, -1]


def test_whole_rows_are_coprime():
    assert whole_row([Fraction(29, 25), Fraction(107, 100), Fraction(-1)]) == (
        [116, 107, -100],
        Fraction(100),
    )
    assert whole_row([Fraction(4), Fraction(6)]) == ([2, 3], Fraction(1, 2))
    assert whole_row([Fraction(0)]) == ([0], Fraction(1))


@pytest.mark.parametrize("seed", range(5))
def test_a_short_basis_spans_the_same_lattice(seed):
    rng = np.random.default_rng(seed)
    k, n = 3, 5
    basis = rng.integers(-1000, 1000, size=(k, n))
    metric = np.diag(10.0 ** rng.uniform(-2, 2, size=n))
    found = np.array(short_basis(basis.tolist(), metric))
    change = np.rint(np.linalg.lstsq(basis.T.astype(float), found.T, rcond=None)[0]).astype(int)
    assert (basis.T @ change == found.T).all()
    assert round(abs(np.linalg.det(change))) == 1
    volume = np.sqrt(np.linalg.det(found @ metric**2 @ found.T.astype(float)))
    assert np.linalg.norm(found @ metric, axis=1).prod() <= 2 ** (k * (k - 1) / 4) * volume * 1.001
