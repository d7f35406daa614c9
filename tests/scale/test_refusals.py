"""What a dataset cannot be or have is refused in one sentence, and nothing is left behind."""

import errno
import gzip
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg import Manifest, Plan, protect_dataset
from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.plans.options import options_of
from microagg.scale import driving, protect
from microagg.scale.refusals import check_plan
from microagg.scale.steps import writing
from microagg.scale.storage import shuffle, work
from microagg.scale.storage.work import UnfinishedError
from microagg.scale.tasks import memory
from microagg.scale.tasks.space import work_size
from tests.scale.datasets import ROLES, digests, people, write_files

ASKED = {"k": 4, "method": "mdav", **ROLES}
N = 600
OPTIONS = list(options_of(Plan))


@pytest.fixture
def source(tmp_path):
    return write_files(people(N), tmp_path / "in", (250,))


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestOptions:
    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            ({"method": "fcm"}, "method 'fcm', whose records draw"),
            ({"blocks": [["age"]]}, "blocks"),
            ({"keep_margins": True}, "keep_margins"),
            ({"method": "auto", "time_budget": 1.0}, "time_budget"),
            ({"bound": "fast"}, "a bound"),
            (
                {"method": "igd", "method_options": {"initial": [0, 0, 0, 0]}},
                "an option of the method",
            ),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_needs_the_whole_table(self, tmp_path, asked, words):
        """Before any data are read: there are none."""
        with pytest.raises(ParameterError, match=rf"{words}.* not available for datasets"):
            protect_dataset(tmp_path / "nowhere", tmp_path / "out", **{**ASKED, **asked})

    def test_what_only_a_plan_can_ask_for(self, tmp_path):
        columns = {"id": {"role": "identifier"}, "age": {"role": "quasi-identifier"}}
        plan = Plan(k=20, columns=columns, hybrid=True)
        with pytest.raises(ParameterError, match=r"hybrid.* not available for datasets"):
            protect_dataset(tmp_path / "nowhere", tmp_path / "out", plan=plan)

    def test_an_option_is_refused_unless_it_says_that_datasets_act_on_it(self):
        """Whatever the option: a new one cannot be ignored."""
        plan = Plan(k=5, columns={"age": {"role": "quasi-identifier"}})
        check_plan(plan)
        for option in OPTIONS:
            other = plan.model_copy(update={option.keyword: object()})
            if option.on_datasets is None:
                words = rf"^{option.keyword} \({option.flag.name}\) is not available for datasets"
                with pytest.raises(ParameterError, match=words):
                    check_plan(other)
            elif option.on_datasets.refuses is None:
                check_plan(other)

    def test_what_datasets_act_on(self):
        """Declared option by option: one that is added here is tried on a dataset as well."""
        assert {option.keyword for option in OPTIONS if option.on_datasets is not None} == {
            *("k", "method", "method_options", "random_state", "effort", "bound", "scale"),
            *("missing", "na", "digits", "dates", "constraints", "small_strata"),
            *("valid_combinations", "keep_key", "unit"),
        }

    def test_a_plan_beside_options(self, source, tmp_path):
        with pytest.raises(ParameterError, match="k is given in addition to a plan"):
            protect_dataset(source, tmp_path / "out", k=3, plan=Plan(k=3))

    @pytest.mark.parametrize("given", ["plenty", "4 apples", "", "-3GB", True, 0])
    def test_memory_is_a_size(self, source, tmp_path, given):
        with pytest.raises(ParameterError, match="memory"):
            protect_dataset(source, tmp_path / "out", memory=given, **ASKED)

    def test_memory_has_a_floor(self, source, tmp_path):
        with pytest.raises(ParameterError, match="memory must be at least"):
            protect_dataset(source, tmp_path / "out", memory="100MB", **ASKED)

    def test_memory_that_a_task_does_not_fit_in(self, source, tmp_path, monkeypatch):
        """It is refused before anything is done, with what the largest of all tasks takes."""
        monkeypatch.setattr(protect, "REGION_RECORDS", 10**9)
        monkeypatch.setattr(memory, "PER_TASK", 10**12)
        with pytest.raises(ParameterError, match=r"Give (\d+)MB or more\.$") as error:
            protect_dataset(source, tmp_path / "out", memory="2GB", **ASKED)
        assert left_in(tmp_path) == ["in"]
        enough = re.search(r"Give (\d+)MB", str(error.value))[1]
        protect_dataset(source, tmp_path / "out", memory=f"{enough}MB", **ASKED)

    def test_memory_that_no_csv_file_fits_in(self, tmp_path):
        """What converting one takes is known before the first is read."""
        (tmp_path / "in").mkdir()
        people(60).write_csv(tmp_path / "in" / "a.csv")
        with pytest.raises(ParameterError, match=r"too little.*Give 678MB or more\.$"):
            protect_dataset(tmp_path / "in", tmp_path / "out", memory="677MB", **ASKED)
        assert left_in(tmp_path) == ["in"]
        protect_dataset(tmp_path / "in", tmp_path / "out", memory="678MB", **ASKED)

    @pytest.mark.parametrize("suffix", ["parquet", "csv"])
    def test_or_once_that_is_known(self, tmp_path, monkeypatch, suffix):
        """How wide text is differs from row to row, and CSV files are converted first."""
        table = people(60)
        (tmp_path / "in").mkdir()
        getattr(table, f"write_{suffix}")(tmp_path / "in" / f"a.{suffix}")
        with monkeypatch.context() as patch:
            if suffix == "parquet":
                patch.setattr(protect, "check_memory", lambda *_: None)
                patch.setattr(memory, "PER_TASK", 10**12)
            else:
                patch.setattr(driving, "COPIES", 10**12)
            with pytest.raises(UnfinishedError, match=r"too little for this dataset.*--resume"):
                protect_dataset(tmp_path / "in", tmp_path / "out", memory="2GB", **ASKED)
        protect_dataset(tmp_path / "in", tmp_path / "out", memory="2GB", resume=True, **ASKED)
        assert left_in(tmp_path) == ["in", "out", "out.manifest.json"]

    @pytest.mark.parametrize("engine", ["threads", 4, object()])
    def test_engines_run_tasks(self, source, tmp_path, engine):
        with pytest.raises(ParameterError, match="engine must be None"):
            protect_dataset(source, tmp_path / "out", engine=engine, **ASKED)

    def test_work_dir_exists(self, source, tmp_path):
        with pytest.raises(ParameterError, match="work_dir must be an existing folder"):
            protect_dataset(source, tmp_path / "out", work_dir=tmp_path / "no", **ASKED)


