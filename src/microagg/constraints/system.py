"""All constraints of a release: their columns, violations, and nearest values."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from microagg.constraints.component import LARGEST_WHOLE, Component, Limits
from microagg.constraints.exact import echelon
from microagg.constraints.feasibility import feasible
from microagg.constraints.grammar import Constraint, parse
from microagg.constraints.nearest import nearest_points
from microagg.constraints.steps import Steps
from microagg.constraints.violations import count_violations
from microagg.core.arrays import Floats
from microagg.core.errors import DataError, ParameterError
from microagg.core.words import did_you_mean
from microagg.kernels.basics.rounding import half_away_from_zero


@dataclass(frozen=True)
class Satisfied:
    """Values of groups that satisfy all constraints.

    `values` has the columns that occur in constraints: int64 for those of whole numbers, else
    float64. `plain` is what they would be without constraints: the mean, rounded half away from
    zero for whole numbers and for rounded ones. `moved` counts the groups whose
    values differ from that. `unproved` counts groups whose rounded numbers may not be the nearest,
    because the search ran out of budget; they are at most `excess` farther from their means than
    the nearest, in standard deviations.
    """

    values: dict[str, NDArray[Any]]
    plain: dict[str, Floats]
    moved: int
    unproved: int
    excess: float


@dataclass(frozen=True)
class System:
    """Constraints over quasi-identifiers, split into `components` that share no column.

    >>> system = System.of(["net + tax = gross", "tax >= 0"], ["net", "tax", "gross", "age"])
    >>> system.violations({"net": [2.0, 3], "tax": [1.0, -1], "gross": [3.0, 3], "age": [7, 8]})
    {'net + tax = gross': 1, 'tax >= 0': 1}
    >>> means = {"net": np.array([3.0]), "tax": np.array([1.0]), "gross": np.array([7.0])}
    >>> system.nearest(means, {"net": 1.0, "tax": 1.0, "gross": 1.0}).values
    {'net': array([4.]), 'tax': array([2.]), 'gross': array([6.])}
    """

    constraints: tuple[Constraint, ...]
    components: tuple[Component, ...]
    steps: Steps

    @classmethod
    def of(
        cls,
        constraints: Iterable[str | Constraint],
        columns: Sequence[str],
        *,
        integers: Mapping[str, Limits] | None = None,
        digits: Mapping[str, int] | None = None,
        other_columns: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the system, if constraints involve only `columns` and can all be satisfied.

        `integers` names the columns of whole numbers, with the smallest and largest values of
        their types; `digits` those that are rounded, with their decimals, -1 for tens;
        `other_columns` those that have another role in the table, for the message.
        """
        parsed = [parse(c) if not isinstance(c, Constraint) else c for c in constraints]
        unique = list({constraint.meaning: constraint for constraint in reversed(parsed)}.values())
        unique.reverse()
        for constraint in unique:
            _check_columns(constraint, columns, other_columns or {})
        steps = Steps(digits or {}, integers or {})
        components = _components([steps.rescaled(own) for own in unique], columns, steps.limits)
        for component in components:
            if not feasible(component):
                raise _infeasible(component, steps)
        return cls(tuple(unique), tuple(components), steps)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that occur in constraints: those that `nearest` needs and returns."""
        return tuple(name for component in self.components for name in component.columns)

    def equalities(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the equalities as A v = b, with a column of A for each of `columns`.

        Those that follow from others are left out.
        """
        kept: list[list[Fraction]] = []
        for constraint in self.constraints:
            if constraint.relation == "=":
                row = [constraint.coefficients.get(name, Fraction(0)) for name in columns]
                if len(echelon([*kept, [*row, constraint.bound]], len(columns))) > len(kept):
                    kept.append([*row, constraint.bound])
        rows = np.array(kept, dtype=np.float64).reshape(-1, len(columns) + 1)
        return rows[:, :-1], rows[:, -1]

    def bounds(self, column: str) -> tuple[float, float]:
        """Return the least and the largest value that constraints on the column alone allow."""
        low, high = -math.inf, math.inf
        for constraint in self.constraints:
            if constraint.coefficients.keys() == {column}:
                (factor,) = constraint.coefficients.values()
                bound = float(constraint.bound / factor)
                flips = factor < 0
                if constraint.relation == "=" or (constraint.relation == ">=") != flips:
                    low = max(low, bound)
                if constraint.relation == "=" or (constraint.relation == "<=") != flips:
                    high = min(high, bound)
        return low, high

    def violations(
        self, columns: Mapping[str, Any], scales: Mapping[str, float] | None = None
    ) -> dict[str, int]:
        """Return how many records violate each constraint; see `count_violations`."""
        return count_violations(self.constraints, columns, scales)

    def nearest(self, means: Mapping[str, Any], scales: Mapping[str, float]) -> Satisfied:
        """Return the values nearest to `means` that satisfy all constraints, for every group.

        Nearest is least in the sum of ((value - mean) / scale)^2. Continuous columns whose means
        satisfy the constraints come back bit for bit. A column of scale 0, i.e. a constant one,
        stays unchanged as long as the others can satisfy the constraints; if they cannot, it moves
        like a column whose scale is its absolute value.

        Continuous columns take O(n) time for n groups; whole and rounded numbers need a search in
        each group.
        """
        values: dict[str, NDArray[Any]] = {}
        plain: dict[str, Floats] = {}
        n = len(np.asarray(means[self.columns[0]])) if self.components else 0
        moved, unproved = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        excess = 0.0
        for component in self.components:
            points = np.column_stack(
                [self.steps.count(name, means[name]) for name in component.columns]
            )
            _check_means(component, points)
            widths = np.array(
                [self.steps.width(name, float(scales[name])) for name in component.columns]
            )
            found = nearest_points(component, points, widths)
            unproved |= ~found.proved
            excess = max(excess, found.excess)
            for j, name in enumerate(component.columns):
                rounds, own = name in component.limits, found.values[name]
                nearest = half_away_from_zero(points[:, j]) if rounds else points[:, j]
                moved |= own != nearest
                plain[name] = self.steps.value(name, nearest).astype(np.float64)
                values[name] = self.steps.value(name, np.ascontiguousarray(own))
        return Satisfied(values, plain, int(moved.sum()), int(unproved.sum()), excess)


