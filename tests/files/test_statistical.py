"""SPSS, Stata and SAS files: what is written is read back, by us and by pyreadstat itself."""

import sys
import warnings
from datetime import date, datetime, time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.core.errors import AnnotationWarning, DataError, MicroaggError, ParameterError
from microagg.files.annotations import (
    Annotations,
    Family,
    Variable,
    fitting_label,
    shows_whole_numbers,
)
from microagg.files.formats import open_table, protected_name, write_table
from microagg.files.statistical_times import time_encoding

pyreadstat = pytest.importorskip("pyreadstat")

DAY = 86_400
SURVEY = pl.DataFrame(
    {
        "id": [1.0, 2.0, 3.0, 4.0],
        "income": [1.5, 99.0, -1.0, None],
        "age": [30.0, 99.0, 40.0, 97.0],
        "sex": [1.0, 2.0, 9.0, None],
        "town": ["x", "zz", "", "ünï"],
        "born": [150_000.0 * DAY, None, 0.0, 150_001.0 * DAY],
        "seen": [1.39e10 + 0.25, 1.39e10, None, 0.0],
    }
)
SAID = {
    "column_labels": {"age": "Age in years, à peu près", "sex": "Sex"},
    "variable_value_labels": {
        "sex": {1.0: "male", 2.0: "female", 9.0: "no answer"},
        "age": {99.0: "refused"},
        "town": {"x": "Ixtown"},
    },
    "missing_ranges": {"age": [{"lo": 97.0, "hi": 99.0}], "sex": [9.0], "town": ["zz"]},
    "variable_measure": {"age": "scale", "sex": "nominal", "income": "ordinal"},
    "variable_display_width": {"age": 12},
    "variable_format": {
        "id": "F8.0",
        "age": "F3.0",
        "sex": "F1.0",
        "born": "ADATE10",
        "seen": "DATETIME23.2",
    },
}


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(SURVEY, path, **SAID)
    return str(path)


@pytest.fixture
def study(tmp_path):
    """A Stata file with tagged missing values."""
    path = tmp_path / "study.dta"
    table = pl.DataFrame(
        {
            "n": pl.Series([1, "a", None, 3], dtype=pl.Object),
            "x": pl.Series([1.5, "b", 2.0, None], dtype=pl.Object),
            "visit": pl.Series([20_000, None, 1, 2], dtype=pl.Int32),
            "at": [1.7e12 + 1, None, 0.0, -1.0],
            "month": pl.Series([500, 501, None, 502], dtype=pl.Int32),
            "name": ["a", "", "é", None],
        }
    )
    pyreadstat.write_dta(
        table,
        path,
        version=14,
        column_labels={"n": "Number"},
        missing_user_values={"n": ["a"], "x": ["b"]},
        variable_value_labels={"n": {"a": "refused", 1: "one"}},
        variable_format={"visit": "%tdDD/NN/CCYY", "at": "%tc", "month": "%tm", "x": "%9.3f"},
    )
    return str(path)


def said_by_pyreadstat(path):
    read = pyreadstat.read_dta if path.endswith(".dta") else pyreadstat.read_sav
    _, said = read(path, output_format="dict", user_missing=True, disable_datetime_conversion=True)
    return said


def raw(path, **options):
    read = pyreadstat.read_dta if path.endswith(".dta") else pyreadstat.read_sav
    options = {"output_format": "dict", "disable_datetime_conversion": True, **options}
    return dict(read(path, **options)[0])


