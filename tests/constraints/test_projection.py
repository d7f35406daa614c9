"""Nearest points of polyhedra: against scipy's general solver, and by the conditions they meet."""

import numpy as np
import pytest
from scipy.optimize import minimize

from microagg.constraints import projection
from microagg.constraints.projection import Polyhedron, project


def some_polyhedron(seed):
    """A polyhedron with a known point in it, scales, and points to project."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    inside = 10 * rng.normal(size=d)
    equal = rng.integers(-3, 4, size=(rng.integers(0, d), d)).astype(float)
    below = rng.integers(-3, 4, size=(rng.integers(0, 8), d)).astype(float)
    room = rng.random(len(below)) * rng.integers(0, 3, size=len(below))
    polyhedron = Polyhedron(equal, equal @ inside, below, below @ inside + room)
    return (
        polyhedron,
        10 ** rng.uniform(-1, 1, size=d),
        inside + 10 * rng.normal(size=(20, d)),
        inside,
    )


def by_scipy(polyhedron, scales, point, start):
    """Squared distance of the nearest point, by sequential quadratic programming."""
    constraints = []
    if len(polyhedron.equal):
        constraints.append(
            {
                "type": "eq",
                "fun": lambda w: polyhedron.equal @ (point + w * scales) - polyhedron.equal_sides,
                "jac": lambda _: polyhedron.equal * scales,
            }
        )
    if len(polyhedron.below):
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda w: polyhedron.below_sides - polyhedron.below @ (point + w * scales),
                "jac": lambda _: -polyhedron.below * scales,
            }
        )
    found = minimize(
        lambda w: w @ w,
        (start - point) / scales,
        jac=lambda w: 2 * w,
        constraints=constraints,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.fun if found.success else np.inf


@pytest.mark.parametrize("seed", range(25))
def test_the_nearest_point(seed):
    polyhedron, scales, points, inside = some_polyhedron(seed)
    found, satisfied = project(points, scales, polyhedron)
    assert satisfied.all()
    assert polyhedron.holds(found, scales).all()
    distances = np.square((found - points) / scales).sum(axis=1)
    for point, distance in zip(points[:4], distances):
        expected = by_scipy(polyhedron, scales, point, inside)
        assert distance <= expected * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("seed", range(25, 60))
def test_no_point_inside_lies_at_an_acute_angle(seed):
    # That is what makes a point of a convex set the nearest one.
    polyhedron, scales, points, inside = some_polyhedron(seed)
    found, _ = project(points, scales, polyhedron)
    others = np.vstack([inside, found])
    ahead = (points - found) / scales
    for at in range(len(points)):
        beside = (others - found[at]) / scales
        sizes = np.linalg.norm(ahead[at]) * np.linalg.norm(beside, axis=1)
        assert (beside @ ahead[at] <= 1e-8 * (sizes + 1)).all()


@pytest.mark.parametrize("seed", range(60, 75))
def test_one_by_one_gives_the_same(seed, monkeypatch):
    polyhedron, scales, points, _ = some_polyhedron(seed)
    expected, _ = project(points, scales, polyhedron)
    monkeypatch.setattr(projection, "_ROUNDS", 0)  # no guess is ever confirmed
    found, satisfied = project(points, scales, polyhedron)
    assert satisfied.all()
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(10))
def test_what_satisfies_stays_bit_for_bit(seed):
    polyhedron, scales, points, _ = some_polyhedron(seed)
    found, _ = project(points, scales, polyhedron)
    again, satisfied = project(found, scales, polyhedron)
    assert satisfied.all()
    assert np.array_equal(again, found)


def test_rounding_of_large_values_that_cancel_out_moves_nothing():
    rng = np.random.default_rng(0)
    net, tax = rng.normal(size=(2, 1000, 100)) * 1e6
    net[:, 0] = -net[:, 1:].sum(axis=1)  # every mean of net is almost zero
    tax[:, 0] = -tax[:, 1:].sum(axis=1)
    means = np.column_stack([net.mean(axis=1), tax.mean(axis=1), (net + tax).mean(axis=1)])
    sums = Polyhedron(np.array([[1.0, 1, -1]]), np.zeros(1), np.zeros((0, 3)), np.zeros(0))
    found, satisfied = project(means, np.full(3, 1e6), sums)
    assert satisfied.all()
    assert np.array_equal(found, means)


def test_inequalities_hold_without_tolerance():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2000, 3)) * [1e3, 7e2, 0.3]
    below = np.array([[1.0, -1, 0], [0, 0, -1]])
    sides = np.array([0.0, -0.1])
    limits = Polyhedron(np.zeros((0, 3)), np.zeros(0), below, sides)
    found, _ = project(points, points.std(axis=0), limits)
    assert (found[:, 0] <= found[:, 1]).all()
    assert (found[:, 2] >= 0.1).all()
    assert (found[points[:, 2] < 0.1, 2] == 0.1).all()


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        ([1.0, -1, 0], lambda a, b, _: a <= b),
        ([1.0, -1, -1], lambda a, b, c: (a <= b + c) & (a - b <= c) & (a - c <= b)),
        ([29.0, -25, 0], lambda a, b, _: (1.16 * a <= b) & (29 * a <= 25 * b)),
    ],
)
def test_inequalities_hold_however_they_are_computed(row, holds):
    points = np.random.default_rng(3).normal(size=(5000, 3)) * [1e3, 7e2, 0.3]
    limit = Polyhedron(np.zeros((0, 3)), np.zeros(0), np.array([row]), np.zeros(1))
    found, _ = project(points, points.std(axis=0), limit)
    assert holds(*found.T).all()


def test_what_comes_down_to_nothing_is_zero():
    equal, below = np.array([[1.0, 0.001]]), np.array([[2.0, 0]])
    cone = Polyhedron(equal, np.zeros(1), below, np.zeros(1))
    points = np.random.default_rng(4).normal(size=(200, 2)) * [1e2, 1e4] + [1e3, 0]
    found, _ = project(points, np.array([1e2, 1e4]), cone)
    at_zero = found[:, 0] == 0
    assert at_zero.any()
    assert not found[at_zero].any()


def test_a_column_of_scale_zero_does_not_move_and_what_needs_it_to_is_told():
    sums = Polyhedron(np.array([[1.0, 1, -1]]), np.zeros(1), np.zeros((0, 3)), np.zeros(0))
    found, satisfied = project(np.array([[3.0, 2, 9]]), np.array([1.0, 0, 1]), sums)
    assert satisfied.all()
    assert np.array_equal(found, [[5, 2, 7]])
    found, satisfied = project(np.array([[3.0, 2, 9]]), np.zeros(3), sums)
    assert not satisfied.any()
    assert np.array_equal(found, [[3, 2, 9]])


def test_there_is_no_negative_zero():
    at_zero = Polyhedron(np.zeros((0, 1)), np.zeros(0), -np.ones((1, 1)), np.zeros(1))
    found, _ = project(np.array([[-3.0]]), np.ones(1), at_zero)
    assert not np.signbit(found).any()


def test_more_inequalities_than_a_byte_has_bits():
    rng = np.random.default_rng(2)
    d = 12
    box = np.vstack([np.eye(d), -np.eye(d)])
    unit = Polyhedron(np.zeros((0, d)), np.zeros(0), box, np.ones(2 * d))
    points = 2 * rng.normal(size=(300, d))
    found, satisfied = project(points, np.ones(d), unit)
    assert satisfied.all()
    assert np.array_equal(found, np.clip(points, -1, 1))


def test_units_beyond_numbers_end_in_an_answer():
    below = Polyhedron(np.zeros((0, 2)), np.zeros(0), np.array([[-1.0, 1.0]]), np.zeros(1))
    values = np.array([[0.0, 7.0], [-2e-309, 120.0]])
    moved, _ = project(values, np.array([1e-309, 0.0]), below)
    assert np.isfinite(moved).all()
