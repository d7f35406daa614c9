"""The JSON schemas say what plans and manifests are, and what is neither."""

import tomllib

import polars as pl
import pytest
from jsonschema import Draft202012Validator

import microagg
from docs.builder.reference import schemas
from microagg.errors import MicroaggError
from tests.plans.test_written import PLANS

PLAN = Draft202012Validator(schemas.schema(microagg.Plan))
MANIFEST = Draft202012Validator(schemas.schema(microagg.Manifest))
AS_WRITTEN = [
    {"constraints": ["net + tax = gross", "net >= 0"]},
    {"constraints": "a + b = c"},
    {"constraints": None},
    {"columns": {"x": {"dominance": "2:85"}}},
    {"columns": {"x": {"dominance": [2, 85.5]}}},
    {"columns": {"x": {"role": "sensitive", "l_diversity": "entropy:2.5"}}},
    {"columns": {"x": {"digits": -2}, "y": {"digits": "all"}}},
    {"columns": {"x": {"order": ["low", 1, True]}}},
    {"na": [-999]},
    {"na": ["NA", -9.5]},
    {"na": "NA"},
    {"na": -9},
    {"digits": "all"},
    {"digits": {"income": 0}},
    {"unit": "patient"},
    {"unit": "rows"},
    {"seed": 7, "method": "icsm", "options": {"n_restarts": 2}},
    {"random_state": None},
    {"blocks": [["a", "b"], ["c"]]},
    {"time_budget": 2},
]
WRONG = [
    {"k": 0},
    {"k": 2.5},
    {"effort": "turbo"},
    {"method": "mdv"},
    {"scale": "x"},
    {"bound": "loose"},
    {"missing": "drop"},
    {"small_strata": "drop"},
    {"dates": "iso"},
    {"hybrid": "yes"},
    {"random_state": -1},
    {"time_budget": -1},
    {"na": [True]},
    {"digits": 3},
    {"digits": {"income": 40}},
    {"constraints": 5},
    {"blocks": ["a", "b"]},
    {"seeds": 7},
    {"columns": {"x": {"role": "boss"}}},
    {"columns": {"x": {"type": "float"}}},
    {"columns": {"x": {"aggregate": "sum"}}},
    {"columns": {"x": {"resolution": "week"}}},
    {"columns": {"x": {"weight": -1}}},
    {"columns": {"x": {"l_diversity": "entropy"}}},
    {"columns": {"x": {"l_diversity": 0}}},
    {"columns": {"x": {"t_closeness": 2}}},
    {"columns": {"x": {"p_percent": 200}}},
    {"columns": {"x": {"dominance": "2"}}},
    {"columns": {"x": {"dominance": [2, 85, 1]}}},
    {"columns": {"x": {"rolle": "unit"}}},
]


@pytest.mark.parametrize("plan", PLANS, ids=["icsm", "auto", "efcm", "hybrid"])
def test_plans_as_written_are_valid(plan):
    PLAN.validate(plan.as_dict())
    PLAN.validate(tomllib.loads(plan.to_toml()))


@pytest.mark.parametrize("given", AS_WRITTEN, ids=str)
def test_what_a_plan_takes_is_valid(given):
    microagg.Plan.of(**{"k": 3, **given})
    PLAN.validate({"k": 3, **given})


@pytest.mark.parametrize("given", WRONG, ids=str)
def test_what_a_plan_refuses_is_not(given):
    with pytest.raises(MicroaggError):
        microagg.Plan.of(**{"k": 3, **given})
    assert not PLAN.is_valid({"k": 3, **given})


def test_a_plan_needs_k():
    assert not PLAN.is_valid({"method": "mdav"})


def test_manifests_are_valid_with_a_valid_plan_only():
    people = pl.DataFrame({"age": [34, 36, 61, 62], "net": [1, 2, 3, 5], "sex": list("fmfm")})
    release = microagg.protect(
        people, 2, method="mdav", constraints="net >= 0", sensitive="sex", na=[-999]
    )
    found = release.manifest.as_dict()
    MANIFEST.validate(found)
    assert not MANIFEST.is_valid({**found, "plan": {"k": 2, "effort": "turbo"}})
    assert not MANIFEST.is_valid({**found, "promise": "perfect privacy"})
    assert not MANIFEST.is_valid({name: own for name, own in found.items() if name != "k"})