def test_codes_are_missing_values_unless_published_as_they_are(survey):
    file = open_table(survey)
    assert file.columns == tuple(SURVEY.columns)
    table = file.table(as_text=["sex", "town"])
    assert table.to_dict(as_series=False) == {
        "id": [1, 2, 3, 4],
        "income": [1.5, 99.0, -1.0, None],
        "age": [30, None, 40, None],
        "sex": [1, 2, 9, None],
        "town": ["x", "zz", None, "ünï"],
        "born": [date(1993, 6, 21), None, date(1582, 10, 14), date(1993, 6, 22)],
        "seen": [
            datetime(2023, 4, 4, 15, 6, 40, 250_000),
            datetime(2023, 4, 4, 15, 6, 40),
            None,
            datetime(1582, 10, 14),
        ],
    }
    assert table.schema["age"] == table.schema["sex"] == pl.Int64
    assert file.table()["sex"].to_list() == [1, 2, None, None]
    assert file.table()["town"].to_list() == ["x", None, None, "ünï"]


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
@pytest.mark.parametrize("as_text", [(), ("sex", "town", "age")])
def test_spss_says_the_same_after_a_round(survey, tmp_path, suffix, as_text):
    file = open_table(survey)
    table = file.table(as_text=as_text)
    before = table.clone()
    path = str(tmp_path / f"out{suffix}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_table(table, path, annotations=file.annotations)
    assert table.equals(before)
    again = open_table(path)
    assert again.table(as_text=as_text).equals(table)
    assert again.annotations == file.annotations
    old, new = said_by_pyreadstat(survey), said_by_pyreadstat(path)
    for what in (
        "column_names_to_labels",
        "variable_value_labels",
        "missing_ranges",
        "variable_measure",
        "variable_display_width",
        "original_variable_types",
        "variable_storage_width",
    ):
        assert getattr(new, what) == getattr(old, what), what
    if as_text:
        assert raw(path, user_missing=True) == raw(survey, user_missing=True)


def test_a_file_of_one_column_and_part_of_the_columns(survey):
    table = open_table(survey).table(columns=["sex", "id"])
    assert table.columns == ["id", "sex"]
    with pytest.raises(ParameterError, match="has no column 'who'"):
        open_table(survey).table(columns=["who"])


def test_a_mean_that_meets_a_code_is_no_missing_value(survey, tmp_path):
    file = open_table(survey)
    table = file.table(as_text=["sex"]).with_columns(age=pl.lit(98))
    path = str(tmp_path / "out.sav")
    with pytest.warns(AnnotationWarning, match=r"equal user-missing codes.*'age'\."):
        write_table(table, path, annotations=file.annotations)
    assert set(said_by_pyreadstat(path).missing_ranges) == {"sex", "town"}
    assert raw(path)["age"] == [98.0] * 4


def test_columns_that_changed_their_type_keep_only_their_label(survey, tmp_path):
    file = open_table(survey)
    table = file.table().with_columns(age=pl.lit("30-40"), town=pl.lit(1.5))
    path = str(tmp_path / "out.sav")
    with pytest.warns(AnnotationWarning, match="codes are left out in: 'age', 'town'"):
        write_table(table, path, annotations=file.annotations)
    said = said_by_pyreadstat(path)
    assert said.column_names_to_labels["age"] == "Age in years, à peu près"
    assert set(said.missing_ranges) == {"sex"}
    assert open_table(path).table().equals(table)


def test_spss_to_stata(survey, tmp_path):
    file = open_table(survey)
    table = file.table(as_text=["sex"])
    path = str(tmp_path / "out.dta")
    with pytest.warns(AnnotationWarning) as said:
        write_table(table, path, annotations=file.annotations)
    assert sorted(str(warning.message) for warning in said) == [
        "Stata files cannot hold all value labels in: 'town'.",
        "Stata has no user-missing codes; they are no longer declared in: 'age', 'sex', 'town'.",
    ]
    assert open_table(path).table().equals(table)
    new = said_by_pyreadstat(path)
    assert new.column_names_to_labels["age"] == "Age in years, à peu près"
    assert new.variable_value_labels["sex"] == {1: "male", 2: "female", 9: "no answer"}
    assert new.original_variable_types["age"] == "%3.0f"
    assert new.original_variable_types["income"] == "%8.2f"
    assert new.original_variable_types["born"] == "%td"
    assert new.original_variable_types["seen"] == "%tc"


def test_stata_reads_dates_whole_numbers_and_tags(study):
    table = open_table(study).table()
    assert table.to_dict(as_series=False) == {
        "n": [1, None, None, 3],
        "x": [1.5, None, 2.0, None],
        "visit": [date(2014, 10, 4), None, date(1960, 1, 2), date(1960, 1, 3)],
        "at": [
            datetime(2013, 11, 13, 22, 13, 20, 1000),
            None,
            datetime(1960, 1, 1),
            datetime(1959, 12, 31, 23, 59, 59, 999_000),
        ],
        "month": [500, 501, None, 502],
        "name": ["a", None, "é", None],
    }
    kept = open_table(study).table(as_text=["n", "x", "month"])
    assert kept["n"].to_list() == ["1", ".a", None, "3"]
    assert kept["x"].to_list() == ["1.5", ".b", "2.0", None]
    assert kept["month"].to_list() == [500, 501, None, 502]


@pytest.mark.parametrize("as_text", [(), ("n", "x")])
def test_stata_says_the_same_after_a_round(study, tmp_path, as_text):
    file = open_table(study)
    table = file.table(as_text=as_text)
    path = str(tmp_path / "out.dta")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_table(table, path, annotations=file.annotations)
    again = open_table(path)
    assert again.table(as_text=as_text).equals(table)
    assert again.annotations == file.annotations
    if as_text:
        assert raw(path, user_missing=True) == raw(study, user_missing=True)
        assert said_by_pyreadstat(path).missing_user_values == {"n": ["a"], "x": ["b"]}


def test_stata_to_spss(study, tmp_path):
    file = open_table(study)
    table = file.table()
    path = str(tmp_path / "out.sav")
    with pytest.warns(AnnotationWarning, match="SPSS files cannot hold all value labels"):
        write_table(table, path, annotations=file.annotations)
    assert open_table(path).table().equals(table)
    said = said_by_pyreadstat(path)
    assert said.variable_value_labels == {"n": {1.0: "one"}}
    assert said.original_variable_types["x"] == "F9.3"
    assert said.original_variable_types["visit"] == "DATE11"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow"])
def test_other_formats_get_the_codes(survey, tmp_path, name):
    file = open_table(survey)
    path = str(tmp_path / name)
    write_table(file.table(as_text=["sex"]), path, annotations=file.annotations)
    again = open_table(path)
    assert again.annotations is None
    assert again.table()["sex"].to_list() == [1, 2, 9, None]


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_tables_from_elsewhere_are_read_back(tmp_path, suffix):
    table = pl.DataFrame(
        {
            "i": [1, -(2**53), None],
            "u": pl.Series([0, 1, 255], dtype=pl.UInt8),
            "f": [0.1, 1e300, None],
            "t": ["a,b", 'q"\n', None],
            "d": [date(2024, 2, 29), date(1500, 1, 1), None],
            "m": [datetime(2024, 2, 29, 12, 30, 15), None, None],
        }
    )
    path = str(tmp_path / f"t{suffix}")
    write_table(table, path)
    again = open_table(path).table()
    assert again.rows() == table.rows()
    assert again.schema == table.cast({"u": pl.Int64}).schema


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_types_with_a_plain_counterpart_are_converted(tmp_path, suffix):
    table = pl.DataFrame(
        {
            "b": [True, None],
            "c": pl.Series(["x", None], dtype=pl.Categorical),
            "e": pl.Series(["x", None], dtype=pl.Enum(["x"])),
            "n": [None, None],
            "nan": [float("nan"), 1.5],
            "z": pl.Series([datetime(2024, 1, 1, 12)] * 2).dt.replace_time_zone("Asia/Tokyo"),
        }
    )
    path = str(tmp_path / f"t{suffix}")
    write_table(table, path)
    noon = datetime(2024, 1, 1, 12)
    assert open_table(path).table().rows() == [
        (1, "x", "x", None, None, noon),
        (None, None, None, None, 1.5, noon),
    ]


def test_whole_numbers_beyond_a_long_of_stata(tmp_path):
    path = str(tmp_path / "t.dta")
    write_table(pl.DataFrame({"a": [2_147_483_621, 1], "b": [2_147_483_620, -2_147_483_647]}), path)
    assert raw(path) == {"a": [2_147_483_621.0, 1.0], "b": [2_147_483_620, -2_147_483_647]}


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"l": [[1]]}, "unlike 'l'"),
        ({"t": [time(1)]}, "unlike 't'"),
        ({"two words": [1]}, "named 'two words'"),
        ({"1st": [1]}, "named '1st'"),
        ({"x" * 65: [1]}, "named 'xxx"),
        ({"big": [2**53 + 1]}, "whole numbers beyond"),
        ({"inf": [float("-inf")]}, "infinite"),
        ({"zero": ["a\0b"]}, "zero byte as in 'zero'"),
        ({"a\0b": [1], "a": [2]}, r"named 'a\\x00b'\."),
    ],
)
def test_what_these_formats_cannot_hold_is_refused(tmp_path, suffix, table, words):
    with pytest.raises(ParameterError, match=words):
        write_table(pl.DataFrame(table), str(tmp_path / f"t{suffix}"))
    assert list(tmp_path.iterdir()) == []