class TestFiles:
    def refused(self, source, tmp_path, words, error=DataError, **asked):
        with pytest.raises(error, match=words):
            protect_dataset(source, tmp_path / "out", **{**ASKED, **asked})
        assert not [name for name in left_in(tmp_path) if "out" in name]

    def test_no_source(self, tmp_path):
        self.refused(tmp_path / "no", tmp_path, "does not exist", ParameterError)

    def test_an_empty_folder(self, tmp_path):
        (tmp_path / "in").mkdir()
        self.refused(tmp_path / "in", tmp_path, "holds no", ParameterError)

    def test_a_link_to_a_folder_is_not_left_out_silently(self, source, tmp_path):
        (tmp_path / "more").mkdir()
        (source / "more").symlink_to(tmp_path / "more")
        self.refused(source, tmp_path, "'.*more' is a link to a folder", ParameterError)

    def test_a_folder_that_cannot_be_read_is_not_left_out_silently(
        self, source, tmp_path, monkeypatch
    ):
        (source / "more").mkdir()
        looked_in = os.scandir

        def refuses(path):
            if str(path).endswith("more"):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return looked_in(path)

        monkeypatch.setattr(os, "scandir", refuses)
        self.refused(source, tmp_path, "more' cannot be read: Permission denied", ParameterError)

    def test_other_columns(self, source, tmp_path):
        pq.write_table(people(9).drop("job").to_arrow(), source / "part-009.parquet")
        words = r"'job' is in only one of 'part-000.parquet' and 'part-009.parquet'"
        self.refused(source, tmp_path, words)

    def test_other_types(self, source, tmp_path):
        other = people(9).with_columns(pl.col("age").cast(pl.Float64))
        pq.write_table(other.to_arrow(), source / "part-009.parquet")
        self.refused(
            source, tmp_path, "'age' is stored as int64 in 'part-000.parquet' and as double"
        )

    def test_other_categories(self, tmp_path):
        """Types that list them may be stored in several ways; which are listed does not matter."""
        folder = tmp_path / "in"
        folder.mkdir()
        for at, index in enumerate((pa.int8(), pa.int32())):
            kinds = pa.array(["a", "bc"[at]] * 50).dictionary_encode()
            kinds = pa.DictionaryArray.from_arrays(kinds.indices.cast(index), kinds.dictionary)
            pq.write_table(pa.table({"x": range(100), "kind": kinds}), folder / f"{at}.parquet")
        words = "'kind' is stored as .*indices=int8.* in '0.parquet' and as .*indices=int32"
        asked = {"k": 4, "method": "mdav", "quasi_identifiers": "kind"}
        with pytest.raises(DataError, match=words):
            protect_dataset(folder, tmp_path / "out", **asked)
        kinds = pa.array(["a", "c"] * 50).dictionary_encode()
        kinds = pa.DictionaryArray.from_arrays(kinds.indices.cast(pa.int8()), kinds.dictionary)
        pq.write_table(pa.table({"x": range(100), "kind": kinds}), folder / "1.parquet")
        protect_dataset(folder, tmp_path / "out", **asked)
        after = [pq.read_table(path) for path in sorted((tmp_path / "out").iterdir())]
        assert [own.schema.field("kind").type for own in after] == [kinds.type] * 2
        assert {kind for own in after for kind in own["kind"].to_pylist()} <= {"a", "b", "c"}

    def test_other_formats(self, source, tmp_path):
        write_files(people(9), tmp_path / "other", suffix="arrow")
        shutil.copy(tmp_path / "other" / "part-000.arrow", source / "part-009.arrow")
        self.refused(source, tmp_path, "files of several formats", ParameterError)

    def test_other_files(self, source, tmp_path):
        (source / "notes.md").write_text("hello")
        self.refused(source, tmp_path, "notes.md", ParameterError)

    def test_a_damaged_file(self, source, tmp_path):
        (source / "part-009.parquet").write_bytes(b"PAR1 nothing PAR1")
        self.refused(source, tmp_path, "part-009.parquet' is a damaged Parquet file")

    def test_a_file_of_no_bytes(self, source, tmp_path):
        (source / "part-009.parquet").touch()
        self.refused(source, tmp_path, "part-009.parquet' is empty")

    def test_a_file_of_no_rows_is_mirrored(self, source, tmp_path):
        pq.write_table(people(9).head(0).to_arrow(), source / "part-009.parquet")
        protect_dataset(source, tmp_path / "out", **ASKED)
        empty = pq.read_table(tmp_path / "out" / "part-009.parquet")
        assert empty.num_rows == 0
        assert empty.column_names == people(1).drop("id").columns

    def test_no_rows_at_all(self, tmp_path):
        write_files(people(0), tmp_path / "in")
        self.refused(tmp_path / "in", tmp_path, "no records")

    def test_fewer_than_k(self, tmp_path):
        write_files(people(3), tmp_path / "in")
        self.refused(tmp_path / "in", tmp_path, "only 3 records")

    def test_a_column_without_a_role(self, source, tmp_path):
        self.refused(source, tmp_path, "'job'", quasi_identifiers=())

    def test_no_such_column(self, source, tmp_path):
        self.refused(source, tmp_path, "no column 'jib'", ParameterError, sensitive="jib")

    def test_a_file_that_changes_in_the_meantime(self, source, tmp_path, monkeypatch):
        real = writing.write_file

        def late(*args):
            os.utime(source / "part-001.parquet", ns=(1, 1))
            return real(*args)

        monkeypatch.setattr("microagg.scale.driving.write_file", late)
        self.refused(source, tmp_path, "'part-001.parquet' changed|part-001.parquet.* changed")

    def test_infinite_numbers(self, tmp_path):
        table = people(N).with_columns(
            height=pl.when(pl.int_range(N) == 300).then(float("inf")).otherwise("height")
        )
        source = write_files(table, tmp_path / "in", (250,))
        self.refused(source, tmp_path, r"infinite in 'height' \(1\)")


