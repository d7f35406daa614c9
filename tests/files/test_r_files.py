"""R files: factors, missing values, dates, labels, and which data frame is read."""

from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.files.annotations import Family
from microagg.files.dialect import Dialect
from microagg.files.formats import open_table, write_table
from microagg.files.labelled import labelled_types
from microagg.tables.columns import ColumnType
from microagg.tables.frames import open_frame

rdata = pytest.importorskip("rdata")

from rdata.parser import CharFlags, RObjectType  # noqa: E402

from tests.files.r_objects import (  # noqa: E402
    NIL,
    _object,
    r_factor,
    r_file,
    r_frame,
    r_list,
    r_logical,
    r_numbers,
    r_pairs,
    r_short,
    r_texts,
    r_whole,
    write_object,
)

NAN = float("nan")
# What R itself wrote; the package has them for its tests.
BY_R = Path(rdata.__file__).parent / "tests" / "data"


@pytest.fixture
def rds(tmp_path):
    """Write columns to an .rds file and return it opened."""

    def write(**columns):
        return open_table(r_file(tmp_path / "t.rds", columns))

    return write


@pytest.mark.parametrize(
    ("vector", "expected", "dtype"),
    [
        (r_numbers(1.5, NAN, -2), [1.5, None, -2.0], pl.Float64),
        (r_numbers(1, NAN, 3), [1, None, 3], pl.Int64),
        (r_numbers(1, 2.0**60, 3), [1.0, 2.0**60, 3.0], pl.Float64),
        (r_numbers(NAN, NAN, NAN), [None] * 3, pl.Float64),
        (r_whole(1, None, -3), [1, None, -3], pl.Int64),
        (r_logical(True, None, False), [True, None, False], pl.Boolean),
        (r_texts("ü", None, ""), ["ü", None, ""], pl.String),
        (r_factor([2, None, 1], ["lo", "hi"]), ["hi", None, "lo"], pl.Enum(["lo", "hi"])),
        (r_factor([2, 3, 1], ["lo", None, "hi"]), [None, "hi", "lo"], pl.Enum(["lo", "hi"])),
        (r_factor([None] * 3, []), [None] * 3, pl.Enum([])),
        (
            r_numbers(0, NAN, 19782.7, **{"class": r_texts("Date")}),
            [date(1970, 1, 1), None, date(2024, 2, 29)],
            pl.Date,
        ),
        (r_whole(-1, None, 0, **{"class": r_texts("Date")}), None, pl.Date),
        (
            r_numbers(0, NAN, 0.25, **{"class": r_texts("POSIXct", "POSIXt")}),
            [datetime(1970, 1, 1, tzinfo=UTC), None, datetime(1970, 1, 1, 0, 0, 0, 250_000, UTC)],
            pl.Datetime("us", "UTC"),
        ),
        (
            r_numbers(0, 1, 2, **{"class": r_texts("POSIXct"), "tzone": r_texts("Asia/Tokyo")}),
            None,
            pl.Datetime("us", "Asia/Tokyo"),
        ),
        (
            r_numbers(0, 1, 2, **{"class": r_texts("POSIXct"), "tzone": r_texts("Mars/Base")}),
            None,
            pl.Datetime("us", "UTC"),
        ),
        (
            r_numbers(90, 5, NAN, **{"class": r_texts("difftime"), "units": r_texts("mins")}),
            [90, 5, None],
            pl.Int64,
        ),
        (
            r_numbers(
                *np.array([2**60, -(2**63), 7]).view(float), **{"class": r_texts("integer64")}
            ),
            [2**60, None, 7],
            pl.Int64,
        ),
    ],
)
def test_every_vector_becomes_a_column(rds, vector, expected, dtype):
    found = rds(x=vector).table()["x"]
    assert found.dtype == dtype
    assert len(found) == 3
    if expected is not None:
        assert found.to_list() == expected


def test_text_in_other_encodings(tmp_path):
    latin = {"encoding": "latin-1", "flag": CharFlags.LATIN1}
    bare = {"encoding": "cp1250", "flag": CharFlags.HAS_HASH}
    frame = r_frame({"a": r_texts("é", **latin), "b": r_texts("ř", **bare)})
    path = write_object(tmp_path / "t.rds", frame, encoding="CP1250")
    assert open_table(path).table().rows() == [("é", "ř")]
    path = write_object(tmp_path / "t.rds", frame, encoding="unheard-of")
    with pytest.raises(DataError, match=r"not in the encoding utf-8. Name .*--encoding"):
        open_table(path).table()
    assert open_table(path, dialect=Dialect(encoding="cp1250")).table()["b"][0] == "ř"


