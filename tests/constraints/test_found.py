"""Totals and orders found in tables: all that were planted, and no nonsense."""

from itertools import combinations, product

import numpy as np
import pytest

from microagg.constraints.orders import find_orders, implied_orders
from microagg.constraints.totals import find_totals

N = 400


def rng(seed=0):
    return np.random.default_rng(seed)


def parts(n_parts, n=N, seed=0):
    chance = rng(seed)
    return {f"p{j}": chance.integers(0, 10 ** (2 + j % 3), n) for j in range(n_parts)}


def found(columns, missing=None):
    return {frozenset(own.signs): own for own in find_totals(columns, missing or {})}


class TestTotals:
    @pytest.mark.parametrize("n_parts", [2, 3, 5, 9])
    @pytest.mark.parametrize("seed", range(3))
    def test_of_any_number_of_parts(self, n_parts, seed):
        columns = {**parts(n_parts, seed=seed), "other": rng(seed + 9).integers(0, 999, N)}
        columns["all"] = sum(columns[f"p{j}"] for j in range(n_parts))
        (total,) = find_totals(columns, {})
        assert set(total.signs) == {*(f"p{j}" for j in range(n_parts)), "all"}
        assert (total.failing, total.n_records, total.bound) == (0, N, 0.0)
        assert {total.signs[f"p{j}"] for j in range(n_parts)} == {-total.signs["all"]}

    @pytest.mark.parametrize("rate", [0.07, 0.19, 0.2, 0.25, 0.5])
    def test_at_a_flat_rate(self, rate):
        net = np.round(rng().lognormal(12, 1.5, N), 2)
        tax = np.round(rate * net, 2)
        columns = {"net": net, "tax": tax, "gross": np.round(net + tax, 2), "staff": parts(1)["p0"]}
        (total,) = find_totals(columns, {})
        assert set(total.signs) == {"net", "tax", "gross"}
        assert (total.failing, total.bound) == (0, 0.0)

    def test_of_fixed_shares(self):
        whole = 10 * rng().integers(1, 10**6, N)
        columns = {"whole": whole, "small": 3 * whole // 10, "large": 7 * whole // 10}
        (total,) = find_totals(columns, {})
        assert set(total.signs) == {"whole", "small", "large"}

    def test_differences(self):
        columns = parts(2)
        columns["net"] = columns["p0"] - columns["p1"]
        (total,) = find_totals(columns, {})
        assert sum(sign * columns[name] for name, sign in total.signs.items()).any() == 0

    def test_within_each_other(self):
        columns = parts(6)
        columns["a"] = columns["p0"] + columns["p1"]
        columns["b"] = columns["p2"] + columns["p3"] + columns["p4"]
        columns["all"] = columns["a"] + columns["b"] + columns["p5"]
        wanted = [{"a", "p0", "p1"}, {"b", "p2", "p3", "p4"}, {"all", "a", "b", "p5"}]
        assert set(found(columns)) == set(map(frozenset, wanted))

    def test_of_a_table_with_margins(self):
        columns = parts(4)
        for name, (a, b) in {"r0": "01", "r1": "23", "c0": "02", "c1": "13"}.items():
            columns[name] = columns[f"p{a}"] + columns[f"p{b}"]
        assert len(found(columns)) == 4
        assert all(own.failing == 0 and len(own.signs) == 3 for own in found(columns).values())

    def test_that_fail_in_some_records(self):
        columns = parts(3)
        columns["all"] = columns["p0"] + columns["p1"] + columns["p2"]
        columns["all"][:7] += 1000
        (total,) = find_totals(columns, {})
        assert total.failing == 7

    def test_of_rounded_parts(self):
        exact = [rng(j).lognormal(6, 1, 2000) for j in range(3)]
        columns = {f"p{j}": np.rint(own / 20).astype(int) for j, own in enumerate(exact)}
        columns["all"] = columns["p0"] + columns["p1"] + columns["p2"]
        columns["all"] += np.where(rng().random(2000) < 0.07, 1, 0)
        (total,) = find_totals(columns, {})
        assert total.failing == int((rng().random(2000) < 0.07).sum())

    def test_of_decimals_and_of_floats(self):
        a, b, c = (rng(j).lognormal(6, 1, N) for j in range(3))
        columns = {"a": a.round(2), "b": b.round(2), "c": c}
        columns["ab"] = (columns["a"] + columns["b"]).round(2)
        columns["abc"] = columns["ab"] + c
        assert set(found(columns)) == {frozenset(("a", "b", "ab")), frozenset(("ab", "c", "abc"))}

    def test_with_a_part_that_is_nearly_always_zero(self):
        columns = parts(2, n=5000)
        columns["rare"] = np.where(rng().random(5000) < 0.003, 500, 0)
        columns["all"] = columns["p0"] + columns["p1"] + columns["rare"]
        assert set(found(columns)) == {frozenset(columns)}

    def test_columns_of_zeros_add_up_to_nothing(self):
        columns = {
            f"z{j}": np.where(rng(j).random(N) < 0.01, rng(j).integers(1, 99, N), 0)
            for j in range(6)
        }
        assert found(columns) == {}

    def test_shares_of_a_hundred(self):
        columns = {"a": rng(0).integers(0, 50, N), "b": rng(1).integers(0, 50, N)}
        columns["rest"] = 100 - columns["a"] - columns["b"]
        (total,) = find_totals(columns, {})
        assert abs(total.bound) == 100

    def test_missing_values_do_not_count(self):
        columns = parts(2)
        columns["all"] = columns["p0"] + columns["p1"]
        missing = {"p0": rng(7).random(N) < 0.3, "far": np.ones(N, bool)}
        columns["far"] = rng(8).integers(0, 9, N)
        columns["p0"] = np.where(missing["p0"], 0, columns["p0"])
        (total,) = find_totals(columns, missing)
        assert total.n_records == int((~missing["p0"]).sum())
        assert total.failing == 0

    @pytest.mark.parametrize("seed", range(5))
    def test_none_by_chance(self, seed):
        chance = rng(seed)
        columns = {f"x{j}": chance.integers(0, 20, 100) for j in range(12)}
        assert found(columns) == {}

    @pytest.mark.parametrize("seed", range(6))
    def test_as_many_as_a_search_through_all_subsets(self, seed):
        columns = parts(4, n=60, seed=seed)
        chance = rng(seed + 50)
        for j in range(2):
            names = chance.choice(list(columns), 2, replace=False)
            columns[f"t{j}"] = columns[names[0]] + chance.choice([-1, 1]) * columns[names[1]]
        X = np.column_stack(list(columns.values()))
        rows = [
            [dict(zip(own, (1, *signs), strict=True)).get(j, 0) for j in range(X.shape[1])]
            for size in (2, 3, 4)
            for own in combinations(range(X.shape[1]), size)
            for signs in product((1, -1), repeat=size - 1)
            if not (X[:, own] @ np.array((1, *signs))).any()
        ]
        names = list(columns)
        own = [[t.signs.get(name, 0) for name in names] for t in find_totals(columns, {})]
        assert np.linalg.matrix_rank(np.array(own)) == len(own) == np.linalg.matrix_rank(rows)
        assert not (X @ np.array(own).T).any()


class TestOrders:
    def pairs(self, columns, **more):
        return {(own.low, own.high): own.failing for own in find_orders(columns, {}, **more)}

    def test_parts_and_wholes(self):
        part = rng().integers(0, 100, N)
        columns = {"part": part, "whole": part + rng(1).integers(0, 60, N)}
        assert self.pairs(columns) == {("part", "whole"): 0}
        columns["whole"][:2] = -1
        assert self.pairs(columns) == {("part", "whole"): 2}

    def test_ranges_that_do_not_meet_say_nothing(self):
        columns = {"age": rng().integers(18, 90, N), "income": rng(1).integers(90, 9000, N)}
        assert self.pairs(columns) == {}

    def test_nor_do_those_that_hardly_meet(self):
        income = rng(1).lognormal(8, 1, 5000).astype(int)
        income[:20] = 0
        assert self.pairs({"age": rng().integers(18, 90, 5000), "income": income}) == {}

    def test_nor_does_a_column_of_zeros(self):
        rare = np.where(rng().random(N) < 0.02, 5, 0)
        assert self.pairs({"rare": rare, "n": rng(1).integers(0, 100, N)}) == {}

    def test_none_follows_from_others(self):
        a = rng().integers(0, 100, N)
        b = a + rng(1).integers(0, 50, N)
        columns = {"a": a, "b": b, "c": b + rng(2).integers(0, 50, N)}
        assert self.pairs(columns) == {("a", "b"): 0, ("b", "c"): 0}

    def test_nor_from_totals_of_parts_that_are_not_negative(self):
        a, b = rng().integers(0, 100, N), rng(1).integers(0, 100, N)
        columns = {"a": a, "b": b, "all": a + b}
        implied = implied_orders(find_totals(columns, {}), columns, {})
        assert implied == {("a", "all"): 0, ("b", "all"): 0}
        assert self.pairs(columns, implied=implied) == {}
        columns["b"] = b - 50
        columns["all"] = a + columns["b"]
        # a is not below all, as b may be negative; b is.
        assert implied_orders(find_totals(columns, {}), columns, {}) == {("b", "all"): 0}

    def test_missing_values_do_not_count(self):
        part = rng().lognormal(3, 1, N)
        missing = {"part": rng(5).random(N) < 0.4}
        columns = {
            "part": np.where(missing["part"], np.nan, part),
            "whole": part * rng(1).uniform(1, 2, N),
        }
        (order,) = find_orders(columns, missing)
        assert (order.low, order.failing) == ("part", 0)
        assert order.n_records == int((~missing["part"]).sum())

    @pytest.mark.parametrize("seed", range(5))
    def test_none_by_chance(self, seed):
        chance = rng(seed)
        columns = {f"x{j}": chance.lognormal(j % 4, 1, 500) for j in range(12)}
        assert self.pairs(columns) == {}
