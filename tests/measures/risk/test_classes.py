"""k-anonymity and uniqueness."""

import dataclasses
import json
from collections import Counter

import numpy as np
import polars as pl
import pytest

from microagg.measures.risk.classes import class_sizes
from microagg.tables.matching import open_pair


def test_hand_computed():
    before = pl.DataFrame({"age": [30, 31, 31, 50, None, None], "sex": list("fmmmff")})
    after = pl.DataFrame({"age": [31, 31, 31, 50, None, None], "sex": list("mmmmff")})
    result = class_sizes(open_pair(before, after))
    assert (result.smallest, result.n_classes, result.mean_size) == (1, 3, 2.0)
    assert result.classes_by_size == {1: 1, 2: 1, 3: 1}
    assert result.unique_before == pytest.approx(2 / 6)
    assert result.unique_after == pytest.approx(1 / 6)
    assert result.records_below == pytest.approx({2: 1 / 6, 3: 3 / 6, 5: 1, 10: 1})


def test_random_tables_agree_with_counting_rows(numbers_pair):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, size=(400, 2))
    Z = X // 3
    before, after = (Counter(map(tuple, M.tolist())) for M in (X, Z))
    result = class_sizes(numbers_pair(X, Z))
    assert result.smallest == min(after.values())
    assert result.n_classes == len(after)
    assert result.mean_size == pytest.approx(400 / len(after))
    assert result.classes_by_size == Counter(after.values())
    assert result.unique_before == sum(c == 1 for c in before.values()) / 400
    for k, share in result.records_below.items():
        assert share == sum(c for c in after.values() if c < k) / 400


def test_awkward_tables(awkward):
    result = class_sizes(awkward)
    assert sum(size * n for size, n in result.classes_by_size.items()) == awkward.n_records
    json.dumps(dataclasses.asdict(result), allow_nan=False)
