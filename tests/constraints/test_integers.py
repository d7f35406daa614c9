"""Whole numbers that satisfy constraints: against exhaustive search in small boxes."""

from itertools import product

import numpy as np
import pytest

from microagg.constraints import integers
from microagg.constraints.grammar import parse
from microagg.constraints.system import System
from microagg.core.errors import GuaranteeError, ParameterError
from microagg.kernels.lattice import nearest_points

BOX = 5
ANY = (-(2**63), 2**63 - 1)


def some_constraints(seed, columns):
    rng = np.random.default_rng(seed)
    texts = []
    while not texts or len(texts) < rng.integers(1, 4):
        terms = rng.integers(-3, 4, size=len(columns))
        if np.count_nonzero(terms) > 1:
            left = " + ".join(f"{term}*{name}" for term, name in zip(terms, columns) if term)
            texts.append(f"{left} {rng.choice(['=', '<=', '>='])} {rng.integers(-6, 7)}/2")
    used = [name for name in columns if any(f"*{name}" in text for text in texts)]
    means = rng.uniform(-BOX, BOX, size=(4, len(used)))
    return texts, used, means, 10 ** rng.uniform(-0.5, 0.5, size=len(used))


def nearest_in_box(texts, used, mean, scales):
    """Least squared distance over all whole numbers in the box; `y` may be any number."""
    whole = [j for j, name in enumerate(used) if name != "y"]
    points = np.array(list(product(range(-BOX, BOX + 1), repeat=len(whole))), dtype=float)
    low, high = np.full(len(points), -np.inf), np.full(len(points), np.inf)
    for constraint in map(parse, texts):
        factors = [float(constraint.coefficients.get(used[j], 0)) for j in whole]
        rest = float(constraint.bound) - points @ factors
        factor = float(constraint.coefficients.get("y", 0))
        upward = {"=": 0, "<=": 1, ">=": -1}[constraint.relation] * (-1 if factor < 0 else 1)
        if not factor:
            kept = rest * upward >= 0 if upward else rest == 0
            low, high = np.where(kept, low, np.inf), np.where(kept, high, -np.inf)
            continue
        allowed = rest / factor
        if upward >= 0:
            high = np.minimum(high, allowed)
        if upward <= 0:
            low = np.maximum(low, allowed)
    kept = low <= high + 1e-12
    if not kept.any():
        return None
    costs = np.square((points[kept] - mean[whole]) / scales[whole]).sum(axis=1)
    if "y" in used:
        y = np.clip(mean[-1], low[kept], high[kept])
        costs += np.square((y - mean[-1]) / scales[-1])
    return costs.min()


@pytest.mark.parametrize("columns", ["ab", "abc", "aby", "abcy"])
@pytest.mark.parametrize("seed", range(30))
def test_exhaustive_search(columns, seed):
    texts, used, means, scales = some_constraints(seed, columns)
    limits = {name: (-BOX, BOX) for name in used if name != "y"}
    if nearest_in_box(texts, used, means[0], scales) is None:
        with pytest.raises(ParameterError, match="no values"):
            System.of(texts, used, integers=limits)
        return
    system = System.of(texts, used, integers=limits)
    found = system.nearest(dict(zip(used, means.T)), dict(zip(used, scales)))
    assert found.unproved == 0
    assert system.violations(found.values) == dict.fromkeys(texts, 0)
    points = np.column_stack([found.values[name] for name in used])
    for mean, point in zip(means, points):
        distance = np.square((point - mean) / scales).sum()
        assert distance == pytest.approx(nearest_in_box(texts, used, mean, scales), abs=1e-9)


def totals(n, seed=0):
    rng = np.random.default_rng(seed)
    net = rng.integers(0, 100_000, size=(n, 3))
    tax = rng.integers(0, 20_000, size=(n, 3))
    return {"net": net.mean(1), "tax": tax.mean(1), "gross": (net + tax).mean(1)}


def test_totals_add_up_exactly_and_stay_beside_the_means():
    means = totals(2000)
    scales = {name: float(values.std()) for name, values in means.items()}
    system = System.of(["net + tax = gross"], list(means), integers=dict.fromkeys(means, ANY))
    found = system.nearest(means, scales)
    values = found.values
    assert all(column.dtype == np.int64 for column in values.values())
    assert (values["net"] + values["tax"] == values["gross"]).all()
    assert max(np.abs(values[name] - means[name]).max() for name in means) < 1
    rounded = {name: np.floor(column + 0.5) for name, column in means.items()}
    add_up = rounded["net"] + rounded["tax"] == rounded["gross"]
    assert found.moved == np.count_nonzero(~add_up)
    assert all((values[name] == rounded[name])[add_up].all() for name in means)


