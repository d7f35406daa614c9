"""Tests are where their code is: a folder for every room of the package, and a few more."""

from pathlib import Path

import microagg

OF_NO_ROOM = {"benchmarks", "contract", "hostile", "papers", "properties"}
SHARED = {"__init__.py", "conftest.py", "fakes.py", "indicators.py", "manifests.py"}
SHARED |= {"references.py"}
OF_THE_PACKAGE = {"test_import.py", "test_layout.py"}

HERE = Path(__file__).parent
ROOMS = {room.parent.name for room in Path(microagg.__file__).parent.glob("*/__init__.py")}


def folders_with(pattern):
    return {path.relative_to(HERE).parts[0] for path in HERE.glob(f"*/**/{pattern}")}


def test_every_room_has_a_folder_of_tests():
    missing = ROOMS - folders_with("test_*.py")
    assert not missing, f"add tests for {', '.join(sorted(missing))}, in folders of that name"


def test_every_folder_of_tests_belongs_to_a_room():
    strange = folders_with("*.py") - ROOMS - OF_NO_ROOM
    assert not strange, f"no room is called {', '.join(sorted(strange))}: move these tests"


def test_no_loose_files():
    loose = {path.name for path in HERE.glob("*.py")} - SHARED - OF_THE_PACKAGE
    assert not loose, f"move {', '.join(sorted(loose))} to the folder of what they test"
