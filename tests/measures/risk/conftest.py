"""Pairs of tables that tests of several attacks share."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from microagg.tables.matching import open_pair
from microagg.tables.pairs import Pair


def of_numbers(X: np.ndarray, Z: np.ndarray) -> Pair:
    names = [f"x{j}" for j in range(X.shape[1])]
    before, after = (pl.DataFrame(M.astype(float), schema=names) for M in (X, Z))
    return open_pair(before, after, quasi_identifiers=names)


@pytest.fixture(scope="session")
def numbers_pair() -> Callable[[np.ndarray, np.ndarray], Pair]:
    """Pair of two matrices whose columns are all quasi-identifiers."""
    return of_numbers


AWKWARD = {
    "two records": ({"a": [1.0, 2.0]}, {"a": [1.5, 1.5]}),
    "constant": ({"a": [3, 3, 3], "b": ["u", "u", "u"]}, {"a": [3, 3, 3], "b": ["u", "u", "u"]}),
    "constant, then not": ({"a": [3, 3, 3]}, {"a": [3, 4, 5]}),
    "all missing": ({"a": [None, None, 1.0]}, {"a": [None, None, None]}),
    "one class": ({"a": [1, 2, 9], "b": ["u", "v", "u"]}, {"a": [4, 4, 4], "b": ["u"] * 3}),
    "nominal only": ({"b": ["u", "v", None, "u"]}, {"b": ["u", "u", None, None]}),
    "huge": ({"a": [-1e300, 1e300, 0.0]}, {"a": [0.0, 1e300, 1e-300]}),
    "tiny": ({"a": [1e-310, 2e-310, 0.0]}, {"a": [2e-310, 2e-310, 0.0]}),
}


@pytest.fixture(params=AWKWARD)
def awkward(request) -> Pair:
    """Pairs on which a careless formula divides by zero, with a sensitive column of two values."""
    before, after = (
        pl.DataFrame(side, strict=False).with_columns(s=pl.int_range(pl.len()) % 2)
        for side in AWKWARD[request.param]
    )
    names = [name for name in before.columns if name != "s"]
    return open_pair(before, after, quasi_identifiers=names, sensitive="s")
