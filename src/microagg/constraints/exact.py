"""Exact algebra for small systems: row reduction over fractions, whole-number solutions.

Everything here runs once per system, on as many rows as there are constraints, in Python's own
fractions and whole numbers: contradictions and solutions are exact, without a tolerance.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from microagg.core.arrays import Floats

Fractions = list[Fraction]
Whole = list[list[int]]


def echelon(rows: Sequence[Sequence[Fraction]], n_columns: int) -> list[tuple[int, Fractions]]:
    """Return rows of the same span with their pivots: 1 there, 0 at the pivots of the others.

    Only the first `n_columns` entries can be pivots; rows without any come last, with pivot -1.
    """
    left = [list(row) for row in rows]
    done: list[tuple[int, Fractions]] = []
    for column in range(n_columns):
        at = next((i for i, row in enumerate(left) if row[column]), None)
        if at is None:
            continue
        pivot = left.pop(at)
        pivot = [value / pivot[column] for value in pivot]
        left = [_without(row, column, pivot) for row in left]
        done = [(other, _without(row, column, pivot)) for other, row in done]
        done.append((column, pivot))
    return done + [(-1, row) for row in left if any(row)]


def reduced(row: Sequence[Fraction], pivots: Sequence[tuple[int, Fractions]]) -> Fractions:
    """Return `row` with zeros at all pivots: its part that is independent of the other rows."""
    result = list(row)
    for column, pivot in pivots:
        if column >= 0:
            result = _without(result, column, pivot)
    return result


def _without(row: Fractions, column: int, pivot: Fractions) -> Fractions:
    factor = row[column]
    if not factor:
        return row
    return [value - factor * other for value, other in zip(row, pivot, strict=True)]


def whole_row(row: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Return coprime whole numbers proportional to the row, and their factor."""
    denominators = lcm(*(value.denominator for value in row))
    numerators = [int(value * denominators) for value in row]
    common = gcd(*numerators) or 1
    return [value // common for value in numerators], Fraction(denominators, common)


def whole_solutions(A: Whole, b: Sequence[Fraction], n: int) -> tuple[list[int], Whole] | None:
    """Return x0 and N such that A x = b has exactly the solutions x0 + N z in whole numbers.

    None if there are none. The columns of A are combined until A U = [H 0] with H lower triangular
    (Hermite's normal form); U stays unimodular, so that its last columns are N. `n` is the number
    of columns; N is given as a list of its columns.
    """
    columns = [[row[j] for row in A] + [int(i == j) for i in range(n)] for j in range(n)]
    m, at = len(A), 0
    x0 = [0] * n
    left = list(b)
    for i in range(m):
        while sum(1 for column in columns[at:] if column[i]) > 1:
            pivot = min((c for c in columns[at:] if c[i]), key=lambda c: abs(c[i]))
            for column in columns[at:]:
                if column is not pivot and (times := column[i] // pivot[i]):
                    column[:] = [a - times * p for a, p in zip(column, pivot, strict=True)]
        found = next((j for j in range(at, n) if columns[j][i]), None)
        if found is None:
            if left[i]:
                return None
            continue
        columns[at], columns[found] = columns[found], columns[at]
        times_exact = left[i] / columns[at][i]
        if times_exact.denominator != 1:
            return None
        step = int(times_exact)
        left = [side - step * a for side, a in zip(left, columns[at][:m], strict=True)]
        x0 = [x + step * u for x, u in zip(x0, columns[at][m:], strict=True)]
        at += 1
    return x0, [column[m:] for column in columns[at:]]


def short_basis(basis: Whole, metric: Floats) -> Whole:
    """Return a basis of the same lattice with short, nearly orthogonal vectors.

    The length of a vector v is that of `metric @ v`. The algorithm is that of Lenstra, Lenstra and
    Lovász (1982), with the coefficients in floats, recomputed at every step, and the basis in whole
    numbers: rounding could make the basis longer, but never changes the lattice.
    """
    vectors = [list(vector) for vector in basis]
    at, left = 1, 200 * len(vectors) ** 2
    while at < len(vectors) and left > 0:
        left -= 1
        for j in range(at - 1, -1, -1):
            triangle = _triangle(vectors, metric)
            times = round(triangle[j, at] / triangle[j, j]) if triangle[j, j] else 0
            vectors[at] = [a - times * b for a, b in zip(vectors[at], vectors[j], strict=True)]
        triangle = _triangle(vectors, metric)
        beside = triangle[at - 1, at] ** 2 + triangle[at, at] ** 2
        if beside >= 0.75 * triangle[at - 1, at - 1] ** 2:
            at += 1
        else:
            vectors[at - 1], vectors[at] = vectors[at], vectors[at - 1]
            at = max(at - 1, 1)
    return vectors


def _triangle(vectors: Whole, metric: Floats) -> Floats:
    """Return the basis in orthogonal coordinates: upper triangular, one column per vector."""
    return np.linalg.qr(metric @ np.array(vectors, dtype=np.float64).T).R
