"""Constraints on rounded numbers: the nearest ones, against every combination nearby."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from microagg.constraints.system import System
from microagg.core.errors import ParameterError

RNG = np.random.default_rng(5)
SYSTEMS = [
    (["a + b = c"], {"a": 2, "b": 2, "c": 2}, {}),
    (["a + b = c"], {"a": 2, "b": 1, "c": 2}, {}),
    (["a + b = c", "a >= 0.03"], {"a": 1, "b": 2, "c": 1}, {}),
    (["a = 0.5 * b"], {"a": 2, "b": 1}, {}),
    (["a + n = c"], {"a": 1, "c": 0}, {"n": (-128, 127)}),
    (["a <= b", "b <= 0.25"], {"a": 2, "b": 1}, {}),
    (["n + m = 40"], {"n": -1}, {"n": (-128, 127), "m": (0, 255)}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "digits", "integers"), SYSTEMS)
def test_nearest_of_all_combinations(texts, digits, integers):
    names = sorted({name for name in "abcnm" if any(name in text for text in texts)})
    system = System.of(texts, names, digits=digits, integers=integers)
    steps = {name: Fraction(10) ** -digits.get(name, 0) for name in names}
    n = 12
    means = {name: RNG.normal(scale=2.5, size=n) * float(steps[name]) + 0.1 for name in names}
    scales = {name: float(steps[name]) * (1 + j) for j, name in enumerate(names)}
    found = system.nearest(means, scales)
    assert found.unproved == 0
    for i in range(n):
        point = [Fraction(str(found.values[name][i].item())) for name in names]
        own = dict(zip(names, point, strict=True))
        assert all((own[name] / steps[name]).denominator == 1 for name in names)
        assert _satisfies(system, own), "exactly, as decimal numbers"
        here = _distance(own, means, scales, i)
        radius = int(np.ceil(np.sqrt(here) * max(scales[c] / float(steps[c]) for c in names))) + 1
        best = min(
            (
                _distance(other, means, scales, i)
                for other in _around(means, steps, names, i, min(radius, 14))
                if _satisfies(system, other)
            ),
            default=here,
        )
        assert here <= best * (1 + 1e-9) + 1e-12


def _around(means, steps, names, i, radius):
    """Every combination of multiples near the means."""
    ranges = []
    for name in names:
        middle = round(Fraction(float(means[name][i])) / steps[name])
        ranges.append([(middle + j) * steps[name] for j in range(-radius, radius + 1)])
    for values in product(*ranges):
        yield dict(zip(names, values, strict=True))


def _satisfies(system, values):
    for name, (low, high) in system.steps.integers.items():
        if not low <= values[name] <= high:
            return False
    for constraint in system.constraints:
        total = sum(factor * values[name] for name, factor in constraint.coefficients.items())
        over = total - constraint.bound
        if not {"=": over == 0, "<=": over <= 0, ">=": over >= 0}[constraint.relation]:
            return False
    return True


def _distance(values, means, scales, i):
    return sum(((float(v) - means[name][i]) / scales[name]) ** 2 for name, v in values.items())


def test_means_that_satisfy_all_are_only_rounded():
    system = System.of(["a <= 100"], ["a"], digits={"a": 2})
    found = system.nearest({"a": np.array([0.145, (0.28 + 0.29) / 2, -0.145])}, {"a": 1.0})
    assert found.values["a"].tolist() == [0.15, 0.29, -0.15]
    assert found.moved == 0


def test_no_rounded_values_satisfy_it():
    message = (
        r"constraint 'a \+ b = 0.005' cannot be satisfied: no values do so in multiples of 0.01 in "
        r"'a', 'b'. Change or remove it, or release more digits of 'a'"
    )
    with pytest.raises(ParameterError, match=message):
        System.of(["a + b = 0.005"], ["a", "b"], digits={"a": 2, "b": 2})
    assert System.of(["a + b = 0.005"], ["a", "b"], digits={"a": 2, "b": 3})


def test_tens_in_the_limits_of_a_type():
    system = System.of(["n >= 0"], ["n"], digits={"n": -1}, integers={"n": (-128, 127)})
    found = system.nearest({"n": np.array([126.0, 4.9])}, {"n": 1.0})
    assert found.values["n"].tolist() == [120, 0]