def test_ordered_factors_are_ordinal_and_others_are_not(rds):
    levels = ["low", "middle", "high"]
    opened = rds(o=r_factor([3, 1], levels, ordered=True), f=r_factor([3, 1], levels))
    table = opened.table()
    assert labelled_types(open_frame(table), opened.annotations) == {"o": ColumnType.ORDINAL}
    assert table["o"].dtype.categories.to_list() == levels


class TestLabels:
    @pytest.fixture
    def opened(self, rds):
        labels = r_numbers(1, 2, 9, names=r_texts("no", "yes", "refused"))
        return rds(
            smokes=r_numbers(
                1,
                2,
                9,
                **{
                    "label": r_texts("Do you smoke?"),
                    "labels": labels,
                    "na_values": r_numbers(9),
                    "format.spss": r_texts("F1.0"),
                    "class": r_texts("haven_labelled_spss", "haven_labelled"),
                },
            ),
            age=r_numbers(30, 40, 50, na_range=r_numbers(45, float("inf"))),
        )

    def test_they_are_those_of_an_spss_file(self, opened):
        found = opened.annotations
        assert found.family is Family.SPSS
        assert found.variables["smokes"].label == "Do you smoke?"
        assert found.variables["smokes"].value_labels == {1.0: "no", 2.0: "yes", 9.0: "refused"}
        assert found.variables["smokes"].missing == ((9.0, 9.0),)
        assert found.variables["smokes"].format == "F1.0"

    def test_codes_of_missing_values(self, opened):
        assert opened.table().rows() == [(1, 30), (2, 40), (None, None)]
        assert opened.table(as_text=["smokes"])["smokes"].to_list() == [1, 2, 9]
        assert opened.annotations.coded == {"smokes"}

    def test_they_go_into_an_spss_file(self, opened, tmp_path):
        pyreadstat = pytest.importorskip("pyreadstat")
        path = str(tmp_path / "t.sav")
        table = opened.table(as_text=["smokes"])
        write_table(table, path, annotations=opened.annotations)
        _, facts = pyreadstat.read_sav(path, output_format="dict", user_missing=True)
        assert facts.variable_value_labels["smokes"] == {1.0: "no", 2.0: "yes", 9.0: "refused"}
        assert facts.column_names_to_labels["smokes"] == "Do you smoke?"


class TestChoice:
    def test_the_only_data_frame_is_read(self, tmp_path):
        people = {"a": r_numbers(1, 2)}
        path = r_file(tmp_path / "t.RData", people, k=r_numbers(5), nothing=NIL)
        opened = open_table(path)
        assert opened.sheet == "people"
        assert opened.table()["a"].to_list() == [1, 2]

    def test_one_of_several_must_be_named(self, tmp_path):
        firms = r_frame({"b": r_numbers(3)})
        path = r_file(tmp_path / "t.rda", {"a": r_numbers(1)}, firms=firms)
        with pytest.raises(DataError, match=r"frames 'people', 'firms'. Name one .--sheet"):
            open_table(path)
        assert open_table(path, dialect=Dialect(sheet="firms")).columns == ("b",)
        with pytest.raises(ParameterError, match="no data frame 'x', only 'people', 'firms'"):
            open_table(path, dialect=Dialect(sheet="x"))

    def test_a_list_of_data_frames_is_several(self, tmp_path):
        frames = [r_frame({"a": r_numbers(1)}), r_frame({"b": r_numbers(2)})]
        path = write_object(tmp_path / "t.rds", r_list(frames, names=r_texts("one", "two")))
        assert open_table(path, dialect=Dialect(sheet="two")).columns == ("b",)

    def test_a_single_object_has_no_name(self, tmp_path):
        path = r_file(tmp_path / "t.rds", {"a": r_numbers(1)})
        with pytest.raises(ParameterError, match="holds one data frame without a name"):
            open_table(path, dialect=Dialect(sheet="a"))

    def test_none_is_said(self, tmp_path):
        path = write_object(tmp_path / "t.rds", r_numbers(1, 2))
        with pytest.raises(DataError, match="holds no data frame"):
            open_table(path)


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        (r_list([r_numbers(1), r_numbers(2)]), "a list"),
        (r_numbers(1, 2, 3, 4, dim=r_whole(2, 2)), "a matrix"),
        (_object(RObjectType.CPLX, np.array([1j, 2])), "of the type complex"),
        (r_factor([1, 5], ["a"]), "a factor without all of its levels"),
        (r_numbers(0, 1e12, **{"class": r_texts("Date")}), "beyond the years 1 to 9999"),
        (r_numbers(0, -1e15, **{"class": r_texts("POSIXct")}), "beyond the years 1 to 9999"),
    ],
)
def test_what_is_no_column_is_refused_where_it_is_needed(tmp_path, vector, words):
    frame = r_frame({"odd": vector, "a": r_numbers(1, 2)}, n_records=2)
    opened = open_table(write_object(tmp_path / "t.rds", frame))
    assert opened.table(columns=["a"])["a"].to_list() == [1, 2]
    with pytest.raises(DataError, match=f"column 'odd' of .* is {words}, .*Convert it in R"):
        opened.table()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (r_frame({"a": r_numbers(1, 2), "b": r_numbers(1)}), "its columns differ in length"),
        (r_frame({"a": r_numbers()}, n_records=0), "has columns but no records"),
        (r_list([], **{"class": r_texts("data.frame")}), "without columns"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, frame, message):
    with pytest.raises(DataError, match=message):
        open_table(write_object(tmp_path / "t.rds", frame))