def test_what_only_one_of_them_cannot_hold(tmp_path):
    for table, words in (
        ({"a": [1], "A": [2]}, "differ only in case"),
        ({"t": ["é" * 20_000]}, "more than 32767 bytes"),
    ):
        with pytest.raises(ParameterError, match=words):
            write_table(pl.DataFrame(table), str(tmp_path / "t.sav"))
        write_table(pl.DataFrame(table), str(tmp_path / "t.dta"), force=True)
        assert open_table(str(tmp_path / "t.dta")).table().equals(pl.DataFrame(table))


def test_labels_that_are_too_long_are_cut_between_characters(tmp_path):
    assert fitting_label("é" * 200, Family.SPSS) == "é" * 128
    assert fitting_label("é" * 200, Family.STATA) == "é" * 80
    assert fitting_label("x" + "é" * 80, Family.SPSS, of_value=True) == "x" + "é" * 59
    said = Annotations(Family.SPSS, {"a": Variable(False, label="é" * 90, value_labels={1.5: "x"})})
    with pytest.warns(AnnotationWarning) as cut:
        write_table(pl.DataFrame({"a": [1.0]}), str(tmp_path / "t.dta"), annotations=said)
    assert [str(warning.message) for warning in cut] == [
        "labels too long for Stata were cut in: 'a'.",
        "Stata files cannot hold all value labels in: 'a'.",
    ]


