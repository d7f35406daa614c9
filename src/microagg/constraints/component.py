"""Columns linked by constraints, and the constraints in exact form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor

import numpy as np

from microagg.constraints.exact import echelon, reduced, whole_row, whole_solutions
from microagg.constraints.grammar import Constraint
from microagg.constraints.projection import Polyhedron

# Whole numbers up to here are exact as floats.
LARGEST_WHOLE = 2**53

Limits = tuple[int, int]


@dataclass(frozen=True)
class Linear:
    """Coprime whole coefficients; the sum of columns times these equals, or is at most, `side`."""

    coefficients: tuple[int, ...]
    side: Fraction


@dataclass(frozen=True)
class Component:
    """Constraints over `columns`; those in `limits` contain whole numbers from low to high."""

    columns: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    limits: Mapping[str, Limits]

    @cached_property
    def equal(self) -> list[Linear]:
        """The equalities, each once."""
        rows = [self._linear(c) for c in self.constraints if c.relation == "="]
        return list(dict.fromkeys(rows))

    @cached_property
    def below(self) -> list[Linear]:
        """The inequalities as <=, the tightest of parallel ones, including the limits of types.

        If all columns of a row contain whole numbers, its side is rounded down to one.
        """
        rows = [self._linear(c) for c in self.constraints if c.relation != "="]
        for name, (low, high) in self.limits.items():
            unit = tuple(int(name == column) for column in self.columns)
            rows.append(Linear(unit, Fraction(min(high, LARGEST_WHOLE))))
            rows.append(Linear(tuple(-c for c in unit), Fraction(-max(low, -LARGEST_WHOLE))))
        tightest: dict[tuple[int, ...], Fraction] = {}
        for row in rows:
            side = Fraction(floor(row.side)) if self.is_whole(row) else row.side
            tightest[row.coefficients] = min(side, tightest.get(row.coefficients, side))
        return [Linear(coefficients, side) for coefficients, side in tightest.items()]

    @cached_property
    def polyhedron(self) -> Polyhedron:
        """All constraints as floats, for points that need not be whole."""
        equal, equal_sides = _floats(self.equal, len(self.columns))
        below, below_sides = _floats(self.below, len(self.columns))
        return Polyhedron(equal, equal_sides, below, below_sides)

    def is_whole(self, row: Linear) -> bool:
        """Return whether all columns of the row contain whole numbers."""
        pairs = zip(self.columns, row.coefficients, strict=True)
        return all(name in self.limits for name, coefficient in pairs if coefficient)

    def _linear(self, constraint: Constraint) -> Linear:
        sign = -1 if constraint.relation == ">=" else 1
        row = [constraint.coefficients.get(name, Fraction(0)) * sign for name in self.columns]
        return whole_linear([*row, constraint.bound * sign])

    def fixed(self, constants: Mapping[str, Fraction]) -> "Component | None":
        """Return the constraints that remain for the other columns if these are constant.

        None if the constants alone violate a constraint.
        """
        left = []
        for constraint in self.constraints:
            held = constants.keys() & constraint.coefficients.keys()
            bound = constraint.bound - sum(constraint.coefficients[c] * constants[c] for c in held)
            others = {c: v for c, v in constraint.coefficients.items() if c not in held}
            if others:
                left.append(Constraint(constraint.text, others, constraint.relation, bound))
            elif not {"=": bound == 0, "<=": bound >= 0, ">=": bound <= 0}[constraint.relation]:
                return None
        return Component(
            tuple(name for name in self.columns if name not in constants),
            tuple(left),
            {name: limits for name, limits in self.limits.items() if name not in constants},
        )


class WholePart:
    """Constraints on the columns of whole numbers alone, after eliminating the others.

    Equalities that involve other columns can be satisfied by those, as far as they are free; what
    remains, exactly, is `equal` and `below`. Inequalities that still involve other columns are left
    out.
    """

    def __init__(self, component: Component) -> None:
        loose = [j for j, name in enumerate(component.columns) if name not in component.limits]
        whole = [j for j, name in enumerate(component.columns) if name in component.limits]
        n = len(loose)

        def exact(row: Linear) -> list[Fraction]:
            return [*(Fraction(row.coefficients[j]) for j in (*loose, *whole)), row.side]

        pivots = echelon([exact(row) for row in component.equal], n)
        self.n_columns = len(whole)
        self.equal = [whole_linear(row[n:]) for pivot, row in pivots if pivot < 0]
        rests = [reduced(exact(row), pivots) for row in component.below]
        alone = [row[n:] for row in rests if not any(row[:n])]
        self.below = [
            Linear(row.coefficients, Fraction(floor(row.side)))
            for row in map(whole_linear, alone)
            if any(row.coefficients)
        ]

    def solutions(self) -> tuple[list[int], list[list[int]]] | None:
        """Return x0 and N, where x0 + N z solve the equalities; None if nothing does."""
        matrix = [list(row.coefficients) for row in self.equal]
        return whole_solutions(matrix, [row.side for row in self.equal], self.n_columns)


def whole_linear(row: Sequence[Fraction]) -> Linear:
    """Return a row, whose last entry is its side, with coprime whole coefficients."""
    coefficients, factor = whole_row(row[:-1])
    return Linear(tuple(coefficients), row[-1] * factor)


def _floats(rows: Sequence[Linear], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows as floats: exact if possible, else divided by the largest coefficient."""
    matrix, sides = np.empty((len(rows), n)), np.empty(len(rows))
    for i, row in enumerate(rows):
        largest = max(map(abs, row.coefficients))
        divisor = largest if largest > LARGEST_WHOLE else 1
        matrix[i] = [float(Fraction(value, divisor)) for value in row.coefficients]
        sides[i] = float(row.side / divisor)
    return matrix, sides
