"""Functions that take options of `protect`: what Python shows of them, and what they refuse."""

import inspect
import pickle
import subprocess
import sys
from typing import TypedDict, Unpack

import numpy as np
import polars as pl
import pytest

import microagg
from microagg.core.errors import ParameterError
from microagg.plans.signatures import with_options

TABLE = pl.DataFrame({"a": range(9), "b": range(9, 0, -1)})
TAKERS = {
    "compare": lambda **given: microagg.compare(TABLE, 3, "mdav", **given),
    "sweep": lambda **given: microagg.sweep(TABLE, 3, **given),
    "verify": lambda **given: microagg.verify(TABLE, 1, **given),
    "Microaggregator.__init__": lambda **given: microagg.Microaggregator(3, **given),
}


class Options(TypedDict, total=False):
    scale: str
    method_options: dict[str, object] | None
    missing: str
    l_diversity: dict[str, int] | None


@with_options
def study(table: object, ks: int = 2, *, talks: bool = False, **options: Unpack[Options]) -> object:
    """Return what it got.

    Parameters
    ----------
    table : a table
    **options : options of `protect`, in as many lines
        as it takes
    missing : what is missing here
    talks : whether to talk
    """
    return table, ks, talks, options


class TestRefusals:
    @pytest.mark.parametrize("name", TAKERS)
    def test_unknown_keywords(self, name):
        wrong = "l_diversty" if name == "verify" else "contraints"
        meant = "l_diversity" if name == "verify" else "constraints"
        with pytest.raises(TypeError) as error:
            TAKERS[name](**{wrong: None})
        assert str(error.value) == (
            f"{name}() got an unexpected keyword argument {wrong!r}. Did you mean {meant!r}?"
        )

    @pytest.mark.parametrize("function", [microagg.protect, microagg.measure])
    def test_also_where_options_are_written_out(self, function):
        with pytest.raises(TypeError) as error:
            function(None, None, sensative="sex")
        assert str(error.value) == (
            f"{function.__name__}() got an unexpected keyword argument 'sensative'. Did you mean "
            "'sensitive'?"
        )

    @pytest.mark.parametrize(
        ("wrong", "remedy"),
        [("k", "Options belong in the plan, as in Plan(k=5)."), ("adit", "Did you mean 'audit'?")],
    )
    def test_where_a_plan_is_needed(self, wrong, remedy):
        with pytest.raises(TypeError) as error:
            microagg.protect_file(TABLE, "safe.csv", **{wrong: 5})
        assert str(error.value) == (
            f"protect_file() got an unexpected keyword argument {wrong!r}. {remedy}"
        )

    @pytest.mark.parametrize("name", TAKERS)
    def test_options_of_protect_that_they_do_not_take(self, name):
        with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument 'hybrid'\.$"):
            TAKERS[name](hybrid=True)

    @pytest.mark.parametrize("name", ["compare", "sweep"])
    @pytest.mark.parametrize("options", [{"scale": "standardise"}, {"weights": "a"}])
    def test_beside_a_plan_even_at_their_defaults(self, name, options):
        (option,) = options
        with pytest.raises(ParameterError, match=f"{option} is given in addition to a plan"):
            TAKERS[name](plan=microagg.Plan(k=3), **options)

    def test_a_mapping_is_no_matrix(self):
        with pytest.raises(ParameterError, match="table must be a DataFrame"):
            microagg.sweep({"a": [1, 2], "b": [3, 4]}, 2)

    @pytest.mark.parametrize("options", [{"scale": "rank"}, {"l_diversity": {"a": 2}}])
    def test_with_a_matrix(self, options):
        (option,) = options
        with pytest.raises(ParameterError, match=f"Leave {option} out, or give a DataFrame"):
            microagg.sweep(np.eye(4), 2, **options)


class TestWhatIsMade:
    def test_the_function_gets_every_option_as_it_was_given(self):
        mine = {"s": 2}
        *own, options = study("t", 3, l_diversity=mine)
        assert own == ["t", 3, False]
        assert options.pop("l_diversity") is mine
        assert options == {"scale": "standardise", "method_options": None, "missing": "error"}
        assert type(options["missing"]) is str

    def test_signature(self):
        """Options come in the order of the plan, before what is not an option."""
        found = inspect.signature(study)
        assert list(found.parameters) == [
            *("table", "ks", "l_diversity", "method_options", "scale", "missing", "talks")
        ]
        assert found.parameters["scale"].annotation is str
        assert found.bind("t", scale="log").arguments == {"table": "t", "scale": "log"}

    def test_docstring(self):
        assert inspect.getdoc(study).partition("----------\n")[2].splitlines() == [
            "table : a table",
            "l_diversity : Least number of values of a sensitive column in every group, or "
            "entropy:L.",
            "method_options : Options of the method.",
            "scale : How numbers are compared: standardise, robust, rank, log or none.",
            "missing : what is missing here",
            "talks : whether to talk",
        ]

    @pytest.mark.parametrize("function", [study, microagg.compare, microagg.verify])
    def test_it_is_still_found_by_its_name(self, function):
        assert pickle.loads(pickle.dumps(function)) is function

    def test_every_use_shows_all_options(self):
        for name in ("compare", "sweep", "verify", "Microaggregator"):
            text = inspect.getdoc(getattr(microagg, name))
            assert "**" not in text.partition("Parameters\n")[2]

    @pytest.mark.slow
    def test_without_docstrings(self):
        command = (
            "import microagg; print(microagg.compare.__doc__, microagg.Microaggregator.__doc__)"
        )
        done = subprocess.run(
            [sys.executable, "-OO", "-c", command], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["None", "None"]


@pytest.mark.parametrize(
    ("given", "meant"), [({"seed": 1}, "random_state"), ({"options": {}}, "method_options")]
)
def test_names_of_plan_files_lead_to_those_in_python(given, meant):
    with pytest.raises(TypeError, match=rf"Did you mean '{meant}'\?"):
        microagg.protect([], k=2, **given)