def test_a_long_name_with_labels_in_stata(tmp_path):
    name = "x" * 32
    said = Annotations(Family.STATA, {name: Variable(False, value_labels={1: "one"})})
    with pytest.warns(AnnotationWarning, match="cannot hold all value labels"):
        write_table(pl.DataFrame({name: [1]}), str(tmp_path / "t.dta"), annotations=said)
    assert open_table(str(tmp_path / "t.dta")).columns == (name,)


@pytest.fixture
def transport(tmp_path):
    path = tmp_path / "study.xpt"
    pyreadstat.write_xport(
        pl.DataFrame({"n": [1.0, 2.0, None], "x": [1.5, 2.0, 3.0], "d": [0.0, 22_000.0, None]}),
        path,
        column_labels={"n": "Number"},
        variable_format={"d": "DATE9.", "x": "8.2"},
        file_format_version=5,
    )
    return str(path)


def check_sas(file):
    table = file.table()
    assert table["n"].to_list() == [1, 2, None]
    assert table["d"].to_list() == [date(1960, 1, 1), date(2020, 3, 26), None]
    assert table.schema["n"] == pl.Int64
    assert file.annotations.variables["n"].label == "Number"


def test_sas_transport_files_are_read(transport, tmp_path):
    file = open_table(transport)
    check_sas(file)
    write_table(file.table(), str(tmp_path / "out.sav"), annotations=file.annotations)
    check_sas(open_table(str(tmp_path / "out.sav")))


