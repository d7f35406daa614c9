"""Reports of datasets: those of a table up to the size of the sample, and stated beyond it."""

import os
import re
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import microagg
from microagg.core.errors import DataError, ParameterError
from microagg.measures.subject import KnownColumns, pair_of
from microagg.report.pages import pages
from microagg.scale.checks import checking
from microagg.scale.measures import reporting
from microagg.scale.measures.pairing import Paired, open_sample
from microagg.scale.measures.whole import WholeRecords
from microagg.scale.sources.listing import find_files, list_files
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.passes import Passes
from microagg.tables.frames import open_frame
from tests.scale.datasets import ROLES, digests, people, read_files, write_files

PAGES = {Path("internal.html"): False, Path("public.html"): True}


def shown(page):
    """The text of a page, without figures and markup."""
    bare = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare)))


def protected(folder, source, name="out", **options):
    return microagg.protect_dataset(
        source,
        folder / name,
        k=5,
        effort="fast",
        random_state=1,
        missing="value",
        report=folder / f"{name}.html",
        public_report=folder / f"{name}-public.html",
        **ROLES,
        **options,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def source(folder):
    table = people(3_000).with_columns(pl.col("age").replace({88: None}))
    return write_files(table, folder / "in", (700, 700, 1_900))


@pytest.fixture(scope="module")
def sampled(folder, source):
    """Both reports with a sample of 1,200."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reporting, "MOST_RECORDS", 1_200)
        patch.setattr(checking, "BUCKET_ROWS", 400)
        protected(folder, source, "sampled")
    return [(folder / f"sampled{own}.html").read_text() for own in ("", "-public")]


@pytest.mark.slow
def test_up_to_the_size_of_the_sample_they_are_those_of_a_table(folder, source):
    done = protected(folder, source)
    known = KnownColumns.by_manifest(done, "")
    before, after = read_files(source), read_files(folder / "out")
    pair = pair_of(open_frame(before), open_frame(after), known, None, after.columns)
    texts = pages(pair, done, PAGES, title=None, target=None, seed=0)
    assert (folder / "out.html").read_text() == texts[Path("internal.html")]
    assert (folder / "out-public.html").read_text() == texts[Path("public.html")]


class TestTheSample:
    @pytest.mark.slow
    def test_it_is_stated(self, sampled):
        said = "a sample of 1,200 of 3,000 records"
        internal, public = map(shown, sampled)
        assert internal.count(said) > 12
        for begin in ("Histograms and quantiles are from", "Correlations From", "number. From"):
            assert f"{begin} {said}" in internal
        assert f"Histograms and quantiles are from {said}" in public
        assert re.search(rf"linked by distance [\d.]+ % ± [\d.]+ % \(from {said}\)", public)

    def test_means_and_deviations_are_of_all_records(self, folder, source, sampled):
        before, after = read_files(source), read_files(folder / "sampled")
        card = shown(sampled[0]).split("height number")[1]
        for name, figure in (("mean", pl.Series.mean), ("standard deviation", pl.Series.std)):
            one, other = (f"{figure(own['height']):.1f}" for own in (before, after))
            assert f"{name} {one} {other}" in card

    def test_a_column_with_few_rare_values_has_those_of_the_sample(self, source, sampled):
        ages = read_files(source)["age"]
        rare = ages.value_counts().filter(pl.col("count") < 5)
        assert len(rare) == 0  # or the note would be there
        assert "from the sample as well" not in shown(sampled[0])

    def test_categories_are_counted_in_all_records(self, folder, source, sampled):
        before, after = read_files(source)["job"], read_files(folder / "sampled")["job"]
        table = shown(sampled[0]).split("rare categories are not named. job before after")[1]
        for name in before.unique():
            own, other = ((side == name).sum() for side in (before, after))
            assert f"{name} {own:,} {other:,}" in table

    def test_so_are_missing_values(self, source, sampled):
        share = read_files(source)["age"].null_count() / 3_000
        assert f"missing {100 * share:.2g} %" in shown(sampled[0])

    def test_the_loss_of_columns_with_few_values_is_estimated(self, folder, sampled):
        done = microagg.Manifest.load(folder / "sampled.manifest.json")
        found = re.search(r"information loss at most ([\d.]+) %", shown(sampled[0]))
        step = float(re.search(r"multiples of ([\d.]+) %", shown(sampled[0]))[1])
        assert 0.8 * done.information_loss < float(found[1]) < 1.2 * done.information_loss + step
        assert "They are estimated from a sample of 1,200 of 3,000" in shown(sampled[0])

    def test_groups_are_those_of_all_records(self, folder, sampled):
        after = read_files(folder / "sampled").group_by("age", "income", "height", "job").len()
        text = shown(sampled[1])
        assert f"{len(after):,} groups of" in text
        assert f"smallest group {after['len'].min()} records" in text

    def test_the_public_report_has_no_figure_of_the_original(self, source, sampled):
        mean = read_files(source)["income"].mean()
        assert f"{mean:,.0f}" not in shown(sampled[1])
        assert "before" not in shown(sampled[1]).split("Risk")[0].lower().replace("before you", "")


def test_the_loss_of_numbers_is_that_of_all_records(tmp_path, monkeypatch):
    monkeypatch.setattr(reporting, "MOST_RECORDS", 900)
    rng = np.random.default_rng(0)
    source = write_files(pl.DataFrame(rng.normal(size=(2_000, 3))), tmp_path / "in", (700,))
    done = microagg.protect_dataset(
        source, tmp_path / "out", k=5, effort="fast", report=tmp_path / "r.html"
    )
    text = shown((tmp_path / "r.html").read_text())
    found = re.search(r"information loss at most ([\d.]+) %", text)
    step = re.search(r"multiples of ([\d.]+) %", text)
    assert 0 <= float(found[1]) - done.information_loss <= float(step[1]) + 1e-9
    assert "estimated" not in text


class TestRareValues:
    """Reports do not tell how many records have a value that fewer than k have."""

    @staticmethod
    def table(count):
        """A table in which so many records have a rare job and a rare number."""
        n = 2_000
        job = np.where(np.arange(n) % 5 < 3, "baker", "clerk")
        shift = np.where(np.arange(n) % 2 == 0, 1, 2)
        places = np.flatnonzero((job == "clerk") & (shift == 2))[: 37 * count : 37]
        job = job.astype("<U9")
        job[places], shift[places] = "spy", 9
        return pl.DataFrame({"job": job, "shift": shift})

    def rendered(self, tmp_path, manifest, count, *, public):
        folder = tmp_path / f"{count}-{public}"
        folder.mkdir()
        before = write_files(self.table(count), folder / "in", (900,))
        listings = [list_files(find_files(own)) for own in (before, tmp_path / "out")]
        passes = Passes(WorkFolder(folder))
        known = KnownColumns.by_manifest(manifest, "")
        paired = Paired.of(*listings, known, None, (False, False), (".", "."), 1_000)
        paired, pair = open_sample(passes, paired)
        records = WholeRecords.of(passes, paired, pair, k=manifest.k)
        told = manifest.model_copy(
            update={"information_loss": 1.7 * count, "worst_columns": {"job": 2.9 * count}}
        )
        whole = reporting._whole_table(records, told)
        page = Path("page.html")
        asked = {"title": "A table", "target": None, "seed": 0, "whole": whole}
        return pages(records.pair, told, {page: public}, **asked)[page]

    @pytest.mark.slow
    @pytest.mark.parametrize("public", [True, False])
    def test_their_number_does_not_show(self, tmp_path, public):
        source = write_files(self.table(2), tmp_path / "in", (900,))
        columns = {"shift": {"type": "integer"}}
        done = microagg.protect_dataset(
            source, tmp_path / "out", k=5, quasi_identifiers=["job"], columns=columns
        )
        texts = {self.rendered(tmp_path, done, count, public=public) for count in (1, 2, 3, 4)}
        assert len(texts) == 1
        assert "spy" not in texts.pop()


class TestTheFiles:
    @pytest.mark.slow
    def test_they_do_not_change_the_output(self, folder, source, tmp_path):
        protected(tmp_path, source, "one")
        microagg.protect_dataset(
            source, tmp_path / "two", k=5, effort="fast", random_state=1, missing="value", **ROLES
        )
        assert digests(tmp_path / "one") == digests(tmp_path / "two")
        assert folder.exists()

    @pytest.mark.slow
    def test_the_same_bytes_with_little_memory_and_one_file_at_a_time(self, source, tmp_path):
        protected(tmp_path, source, "one")
        protected(tmp_path, source, "two", memory="600MB")
        for own in ("", "-public"):
            one, two = (
                re.sub("one|two|--memory [0-9]+", "", (tmp_path / f"{name}{own}.html").read_text())
                for name in ("one", "two")
            )
            assert one == two

    @pytest.mark.slow
    def test_a_failure_leaves_no_report(self, source, tmp_path, monkeypatch):
        def fail(*_args, **_options):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(reporting, "pages", fail)
        with pytest.raises(microagg.errors.MicroaggError, match="No space left"):
            protected(tmp_path, source)
        left = {name for name in os.listdir(tmp_path) if not name.startswith(".")}
        assert left == set()
        monkeypatch.undo()
        protected(tmp_path, source, resume=True)
        assert sorted(os.listdir(tmp_path)) == [
            "out", "out-public.html", "out.html", "out.manifest.json",
        ]  # fmt: skip

    @pytest.mark.slow
    def test_a_report_that_cannot_be_made_does_not_cost_the_files(
        self, source, tmp_path, monkeypatch
    ):
        def fails(*_given, **_options):
            raise DataError("nothing can be drawn.")

        monkeypatch.setattr(reporting, "pages", fails)
        with pytest.raises(microagg.errors.MicroaggError, match=r"leave --report .*--resume"):
            protected(tmp_path, source)
        asked = {"k": 5, "effort": "fast", "random_state": 1, "missing": "value", **ROLES}
        with pytest.raises(ParameterError, match="other reports"):
            microagg.protect_dataset(
                source, tmp_path / "out", report=tmp_path / "new.html", resume=True, **asked
            )
        microagg.protect_dataset(source, tmp_path / "out", resume=True, **asked)
        assert sorted(os.listdir(tmp_path)) == ["out", "out.manifest.json"]

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({"report": "r.txt"}, "ends with .html"),
            ({"report": "r.html", "public_report": "r.html"}, "same file|twice|distinct|both"),
            ({"report": "in/r.html"}, "must not be in the input"),
            ({"report": "out/r.html"}, "must not be in the input or the output"),
            ({"report": "there.html"}, "exists"),
        ],
    )
    def test_what_is_refused(self, tmp_path, monkeypatch, asked, said):
        monkeypatch.chdir(tmp_path)
        write_files(people(60), tmp_path / "in")
        (tmp_path / "there.html").write_text("mine")
        with pytest.raises(ParameterError, match=said):
            microagg.protect_dataset("in", "out", k=5, **ROLES, **asked)
        assert (tmp_path / "there.html").read_text() == "mine"


@pytest.mark.slow
def test_units_and_csv_files(tmp_path, monkeypatch):
    monkeypatch.setattr(reporting, "MOST_RECORDS", 500)
    n, rng = 1_500, np.random.default_rng(3)
    table = people(n).with_columns(patient=pl.Series(rng.integers(0, 500, n))).drop("id")
    (tmp_path / "in").mkdir()
    for at in range(2):
        part = table.slice(at * 700, 700 if not at else n)
        part.write_csv(tmp_path / "in" / f"{at}.csv", separator=";", decimal_comma=True)
    microagg.protect_dataset(
        tmp_path / "in",
        tmp_path / "out",
        k=3,
        unit="patient",
        effort="fast",
        quasi_identifiers=["job"],
        sensitive="disease",
        report=tmp_path / "r.html",
    )
    text = shown((tmp_path / "r.html").read_text())
    largest = table["patient"].value_counts()["count"].sort(descending=True)[:2].sum()
    least = next(step for step in (10, 20, 50, 100) if step >= largest + 1)
    assert f"Every figure is based on at least {least} records" in text
    assert "from a sample of 500 of 1,500 records" in text
    jobs = table["job"].value_counts()
    for name, count in jobs.iter_rows():
        assert f"{name} {count:,} " in text
