"""Whatever table comes in, the table that comes out keeps the promise: counted here, by hand."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from microagg import protect

DTYPES = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
]
NAMES = st.one_of(
    st.sampled_from(["*", "^.*$", "^a$", "a", "", " ", "0", "len", "size", "é", "a\nb", "index"]),
    st.text(st.characters(codec="utf-8"), max_size=6),
)


@st.composite
def numbers(draw, n):
    """One column: few values (ties), or any that its type holds within reason."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if dtype.kind == "f":
        limit = 2.0**100 if dtype == np.float32 else 2.0**600
        any_value = st.floats(-limit, limit, width=dtype.itemsize * 8)
        few = st.sampled_from([0.0, -0.0, 0.1, 1e9 + 0.1, -3.5])
    else:
        bounds = np.iinfo(dtype)
        any_value = st.integers(max(bounds.min, -(2**50)), min(bounds.max, 2**50))
        few = st.integers(0, 3)
    values = draw(st.lists(draw(st.sampled_from([any_value, few])), min_size=n, max_size=n))
    return np.array(values, dtype=dtype)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 24))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    columns = {name: draw(numbers(n)) for name in names}
    if draw(st.booleans()):  # duplicated records
        again = np.array(draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
        columns = {name: values[again] for name, values in columns.items()}
    return columns


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@given(columns=tables(), data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.slow
def test_every_release_keeps_its_promises(kind, columns, data):
    n = len(next(iter(columns.values())))
    k = data.draw(st.integers(1, n), label="k")
    table = kind(columns)
    release = protect(table, k, effort="fast")
    released = {name: release.table[name].to_numpy() for name in release.table.columns}

    assert list(released) == list(columns)
    combinations = Counter(zip(*(values.tolist() for values in released.values()), strict=True))
    assert min(combinations.values()) >= k
    assert release.manifest.smallest_class == min(combinations.values())
    assert release.manifest.n_classes == len(combinations)
    assert 0 <= release.grouping_loss <= 100 + 1e-9
    assert release.information_loss >= release.grouping_loss * (1 - 1e-6) - 1e-9
    for name, values in columns.items():
        assert release.table[name].dtype == table[name].dtype
        for group in np.unique(release.labels):
            before, after = values[release.labels == group], released[name][release.labels == group]
            assert len({value.tobytes() for value in after}) == 1
            assert not (after == 0).any() or not np.signbit(after.astype(float)).any()
            slack = 1e-6 * float(np.abs(before.astype(float)).max())
            assert float(before.min()) - slack <= float(after[0]) <= float(before.max()) + slack
        assert (table[name].to_numpy() == values).all()