class TestTargets:
    def test_a_folder_with_something_in_it(self, source, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine.txt").write_text("keep")
        with pytest.raises(ParameterError, match="already exists and is not empty"):
            protect_dataset(source, tmp_path / "out", **ASKED)
        assert (tmp_path / "out" / "mine.txt").read_text() == "keep"

    @pytest.mark.parametrize("leads_to", ["nowhere", "empty"])
    def test_a_link(self, source, tmp_path, leads_to):
        (tmp_path / "empty").mkdir()
        (tmp_path / "out").symlink_to(tmp_path / leads_to)
        with pytest.raises(ParameterError, match="is a link"):
            protect_dataset(source, tmp_path / "out", **ASKED)
        assert left_in(tmp_path) == ["empty", "in", "out"]

    def test_an_empty_folder_is_fine(self, source, tmp_path):
        (tmp_path / "out").mkdir()
        protect_dataset(source, tmp_path / "out", **ASKED)
        assert len(digests(tmp_path / "out")) == 2

    @pytest.mark.parametrize("place", ["in", "in/out", "."])
    def test_not_in_or_around_the_source(self, source, tmp_path, place):
        with pytest.raises(ParameterError, match="must not be the input"):
            protect_dataset(source, tmp_path / place, **ASKED)

    def test_too_little_space(self, source, tmp_path, monkeypatch):
        class Usage:
            free = 10

        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage)
        with pytest.raises(ParameterError, match=r"needs about .* are free"):
            protect_dataset(source, tmp_path / "out", **ASKED)
        assert left_in(tmp_path) == ["in"]


