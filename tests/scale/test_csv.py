"""CSV files: typed by all of them, and written as they were."""

import gzip
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import microagg
from microagg import protect_dataset
from microagg.core.errors import DataError, ParameterError
from microagg.scale.sources import delimited
from microagg.scale.sources.delimited import Kind, blocks, higher
from tests.scale.datasets import ROLES, digests, people, sizes_of_classes, write_files

SHOWN = ["age", "income", "height", "job"]
ASKED = {"k": 4, "method": "mdav", **ROLES}
N = 900


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 5_000)


def written(table, folder, cuts=(300, 500), suffix="csv", **options):
    folder.mkdir()
    ends = [0, *cuts, len(table)]
    for at, (start, stop) in enumerate(pairwise(ends)):
        text = table[start:stop].write_csv(**options).encode()
        path = folder / f"part-{at}.{suffix}"
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    return folder


def read(folder, **options):
    return pl.concat([pl.read_csv(path, **options) for path in sorted(folder.iterdir())])


class TestFiles:
    @pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
    def test_the_promise_and_the_columns(self, tmp_path, suffix):
        source = written(people(N), tmp_path / "in", suffix=suffix)
        done = protect_dataset(source, tmp_path / "out", **ASKED)
        before, after = read(source), read(tmp_path / "out")
        assert sizes_of_classes(after, SHOWN)[0] >= 4
        assert after.schema == before.drop("id").schema
        assert after["disease"].to_list() == before["disease"].to_list()
        found = microagg.measure(before.drop("id"), after, quasi_identifiers=SHOWN)
        assert done.information_loss == pytest.approx(found.utility.loss.information_loss)
        assert done.dataset.format == "CSV"

    def test_a_single_file_is_as_when_it_fits(self, tmp_path):
        source = written(people(200), tmp_path / "in", ())
        path = source / "part-0.csv"
        protect_dataset(path, tmp_path / "a.csv", memory="1GB", **ASKED)
        plan = microagg.Manifest.load(tmp_path / "a.csv.manifest.json").plan
        microagg.protect_file(path, tmp_path / "b.csv", plan)
        assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()

    def test_decimal_commas_and_another_encoding(self, tmp_path):
        table = people(N).with_columns(job=pl.Series(["Bäcker", "Köchin", "Amt"] * 300))
        folder = tmp_path / "in"
        folder.mkdir()
        with_commas = pl.col(pl.Float64).cast(pl.String).str.replace(".", ",", literal=True)
        text = table.with_columns(with_commas).write_csv(separator=";")
        (folder / "one.csv").write_bytes(text.encode("cp1252"))
        protect_dataset(folder, tmp_path / "out", **ASKED)
        raw = (tmp_path / "out" / "one.csv").read_bytes()
        assert "Bäcker".encode("cp1252") in raw
        after = pl.read_csv(raw.decode("cp1252").encode(), separator=";", decimal_comma=True)
        assert sizes_of_classes(after, SHOWN)[0] >= 4
        assert after.schema == table.drop("id").schema

    def test_types_hold_for_all_files(self, tmp_path):
        table = people(N).with_columns(height=pl.int_range(N).cast(pl.Float64))
        text = table.with_columns(
            height=pl.when(pl.int_range(N) == 700)
            .then(pl.lit("0.5"))
            .otherwise(pl.int_range(N).cast(pl.String))
        )
        done = protect_dataset(written(text, tmp_path / "in"), tmp_path / "out", **ASKED)
        assert done.columns["height"].stored == "Float64"
        assert done.columns["height"].digits == 1

    def test_a_number_that_is_a_word_in_the_last_file(self, tmp_path):
        text = people(N).with_columns(
            age=pl.when(pl.int_range(N) == 899).then(pl.lit("old")).otherwise(pl.lit("30"))
        )
        source = written(text, tmp_path / "in")
        first, *_, last = sorted(path.name for path in source.iterdir())
        words = f"column 'age' has numbers in '{first}' and text in '{last}', and no role"
        with pytest.raises(DataError, match=words):
            protect_dataset(source, tmp_path / "out", **ASKED)
        assert [path.name for path in tmp_path.iterdir()] == ["in"]

    def test_markers_of_missing_values(self, tmp_path):
        text = people(N).with_columns(
            age=pl.when(pl.int_range(N) % 10 == 0)
            .then(pl.lit("NA"))
            .otherwise(pl.col("age").cast(pl.String))
        )
        done = protect_dataset(
            written(text, tmp_path / "in"), tmp_path / "out", missing="impute", **ASKED
        )
        assert done.markers == {"age": 90}
        assert read(tmp_path / "out")["age"].null_count() == 0

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    def test_weights_constraints_and_units(self, tmp_path):
        rng = np.random.default_rng(0)
        net, tax = rng.integers(100, 900, N), rng.integers(10, 90, N)
        table = pl.DataFrame(
            {"net": net, "tax": tax, "gross": net + tax, "w": rng.choice([0.5, 1.5], N)}
        ).with_columns(who=pl.int_range(N) // 2)
        source = written(table, tmp_path / "in")
        done = protect_dataset(
            source,
            tmp_path / "out",
            k=3,
            weights="w",
            unit="who",
            constraints="net + tax = gross",
            method="mdav",
        )
        after = read(tmp_path / "out")
        assert (after["net"] + after["tax"] == after["gross"]).all()
        assert after["w"].to_list() == table["w"].to_list()
        units = after.with_columns(table["who"]).group_by("net", "tax", "gross")
        assert units.agg(pl.col("who").n_unique())["who"].min() >= 3
        assert done.units.count == N // 2

    @pytest.mark.slow
    def test_dates(self, tmp_path):
        days = pl.Series([f"{1 + at % 28:02}.{1 + at % 12:02}.2020" for at in range(N)])
        source = written(people(N).with_columns(born=days), tmp_path / "in")
        done = protect_dataset(
            source, tmp_path / "out", **{**ASKED, "quasi_identifiers": ["job", "born"]}
        )
        assert done.columns["born"].type == "date"
        assert read(tmp_path / "out")["born"].str.to_date("%d.%m.%Y").null_count() == 0

    def test_line_ends_and_delimiters_in_fields(self, tmp_path):
        notes = pl.Series(['say "x",\nplease', "a;b", "", "plain"] * (N // 4))
        source = written(people(N).with_columns(note=notes), tmp_path / "in")
        protect_dataset(source, tmp_path / "out", publish="note", **ASKED)
        before, after = read(source), read(tmp_path / "out")
        assert after["note"].to_list() == before["note"].to_list()

    @pytest.mark.slow
    def test_the_same_bytes_after_an_interrupt(self, tmp_path, monkeypatch):
        source = written(people(N), tmp_path / "in")
        protect_dataset(source, tmp_path / "first", **ASKED)

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("microagg.scale.steps.converting.type_file", interrupt)
            with pytest.raises(KeyboardInterrupt):
                protect_dataset(source, tmp_path / "out", **ASKED)
        protect_dataset(source, tmp_path / "out", resume=True, **ASKED)
        assert digests(tmp_path / "first") == digests(tmp_path / "out")


class TestRefusals:
    def test_names_that_polars_takes_for_patterns_are_names(self, tmp_path):
        table = people(60).select("age", "job").with_columns(day=pl.lit("2024-02-29"))
        table.columns = ["^.*$", "^job$", "^day$"]
        source = written(table, tmp_path / "in", cuts=(20, 40))
        asked = {"method": "mdav", "quasi_identifiers": ["^job$", "^day$"]}
        protect_dataset(source, tmp_path / "out", 3, report=tmp_path / "r.html", **asked)
        assert read(tmp_path / "out").columns == table.columns
        assert microagg.verify(tmp_path / "out", 3)

    def test_other_columns(self, tmp_path):
        source = written(people(N), tmp_path / "in")
        people(9).drop("job").write_csv(source / "part-9.csv")
        with pytest.raises(DataError, match=r"part-9\.csv' has no column 'job'"):
            protect_dataset(source, tmp_path / "out", **ASKED)

    def test_a_column_too_many(self, tmp_path):
        source = written(people(N), tmp_path / "in")
        people(9).with_columns(more=1).write_csv(source / "part-9.csv")
        with pytest.raises(DataError, match=r"part-9\.csv' has a column 'more'"):
            protect_dataset(source, tmp_path / "out", **ASKED)

    @pytest.mark.parametrize("name", ["part-.csv", "part-9.csv"])  # the first and the last file
    def test_names_that_may_be_values_are_not_quoted(self, tmp_path, name):
        source = written(people(N), tmp_path / "in")
        people(9).rename({"age": "48200", "income": "Sentinella"}).write_csv(source / name)
        with pytest.raises(DataError, match="do not name the same columns") as caught:
            protect_dataset(source, tmp_path / "out", **ASKED)
        assert "Sentinella" not in str(caught.value)

    @pytest.mark.parametrize("text", [people(9).write_csv(separator=";"), "Ask Bob\nabout it\n"])
    def test_a_file_that_is_not_cut_like_the_others_is_not_quoted(self, tmp_path, text):
        source = written(people(N), tmp_path / "in")
        (source / "readme.txt").write_text(text)
        with pytest.raises(DataError, match=r"not separated by ',', .*move it elsewhere") as caught:
            protect_dataset(source, tmp_path / "out", **ASKED)
        assert text.splitlines()[0] not in str(caught.value)

    def test_a_quotation_mark_that_is_never_closed(self, tmp_path):
        source = written(people(N), tmp_path / "in", ())
        with (source / "part-0.csv").open("a") as stream:
            stream.write('"p9,20,1.0,170.0,cook,flu\n' + "p9,20,1.0,170.0,cook,flu\n" * 2_000)
        with pytest.raises(DataError, match="is a quotation mark not closed"):
            protect_dataset(source, tmp_path / "out", **ASKED)

    def test_a_broken_line_far_down(self, tmp_path):
        source = written(people(N), tmp_path / "in", ())
        with (source / "part-0.csv").open("a") as stream:
            stream.write("too,few\n")
        with pytest.raises(DataError, match=r"after [0-9]+ records holds 2 fields"):
            protect_dataset(source, tmp_path / "out", **ASKED)

    def test_a_damaged_compressed_file(self, tmp_path):
        packed = bytearray(gzip.compress(people(3_000).write_csv().encode()))
        packed[2_000:2_400] = bytes(own ^ 0xA5 for own in packed[2_000:2_400])
        (tmp_path / "in.csv.gz").write_bytes(packed)
        with pytest.raises(DataError, match="holds something else or is damaged"):
            protect_dataset(tmp_path / "in.csv.gz", tmp_path / "out.csv.gz", k=4)
        with pytest.raises(DataError, match="holds something else or is damaged"):
            microagg.verify(tmp_path / "in.csv.gz", 4, memory="4GB")

    def test_utf_16(self, tmp_path):
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "a.csv").write_bytes(people(20).write_csv().encode("utf-16"))
        with pytest.raises(ParameterError, match="UTF-8"):
            protect_dataset(tmp_path / "in", tmp_path / "out", **ASKED)

    def test_a_dialect_of_other_files(self, tmp_path):
        with pytest.raises(ParameterError, match="Parquet files do not take --decimal"):
            protect_dataset(
                write_files(people(50), tmp_path / "in"), tmp_path / "out", decimal=",", **ASKED
            )


@pytest.mark.slow
def test_codes_with_missing_values_are_measured_as_those_of_a_table(tmp_path):
    """A code that is stored as 1.0 is a category, and NA is the same as nothing."""
    codes = ["1.0", "2.0", "NA", "3.0"]
    table = people(N).with_columns(code=pl.Series([codes[at % 4] for at in range(N)]))
    source, report = written(table, tmp_path / "in"), tmp_path / "report.html"
    quasi = {"quasi_identifiers": ["job", "code"], "missing": "value", "random_state": 1}
    done = protect_dataset(source, tmp_path / "out", report=report, **{**ASKED, **quasi})
    assert "code" in report.read_text()
    found = microagg.measure(source, tmp_path / "out")
    assert found.utility.loss.information_loss == pytest.approx(done.information_loss)


def test_blocks_end_with_records(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 7)
    text = b'a,b\n1,"x\ny\n"\n2,"z"\n3,w'
    (tmp_path / "t.csv").write_bytes(text)
    found = list(blocks(tmp_path / "t.csv"))
    assert b"".join(found) == text
    assert all(block.count(b'"') % 2 == 0 for block in found)
    assert len(found) > 2


def test_the_higher_kind():
    assert higher(Kind.EMPTY, Kind.DATES) is Kind.DATES
    assert higher(Kind.WHOLE, Kind.LARGE) is Kind.TEXT
    assert higher(Kind.FLOAT, Kind.TEXT) is Kind.TEXT