def test_what_is_whole_and_satisfies_stays():
    means = {name: np.rint(values) for name, values in totals(50).items()}
    means["gross"] = means["net"] + means["tax"]
    system = System.of(["net + tax = gross"], list(means), integers=dict.fromkeys(means, ANY))
    found = system.nearest(means, dict.fromkeys(means, 3.0))
    assert found.moved == 0
    assert all(np.array_equal(found.values[name], means[name]) for name in means)


def test_groups_do_not_depend_on_each_other():
    means = totals(40)
    system = System.of(["net + tax = gross"], list(means), integers=dict.fromkeys(means, ANY))
    scales = dict.fromkeys(means, 1.0)
    together = system.nearest(means, scales).values
    for at in range(40):
        alone = system.nearest({name: column[[at]] for name, column in means.items()}, scales)
        assert all(alone.values[name][0] == together[name][at] for name in means)


def test_decimal_coefficients_and_a_total_that_is_no_whole_number():
    rng = np.random.default_rng(3)
    means = {"v1": rng.uniform(0, 1e4, 200), "v2": rng.uniform(0, 1e4, 200)}
    means["v3"] = 1.16 * means["v1"] + 1.07 * means["v2"]
    text = "1.16*v1 + 1.07*v2 = v3"
    scales = dict.fromkeys(means, 1000.0)
    system = System.of([text], list(means), integers={"v1": ANY, "v2": ANY})
    found = system.nearest(means, scales).values
    assert np.allclose(1.16 * found["v1"] + 1.07 * found["v2"], found["v3"], rtol=1e-12)
    system = System.of([text], list(means), integers=dict.fromkeys(means, ANY))
    found = system.nearest(means, scales).values
    assert (116 * found["v1"] + 107 * found["v2"] == 100 * found["v3"]).all()


def test_limits_of_types_are_kept():
    system = System.of(["a + b = c"], "abc", integers={"a": (0, 255), "b": (0, 255), "c": ANY})
    means = {"a": np.array([254.9, 0.2]), "b": np.array([254.9, 0.1]), "c": np.array([600.0, -9])}
    found = system.nearest(means, dict.fromkeys("abc", 1.0)).values
    assert [found[name].tolist() for name in "abc"] == [[255, 0], [255, 0], [510, 0]]


def test_far_outside_the_nearest_is_still_found_within_the_budget():
    rng = np.random.default_rng(4)
    means = {name: rng.uniform(50, 100, 100) for name in "abcd"}
    texts = ["29*a + 7*b + 13*c + 5*d <= 100", "a >= 0", "b >= 0", "c >= 0", "d >= 0"]
    system = System.of(texts, "abcd", integers=dict.fromkeys("abcd", ANY))
    found = system.nearest(means, dict.fromkeys("abcd", 10.0))
    assert found.unproved == 0
    assert not any(system.violations(found.values).values())


def test_at_the_end_of_the_budget_the_excess_is_stated(monkeypatch):
    rng = np.random.default_rng(5)
    names = [f"x{j}" for j in range(8)]
    text = " + ".join(f"{j + 2}*{name}" for j, name in enumerate(names)) + " = 7"
    means = {name: rng.uniform(0, 100, 30) for name in names}
    scales = dict.fromkeys(names, 2.0)
    system = System.of([text], names, integers=dict.fromkeys(names, ANY))

    def distances(found):
        return np.sqrt(sum(((found.values[n] - means[n]) / 2) ** 2 for n in names))

    best = system.nearest(means, scales)
    assert (best.unproved, best.excess) == (0, 0.0)
    monkeypatch.setattr(integers, "BUDGET", 8)
    early = system.nearest(means, scales)
    assert early.unproved > 0
    assert system.violations(early.values) == {text: 0}
    assert (distances(early) >= distances(best) - 1e-9).all()
    assert (distances(early) - distances(best) <= early.excess + 1e-9).all()
    assert 0 < early.excess < 10


def test_corners_too_narrow_to_search_are_rounded_inside(monkeypatch):
    rng = np.random.default_rng(7)
    texts = ["100*a - 99*b <= 0", "98*b - 99*a <= 0", "a + c <= y"]
    names = ["a", "b", "c", "y"]
    system = System.of(texts, names, integers=dict.fromkeys("abc", ANY))
    means = {name: rng.uniform(0, 1000, 50) for name in names}
    scales = dict.fromkeys(names, 100.0)
    best = system.nearest(means, scales)
    monkeypatch.setattr(integers, "BUDGET", 2)
    monkeypatch.setattr(integers, "CANDIDATES", 2)
    early = system.nearest(means, scales)
    assert early.unproved > best.unproved
    assert system.violations(early.values) == dict.fromkeys(texts, 0)


