"""Excel workbooks: what people put into sheets, and what they find in ours."""

import io
import time
import zipfile
from datetime import date, datetime, timedelta
from datetime import time as clock

import polars as pl
import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.files.dialect import Dialect
from microagg.files.formats import check_fits, open_table, write_table

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("xlsxwriter")
pd = pytest.importorskip("pandas")


@pytest.fixture
def sheet(tmp_path):
    """Write rows as a workbook, after changes to the sheet, and return its path."""

    def write(*rows, change=lambda _: None):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        change(book.active)
        book.save(tmp_path / "t.xlsx")
        return str(tmp_path / "t.xlsx")

    return write


def read(path, **dialect):
    return open_table(path, dialect=Dialect(**dialect)).table()


@pytest.mark.parametrize(
    ("cells", "expected", "dtype"),
    [
        ([1, 2, None], [1, 2, None], pl.Int64),
        ([1.0, 2.0, 3], [1, 2, 3], pl.Int64),
        ([1, 2.5, 3], [1.0, 2.5, 3.0], pl.Float64),
        ([1e300, 2, 3], [1e300, 2.0, 3.0], pl.Float64),
        (["007", "012", " x"], ["007", "012", " x"], pl.String),
        (["7", "12", None], ["7", "12", None], pl.String),
        ([True, None, False], [True, None, False], pl.Boolean),
        ([date(2024, 1, 2), None], [date(2024, 1, 2), None], pl.Date),
        (
            [datetime(2024, 1, 2, 3, 4, 5), date(2024, 1, 3)],
            [datetime(2024, 1, 2, 3, 4, 5), datetime(2024, 1, 3)],
            pl.Datetime("us"),
        ),
        ([clock(3, 4), None], [clock(3, 4), None], pl.Time),
        ([timedelta(hours=30)], [timedelta(hours=30)], pl.Duration("us")),
        ([1, "x", 2.5, True], ["1", "x", "2.5", "TRUE"], pl.String),
        ([date(2024, 1, 2), "later", 2.0], ["2024-01-02", "later", "2"], pl.String),
        (["a", "  ", "b"], ["a", None, "b"], pl.String),
    ],
)
def test_a_column_has_the_type_of_its_cells(sheet, cells, expected, dtype):
    rows = [["id", "x"], *([str(j), cell] for j, cell in enumerate(cells))]
    found = read(sheet(*rows))["x"]
    assert found.to_list() == expected
    assert found.dtype == dtype


@pytest.mark.parametrize("marker", ["NA", "n/a", ".", " - ", "none", "#DIV/0!"])
def test_markers_among_numbers_and_dates_are_missing_and_counted(sheet, marker):
    path = sheet(["pay", "day", "land"], [1200, date(2024, 1, 2), "NA"], [marker, marker, "DE"])
    opened = open_table(path, dialect=Dialect(na=("none",)))
    assert opened.table().rows() == [(1200, date(2024, 1, 2), "NA"), (None, None, "DE")]
    assert opened.markers == {"pay": 1, "day": 1}


def test_errors_are_missing_even_in_text(sheet):
    opened = open_table(sheet(["a", "b"], ["x", 1], ["#N/A", 2], ["#REF!", "#VALUE!"]))
    assert opened.table().rows() == [("x", 1), (None, 2), (None, None)]
    assert opened.markers == {"a": 2, "b": 1}


def test_blank_rows_at_the_end_and_blank_columns_do_not_count(sheet):
    def decorate(own):
        own["Z50"].font = openpyxl.styles.Font(bold=True)
        own["A9"] = " "

    path = sheet([None, "a", None, "b"], [None, 1, None, 2], [None, 3], change=decorate)
    assert read(path).to_dict(as_series=False) == {"a": [1, 3], "b": [2, None]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[], ["a"], [1]], "first row of the sheet 'Sheet' .* is blank"),
        ([["Report of 2024"], ["a", "b"], [1, 2]], r"row 2 of .* column without a name.*titles"),
        ([["a", None, "b"], [1, 2, 3]], "row 2 of .* column without a name.*merged cells"),
        ([["a"], [1], [], [2]], "row 3 of the sheet 'Sheet' of .* is blank, and more rows follow"),
        ([["a", "a"], [1, 2]], "columns 1 and 2 of .* have the same name"),
        ([[1, 2], [3, 4]], "should name the columns; it holds no text"),
        ([["Ada", "f", 7]] + [["Ben", "m", 8], ["Cleo", "f", 9]] * 2, "looks like a record"),
        ([["a", "b"]], "has a header but no records"),
        ([], "has no sheet with values"),
    ],
)
def test_what_is_no_table_is_said_in_one_sentence(sheet, rows, message):
    with pytest.raises(DataError, match=message) as refused:
        read(sheet(*rows))
    assert not any(value in str(refused.value) for value in ("Report of 2024", "Ada"))


def test_years_can_be_names(sheet):
    assert read(sheet(["who", 2019, 2020], ["x", 1, 2])).columns == ["who", "2019", "2020"]


