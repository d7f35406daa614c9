"""Tables come in and go out by one door, as what they are."""

import datetime
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg import protect
from microagg.core.errors import DataError, ParameterError
from microagg.files.formats import write_table
from microagg.tables.frames import index_names, open_frame, to_polars, with_released


@pytest.mark.parametrize(
    ("thing", "hint"),
    [
        ({"a": [1]}, "got dict"),
        ([[1, 2]], "got list"),
        (None, "got NoneType"),
        ("people.csv", "microagg.protect_file"),
        (np.zeros((2, 2)), "partitions.get"),
        (pl.Series([1]), "to_frame"),
        (pd.Series([1]), "to_frame"),
        (pl.LazyFrame({"a": [1]}), "collect"),
    ],
)
def test_what_is_no_dataframe_gets_a_hint(thing, hint):
    with pytest.raises(ParameterError, match=hint):
        open_frame(thing)


def test_a_column_named_twice():
    with pytest.raises(DataError, match="'a' appears more than once"):
        open_frame(pd.DataFrame([[5, 6, 7]], columns=["a", "b", "a"]))
    with pytest.raises(DataError, match="'a' appears more than once") as refused:
        open_frame(pa.table([[987654], [2]], names=["a", "a"]))
    assert "987654" not in str(refused.value)


@pytest.mark.parametrize(
    "columns", [[0, 1], ["a", 1], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])]
)
def test_names_that_are_no_text(columns):
    with pytest.raises(DataError, match="column names must be text"):
        open_frame(pd.DataFrame([[5, 6]], columns=columns))


def test_released_columns_take_their_places_and_types():
    table = pd.DataFrame(
        {
            "t": ["x", "y"],
            "i": np.array([1, 2], dtype=np.int16),
            "n": pd.array([1, 2], dtype="Int64"),
            "p": pd.array([1.0, 2.0], dtype="float32[pyarrow]"),
            "id": [7, 8],
        },
        index=[5, 5],
    )
    before = table.copy(deep=True)
    new = {
        "n": pd.Series([4, 4], index=[5, 5], dtype=table["n"].dtype),
        "p": pd.Series([1.5, 1.5], index=[5, 5], dtype=table["p"].dtype),
        "i": pd.Series([3, 3], index=[5, 5], dtype=table["i"].dtype),
    }
    result = with_released(open_frame(table), new, dropped=["id"])
    assert list(result.columns) == ["t", "i", "n", "p"]
    assert result.dtypes.tolist() == table.dtypes[:-1].tolist()
    assert result["i"].tolist() == [3, 3]
    assert result["n"].tolist() == [4, 4]
    assert result["p"].tolist() == [1.5, 1.5]
    assert result.index.tolist() == [0, 1]
    pd.testing.assert_frame_equal(table, before)


def test_a_change_to_the_result_does_not_reach_the_input():
    table = pd.DataFrame({"a": [1, 2], "kept": [3, 4]})
    result = with_released(open_frame(table), {"a": pd.Series([1, 1])}, dropped=[])
    result.loc[0, "kept"] = 99
    result["kept"].to_numpy(copy=False)
    assert table["kept"].tolist() == [3, 4]


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.table])
def test_other_kinds_stay_what_they_are(kind):
    table = kind({"*": [1, 2], "^a$": [1.5, 2.5], "a": ["x", "y"]})
    new = pl.Series([2.0, 2.0]) if kind is pl.DataFrame else pa.chunked_array([[2.0, 2.0]])
    result = with_released(open_frame(table), {"^a$": new}, dropped=["*"])
    assert type(result) is type(table)
    frame = open_frame(result)
    assert frame.columns == ["^a$", "a"]
    assert frame["^a$"].to_list() == [2.0, 2.0]


def test_index_names():
    assert index_names(open_frame(pd.DataFrame({"a": [1]}))) == ()
    assert index_names(open_frame(pd.DataFrame({"a": [1]}).set_index(["a"]))) == ("a",)
    assert index_names(open_frame(pl.DataFrame({"a": [1]}))) == ()


