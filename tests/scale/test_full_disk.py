"""A disk that is full, wherever it is: one line, nothing half published, and it can be resumed."""

import errno
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

from microagg import protect_dataset
from microagg.scale.outputs import report_files
from microagg.scale.sources import columnar
from microagg.scale.storage import work
from microagg.scale.storage.work import UnfinishedError
from tests.scale.datasets import ROLES, digests, people, write_files

ASKED = {"k": 4, "method": "mdav", **ROLES}


def full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def in_the_work_folder(patch, is_full):
    real = work.WorkFolder.save

    def save(self, path, value):
        if is_full(path):
            raise full()
        real(self, path, value)

    patch.setattr(work.WorkFolder, "save", save)


def in_the_staging_folder(patch):
    real = columnar.ParquetFiles.writing

    @contextmanager
    def writing(path, schema, dialect):
        with real(path, schema, dialect) as write:

            def some(table):
                write(table)
                raise full()

            yield some

    patch.setattr(columnar.ParquetFiles, "writing", writing)


def when_the_folder_is_named(patch):
    def rename(*_):
        raise full()

    patch.setattr(os, "rename", rename)


def when_the_manifest_is_written(patch):
    def write(writers, **_):
        if writers:  # there are no reports
            raise full()

    patch.setattr(report_files, "atomic_write_all", write)


CASES = {
    "result": lambda patch: in_the_work_folder(patch, lambda p: p.parent.name == "types"),
    "released": lambda patch: in_the_work_folder(patch, lambda p: p.parent.name == "write"),
    "facts": lambda patch: in_the_work_folder(patch, lambda p: p.name == "fitted.facts"),
    "judged": lambda patch: in_the_work_folder(patch, lambda p: p.parent.name == "judge"),
    "staging": in_the_staging_folder,
    "naming": when_the_folder_is_named,
    "manifest": when_the_manifest_is_written,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_one_line_and_resumed(tmp_path, monkeypatch, case):
    source = write_files(people(700), tmp_path / "in", (250,))
    with monkeypatch.context() as patch:
        CASES[case](patch)
        with pytest.raises(UnfinishedError, match=r"No space left on device.*--resume") as error:
            protect_dataset(source, tmp_path / "out", **ASKED)
    assert "\n" not in str(error.value)
    # A folder has its name only with all files in it, and then lacks no more than the manifest.
    assert (tmp_path / "out").exists() == (case == "manifest")
    assert not (tmp_path / "out.manifest.json").exists()
    protect_dataset(source, tmp_path / "out", resume=True, **ASKED)
    protect_dataset(source, tmp_path / "again", **ASKED)
    assert digests(tmp_path / "out") == digests(tmp_path / "again")
    assert (tmp_path / "out.manifest.json").exists()
    assert not list(tmp_path.glob(".*"))


# Protects a dataset with its work folder, or its output, on a file system of so many kilobytes.
RUN = """
import os, shutil, subprocess, sys
from pathlib import Path

from microagg import protect_dataset
from microagg.scale import protect
from microagg.scale.sources import spans
from microagg.core.errors import MicroaggError
from tests.scale.datasets import ROLES

where, folder, small, kilobytes = sys.argv[1], *map(Path, sys.argv[2:4]), sys.argv[4]
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", small], check=True)
protect.REGION_RECORDS, spans.PART_ROWS = 250, 1_000
protect.check_space = lambda *_: None
target = small / "out" if where == "output" else folder / "out"
places = {"work_dir": folder / "work"} if where == "output" else {"work_dir": small}
asked = {"k": 4, "method": "mdav", **ROLES, **places}
try:
    protect_dataset(folder / "in", target, **asked)
except MicroaggError as error:
    print(error)
assert not target.exists()
subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
protect_dataset(folder / "in", target, resume=True, **asked)
shutil.copytree(target, folder / "copy")
"""


def can_mount(folder) -> bool:
    if shutil.which("unshare") is None:
        return False
    words = ["unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "kilobytes"), [("work", 200), ("work", 500), ("output", 20), ("output", 36)]
)
def test_a_file_system_that_is_really_full(tmp_path, where, kilobytes):
    for name in ("small", "work"):
        (tmp_path / name).mkdir()
    if not can_mount(tmp_path / "small"):
        pytest.skip("file systems cannot be mounted here")
    source = write_files(people(3_000), tmp_path / "in", (250, 1_500))
    words = [where, str(tmp_path), str(tmp_path / "small"), str(kilobytes)]
    done = subprocess.run(
        ["unshare", "-Urm", sys.executable, "-c", RUN, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, done.stderr
    assert "No space left on device" in done.stdout
    assert done.stdout.count("\n") == 1
    protect_dataset(source, tmp_path / "expected", **ASKED)
    assert digests(tmp_path / "copy") == digests(tmp_path / "expected")


def test_a_work_folder_on_another_file_system(tmp_path):
    other = "/dev/shm"
    if not os.path.isdir(other) or os.stat(other).st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no other file system here")
    source = write_files(people(700), tmp_path / "in", (250,))
    folder = f"{other}/microagg-{os.getpid()}"
    os.mkdir(folder)
    try:
        protect_dataset(source, tmp_path / "out", work_dir=folder, **ASKED)
        assert not os.listdir(folder)
    finally:
        shutil.rmtree(folder)
    protect_dataset(source, tmp_path / "again", **ASKED)
    assert digests(tmp_path / "out") == digests(tmp_path / "again")
