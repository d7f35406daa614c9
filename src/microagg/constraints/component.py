"""Columns that constraints link with each other, and whether any values satisfy them at all."""

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
    """Coprime whole coefficients, one for each column, whose sum is =, or at most, the side."""

    coefficients: tuple[int, ...]
    side: Fraction


@dataclass(frozen=True)
class Component:
    """Constraints over `columns`; those in `limits` hold whole numbers from low to high."""

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
        """The inequalities as <=, of parallel ones the tightest, with the limits of types.

        Where all columns hold whole numbers, so does the side.
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
        """Say whether all columns of the row hold whole numbers."""
        pairs = zip(self.columns, row.coefficients, strict=True)
        return all(name in self.limits for name, coefficient in pairs if coefficient)

    def _linear(self, constraint: Constraint) -> Linear:
        sign = -1 if constraint.relation == ">=" else 1
        row = [constraint.coefficients.get(name, Fraction(0)) * sign for name in self.columns]
        whole, factor = whole_row(row)
        return Linear(tuple(whole), constraint.bound * sign * factor)

    def fixed(self, constants: Mapping[str, Fraction]) -> "Component | None":
        """Return what is left for the other columns if these are constant, or None if nothing can.

        None stands for constants that no values of the other columns go with.
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
        component = Component(
            tuple(name for name in self.columns if name not in constants),
            tuple(left),
            {name: limits for name, limits in self.limits.items() if name not in constants},
        )
        return component if component.feasible() else None

    def feasible(self) -> bool:
        """Say whether any values satisfy all constraints, with whole numbers where they must be.

        Equalities, and inequalities that contradict them or each other in pairs, are judged
        exactly; other sets of inequalities by a mixed-integer program (HiGHS), within its
        tolerance of 1e-6 or so.
        """
        n = len(self.columns)
        pivots = echelon([[*map(Fraction, row.coefficients), row.side] for row in self.equal], n)
        if any(pivot < 0 for pivot, _ in pivots) or whole_lattice(self) is None:
            return False
        sides: dict[tuple[int, ...], Fraction] = {}
        for row in self.below:
            rest = reduced([*map(Fraction, row.coefficients), row.side], pivots)
            whole, factor = whole_row(rest[:n])
            key, side = tuple(whole), rest[n] * factor
            if not any(key) and side < 0:
                return False
            sides[key] = min(side, sides.get(key, side))
        for key, side in sides.items():
            opposite = sides.get(tuple(-c for c in key))
            if opposite is not None and any(key) and side + opposite < 0:
                return False
        return not self.below or self._solvable()

    def _solvable(self) -> bool:
        from scipy.optimize import Bounds, LinearConstraint, milp

        everything = self.polyhedron
        rows = np.vstack([everything.equal, everything.below])
        high = np.concatenate([everything.equal_sides, everything.below_sides])
        low = np.where(np.arange(len(high)) < len(everything.equal), high, -np.inf)
        widths = np.abs(rows).max(axis=1)
        # The widest limits of types would only cost the solver digits.
        used = np.isfinite(low) | (high < LARGEST_WHOLE)
        rows, low, high = (
            (rows / widths[:, None])[used],
            (low / widths)[used],
            (high / widths)[used],
        )
        if not used.any():
            return True
        found = milp(
            np.zeros(len(self.columns)),
            integrality=[int(name in self.limits) for name in self.columns],
            bounds=Bounds(-np.inf, np.inf),
            constraints=LinearConstraint(rows, low, high),
            options={"node_limit": 10_000},
        )
        return bool(found.status != 2)


def whole_lattice(component: Component) -> tuple[list[int], list[list[int]]] | None:
    """Return x0 and the basis N: the whole columns are x0 + N z, or None if there are no such.

    Equalities that hold other columns too can be satisfied by those, as far as they are free: what
    is left after these have been eliminated, exactly, is solved in whole numbers.
    """
    loose = [j for j, name in enumerate(component.columns) if name not in component.limits]
    whole = [j for j, name in enumerate(component.columns) if name in component.limits]
    rows = [
        [Fraction(row.coefficients[j]) for j in (*loose, *whole)] + [row.side]
        for row in component.equal
    ]
    left = [row[len(loose) :] for pivot, row in echelon(rows, len(loose)) if pivot < 0]
    matrix, sides = [], []
    for row in left:
        coefficients, factor = whole_row(row[:-1])
        matrix.append(coefficients)
        sides.append(row[-1] * factor)
    return whole_solutions(matrix, sides, len(whole))


def _floats(rows: Sequence[Linear], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows as floats: exact where whole numbers are, else divided by the largest."""
    matrix, sides = np.empty((len(rows), n)), np.empty(len(rows))
    for i, row in enumerate(rows):
        largest = max(map(abs, row.coefficients))
        divisor = largest if largest > LARGEST_WHOLE else 1
        matrix[i] = [float(Fraction(value, divisor)) for value in row.coefficients]
        sides[i] = float(row.side / divisor)
    return matrix, sides