@pytest.mark.parametrize("name", ["t.rds", "t.rdata"])
@pytest.mark.parametrize("compression", [None, "gzip", "bzip2", "xz"])
def test_any_compression_and_no_truncation(tmp_path, name, compression):
    frame = r_frame({"a": r_numbers(*range(50)), "b": r_texts(*map(str, range(50)))})
    found = frame if name == "t.rds" else r_pairs({"people": frame})
    path = write_object(tmp_path / name, found, compression=compression)
    assert open_table(path).table().height == 50
    content = Path(path).read_bytes()
    for share in (0.1, 0.5, 0.95):
        Path(path).write_bytes(content[: int(share * len(content))])
        with pytest.raises(DataError, match="should be an R file; it holds something else or is"):
            open_table(path)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"X\n\0\0\0\3", b"RDX3\n", b"\x1f\x8b"])
def test_something_else(tmp_path, content):
    (tmp_path / "t.rds").write_bytes(content)
    with pytest.raises(DataError, match="should be an R file"):
        open_table(str(tmp_path / "t.rds"))


@pytest.mark.parametrize("names", [r_texts("x", "y"), r_whole(7, 9), r_whole(None, -2)])
def test_row_names_of_any_kind(tmp_path, names):
    frame = r_list(
        [r_numbers(1, 2)],
        **{"names": r_texts("a"), "class": r_texts("data.frame"), "row.names": names},
    )
    path = write_object(tmp_path / "t.rds", frame)
    assert open_table(path).table().to_dict(as_series=False) == {"a": [1, 2]}


def test_sequences_that_descend(tmp_path):
    altrep = r_short(b"compact_intseq", r_numbers(10, 10, -1))
    path = write_object(tmp_path / "t.rds", r_frame({"a": altrep}, n_records=10))
    assert open_table(path).table()["a"].to_list() == list(range(10, 0, -1))


@pytest.mark.parametrize("numbers", [r_whole(12, None, -3), r_numbers(12, NAN, -3)])
def test_numbers_that_are_to_be_text(tmp_path, numbers):
    state = _object(RObjectType.LIST, (numbers, r_whole(0)))
    altrep = r_short(b"deferred_string", state)
    path = write_object(tmp_path / "t.rds", r_frame({"a": altrep}, n_records=3))
    assert open_table(path).table()["a"].to_list() == ["12", None, "-3"]


def test_what_r_wrote():
    paths = sorted(BY_R.glob("**/test_dataframe__*.rd*"))
    if not paths:
        pytest.skip("this rdata comes without its tests")
    for path in paths:
        found = open_table(str(path)).table()
        assert found["class"].dtype == pl.Enum(["a", "b"]), path.name
        assert found.rows() == [("a", 1), ("b", 2), ("b", 3)], path.name