def test_nothing_is_released_if_nothing_was_found(monkeypatch):
    texts = ["29*a + 7*b <= 100", "29*a + 7*b >= 99", "a >= 0", "b >= 0", "c = a"]
    system = System.of(texts, "abc", integers=dict.fromkeys("abc", ANY))
    monkeypatch.setattr(integers, "BUDGET", 1)
    monkeypatch.setattr(integers, "CANDIDATES", 1)
    monkeypatch.setattr(integers, "nearest_by_program", lambda *_: None)
    means = {name: np.array([50.0]) for name in "abc"}
    with pytest.raises(GuaranteeError, match="1 of 1 groups; nothing was released"):
        system.nearest(means, dict.fromkeys("abc", 1.0))


def test_coefficients_with_too_many_digits_are_refused():
    with pytest.raises(ParameterError, match="too many digits"):
        System.of(["1.0000000000001*a + b <= 3"], "ab", integers=dict.fromkeys("ab", ANY))


def test_loops_do_the_same_uncompiled():
    R = np.array([[1.0, 0.3, -0.2], [0.0, 1.1, 0.4], [0.0, 0.0, 0.9]])
    rng = np.random.default_rng(6)
    targets = rng.normal(size=(20, 3)) * 2
    limits, rooms = np.array([[1, 1, 1], [-1, 0, 2]]), np.tile([3, 2], (20, 1))
    zeros = np.zeros(20)

    def run(function):
        out = np.zeros((20, 3), dtype=np.int64), np.zeros(20), np.zeros(20, dtype=np.int8)
        function(R, targets, targets, zeros, zeros, limits, rooms, 10_000, *out)
        return out

    points, costs, states = run(nearest_points.closest_points.py_func)
    for plain, compiled in zip((points, costs, states), run(nearest_points.closest_points)):
        assert np.array_equal(plain, compiled)
    assert (states == nearest_points.PROVED).all()
    box = np.array(list(product(range(-9, 10), repeat=3)))
    box = box[(box @ limits.T <= rooms[0]).all(axis=1)]
    for target, cost in zip(targets, costs):
        assert cost == pytest.approx(np.square(box @ R.T - target).sum(axis=1).min())


def test_lists_are_complete_up_to_their_room():
    R = np.array([[1.0, 0.3], [0.0, 1.1]])
    centers, radii = np.array([[0.2, 0.4], [3.0, -2.5]]), np.array([9.0, 4.0])
    for function in (nearest_points.points_within, nearest_points.points_within.py_func):
        points, counts = np.zeros((2, 50, 2), dtype=np.int64), np.zeros(2, dtype=np.intp)
        function(R, centers, radii, points, counts)
        for center, radius, listed, count in zip(centers, radii, points, counts):
            box = np.array(list(product(range(-9, 10), repeat=2)))
            inside = box[np.square((box - center) @ R.T).sum(axis=1) <= radius]
            assert sorted(map(tuple, listed[:count])) == sorted(map(tuple, inside))
        few = np.zeros((2, 3, 2), dtype=np.int64)
        function(R, centers, radii, few, counts)
        assert counts.tolist() == [3, 3]


CORNERS = [
    (
        ["0.5*d - c <= -100.85", "a >= 0", "1.16*b - c >= 13.74", "a + c >= 0"],
        {"a": 9394.0, "b": 0.0, "c": 98675.0, "d": 940537.0},
        {"a": (-(2**15), 2**15 - 1), "b": (-(2**15), 2**15 - 1), "c": ANY, "d": ANY},
    ),
    (
        ["0.5*c + a <= -53", "c + 2*b <= 0", "b >= 0", "c + 2*a + b >= 5"],
        {"a": 86009.0, "b": 28069.0, "c": 9.97},
        {"b": (-(2**15), 2**15 - 1), "c": ANY},
    ),
    (["a = 0", "0.5*a + 1.16*b + 2*c = 0"], {"a": 11.0, "b": 1e4, "c": 1e6}, {"b": ANY, "c": ANY}),
]


@pytest.mark.parametrize(("texts", "scales", "limits"), CORNERS)
def test_far_from_everything_allowed_something_is_found(texts, scales, limits):
    rng = np.random.default_rng(0)
    system = System.of(texts, list(scales), integers=limits)
    means = {
        name: rng.normal(size=40) * scale + scale if scale else np.full(40, 3.0)
        for name, scale in scales.items()
    }
    found = system.nearest(means, scales)
    assert not any(system.violations(found.values, scales).values())
    for name in limits:
        assert found.values[name].dtype == np.int64