class TestSheets:
    @pytest.fixture
    def path(self, tmp_path):
        book = openpyxl.Workbook()
        book.active.title = "people"
        book.create_sheet("firms").append(["f"])
        book["firms"].append([2])
        book.create_sheet("blank")
        book.create_sheet("notes").append(["n"])
        book["notes"].append([3])
        book["notes"].sheet_state = "hidden"
        for row in (["p"], [1]):
            book["people"].append(row)
        book.save(tmp_path / "t.xlsx")
        return str(tmp_path / "t.xlsx")

    def test_one_of_several_must_be_named(self, path):
        with pytest.raises(DataError, match=r"the sheets 'people', 'firms'. Name one .--sheet"):
            open_table(path)

    @pytest.mark.parametrize(("name", "column"), [("people", "p"), ("firms", "f"), ("notes", "n")])
    def test_any_can_be_named(self, path, name, column):
        opened = open_table(path, dialect=Dialect(sheet=name))
        assert opened.columns == (column,)
        assert opened.sheet == name

    def test_another_cannot(self, path):
        with pytest.raises(ParameterError, match="has no sheet 'x', only 'people', 'firms'"):
            open_table(path, dialect=Dialect(sheet="x"))
        with pytest.raises(ParameterError, match="sheet must be given by its name"):
            Dialect(sheet="")

    def test_hidden_and_blank_ones_do_not_count(self, path):
        book = openpyxl.load_workbook(path)
        del book["firms"]
        book.save(path)
        assert open_table(path).sheet == "people"
        del book["people"]
        book.save(path)
        with pytest.raises(DataError, match="no sheet with values; 'notes' is hidden"):
            open_table(path)


class TestFormulas:
    def test_results_count(self, sheet):
        path = sheet(["a", "b"], [1, "=A2+1"], [2, '=""'])
        content = _with_results(path, {b"A2+1": b"<v>2</v>", b'""': b"<v></v>"})
        assert read(content).rows() == [(1, 2), (2, None)]

    def test_without_results_the_workbook_is_refused(self, sheet):
        path = sheet(["a", "b"], [1, "=A2+1"], [2, "=A3+1"])
        with pytest.raises(DataError, match=r"has 2 formulas without a result. Open it in Excel"):
            read(path)


