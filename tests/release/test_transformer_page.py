"""The examples in docs/scikit-learn.md are what Python prints."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scikit-learn.md"


def test_examples_are_what_is_printed():
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted > 10
    assert not found.failed
