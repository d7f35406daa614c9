"""Input and output at URLs: fetched once, sent when all is checked, and the manifest last."""

import pytest

from microagg import Manifest, protect_dataset
from microagg.cli.main import main
from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.scale.sources.listing import is_listed
from microagg.scale.storage.urls import Url, place_of
from microagg.scale.storage.work import UnfinishedError
from tests.scale.datasets import ROLES, digests, people, write_files

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

ASKED = {"k": 4, "method": "mdav", **ROLES}
N = 700


class Bucket(MemoryFileSystem):
    """A store of objects of its own, whose calls can be made to fail, or to do something first."""

    protocol = "bucket"
    store = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012
    before = {}  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("bucket://", "/", 1))

    def _first(self, call, path):
        for pattern, action in list(self.before.items()):
            name, _, part = pattern.partition(" ")
            if call == name and part in path:
                action(path)

    def get_file(self, rpath, lpath, **kwargs):
        self._first("get", rpath)
        super().get_file(rpath, lpath, **kwargs)

    def put_file(self, lpath, rpath, **kwargs):
        self._first("put", rpath)
        super().put_file(lpath, rpath, **kwargs)

    def cp_file(self, path1, path2, **kwargs):
        self._first("copy", path2)
        super().cp_file(path1, path2, **kwargs)


@pytest.fixture
def bucket():
    fsspec.register_implementation("bucket", Bucket, clobber=True)
    Bucket.store.clear()
    Bucket.before.clear()
    Bucket.pseudo_dirs[:] = [""]
    return Bucket()


@pytest.fixture
def local(tmp_path):
    return write_files(people(N), tmp_path / "in", (250,))


@pytest.fixture
def expected(local, tmp_path):
    protect_dataset(local, tmp_path / "expected", **ASKED)
    return digests(tmp_path / "expected")


@pytest.fixture
def source(bucket, local):
    bucket.put(f"{local}/", "/visits/", recursive=True)
    return "bucket://visits"


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def at(bucket, place, tmp_path, name="copy"):
    """The bytes of all files below a place."""
    folder = tmp_path / name
    bucket.before.clear()
    bucket.get(f"{place}/", f"{folder}/", recursive=True)
    return digests(folder)


def refuse(_path):
    raise PermissionError(13, "Permission denied")


class TestBytes:
    def test_from_one_to_another(self, bucket, source, expected, work, tmp_path):
        done = protect_dataset(source, "bucket://safe/2024", work_dir=work, **ASKED)
        assert at(bucket, "/safe/2024", tmp_path) == expected
        bucket.get_file("/safe/2024.manifest.json", str(tmp_path / "m.json"))
        assert Manifest.load(tmp_path / "m.json") == done
        assert sorted(bucket.find("/safe")) == [
            "/safe/2024.manifest.json",
            "/safe/2024/part-000.parquet",
            "/safe/2024/part-001.parquet",
        ]
        assert not list(work.iterdir())
        assert done.command.startswith("microagg protect visits")
        assert done.input.file == "visits"

    def test_from_there_to_here(self, source, expected, tmp_path):
        protect_dataset(source, tmp_path / "out", **ASKED)
        assert digests(tmp_path / "out") == expected
        assert not list(tmp_path.glob(".*"))

    def test_from_here_to_there(self, bucket, local, expected, work, tmp_path):
        protect_dataset(local, "bucket://safe", work_dir=work, **ASKED)
        assert at(bucket, "/safe", tmp_path) == expected

    def test_local_urls_are_paths(self, local, expected, work, tmp_path):
        protect_dataset(
            f"file://{local}", f"file://{tmp_path}/out", work_dir=f"file://{work}", **ASKED
        )
        assert digests(tmp_path / "out") == expected

    def test_the_memory_file_system(self, local, expected, work, tmp_path):
        files = fsspec.filesystem("memory")
        files.put(f"{local}/", "/in/", recursive=True)
        try:
            protect_dataset("memory://in", "memory://out", work_dir=work, **ASKED)
            assert at_memory(files, tmp_path) == expected
        finally:
            files.store.clear()

    def test_one_csv_file(self, bucket, work, tmp_path):
        path = tmp_path / "people.csv"
        people(N).write_csv(path)
        bucket.put_file(str(path), "/people.csv")
        target = "bucket://safe.csv"
        protect_dataset("bucket://people.csv", target, work_dir=work, **ASKED)
        protect_dataset(path, tmp_path / "safe.csv", **ASKED)
        assert bucket.cat_file("/safe.csv") == (tmp_path / "safe.csv").read_bytes()

    def test_folders_named_by_values(self, bucket, work, tmp_path):
        for year in (2023, 2024):
            name = f"/visits/year={year}/0.parquet"
            people(300).drop("id").write_parquet(tmp_path / "one")
            bucket.put_file(str(tmp_path / "one"), name)
        bucket.pipe_file("/visits/_SUCCESS", b"")
        asked = {**ASKED, "strata": "year", "identifiers": ()}
        protect_dataset("bucket://visits", "bucket://safe", work_dir=work, **asked)
        names = [path for path in bucket.find("/safe") if path.endswith("parquet")]
        assert names == ["/safe/year=2023/0.parquet", "/safe/year=2024/0.parquet"]

    def test_on_the_command_line(self, bucket, source, expected, work, tmp_path, capsys):
        words = ["-k", "4", "--method", "mdav", "--identifier", "id", "--sensitive", "disease"]
        words += ["--quasi-identifier", "job", "--work-dir", str(work)]
        with pytest.raises(SystemExit) as leaving:
            main(["protect", source, "-o", "bucket://safe", *words])
        assert leaving.value.code == 0
        assert "bucket://safe.manifest.json" in capsys.readouterr().out
        assert at(bucket, "/safe", tmp_path) == expected
        with pytest.raises(SystemExit) as leaving:
            main(["protect", source, *words])
        assert leaving.value.code == 2
        assert "must be named" in capsys.readouterr().err


