"""A plan as a value and as text: it cannot be changed, and what is written can be read."""

import copy
import pickle

import numpy as np
import pytest

from microagg.core.errors import ParameterError
from microagg.plans.columns import ColumnPlan
from microagg.plans.options import options_of
from microagg.plans.plan import Plan
from microagg.tables.roles import ROLES

COLUMNS = {
    "net pay": {"role": "quasi-identifier", "type": "continuous", "aggregate": "median"},
    "size": {"order": ["S", 1, 2.5, True], "aggregate": "mode", "weight": 0.5},
    "seen": {"type": "datetime", "resolution": "hour"},
    'odd "name"\n': {"role": "identifier"},
    "a.b": {"role": "sensitive", "l_diversity": "entropy:2.5", "t_closeness": 0.25},
    "pay": {"p_percent": 12.5, "dominance": (2, 85.5), "digits": -2},
    "notes": {"role": "drop"},
    "year": {"role": "publish"},
    "região": {"role": "stratum"},
    "": {"role": "weight"},
}
ALL = {
    "k": 4,
    "method": "icsm",
    "method_options": {"n_restarts": 2, "n_jobs": 1},
    "random_state": 7,
    "time_budget": 1.5,
    "bound": "tight",
    "scale": "rank",
    "missing": "impute",
    "na": ["none", "-9", "a,b"],
    "dates": "eu",
    "constraints": ['"net pay" >= 0', "x = 1.5"],
    "small_strata": "merge",
    "blocks": [["net pay", "size"], ["seen"]],
    "valid_combinations": False,
    "keep_margins": True,
    "keep_key": True,
    "shuffle": True,
    "unit": "rows",
    "digits": "all",
    "columns": COLUMNS,
}
OF_UNITS = {
    "no": {"role": "unit"},
    "name": {"role": "identifier"},
    "x": {"dominance": "1:60"},
    "y": {"role": "sensitive", "l_diversity": 3},
}
OTHERS = [
    {"k": 2, "effort": "best", "columns": OF_UNITS},
    {"k": 2, "method": "efcm", "strict_k": True},
    {"k": 9, "hybrid": True},
]
PLANS = [Plan.of(**ALL), *(Plan.of(**given) for given in OTHERS)]


def test_every_option_is_among_them():
    named = {name for plan in PLANS for name in plan.as_dict()}
    assert named == set(Plan.model_fields)
    said = {
        key for plan in PLANS for column in plan.columns.values() for key in column.model_fields_set
    }
    assert said == {"role", "digits", *(option.keyword for option in options_of(ColumnPlan))}
    roles = {column.role for plan in PLANS for column in plan.columns.values()}
    assert roles >= set(ROLES)


@pytest.mark.parametrize("plan", PLANS, ids=["icsm", "auto", "efcm", "hybrid"])
class TestEveryPlan:
    def test_what_is_saved_is_read(self, plan, tmp_path):
        path = tmp_path / "plan.toml"
        plan.save(path)
        assert Plan.read(path) == plan
        assert path.read_text("utf-8") == plan.to_toml() == str(plan)

    def test_its_repr_makes_it(self, plan):
        assert eval(repr(plan), {"Plan": Plan}) == plan

    def test_copies_and_pickles(self, plan):
        for other in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan), plan.replace()):
            assert other == plan
            assert hash(other) == hash(plan)
            with pytest.raises(TypeError, match="cannot be changed"):
                other.columns["x"] = ColumnPlan()

    def test_nothing_in_it_changes(self, plan):
        for mapping in (plan.columns, plan.method_options):
            for change in (
                lambda own: own.__setitem__("x", 1),
                lambda own: own.update(x=1),
                lambda own: own.setdefault("x", 1),
                lambda own: own.pop("x", None),
                lambda own: own.clear(),
                lambda own: own.__ior__({"x": 1}),
            ):
                with pytest.raises(TypeError, match="cannot be changed"):
                    change(mapping)
        with pytest.raises(AttributeError, match="cannot be changed"):
            plan.k = 3


def test_equal_plans_have_one_hash():
    one, two = Plan(k=5), Plan(k=5, method="auto", columns={}, method_options={}, constraints=())
    assert one == two
    assert len({one, two, Plan(k=6)}) == 2
    assert repr(two) == "Plan(k=5)"


def test_what_was_given_does_not_change_it():
    options, columns = {"leftover": "nearest"}, {"a": {"type": "nominal"}}
    plan = Plan(k=5, method="mdav", method_options=options, columns=columns)
    options["leftover"] = "own"
    columns["b"] = {}
    assert plan.method_options == {"leftover": "nearest"}
    assert list(plan.columns) == ["a"]


def test_an_existing_file_is_replaced_only_by_force(tmp_path):
    path = tmp_path / "plan.toml"
    Plan(k=3).save(path)
    with pytest.raises(ParameterError, match="exists"):
        Plan(k=4).save(path)
    assert Plan.read(path).k == 3
    Plan(k=4).save(path, force=True)
    assert Plan.read(path).k == 4
    with pytest.raises(ParameterError, match="must be the name of a file; got int"):
        Plan(k=4).save(5)


def test_what_a_file_cannot_hold():
    plan = Plan(k=2, method="v-mdav", method_options={"gain": None})
    with pytest.raises(ParameterError, match="cannot say that the option 'gain'"):
        plan.to_toml()
    assert str(plan) == repr(plan)


def test_arrays_become_lists():
    plan = Plan(k=2, method="igd", method_options={"initial": np.array([0, 0, 1, 1])})
    assert "[0, 0, 1, 1]" in str(plan)
