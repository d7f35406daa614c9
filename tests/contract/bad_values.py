"""For every option of every method: values that it must refuse, and what its message must say.

A new option gets its line here; `test_refusals.py` fails until it has one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg.core.registry import METHODS

N_RECORDS, N_COLUMNS = 20, 3  # of the matrix that the options are tried on


@dataclass(frozen=True)
class Bad:
    """A value to refuse; the message must say `expected`, and that `came` is what it got."""

    value: Any
    expected: str
    came: str = ""  # the value itself, if nothing else is said

    def __str__(self) -> str:
        return self.came or repr(self.value)


def _each(expected: str, *values: Any) -> tuple[Bad, ...]:
    return tuple(Bad(value, expected) for value in values)


A_FLAG = "True or False"
ONE_TO_20 = "a whole number from 1 to 20"

BAD_VALUES: dict[str, tuple[Bad, ...]] = {
    "k": _each(ONE_TO_20, 0, -1, 2.5, 3.0, True, False, "3", None, np.float64(3), 21, 10**30),
    "constraints": (
        Bad(3, "None or a pair (A, b) of a matrix and a vector", "int"),
        Bad(([[1.0, -1.0]], [0.0]), "one coefficient for each of the 3 columns of X", "2"),
        Bad(([[1.0, -1.0, 0.0]], [0.0, 1.0]), "a matrix", "the shapes (1, 3) and (2,)"),
    ),
    "criterion": _each("one of 'rest', 'total'", "all", "Rest", 1, None),
    "effort": _each("one of 'fast', 'balanced', 'best'", "much", "Fast", 1, None),
    "gain": _each("'auto' or a finite number of at least 0", -0.1, "much", np.inf, True, None),
    "initial": (
        *_each("one of 'auto', 'mdav'", "none", "univariate"),
        Bad([0, 1], "one number for each of the 20 records", "an array of shape (2,)"),
        Bad([[0]] * 20, "one number for each of the 20 records", "an array of shape (20, 1)"),
        Bad(np.zeros(20), "whole numbers", "an array of type float64"),
        Bad([[0], [1, 2]], "one number for each record", "sequences of different lengths"),
    ),
    "initial_centers": (
        Bad([[1.0]], "a matrix of centres by 3 columns", "the shape (1, 1)"),
        Bad(np.zeros((2, 4)), "a matrix of centres by 3 columns", "the shape (2, 4)"),
    ),
    "integer": _each(A_FLAG, 1, "yes", None),
    "lambda1": _each("None or a finite number from 0", -1, "small", np.nan),
    "lambda2": _each("None or a finite number from 0", -1, "small", np.nan),
    "leftover": _each("one of 'group', 'nearest'", "none", None),
    "linkage": _each("one of 'single', 'complete', 'average'", "nearest", 1),
    "m1": _each("None or a finite number from 1", 0.9, "large", np.inf),
    "m2": _each("None or a finite number from 1", 0.9, "large", np.inf),
    "max_iterations": _each("a whole number of at least 1", 0, 1.5, True),
    "max_size": _each("one of 'k', '2k-1'", 5, "2k"),
    "n_clusters": _each(ONE_TO_20, 21) + _each("a whole number of at least 1", 0, 2.5),
    "n_jobs": _each("a whole number of at least 1, -1 for all cores, or None", 0, -2, 1.5, True),
    "n_restarts": _each("a whole number of at least 0", -1, 0.5),
    "n_starts": _each("a whole number of at least 1", 0, 2.5, "many"),
    "preprocess": _each("a whole number of at least 0", -1, 2.5, True, "some", None),
    "priority": _each(A_FLAG, 1, "yes"),
    "random_state": _each("None, a whole number from 0 to 4294967295", -1, 2**32, 0.5, "seed"),
    "refine": _each(A_FLAG, "no", 0),
    "split": _each("one of 'mdav', 'md', 'cbfs'", "none", "hac"),
    "strict_k": _each(A_FLAG, "yes", 1),
    "time_budget": _each("a finite number of at least 0", "long", -1.0, np.inf),
    "tolerance": _each("a finite number of at least 0", -1, "small", np.nan),
    "tour": _each(A_FLAG, "yes", 0),
}


def options_of(method) -> list[str]:
    """Return every parameter of a method's class."""
    return ["k", *method.options]


CASES = {
    f"{method.name}-{option}-{bad}": (method, option, bad)
    for method in METHODS.values()
    for option in options_of(method)
    for bad in BAD_VALUES.get(option, ())
}