def test_sas_data_files_are_read(transport, tmp_path, monkeypatch):
    # No package writes them, so the reader is given something that it is told to be one.
    def read(path, *, user_missing, **options):
        assert user_missing
        return pyreadstat.read_xport(path, **options)

    monkeypatch.setattr(pyreadstat, "read_sas7bdat", read)
    path = Path(transport).rename(tmp_path / "study.sas7bdat")
    check_sas(open_table(str(path)))


@pytest.mark.parametrize("suffix", [".xpt", ".sas7bdat"])
def test_sas_files_are_not_written(tmp_path, suffix):
    with pytest.raises(ParameterError, match=r"cannot be written. .* ends in \.csv, .*\.sav, "):
        write_table(pl.DataFrame({"a": [1]}), str(tmp_path / f"t{suffix}"))
    assert protected_name(f"a/study{suffix}") == "a/study-protected.sav"


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt", ".sas7bdat"])
@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n" * 99, b"$FL2@(#) Sentinella", b"\x72\2\1\0"]
)
def test_damaged_files_get_one_sentence(tmp_path, suffix, content):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError, match="something else or is damaged") as refused:
        open_table(str(path)).table()
    assert "Sentinella" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
@pytest.mark.parametrize("name", [b"", b"  ", b"\xff"])
def test_damaged_names_of_columns_get_one_sentence(tmp_path, suffix, name):
    path = tmp_path / f"t{suffix}"
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[suffix]
    write(pl.DataFrame({"alfa": [1.0, 2.0], "beta": [3.0, 4.0]}), path)
    filler = b" " if suffix == ".sav" else b"\0"
    written = path.read_bytes()
    for known in (b"beta", b"BETA"):
        written = written.replace(known, name.ljust(4, filler))
    path.write_bytes(written)
    with pytest.raises(DataError, match=r"damaged|same name|has no name"):
        open_table(str(path)).table()


def test_a_file_that_is_cut_gives_no_part_of_its_records(survey, tmp_path):
    path = tmp_path / "cut.sav"
    with open(survey, "rb") as stream:
        path.write_bytes(stream.read()[:-20])
    with pytest.raises(DataError, match="damaged"):
        open_table(str(path)).table()


def test_files_without_records_or_that_are_not_there(tmp_path):
    path = tmp_path / "t.sav"
    with pytest.raises(ParameterError, match="does not exist"):
        open_table(str(path))
    pyreadstat.write_sav(pl.DataFrame({"a": [1.0]}).clear(), path)
    with pytest.raises(DataError, match="no records"):
        open_table(str(path)).table()


def test_without_the_library(tmp_path, survey, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for attempt in (
        lambda: open_table(survey),
        lambda: write_table(pl.DataFrame({"a": [1]}), str(tmp_path / "t.dta")),
    ):
        with pytest.raises(ParameterError, match=r"pip install 'microagg\[files\]'"):
            attempt()
    write_table(pl.DataFrame({"a": [1]}), str(tmp_path / "t.csv"))


def test_a_library_that_fails_to_write_is_not_quoted(tmp_path, monkeypatch):
    def failing(table, *_args, **_options):
        if table.height > 1:
            raise ValueError("Sentinella: no space")

    monkeypatch.setattr(pyreadstat, "write_sav", failing)
    with pytest.raises(MicroaggError, match="cannot be written") as refused:
        write_table(pl.DataFrame({"a": [1, 2]}), str(tmp_path / "t.sav"))
    assert "Sentinella" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("format_", "family", "whole"),
    [
        ("F8.0", Family.SPSS, True),
        ("F8", Family.SPSS, True),
        ("F8.2", Family.SPSS, False),
        ("E12.0", Family.SPSS, False),
        ("%9.0f", Family.STATA, True),
        ("%9.0g", Family.STATA, False),
        ("%tm", Family.STATA, True),
        (None, Family.SAS, True),
        ("BEST12.", Family.SAS, True),
        ("8.2", Family.SAS, False),
    ],
)
def test_formats_without_decimals(format_, family, whole):
    assert shows_whole_numbers(format_, family) == whole