def test_an_earlier_release_is_not_taken_for_the_one_that_is_resumed(tmp_path):
    """The run was killed as soon as it had a work folder, beside a file that it may replace."""
    write_files(people(60).select("age", "income"), tmp_path / "in")
    source, target = tmp_path / "in" / "part-000.parquet", tmp_path / "out.parquet"
    plans = [
        Plan(k=k, method="mdav", columns={"age": {"role": "quasi-identifier"}}) for k in (3, 10)
    ]
    protect_dataset(source, target, plan=plans[0])
    (tmp_path / ".out.parquet.microagg-work").mkdir()
    done = protect_dataset(source, target, plan=plans[1], force=True, resume=True)
    assert done.k == 10


def test_a_file_is_replaced_only_if_that_is_asked_for(tmp_path):
    write_files(people(60).select("age", "income"), tmp_path / "in")
    source, target = tmp_path / "in" / "part-000.parquet", tmp_path / "out.parquet"
    asked = {"method": "mdav", "work_dir": tmp_path}
    protect_dataset(source, target, 3, **asked)
    before = target.read_bytes()
    with pytest.raises(ParameterError, match="already exists"):
        protect_dataset(source, target, 10, **asked)
    assert target.read_bytes() == before
    assert protect_dataset(source, target, 10, force=True, **asked).k == 10
    assert target.read_bytes() != before
    with pytest.raises(ParameterError, match="force must be True or False"):
        protect_dataset(source, target, 10, force="yes", **asked)


@pytest.mark.parametrize("taken", ["out.manifest.json", "report.html"])
def test_a_file_that_others_made_during_the_run_is_kept(source, tmp_path, monkeypatch, taken):
    real = writing.write_file

    def late(*given):
        (tmp_path / taken).write_text("theirs")
        return real(*given)

    asked = {**ASKED, "report": tmp_path / "report.html", "work_dir": tmp_path}
    with monkeypatch.context() as patch:
        patch.setattr("microagg.scale.driving.write_file", late)
        with pytest.raises(MicroaggError, match=f"{taken}' already exists"):
            protect_dataset(source, tmp_path / "out", **asked)
    assert (tmp_path / taken).read_text() == "theirs"
    (tmp_path / taken).unlink()
    done = protect_dataset(source, tmp_path / "out", resume=True, **asked)
    assert Manifest.load(tmp_path / "out.manifest.json").output == done.output
    assert "<html" in (tmp_path / "report.html").read_text()


def test_what_the_work_folder_takes_is_announced(source, tmp_path):
    heard = []
    protect_dataset(source, tmp_path / "out", **ASKED, progress=lambda *own: heard.append(own))
    assert heard[0][0].startswith("the work folder takes")
    assert heard[0][1:] == (0, 1)


