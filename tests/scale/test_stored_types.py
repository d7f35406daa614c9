"""Columns of every type that files can have: published as they are, or refused in words."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from microagg import protect_dataset, verify
from microagg.core.errors import DataError
from tests.scale.datasets import arrow_files, people, write_files

N = 300
ASKED = {"k": 3, "method": "mdav", "quasi_identifiers": ["job"], "sensitive": "disease"}
NAN = float("nan")
WORDS = [f"a text that is longer than a view holds {at % 7}" for at in range(N)]

PUBLISHED = {
    "lists with NaN": pa.array([[NAN, at % 3], None, [None]][at % 3] for at in range(N)),
    "structures with NaN": pa.array([{"a": {"b": NAN}, "c": at % 3} for at in range(N)]),
    "lists of one length": pa.array([[1.0, NAN]] * N, pa.list_(pa.float64(), 2)),
    "long decimals": pa.array([Decimal(at % 5) for at in range(N)], pa.decimal256(60, 2)),
    "text in views": pa.array(WORDS, pa.string_view()),
    "bytes in views": pa.array([word.encode() for word in WORDS], pa.binary_view()),
    "numbers as categories": pa.array([7, 9, None] * (N // 3)).dictionary_encode(),
}
ONLY_ARROW = {
    "categories in views": pa.DictionaryArray.from_arrays(
        pa.array(np.arange(N) % 2, pa.int8()), pa.array(["few", "many"], pa.string_view())
    ),
    "intervals": pa.array([pa.MonthDayNano([1, at % 5, 3]) for at in range(N)]),
}


def files_with(tmp_path, column, suffix="arrow"):
    table = people(N).drop("id").to_arrow().append_column("v", column)
    return write_files(table, tmp_path / "in", (130,), suffix, rows=60)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [(n, s) for n in PUBLISHED for s in ("parquet", "arrow")] + [(n, "arrow") for n in ONLY_ARROW],
)
def test_published_unchanged(tmp_path, name, suffix):
    source = files_with(tmp_path, {**PUBLISHED, **ONLY_ARROW}[name], suffix)
    protect_dataset(source, tmp_path / "out", publish="v", **ASKED)
    for before, after in zip(arrow_files(source), arrow_files(tmp_path / "out"), strict=True):
        assert after.schema.field("v").type == before.schema.field("v").type
        assert repr(after["v"].to_pylist()) == repr(before["v"].to_pylist())


def test_lists_that_differ_are_found_out(tmp_path, monkeypatch):
    """NaN is the same as NaN, and nothing else is."""
    from microagg.core.errors import GuaranteeError
    from microagg.scale.steps import writing

    real = writing._joined

    def joined(table, *others):
        changed = pa.array([[NAN, 5.0]] * table.num_rows)
        return real(table.set_column(table.column_names.index("v"), "v", changed), *others)

    monkeypatch.setattr(writing, "_joined", joined)
    source = files_with(tmp_path, pa.array([[NAN, 4.0]] * N))
    with pytest.raises(GuaranteeError, match="'v' is to be published unchanged, and differs"):
        protect_dataset(source, tmp_path / "out", publish="v", **ASKED)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_text_in_views_is_protected(tmp_path, suffix):
    source = files_with(tmp_path, PUBLISHED["text in views"], suffix)
    asked = {**ASKED, "quasi_identifiers": ["job", "v"]}
    protect_dataset(source, tmp_path / "out", **asked)
    for after in arrow_files(tmp_path / "out"):
        assert after.schema.field("v").type == pa.string_view()
    assert verify(tmp_path / "out").satisfied


@pytest.mark.parametrize("role", ["quasi_identifiers", "strata", "unit"])
def test_categories_that_are_no_text(tmp_path, role):
    source = files_with(tmp_path, PUBLISHED["numbers as categories"])
    own = ["job", "v"] if role == "quasi_identifiers" else "v"
    with pytest.raises(DataError, match=r"'v' holds categories that are not text \(int64\)"):
        protect_dataset(source, tmp_path / "out", **{**ASKED, role: own})


def test_unions(tmp_path):
    numbers, texts = pa.array(range(N)), pa.array(["a"] * N)
    both = pa.UnionArray.from_sparse(pa.array([0, 1] * (N // 2), pa.int8()), [numbers, texts])
    source = files_with(tmp_path, both)
    with pytest.raises(DataError, match="'v' is a union of several types"):
        protect_dataset(source, tmp_path / "out", publish="v", **ASKED)
