"""`import microagg` is quick: the names are there, their homes load when they are asked for."""

import json
import subprocess
import sys

import pytest

import microagg
from microagg.core import errors as defined

HEAVY = ("numpy", "numba", "sklearn", "polars", "narwhals", "pandas", "scipy", "typer", "rich")


def loaded_after(statement):
    script = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    return set(json.loads(done.stdout))


def test_import_loads_nothing_heavy():
    assert not loaded_after("import microagg; microagg.__version__; dir(microagg)") & set(HEAVY)


@pytest.mark.slow
def test_the_transformer_loads_scikit_learn_and_protect_does_not():
    assert "sklearn" not in loaded_after("import microagg; microagg.protect")
    assert "sklearn" in loaded_after("import microagg; microagg.Microaggregator")


def test_listing_the_methods_loads_none_of_them():
    loaded = loaded_after("import microagg; microagg.methods()['mdav'].summary")
    assert not loaded & (set(HEAVY) - {"numpy"})
    assert "microagg.partitions" not in loaded


@pytest.mark.parametrize("name", microagg.__all__)
def test_every_public_name_is_there(name):
    assert getattr(microagg, name) is getattr(microagg, name)


def test_unknown_names_are_unknown():
    with pytest.raises(AttributeError, match="no attribute 'protec'"):
        microagg.protec  # noqa: B018


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, own in vars(defined).items()
        if isinstance(own, type) and issubclass(own, Exception)
    ],
)
def test_every_error_and_warning_can_be_imported_from_one_place(name):
    here = {}
    exec(f"from microagg.errors import {name} as found", here)
    assert here["found"] is getattr(defined, name) is getattr(microagg.errors, name)
    assert name in microagg.errors.__all__


def test_errors_load_nothing_heavy():
    assert not loaded_after("from microagg.errors import DataError") & set(HEAVY)
