"""Classes are counted on the finished table, without labels."""

from collections import Counter

import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from microagg.requirements.base import Evidence
from microagg.requirements.records import Classes, KRecords
from microagg.tables.frames import open_frame, to_polars


def count_classes(frame, columns, *, k):
    return KRecords(k).judge(Evidence(to_polars(frame.to_native()), tuple(columns)))


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.5, -1.0]), st.booleans()), min_size=1),
    st.integers(1, 5),
)
def test_counts_equal_a_counter(rows, k):
    sizes = Counter(rows).values()
    below = Counter(size for size in sizes if size < k)
    expected = Classes(k, len(rows), min(sizes), len(sizes), dict(sorted(below.items())))
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    for kind in (pl.DataFrame, pd.DataFrame, pa.table):
        assert count_classes(open_frame(kind(columns)), ["a", "b", "c"], k=k) == expected


def test_only_the_given_columns_count():
    frame = open_frame(pl.DataFrame({"a": [1, 1], "b": [1, 2]}))
    assert count_classes(frame, ["a"], k=2).smallest == 2
    assert count_classes(frame, ["a", "b"], k=2).smallest == 1


def test_missing_is_a_value_and_zero_has_no_sign():
    nan = float("nan")
    frame = open_frame(pl.DataFrame({"x": [None, None, nan, nan, 0.0, -0.0]}))
    assert count_classes(frame, ["x"], k=2) == Classes(2, 6, 2, 3, {})


def test_names_are_names_and_not_patterns():
    frame = open_frame(pl.DataFrame({"*": [1, 1], "^.*$": [2, 2], "size": [1, 2], "0": [3, 3]}))
    assert count_classes(frame, ["*", "^.*$", "0"], k=2).smallest == 2
    assert count_classes(frame, ["size"], k=2).smallest == 1