@given(
    st.lists(
        st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(
        [
            ("DATETIME20", Family.SPSS, 1000),
            ("DATE11", Family.SPSS, 86_400_000_000),
            ("%tc", Family.STATA, 1000),
            ("%td", Family.STATA, 86_400_000_000),
            ("DATETIME19.", Family.SAS, 1000),
        ]
    ),
)
def test_times_come_back_to_their_step(times, kind):
    format_, family, step = kind
    encoding = time_encoding(format_, family)
    whole = pl.Series(times, dtype=pl.Datetime("us")).cast(pl.Int64) // step * step
    moments = whole.cast(pl.Datetime("us"))
    again = encoding.decode(encoding.encode(moments))
    assert again.dtype == (pl.Date if encoding.is_date else pl.Datetime("us"))
    assert again.cast(pl.Datetime("us")).to_list() == moments.to_list()


@pytest.mark.parametrize("number", [1e300, -1e12, 1e15])
def test_numbers_that_are_no_date_stay_numbers(number):
    assert time_encoding("DATE11", Family.SPSS).decode(pl.Series([number])).to_list() == [number]


text = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(-(2**53), 2**53),
            st.none() | st.floats(-1e300, 1e300, allow_nan=False),
            text,
            st.none() | st.dates(),
            st.none() | st.datetimes(),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([".sav", ".zsav", ".dta"]),
)
def test_any_table_comes_back(tmp_path_factory, rows, suffix):
    schema = {"i": pl.Int64, "f": pl.Float64, "t": pl.String, "d": pl.Date, "m": pl.Datetime("us")}
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        pl.col("m").dt.truncate("1ms")
    )
    path = str(tmp_path_factory.mktemp("any") / f"t{suffix}")
    write_table(table, path)
    entries = pl.col("t") if suffix == ".dta" else pl.col("t").str.strip_chars_end(" ")
    expected = table.with_columns(pl.when(entries != "").then(entries).alias("t"))
    assert open_table(path).table().equals(expected)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_labels_that_the_format_cannot_hold_are_named(tmp_path, suffix):
    said = Annotations(
        Family.SPSS,
        {
            "sex": Variable(False, value_labels={1: "male"}),
            "age": Variable(False, label="Age in years"),
            "gone": Variable(False, value_labels={1: "one"}),
        },
    )
    table = pl.DataFrame({"sex": [1, 1], "age": [30, 40]})
    words = "have no value labels, which are left out in: sex. Name an output that ends in .sav"
    with pytest.warns(AnnotationWarning, match=words) as heard:
        write_table(table, str(tmp_path / f"a.{suffix}"), annotations=said)
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("suffix", "fixed"),
    [("sav", b"01 Jan 0000:00:00"), ("zsav", b"01 Jan 0000:00:00"), ("dta", b"01 Jan 2000 00:00")],
)
def test_the_time_of_writing_is_not_in_the_file(tmp_path, suffix, fixed):
    path = tmp_path / f"a.{suffix}"
    write_table(pl.DataFrame({"age": [30, 40], "name": ["é", "b"]}), str(path))
    header = path.read_bytes()[:1000]
    assert fixed in header
    assert str(datetime.now().year).encode() not in header
    assert open_table(str(path)).table().rows() == [(30, "é"), (40, "b")]
