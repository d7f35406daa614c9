"""Tests are where their code is: a folder for every package, and a few more."""

import re
import tomllib
from pathlib import Path

import pytest

import microagg

OF_NO_ROOM = {"benchmarks", "contract", "examples", "hostile", "package", "papers"}
OF_NO_ROOM |= {"properties", "site"}
SHARED = {"__init__.py", "conftest.py", "fakes.py", "indicators.py", "manifests.py"}
SHARED |= {"kills.py", "references.py"}
OF_THE_PACKAGE = {"test_import.py", "test_layout.py"}

HERE = Path(__file__).parent
PACKAGES = {each.parent.name for each in Path(microagg.__file__).parent.glob("*/__init__.py")}


def folders_with(pattern):
    return {path.relative_to(HERE).parts[0] for path in HERE.glob(f"*/**/{pattern}")}


def test_every_package_has_a_folder_of_tests():
    missing = PACKAGES - folders_with("test_*.py")
    assert not missing, f"add tests for {', '.join(sorted(missing))}, in folders of that name"


def test_every_folder_of_tests_belongs_to_a_package():
    strange = folders_with("*.py") - PACKAGES - OF_NO_ROOM
    assert not strange, f"no package is called {', '.join(sorted(strange))}: move these tests"


def test_no_loose_files():
    loose = {path.name for path in HERE.glob("*.py")} - SHARED - OF_THE_PACKAGE
    assert not loose, f"move {', '.join(sorted(loose))} to the folder of what they test"


def test_the_table_of_packages_has_the_layers_in_their_order():
    text = (HERE.parent / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("## The packages\n")[2].partition("\n## ")[0]
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert re.findall(r"^\| `(\w+)/` \|", section, flags=re.MULTILINE) == layers[::-1]
    assert set(layers) == PACKAGES


def test_files_of_the_walk_are_there():
    text = (HERE.parent / "CONTRIBUTING.md").read_text("utf-8")
    walk = text.partition("## The path of one record\n")[2].partition("\n## ")[0]
    package = Path(microagg.__file__).parent
    named = re.findall(r"`([a-z_/]+\.py)`", walk)
    assert len(named) > 12
    # Those of a dataset are named without their package, and its passes without their folder.
    homes = (package, package / "scale", package / "scale" / "steps")
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []


def test_the_table_of_folders_of_scale_has_the_layers_in_their_order():
    text = (HERE.parent / "CONTRIBUTING.md").read_text("utf-8")
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][-1]["layers"]
    package = Path(microagg.__file__).parent / "scale"
    folders = [layer for layer in layers[::-1] if (package / layer).is_dir()]
    assert re.findall(r"^\| `scale/(\w+)/` \|", text, flags=re.MULTILINE) == folders


def recipes():
    """The steps of every recipe in CONTRIBUTING.md, by what is to be added."""
    text = (HERE.parent / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("## Five recipes\n")[2].partition("\n## ")[0]
    _, *parts = re.split(r"^### Add an? (.*)\n", section, flags=re.MULTILINE)
    return {
        name: re.findall(r"^\d\. (.*(?:\n   .*)*)", steps, flags=re.MULTILINE)
        for name, steps in zip(parts[::2], parts[1::2], strict=True)
    }


def test_recipes_have_three_steps_at_most_each_in_one_file():
    found = recipes()
    assert [*found] == ["method", "option", "requirement", "file format", "measure"]
    for steps in found.values():
        assert 2 <= len(steps) <= 3
        for step in steps:
            first, *others = re.findall(r"`([\w/]+\.py)`", step.partition(":")[0]) or ["a stage"]
            # Another one is a choice: a measure is of risk or of utility.
            assert not others or others == [first.replace("risk", "utility")]


@pytest.mark.parametrize("name", recipes())
def test_files_of_recipes_are_there(name):
    named = re.findall(r"`([a-z_/]+\.py)`", "".join(recipes()[name]))
    assert named
    for path in named:
        assert (Path(microagg.__file__).parent / path).is_file(), path


def arrays_in(path):
    """The aliases of arrays that a file defines, and the element types it spells out."""
    text = path.read_text("utf-8")
    defined = re.findall(r"^([A-Z]\w*)(?:: TypeAlias)? = .*\bNDArray\[", text, flags=re.MULTILINE)
    return defined, set(re.findall(r"NDArray\[(np\.\w+)\]", text))


def test_types_of_arrays_have_one_name_each_in_one_place():
    package = Path(microagg.__file__).parent
    home = package / "core" / "arrays.py"
    names, types = arrays_in(home)
    assert len(names) == len({*names}) > 10
    assert {"np.float64", "np.intp", "np.int64", "np.bool_"} <= types
    elsewhere = {path: arrays_in(path) for path in package.rglob("*.py") if path != home}
    assert {path: own for path, (own, _) in elsewhere.items() if own} == {}
    assert {path: own & types for path, (_, own) in elsewhere.items() if own & types} == {}