def test_pandas_table_becomes_what_polars_writes():
    table = pd.DataFrame(
        {
            "i": np.array([1, 2], dtype=np.uint8),
            "n": pd.array([1, None], dtype="Int64"),
            "t": ["x", None],
            "c": pd.Categorical(["u", "v"]),
            "d": [datetime.datetime(2020, 1, 1)] * 2,
            "b": [True, False],
        },
        index=pd.Index(["r", "s"], name="who"),
    )
    written = to_polars(table)
    assert written.columns == ["who", "i", "n", "t", "c", "d", "b"]
    assert written["who"].to_list() == ["r", "s"]
    assert written["i"].dtype == pl.UInt8
    assert written["n"].to_list() == [1, None]
    assert written["t"].to_list() == ["x", None]


def test_nameless_levels_are_not_written():
    assert to_polars(pd.DataFrame({"a": [1, 2]}, index=["r", "s"])).columns == ["a"]
    levels = pd.MultiIndex.from_tuples([("r", 5), ("s", 6)], names=["who", None])
    assert to_polars(pd.DataFrame({"a": [1, 2]}, index=levels)).columns == ["who", "a"]


@pytest.mark.parametrize(
    "labels",
    [
        ["u", "v"],
        [0.5, 1.5],
        [True, False],
        pd.to_datetime(["2020-01-01", "2020-01-02"]),
        pd.period_range("2020-01", periods=2, freq="M"),
        pd.CategoricalIndex([1, 2]),
        pd.interval_range(0, 2),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_nameless_index_of_anything_but_whole_numbers_is_refused(labels):
    table = pd.DataFrame({"a": [1, 2]}, index=pd.Index(labels))
    with pytest.raises(DataError, match=r"Name it .* role, or call reset_index\(drop=True\)"):
        index_names(open_frame(table))


@pytest.mark.parametrize("labels", [[5, 7], pd.array([5, 7], dtype="Int64"), range(2)])
def test_nameless_whole_numbers_are_row_numbers(labels):
    assert index_names(open_frame(pd.DataFrame({"a": [1, 2]}, index=pd.Index(labels)))) == ()


@pytest.mark.parametrize("names", [[0], [("a", "b")], [None, "day"], ["who", 1], [None, None]])
def test_names_of_an_index_must_be_text(names):
    index = pd.MultiIndex.from_arrays([["u", "v"]] * len(names), names=names)
    table = pd.DataFrame(
        {"a": [1, 2]}, index=index if len(names) > 1 else index.get_level_values(0)
    )
    with pytest.raises(DataError, match="names of the table's index must be text"):
        index_names(open_frame(table))


@pytest.mark.parametrize("names", [["a", "who"], ["who", "who"]])
def test_an_index_shares_no_name(names):
    index = pd.MultiIndex.from_arrays([[1, 2], [3, 4]], names=names)
    with pytest.raises(DataError, match="the name of another level or column"):
        index_names(open_frame(pd.DataFrame({"a": [1, 2]}, index=index)))


def test_notes_beside_the_values_stay_behind():
    table = pd.DataFrame({"a": [1, 2]})
    table.attrs["source"] = "Sentinella"
    assert with_released(open_frame(table), {"a": pd.Series([1, 1])}, dropped=[]).attrs == {}
    assert table.attrs == {"source": "Sentinella"}
    noted = pa.field("a", pa.int64(), metadata={"note": "Sentinella"})
    kept = pa.field("b", pa.string(), metadata={"note": "Sentinella"}, nullable=False)
    schema = pa.schema([noted, kept], metadata={"note": "Sentinella"})
    arrow = pa.table([[1, 2], ["x", "y"]], schema=schema)
    released = with_released(open_frame(arrow), {"a": pa.chunked_array([[1, 1]])}, dropped=[])
    assert released.to_pydict() == {"a": [1, 1], "b": ["x", "y"]}
    assert not released.schema.metadata
    assert [field.metadata for field in released.schema] == [None, None]
    assert arrow.schema.metadata


def test_columns_of_mixed_types_are_refused_without_their_values():
    with pytest.raises(DataError, match="'m' mixes types") as refused:
        to_polars(pd.DataFrame({"m": ["Sentinella", 5, {1}]}))
    assert "Sentinella" not in str(refused.value)


@pytest.mark.slow
def test_pandas_text_is_written_without_pyarrow():
    script = """
import sys
class NoArrow:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoArrow())
import pandas as pd
from microagg.tables.frames import to_polars
categories = pd.Categorical(["a", "b"])
table = to_polars(pd.DataFrame({"t": ["x", None], "n": [1.5, 2.5], "c": categories}))
assert table["t"].to_list() == ["x", None], table
assert table["n"].to_list() == [1.5, 2.5], table
assert table["c"].to_list() == ["a", "b"], table
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.table], ids=["pandas", "pyarrow"])
def test_a_column_whose_name_is_empty_is_written_with_that_name(kind):
    assert to_polars(kind({"": [1, 2], "a": [3, 4]})).columns == ["", "a"]


def test_a_key_takes_the_place_of_an_index(tmp_path):
    people = pd.Index(["Sentinella", "Bob", "Cy", "Di"], name="who")
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}, index=people)
    release = protect(table, 2, identifiers="who", keep_key=True, method="mdav")
    assert list(release.table.index) == [0, 1, 2, 3]
    assert sorted(release.table["who"]) == [1, 2, 3, 4]
    assert "Sentinella" not in release.save(tmp_path / "out.csv").read_text()


@pytest.mark.parametrize("role", ["quasi_identifiers", "publish"])
def test_views_of_short_texts_can_be_read_by_other_libraries(role):
    column = pa.chunked_array([pa.array(["high", "low"] * 4, pa.string_view())])
    table = pa.table({"x": [1.5, 2.5] * 4, "c": column})
    released = protect(table, 2, method="mdav", **{role: "c"}).table["c"]
    assert released.type == column.type
    assert pl.from_arrow(released).to_list() == column.to_pylist()


class TestWhatLiesBeside:
    """Nothing that no released record holds stays in the table, or in a file of it."""

    GONE, THERE = "Sentinella", ["low", "high"]

    def _released(self, table):
        return with_released(open_frame(table), {}, dropped=[])

    @pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
    def test_categories_of_polars(self, suffix, tmp_path):
        names = pl.Enum(["low", self.GONE, "high"])
        released = self._released(pl.DataFrame({"c": ["high", "low"]}, schema={"c": names}))
        assert released["c"].dtype == pl.Enum(self.THERE)
        assert released["c"].to_list() == ["high", "low"]
        write_table(released, str(tmp_path / f"t.{suffix}"))
        assert self.GONE.encode() not in (tmp_path / f"t.{suffix}").read_bytes()

    @pytest.mark.parametrize(
        ("kind", "values"),
        [
            (pl.List, [["high"], [], None, ["low", None]]),
            (lambda names: pl.Array(names, 2), [["high", None], None, ["low", "high"]]),
            (lambda names: pl.Struct({"^f$": names}), [{"^f$": "high"}, {"^f$": "low"}]),
            (lambda names: pl.List(pl.Struct({"f": names})), [[{"f": "high"}], [{"f": "low"}]]),
        ],
    )
    def test_categories_of_polars_within_other_types(self, kind, values):
        column = pl.Series("c", values, dtype=kind(pl.Enum(["low", self.GONE, "high"])))
        released = self._released(pl.DataFrame(column))["c"]
        assert released.dtype == kind(pl.Enum(self.THERE))
        assert released.to_list() == column.to_list()

    def test_what_lies_beside_categories_keeps_its_nanoseconds(self):
        times = pl.Series("t", [1_700_000_000_123_456_789]).cast(pl.Datetime("ns"))
        names = pl.Series("f", ["low"], dtype=pl.Enum(["low", self.GONE]))
        table = pl.DataFrame([names, times]).select(pl.struct("f", "t").alias("c"))
        assert self._released(table)["c"].struct.field("t").equals(times)

    @pytest.mark.parametrize("ordered", [True, False])
    def test_categories_of_pandas(self, ordered):
        listed = pd.Index(["low", self.GONE, "high"], name=self.GONE)
        own = pd.Categorical(["high", None, "low"], listed, ordered=ordered)
        table = pd.DataFrame({"c": own}, index=[3, 2, 1])
        released = self._released(table)
        assert released["c"].dtype == pd.CategoricalDtype(self.THERE, ordered)
        assert released["c"].cat.categories.name is None
        assert released["c"].tolist() == ["high", np.nan, "low"]
        assert self.GONE in table["c"].cat.categories

    @pytest.mark.parametrize("ordered", [True, False])
    def test_dictionaries_of_arrow(self, ordered):
        def entries(places, names):
            indices = pa.array(places, pa.int8())
            return pa.DictionaryArray.from_arrays(indices, names, ordered=ordered)

        names = pa.array(["low", self.GONE, "high"])
        column = pa.chunked_array([entries([2, None], names), entries([0, 0], names)])
        released = self._released(pa.table({"c": column}))["c"]
        assert released.type == column.type
        assert released.to_pylist() == ["high", None, "low", "low"]
        assert all(chunk.dictionary.to_pylist() == self.THERE for chunk in released.chunks)
        in_pandas = pd.DataFrame({"c": pd.arrays.ArrowExtensionArray(column)}, index=[9, 8, 7, 6])
        released = self._released(in_pandas)["c"]
        assert released.dtype == in_pandas["c"].dtype
        assert released.tolist()[::2] == ["high", "low"]
        assert self.GONE not in str(released.array.__arrow_array__())

    @pytest.mark.parametrize("role", ["quasi_identifiers", "publish"])
    def test_dictionaries_of_arrow_as_polars_writes_them(self, role):
        names = pa.array(["low", self.GONE, "high"], pa.string_view())
        column = pa.DictionaryArray.from_arrays(pa.array([2, 0] * 4, pa.int8()), names)
        table = pa.table({"x": [1.5, 2.5] * 4, "c": column})
        released = protect(table, 2, method="mdav", **{role: "c"}).table["c"]
        assert released.type == column.type
        assert sorted(released.chunk(0).dictionary.to_pylist()) == sorted(self.THERE)

    def test_levels_of_an_index(self):
        index = pd.MultiIndex.from_tuples([("a", 1), (self.GONE, 2)], names=["g", "h"])
        released = self._released(pd.DataFrame({"v": [1, 2]}, index=index).iloc[:1])
        assert [list(level) for level in released.index.levels] == [["a"], [1]]
        listed = pd.Index(["a", self.GONE], name=self.GONE)
        named = pd.CategoricalIndex(["a", self.GONE], listed, name="g")
        released = self._released(pd.DataFrame({"v": [1, 2]}, index=named).iloc[:1])
        assert released.index.categories.tolist() == ["a"]
        assert (released.index.name, released.index.categories.name) == ("g", None)

    def test_names_and_attributes_of_pandas(self):
        class Noted(pd.DataFrame):
            _metadata = ("note",)

            @property
            def _constructor(self):
                return Noted

        table = Noted({"v": [1, 2]})
        table.note = table.columns.name = self.GONE
        table.attrs["source"] = self.GONE
        released = self._released(table)
        assert type(released) is pd.DataFrame
        assert (released.columns.name, released.attrs) == (None, {})
        assert not hasattr(released, "note")
        assert table.columns.name == self.GONE