class TestResuming:
    @pytest.fixture
    def broken(self, source, tmp_path, monkeypatch):
        """A run that ended because the disk was full."""
        real = shuffle._write

        def full(table, counts, path):
            if path.parent.name == "round1" and ".0000002." in path.name:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(table, counts, path)

        with monkeypatch.context() as patch:
            patch.setattr(shuffle, "_write", full)
            with pytest.raises(MicroaggError, match=r"No space left on device.*--resume") as error:
                protect_dataset(source, tmp_path / "out", **ASKED)
        assert str(tmp_path / ".out.microagg-work") in str(error.value)
        assert not (tmp_path / "out").exists()
        return source

    def test_the_same_bytes(self, broken, tmp_path):
        protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)
        protect_dataset(broken, tmp_path / "again", **ASKED)
        assert digests(tmp_path / "out") == digests(tmp_path / "again")
        assert not list(tmp_path.glob(".*"))

    def test_from_another_folder(self, broken, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        protect_dataset(broken.name, "out", resume=True, **ASKED)
        assert (tmp_path / "out").is_dir()

    def test_finished_tasks_are_not_done_again(self, broken, tmp_path, monkeypatch):
        def never(*_):
            raise AssertionError("it was done before")

        for name in ("find_facts", "find_statistics", "route"):
            monkeypatch.setattr(f"microagg.scale.driving.{name}", never)
        protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)

    def test_not_without_being_asked(self, broken, tmp_path):
        with pytest.raises(ParameterError, match="belongs to an earlier run"):
            protect_dataset(broken, tmp_path / "out", **ASKED)

    @pytest.mark.parametrize("step", ["write_file", "check_file"])
    def test_begun_again_with_other_files(self, broken, tmp_path, monkeypatch, step):
        """Whoever deletes the work folder gets nothing of the earlier run."""

        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(f"microagg.scale.driving.{step}", full)
            with pytest.raises(UnfinishedError, match="No space left"):
                protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)
        (tmp_path / ".out.microagg-output" / "more").mkdir()
        (tmp_path / ".out.microagg-output" / "more" / "part-000.parquet").touch()
        shutil.rmtree(tmp_path / ".out.microagg-work")
        (broken / "part-001.parquet").rename(broken / "part-007.parquet")
        protect_dataset(broken, tmp_path / "out", **ASKED)
        assert left_in(tmp_path / "out") == ["part-000.parquet", "part-007.parquet"]
        assert left_in(tmp_path) == ["in", "out", "out.manifest.json"]

    def test_one_run_at_a_time_writes_an_output(self, source, tmp_path, monkeypatch):
        """Another one, with a work folder elsewhere, would mix its files with those of this one."""
        (tmp_path / "elsewhere").mkdir()
        real, refused = writing.write_file, []

        def late(*given):
            if not refused:
                with pytest.raises(UnfinishedError, match=r"another run is writing") as error:
                    protect_dataset(
                        source, tmp_path / "out", work_dir=tmp_path / "elsewhere", **ASKED
                    )
                refused.append(error)
            return real(*given)

        with monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
            patch.setattr("microagg.scale.driving.write_file", late)
            protect_dataset(source, tmp_path / "out", engine=pool, **ASKED)
        assert refused
        protect_dataset(source, tmp_path / "again", **ASKED)
        assert digests(tmp_path / "out") == digests(tmp_path / "again")

    def test_another_plan(self, broken, tmp_path):
        with pytest.raises(ParameterError, match="began with another plan"):
            protect_dataset(broken, tmp_path / "out", resume=True, **{**ASKED, "k": 5})
        protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)

    def test_other_files(self, broken, tmp_path):
        os.utime(broken / "part-001.parquet", ns=(1, 1))
        with pytest.raises(ParameterError, match="began with other files"):
            protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)

    def test_other_versions(self, broken, tmp_path, monkeypatch):
        monkeypatch.setattr("microagg.__version__", "99")
        with pytest.raises(ParameterError, match="other versions"):
            protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)

    def test_nothing_to_resume(self, source, tmp_path):
        with pytest.raises(ParameterError, match="nothing to resume"):
            protect_dataset(source, tmp_path / "out", resume=True, **ASKED)

    def test_that_of_another_user(self, broken, tmp_path, monkeypatch):
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
        with pytest.raises(ParameterError, match="belongs to somebody else"):
            protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)

    def test_one_run_at_a_time(self, broken, tmp_path):
        with (
            work.working_in(tmp_path / ".out.microagg-work", resume=True),
            pytest.raises(ParameterError, match="another run is using"),
        ):
            protect_dataset(broken, tmp_path / "out", resume=True, **ASKED)

    def test_an_interrupt_says_where_to_go_on(self, source, tmp_path, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("microagg.scale.driving.write_file", interrupt)
            with pytest.raises(KeyboardInterrupt) as ended:
                protect_dataset(source, tmp_path / "out", **ASKED)
        assert "--resume" in ended.value.__notes__[0]
        assert not (tmp_path / "out").exists()
        protect_dataset(source, tmp_path / "out", resume=True, **ASKED)
        assert left_in(tmp_path) == ["in", "out", "out.manifest.json"]


def test_a_worker_that_fails_is_named(source, tmp_path):
    class Broken(ThreadPoolExecutor):
        def submit(self, *_):
            raise RuntimeError("a value: 4711")

    with Broken() as pool, pytest.raises(MicroaggError, match="RuntimeError") as error:
        protect_dataset(source, tmp_path / "out", engine=pool, **ASKED)
    assert "4711" not in str(error.value)


def test_names_that_look_like_patterns(tmp_path):
    table = people(N).rename({"age": "^.*$", "job": "*", "disease": "a.b", "height": "é \" '"})
    source = write_files(table, tmp_path / "in", (250,))
    protect_dataset(
        source,
        tmp_path / "out",
        k=4,
        identifiers="id",
        quasi_identifiers="*",
        sensitive="a.b",
        method="mdav",
    )
    after = pa.concat_tables(
        pq.ParquetFile(path).read() for path in sorted((tmp_path / "out").iterdir())
    )
    assert after.column_names == [name for name in table.columns if name != "id"]


class TestTheSizeOfTheWorkFolder:
    """It is said beforehand, and the folder never takes more."""

    @pytest.fixture(autouse=True)
    def large_parts(self, monkeypatch):
        monkeypatch.setattr("microagg.scale.protect.REGION_RECORDS", 5_000)
        monkeypatch.setattr("microagg.scale.sources.spans.PART_ROWS", 10_000)

    @pytest.mark.slow
    @pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "csv.gz"])
    def test_it_is_enough(self, tmp_path, monkeypatch, suffix):
        names = pl.Series([f"the job with the long name {at % 9}" for at in range(20_000)])
        path = tmp_path / f"in.{suffix}"
        table = people(20_000).with_columns(job=names)
        if suffix == "csv.gz":
            path.write_bytes(gzip.compress(table.write_csv().encode()))
        else:
            getattr(table, {"arrow": "write_ipc"}.get(suffix, f"write_{suffix}"))(path)
        said, taken = self.said_and_taken(path, tmp_path / f"out.{suffix}", monkeypatch, **ASKED)
        assert said / 2 < taken <= said

    @pytest.mark.slow
    @pytest.mark.parametrize("unit", [None, "person"])
    def test_columns_that_are_only_published_count(self, tmp_path, monkeypatch, unit):
        """Their values are counted, as they may name somebody."""
        rng, path = np.random.default_rng(1), tmp_path / "in.parquet"
        columns = {f"p{at}": rng.integers(0, 99, 20_000) for at in range(20)}
        x, person = rng.normal(size=20_000), rng.integers(0, 9_000, 20_000)
        pl.DataFrame({"x": x, "person": person, **columns}).write_parquet(path)
        asked = {"k": 3, "method": "mdav", "publish": [*columns, *([] if unit else ["person"])]}
        said, taken = self.said_and_taken(
            path, tmp_path / "out.parquet", monkeypatch, **asked, unit=unit
        )
        assert said / 2 < taken <= said

    @pytest.mark.slow
    @pytest.mark.parametrize("suffix", ["parquet", "csv"])
    def test_reports_need_no_more(self, tmp_path, monkeypatch, suffix):
        """What the passes before them wrote is gone by then."""
        monkeypatch.setattr("microagg.scale.measures.reporting.MOST_RECORDS", 2_000)
        path, report = tmp_path / f"in.{suffix}", tmp_path / "report.html"
        getattr(people(20_000), f"write_{suffix}")(path)
        every = ("", ".arrow", ".facts", ".npy", ".result")  # the sample is in results
        said, taken = self.said_and_taken(
            path, tmp_path / f"out.{suffix}", monkeypatch, every, **ASKED, report=report
        )
        assert report.exists()
        assert said / 2 < taken <= said

    def said_and_taken(self, path, target, monkeypatch, counted=(".arrow", ".npy"), **asked):
        """Return how much was said that the work folder takes, and how much its data took."""
        real, taken, said = work.WorkFolder.write, [0], []

        def write(own, place, how):
            real(own, place, how)
            data = [file for file in own.path.rglob("*") if file.suffix in counted]
            taken.append(sum(file.stat().st_size for file in data))

        def size(*given):
            said.append(work_size(*given))
            return said[-1]

        monkeypatch.setattr(work.WorkFolder, "write", write)
        monkeypatch.setattr("microagg.scale.tasks.space.work_size", size)
        with ThreadPoolExecutor(1) as pool:  # no file is removed while sizes are added up
            protect_dataset(path, target, engine=pool, **asked)
        return said[0], max(taken)

    def test_a_listener_hears_it_first(self, source, tmp_path):
        heard = []
        protect_dataset(
            source, tmp_path / "out", progress=lambda task, *_: heard.append(task), **ASKED
        )
        assert heard[0].startswith("the work folder takes up to 0.1 GB in ")