def _with_results(path, results):
    """Store results as Excel does."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    for formula, result in results.items():
        escaped = formula.replace(b'"', b"&quot;")
        for own in (formula, escaped):
            for end in (b"<v />", b"<v/>", b"<v></v>"):
                parts[name] = parts[name].replace(
                    b"<f>" + own + b"</f>" + end, b"<f>" + own + b"</f>" + result
                )
    parts[name] = parts[name].replace(b'<c r="B3">', b'<c r="B3" t="str">')
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in parts.items():
            archive.writestr(each, content)
    return path


def test_wrong_dimensions_are_not_believed(sheet):
    path = sheet(["a", "b"], [1, 2], [3, 4])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    assert b'<dimension ref="A1:B3"' in parts[name]
    parts[name] = parts[name].replace(b'<dimension ref="A1:B3"', b'<dimension ref="A1"')
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in parts.items():
            archive.writestr(each, content)
    assert read(path).rows() == [(1, 2), (3, 4)]


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "should be an Excel workbook; it holds something else"),
        (OLE, "has a password or is in the format of Excel 2003"),
        (b"PK\x03\x04 and nothing else", "is a damaged Excel workbook"),
    ],
)
def test_damaged_files(tmp_path, content, message):
    path = tmp_path / "t.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        open_table(str(path)).table()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_truncated_files(sheet, share):
    path = sheet(["a", "b"], *([j, f"secret{j}"] for j in range(200)))
    with open(path, "rb") as stream:
        content = stream.read()
    with open(path, "wb") as stream:
        stream.write(content[: int(share * len(content))])
    with pytest.raises(DataError, match="damaged") as refused:
        read(path)
    assert "secret" not in str(refused.value)


TABLE = pl.DataFrame(
    {
        "whole": [1, -(2**53), None],
        "real": [0.1 + 0.2, None, -1e300],
        "text": ['=1+1,"b"', "007", "ünï\r\nzwei\x01"],
        "link": ["https://example.org", "mailto:x@y.z", None],
        "true": [True, None, False],
        "day": [date(2024, 2, 29), None, date(1900, 3, 1)],
        "time": [datetime(2024, 2, 29, 12, 30, 15, 250_000), None, datetime(9999, 12, 31)],
        "clock": [clock(1, 2, 3), None, clock(0)],
        "span": [timedelta(hours=30, seconds=5), None, timedelta(0)],
    }
)


class TestWriting:
    def test_it_comes_back(self, tmp_path):
        path = str(tmp_path / "t.xlsx")
        write_table(TABLE, path, sheet="people")
        opened = open_table(path)
        assert opened.sheet == "people"
        assert opened.table().equals(TABLE)
        assert opened.table().schema == TABLE.schema

    def test_other_readers_find_the_same(self, tmp_path):
        path = tmp_path / "t.xlsx"
        plain = TABLE.drop("clock", "span").with_columns(text=pl.Series(["=1+1", "007", "ü"]))
        write_table(plain, str(path))
        found = pd.read_excel(path, sheet_name="Sheet1", dtype={"text": str})
        assert found["whole"].to_list()[:2] == [1, -(2**53)]
        assert found["real"].to_list()[0] == 0.1 + 0.2, "all 17 digits"
        assert found["text"].to_list() == ["=1+1", "007", "ü"]
        assert found["day"].dt.date.to_list()[0] == date(2024, 2, 29)
        assert found["time"].to_list()[0] == pd.Timestamp(2024, 2, 29, 12, 30, 15, 250_000)
        cells = openpyxl.load_workbook(path).active
        assert [cell.data_type for cell in cells[2]] == ["n", "n", "s", "s", "b", "d", "d"]
        assert all(cell.font.bold for cell in cells[1])
        assert cells.freeze_panes == "A2"
        assert not any(cell.hyperlink for row in cells.rows for cell in row)

    @pytest.mark.slow
    def test_the_same_table_gives_the_same_bytes(self, tmp_path):
        contents = []
        for name in ("one.xlsx", "two.xlsx"):
            write_table(TABLE, str(tmp_path / name))
            contents.append((tmp_path / name).read_bytes())
            time.sleep(1.1)
        assert contents[0] == contents[1]

    def test_narrow_floats_are_written_as_people_would(self, tmp_path):
        path = str(tmp_path / "t.xlsx")
        table = pl.DataFrame({"x": pl.Series([0.1, 2.7], dtype=pl.Float32)})
        write_table(table, path)
        assert read(path)["x"].to_list() == [0.1, 2.7]

    def test_categories_and_zones(self, tmp_path):
        path, noon = str(tmp_path / "t.xlsx"), datetime(2024, 7, 1, 12)
        zoned = pl.Series([noon]).dt.replace_time_zone("Europe/Vienna")
        write_table(pl.DataFrame({"c": pl.Series(["a"], dtype=pl.Categorical), "t": zoned}), path)
        assert read(path).rows() == [("a", noon)]

    @pytest.mark.parametrize("name", ["a/b", "x" * 32, "History", "'q'", "", None])
    def test_names_that_no_sheet_can_have(self, tmp_path, name):
        path = str(tmp_path / "t.xlsx")
        write_table(pl.DataFrame({"a": [1]}), path, sheet=name)
        assert open_table(path).sheet == "Sheet1"

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            (pl.Series([2**53 + 1]), r"whole numbers beyond 2\^53"),
            (pl.Series([float("inf")]), "infinite"),
            (pl.Series([date(1899, 5, 1)]), "dates before March 1900"),
            (pl.Series([datetime(1900, 2, 28)]), "dates before March 1900"),
            (pl.Series(["x" * 32_768]), "more than 32767 characters"),
            (pl.Series(["😀" * 16_384]), "more than 32767 characters"),
            (pl.Series(["a\0b"]), "zero byte"),
        ],
    )
    def test_what_a_sheet_cannot_hold_is_refused_beforehand(self, tmp_path, column, message):
        path = str(tmp_path / "t.xlsx")
        table = pl.DataFrame({"fine": [1], "unfit": column})
        for attempt in (check_fits, write_table):
            with pytest.raises(ParameterError, match=rf"{message}.*'unfit'"):
                attempt(table, path)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["a\0b", "x" * 32_768])
    def test_names_that_a_sheet_cannot_hold_are_refused(self, tmp_path, name):
        with pytest.raises(ParameterError, match="as in the name of a column"):
            write_table(pl.DataFrame({name: [1]}), str(tmp_path / "t.xlsx"))
        assert list(tmp_path.iterdir()) == []

    def test_names_may_have_control_characters(self, tmp_path):
        path = str(tmp_path / "t.xlsx")
        table = pl.DataFrame({"a\x1b\rb": ["c\x1b\rd", "e"]})
        write_table(table, path)
        assert read(path).equals(table)

    def test_the_longest_that_fit(self, tmp_path):
        path = str(tmp_path / "t.xlsx")
        table = pl.DataFrame({"a": ["x" * 32_767, "😀" * 16_383], "n": [2**53, -(2**53)]})
        write_table(table, path)
        assert read(path).equals(table)

    def test_too_many_records_are_refused(self, tmp_path):
        table = pl.DataFrame({"a": pl.zeros(1_048_576, dtype=pl.Int8, eager=True)})
        with pytest.raises(ParameterError, match=r"1,048,575 records .* has 1,048,576 and 1"):
            write_table(table, str(tmp_path / "t.xlsx"))
        check_fits(table.head(1_048_575), "t.xlsx")


def test_a_stream_of_a_workbook_is_named(tmp_path):
    from microagg.files.delimited import DelimitedText

    write_table(pl.DataFrame({"a": [1]}), str(tmp_path / "t.xlsx"))
    content = (tmp_path / "t.xlsx").read_bytes()
    with pytest.raises(DataError, match=r"is an Excel workbook .* Name it .xlsx"):
        DelimitedText(content, "'t.csv'")
    with pytest.raises(DataError, match=r"Name an .xlsx file instead"):
        DelimitedText(io.BytesIO(content).read(), "standard input")