def _check_columns(
    constraint: Constraint, columns: Sequence[str], other_columns: Mapping[str, str]
) -> None:
    for name in constraint.coefficients:
        if name in columns:
            continue
        if name in other_columns:
            raise ParameterError(
                f"constraint {constraint.text!r}: columns must be quasi-identifiers, whose values "
                f"are averaged; {name!r} is {other_columns[name]}. Make it a quasi-identifier, or "
                "remove the constraint."
            )
        known = [*columns, *other_columns]
        listing = ", ".join(repr(column) for column in columns)
        raise ParameterError(
            f"constraint {constraint.text!r}: columns must be quasi-identifiers ({listing}); got "
            f"{name!r}, which the table does not have.{did_you_mean(name, known)} Correct the "
            "name, or remove the constraint."
        )


def _components(
    constraints: Sequence[Constraint], columns: Sequence[str], integers: Mapping[str, Limits]
) -> list[Component]:
    """Return the constraints in parts that share no column, in the order of the columns."""
    parts: list[tuple[set[str], list[Constraint]]] = []
    for constraint in constraints:
        names, linked = set(constraint.coefficients), [constraint]
        for part in [part for part in parts if part[0] & names]:
            parts.remove(part)
            names |= part[0]
            linked = part[1] + linked
        parts.append((names, linked))
    parts.sort(key=lambda part: min(columns.index(name) for name in part[0]))
    return [
        Component(
            tuple(name for name in columns if name in names),
            tuple(linked),
            {name: integers[name] for name in columns if name in names and name in integers},
        )
        for names, linked in parts
    ]


def _infeasible(component: Component, steps: Steps) -> ParameterError:
    """Return an error that names a minimal set of contradictory constraints."""
    guilty = list(component.constraints)
    for constraint in component.constraints:
        others = [other for other in guilty if other is not constraint]
        if others and not feasible(replace(component, constraints=tuple(others))):
            guilty = others
    texts = " and ".join(repr(constraint.text) for constraint in guilty)
    loose = replace(component, constraints=tuple(guilty), limits={})
    why, instead = "", ""
    if feasible(loose):
        names = [name for name in component.limits if any(name in c.coefficients for c in guilty)]
        why, instead = steps.wording(names)
    if len(guilty) == 1:
        return ParameterError(
            f"constraint {texts} cannot be satisfied: no values do so{why}. Change or remove "
            f"it{instead}."
        )
    return ParameterError(
        f"the constraints {texts} contradict each other: no values satisfy them{why}. Change or "
        f"remove one of them{instead}."
    )


def _check_means(component: Component, points: Floats) -> None:
    for j, name in enumerate(component.columns):
        if not np.isfinite(points[:, j]).all():
            raise DataError(
                f"the means of {name!r} must be finite numbers to satisfy constraints; some are "
                "not. Remove or impute its missing values first."
            )
        if name in component.limits:
            check_exact(name, points[:, j])


def check_exact(name: str, values: NDArray[Any]) -> None:
    """Refuse whole numbers that floats cannot hold exactly."""
    if len(values) and max(-int(values.min()), int(values.max())) > LARGEST_WHOLE:
        raise DataError(
            f"whole numbers in constraints must be from -2**53 to 2**53; {name!r} has larger "
            "ones. Divide the column, convert it to floats, or remove its constraints."
        )