class TestOneFile:
    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "in.parquet"
        people(60).select("age", "income").write_parquet(path)
        return path

    @pytest.mark.parametrize("name", ["out.csv", "out.parquet.gz", "out"])
    def test_it_keeps_its_format(self, file, tmp_path, name):
        with pytest.raises(ParameterError, match=r"must end in '\.parquet'"):
            protect_dataset(file, tmp_path / name, k=4, method="mdav")
        assert left_in(tmp_path) == ["in.parquet"]

    def test_a_hidden_one(self, file, tmp_path):
        hidden = file.rename(tmp_path / "_in.parquet")
        with pytest.raises(ParameterError, match=r"begin with \. or _.*Rename it"):
            protect_dataset(hidden, tmp_path / "out.parquet", k=4, method="mdav")

    @pytest.mark.parametrize(
        "step", ["without_remnants", "rename_to_free_name", "shutil.rmtree", "write_pages"]
    )
    def test_ended_while_it_gets_its_name(self, file, tmp_path, monkeypatch, step):
        """Whatever was done by then, and though a task that was killed left half a file."""

        class EndedError(BaseException):
            pass

        def end(*_, **__):
            raise EndedError

        with monkeypatch.context() as patch:
            patch.setattr(f"microagg.scale.outputs.output.{step}", end)
            with pytest.raises(EndedError):
                protect_dataset(file, tmp_path / "out.parquet", k=4, method="mdav")
        staging = tmp_path / ".out.parquet.microagg-output"
        if staging.exists():
            (staging / ".0123.in.parquet").write_bytes(b"half")
        protect_dataset(file, tmp_path / "out.parquet", k=4, method="mdav", resume=True)
        protect_dataset(file, tmp_path / "again.parquet", k=4, method="mdav")
        found = digests(tmp_path)
        assert found["out.parquet"] == found["again.parquet"]
        assert len(found) == 5


@pytest.mark.parametrize("place", ["in", "in/below", "out"])
def test_a_work_folder_in_the_input_or_output(source, tmp_path, place):
    (tmp_path / place).mkdir(exist_ok=True)
    with pytest.raises(ParameterError, match="work_dir must not be in the input or the output"):
        protect_dataset(source, tmp_path / "out", work_dir=tmp_path / place, **ASKED)


def test_strata_of_folders_are_not_to_be_merged(tmp_path):
    for year in (2023, 2024):
        write_files(people(20 + year % 2023).select("age"), tmp_path / "in" / f"year={year}")
    with pytest.raises(DataError, match=r"Lower k, or use coarser strata\.$"):
        protect_dataset(tmp_path / "in", tmp_path / "out", k=21, strata="year")