def at_memory(files, tmp_path):
    files.get("/out/", f"{tmp_path / 'copy'}/", recursive=True)
    return digests(tmp_path / "copy")


class TestFailures:
    """Whatever fails, what has no manifest beside it is not finished; and it can be resumed."""

    @pytest.mark.parametrize(
        "when",
        [
            "get part-001",
            "put .safe.microagg-output/part-001",
            "copy safe/part-000",
            "copy safe/part-001",
            "put safe.manifest",
        ],
    )
    def test_resumed(self, bucket, source, expected, work, tmp_path, when):
        bucket.before[when] = refuse
        with pytest.raises(UnfinishedError, match=r"Permission denied.*--resume") as error:
            protect_dataset(source, "bucket://safe", work_dir=work, **ASKED)
        assert "\n" not in str(error.value)
        assert not bucket.exists("/safe.manifest.json")
        if not when.startswith(("copy", "put safe")):
            assert not bucket.find("/safe")
        bucket.before.clear()
        protect_dataset(source, "bucket://safe", work_dir=work, resume=True, **ASKED)
        assert at(bucket, "/safe", tmp_path) == expected
        assert bucket.exists("/safe.manifest.json")
        assert not [path for path in bucket.find("/") if "microagg-output" in path]
        assert not list(work.iterdir())

    def test_a_file_that_arrives_in_part(self, bucket, source, work):
        hidden = "/.safe.microagg-output/part-001.parquet"
        bucket.before["copy safe/part-001"] = lambda _: bucket.pipe_file(hidden, b"half")
        with pytest.raises(
            UnfinishedError, match=r"part-001\.parquet' was not transferred completely"
        ):
            protect_dataset(source, "bucket://safe", work_dir=work, **ASKED)
        assert not bucket.exists("/safe.manifest.json")

    def test_a_file_that_changes_while_it_is_fetched(self, bucket, source, work):
        path = "/visits/part-001.parquet"
        bucket.before["get part-001"] = lambda _: bucket.pipe_file(path, bucket.cat_file(path))
        with pytest.raises(DataError, match=r"part-001\.parquet' changed"):
            protect_dataset(source, "bucket://safe", work_dir=work, **ASKED)
        assert not bucket.find("/safe")
        assert not list(work.iterdir())

    def test_other_files_when_it_is_resumed(self, bucket, source, work):
        bucket.before["put .safe"] = refuse
        with pytest.raises(MicroaggError, match="--resume"):
            protect_dataset(source, "bucket://safe", work_dir=work, **ASKED)
        bucket.before.clear()
        bucket.pipe_file("/visits/part-001.parquet", b"another")
        protect_dataset(source, "bucket://safe", work_dir=work, resume=True, **ASKED)
        assert bucket.exists("/safe.manifest.json")  # what was checked is what is sent

    def test_other_files_when_regions_are_resumed(self, bucket, source, work, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("microagg.scale.driving.write_file", refuse_task)
            with pytest.raises(MicroaggError, match="--resume"):
                protect_dataset(source, "bucket://safe", work_dir=work, **ASKED)
        path = "/visits/part-001.parquet"
        bucket.pipe_file(path, bucket.cat_file(path))
        with pytest.raises(ParameterError, match="began with other files"):
            protect_dataset(source, "bucket://safe", work_dir=work, resume=True, **ASKED)


def refuse_task(*_):
    raise PermissionError(13, "Permission denied")


class TestRefusals:
    def refused(self, words, source, target, **asked):
        with pytest.raises(ParameterError, match=words):
            protect_dataset(source, target, **{**ASKED, **asked})

    def test_a_work_folder_at_a_url(self, source, tmp_path):
        self.refused("not a URL", source, tmp_path / "out", work_dir="bucket://work")
        self.refused("Name a folder for it", source, "bucket://safe")

    def test_a_target_that_is_taken(self, bucket, source, work):
        bucket.pipe_file("/safe/mine.txt", b"keep")
        self.refused("already exists and is not empty", source, "bucket://safe", work_dir=work)
        bucket.pipe_file("/other.manifest.json", b"keep")
        self.refused("manifest.json' already exists", source, "bucket://other", work_dir=work)
        assert bucket.cat_file("/safe/mine.txt") == b"keep"
        assert not list(work.iterdir())

    @pytest.mark.parametrize("target", ["bucket://visits", "bucket://visits/out"])
    def test_in_or_around_the_source(self, source, work, target):
        self.refused("must not be the input", source, target, work_dir=work)
        self.refused("must not be the input", f"{source}/part-000.parquet", source, work_dir=work)

    @pytest.mark.parametrize("target", ["bucket://", "bucket:///"])
    def test_no_folder(self, source, work, target):
        self.refused("names no folder or file", source, target, work_dir=work)

    def test_a_target_that_cannot_be_written(self, bucket, source, work, monkeypatch):
        monkeypatch.setattr(bucket, "pipe_file", refuse_task)
        self.refused("cannot be written", source, "bucket://safe", work_dir=work)
        assert not list(work.iterdir())

    def test_nothing_there(self, bucket, work):
        self.refused("does not exist", "bucket://nowhere", "bucket://safe", work_dir=work)
        bucket.pipe_file("/empty/_notes", b"x")
        self.refused("holds no files", "bucket://empty", "bucket://safe", work_dir=work)

    def test_no_such_file_system(self, tmp_path):
        self.refused("fsspec knows no file system for nosuch://", "nosuch://a", tmp_path / "out")

    def test_a_password(self):
        with pytest.raises(ParameterError, match="must not hold a password") as error:
            place_of("ftp://me:secret@host/visits")
        assert "secret" not in str(error.value)

    def test_a_file_of_no_bytes(self, bucket, source, work):
        bucket.pipe_file("/visits/part-009.parquet", b"")
        with pytest.raises(DataError, match=r"part-009\.parquet' is empty"):
            protect_dataset(source, "bucket://safe", work_dir=work, **ASKED)

    def test_a_damaged_file_is_named(self, bucket, source, work):
        bucket.pipe_file("/visits/part-009.parquet", b"PAR1 nothing PAR1")
        with pytest.raises(DataError, match=r"part-009\.parquet' is a damaged Parquet file"):
            protect_dataset(source, "bucket://safe", work_dir=work, **ASKED)
        assert not list(work.iterdir())


@pytest.mark.parametrize("name", ["../evil.parquet", "a/../../evil.parquet", ".a/b", "a/_b"])
def test_names_that_lead_out_of_the_work_folder(name):
    assert not is_listed(name)


def test_names():
    url = Url("s3://bucket/visits")
    assert url.name == "visits"
    assert str(url.hidden) == "s3://bucket/.visits.microagg-output"
    assert str(url.manifest) == "s3://bucket/visits.manifest.json"
