"""What is in the sdist and the wheel, and what is not."""

import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from email import message_from_bytes

import pytest

import microagg
from tests.package.conftest import ROOT

pytestmark = pytest.mark.slow
PACKAGE = ROOT / "src" / "microagg"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LARGEST = 300_000  # bytes; a table of somebody else's would be larger


@pytest.fixture(scope="module")
def in_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


@pytest.fixture(scope="module")
def in_sdist(sdist):
    with tarfile.open(sdist) as archive:
        return {
            entry.name.partition("/")[2]: archive.extractfile(entry).read()
            for entry in archive.getmembers()
            if entry.isfile()
        }


def sources():
    """Every file of the package that is not made by running it."""
    made = ("__pycache__", ".nbi", ".nbc", ".pyc")
    found = (path for path in PACKAGE.rglob("*") if path.is_file())
    return [path for path in found if not any(part in str(path) for part in made)]


def test_the_wheel_has_the_package_and_nothing_else(in_wheel):
    expected = {f"microagg/{path.relative_to(PACKAGE).as_posix()}" for path in sources()}
    version = microagg.__version__
    beside = {
        name.partition("/")[2] for name in in_wheel if name.startswith(f"microagg-{version}.")
    }
    assert {name for name in in_wheel if name.startswith("microagg/")} == expected
    assert "microagg/py.typed" in expected
    assert "microagg/report/page.html" in expected
    assert beside == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert len(in_wheel) == len(expected) + len(beside)


def test_metadata(in_wheel):
    found = message_from_bytes(in_wheel[f"microagg-{microagg.__version__}.dist-info/METADATA"])
    assert found["Version"] == microagg.__version__
    assert found["License-Expression"] == "BSD-3-Clause"
    required = found.get_all("Requires-Dist")
    assert {line for line in required if "extra ==" not in line} == {
        line.replace(" ", "") for line in PROJECT["dependencies"]
    }
    assert set(found.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert "# microagg" in found.get_payload()


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_the_sdist_has_what_git_has_and_nothing_else(in_sdist):
    listed = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    known = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    assert set(in_sdist) - {"PKG-INFO"} <= set(known)
    for name in ("README.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "LICENSE", "Makefile"):
        assert name in in_sdist
    for folder in ("src/microagg/cli", "tests", "docs/guides", "docs/builder", "benchmarks"):
        assert any(name.startswith(f"{folder}/") for name in in_sdist)


def test_no_data_of_others(in_wheel, in_sdist):
    """Benchmark tables belong to others; what tests need of files is small, or made by them."""
    tables = re.compile(r"\.(csv|parquet|sav|dta|sas7bdat|xlsx|rds|rda)(\.gz)?$")
    for name, content in (in_wheel | in_sdist).items():
        assert not tables.search(name), name
        assert len(content) <= LARGEST, f"{name} has {len(content):,} bytes"


def test_the_version_is_in_one_place():
    assert "version" in PROJECT["dynamic"]
    version = re.escape(microagg.__version__)
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest[1] == microagg.__version__
    assert re.search(rf"^version: {version}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_changes_are_in_order():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = [tuple(map(int, own.split("."))) for own in re.findall(r"^## ([\d.]+)", text, re.M)]
    assert found == sorted(found, reverse=True)
    assert len(found) >= 2
