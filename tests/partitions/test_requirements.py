"""Groups that meet requirements: against all partitions of tiny tables, and by slow definitions."""

import numpy as np
import pytest

from microagg.core.errors import ParameterError
from microagg.core.registry import METHODS
from microagg.requirements.coded import GroupRule
from tests.requirements import slow_rules as slow

PARTITIONERS = [name for name, m in METHODS.items() if not m.draws and not m.single_column]


def partitions(items):
    """All ways to divide a list into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for at, group in enumerate(smaller):
            yield [*smaller[:at], [first, *group], *smaller[at + 1 :]]


def error(X, group):
    return float(((X[group] - X[group].mean(axis=0)) ** 2).sum())


class Table:
    """A random table with codes and amounts, rules on it, and the same rules as slow checks."""

    def __init__(self, seed, n, rules):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n, 2))
        self.codes = rng.integers(4, size=n)
        self.codes = np.unique(self.codes, return_inverse=True)[1]
        self.units = rng.integers(n // 2 + 1, size=n)
        self.amounts = rng.lognormal(sigma=1.5, size=n)
        made = {
            "units": (
                GroupRule.distinct(self.units, 2),
                lambda g: slow.distinct(self.units[g]) >= 2,
            ),
            "l": (GroupRule.distinct(self.codes, 2), lambda g: slow.distinct(self.codes[g]) >= 2),
            "entropy": (
                GroupRule.entropy(self.codes, 1.8),
                lambda g: slow.entropy_l(self.codes[g].tolist()) >= 1.8 - 1e-9,
            ),
            "ordered": (
                GroupRule.ordered_closeness(self.codes, 0.2),
                lambda g: slow.ordered_distance(self.codes[g], self.codes) <= 0.2 + 1e-9,
            ),
            "equal": (
                GroupRule.equal_closeness(self.codes, 0.4),
                lambda g: (
                    slow.equal_distance(self.codes[g].tolist(), self.codes.tolist()) <= 0.4 + 1e-9
                ),
            ),
            "p": (
                GroupRule.p_percent(self.amounts, 20, self.units),
                lambda g: slow.safe_by_p_percent(self.amounts[g], self.units[g], 20),
            ),
            "dominance": (
                GroupRule.dominance(self.amounts, 1, 60),
                lambda g: slow.safe_by_dominance(self.amounts[g], g, 1, 60),
            ),
        }
        self.rules = [made[name][0] for name in rules]
        self.checks = [made[name][1] for name in rules]

    def meets(self, group, k):
        return len(group) >= k and all(check(np.array(group)) for check in self.checks)


KINDS = ("units", "l", "entropy", "ordered", "equal", "p", "dominance")
PAIRS = [(a, b) for at, a in enumerate(KINDS) for b in KINDS[at + 1 :]]


@pytest.mark.parametrize("rules", [*((kind,) for kind in KINDS), *PAIRS], ids="+".join)
@pytest.mark.parametrize("seed", range(3))
def test_auto_finds_the_best_of_all_partitions(rules, seed):
    n, k = 7, 2
    table = Table(seed, n, rules)
    best = min(
        (
            sum(error(table.X, group) for group in partition)
            for partition in partitions(list(range(n)))
            if all(table.meets(group, k) for group in partition)
        ),
        default=None,
    )
    auto = METHODS["auto"].cls(k, effort="best", random_state=0)
    if best is None:
        assert not table.meets(list(range(n)), k)
        with pytest.raises(ParameterError, match="no partition"):
            auto.fit(table.X, requirements=table.rules)
    else:
        assert auto.fit(table.X, requirements=table.rules).sse_ == pytest.approx(best)


@pytest.mark.parametrize("name", PARTITIONERS)
@pytest.mark.parametrize("rules", [("units",), ("l", "ordered"), ("equal", "p"), ("dominance",)])
def test_every_method_meets_requirements(name, rules):
    table = Table(1, 60, rules)
    method = METHODS[name]
    if method.needs and "ordered" not in rules:
        rules = ("ordered", *(rule for rule in rules if rule != "equal"))
        table = Table(1, 60, rules)
    options = {"random_state": 0} if "random_state" in method.options else {}
    if "effort" in METHODS[name].options:
        options["effort"] = "fast"
    model = METHODS[name].cls(3, **options).fit(table.X, requirements=table.rules)
    for label in range(model.n_groups_):
        assert table.meets(np.flatnonzero(model.labels_ == label).tolist(), 3)


@pytest.mark.parametrize("name", [name for name in PARTITIONERS if not METHODS[name].needs])
def test_no_requirements_change_nothing(name):
    table = Table(1, 60, ())
    options = {"random_state": 0} if "random_state" in METHODS[name].options else {}
    if "effort" in METHODS[name].options:
        options["effort"] = "fast"
    bare = METHODS[name].cls(3, **options).fit(table.X)
    none = METHODS[name].cls(3, **options).fit(table.X, requirements=[])
    assert (none.labels_ == bare.labels_).all()


@pytest.mark.parametrize("name", ["fcm", "efcm"])
def test_methods_that_draw_refuse_requirements(name):
    table = Table(1, 20, ("l",))
    with pytest.raises(ParameterError, match="use another method"):
        METHODS[name].cls(3).fit(table.X, requirements=table.rules)


@pytest.mark.parametrize("bad", [3, "l", [3], [GroupRule.distinct([0, 1], 1)]])
def test_bad_requirements_are_refused(bad):
    with pytest.raises(ParameterError, match="rule"):
        METHODS["mdav"].cls(2).fit(np.zeros((5, 2)), requirements=bad)


@pytest.mark.slow
def test_rare_values_make_large_groups():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(3000, 3)), (np.arange(3000) % 100 == 0).astype(int)
    model = METHODS["auto"].cls(3, effort="fast", random_state=0)
    model.fit(X, requirements=[GroupRule.distinct(codes, 2)])
    assert 2 <= model.n_groups_ <= 30
    for label in range(model.n_groups_):
        assert slow.distinct(codes[model.labels_ == label]) == 2


@pytest.mark.parametrize("rules", [("l",), ("ordered",)])
def test_a_time_budget_ends_the_search_and_is_not_spent_on_compiling(rules, monkeypatch):
    table, compiled = Table(5, 400, rules), []
    monkeypatch.setattr(
        "microagg.partitions.auto.compile_ahead",
        lambda _, under_rules: compiled.append(under_rules),
    )
    model = METHODS["auto"].cls(3, time_budget=0.05, random_state=0, n_jobs=1)
    labels = model.fit(table.X, requirements=table.rules).labels_
    assert compiled == [True]
    assert model.timed_out_
    assert all(table.meets(np.flatnonzero(labels == group), 3) for group in np.unique(labels))
