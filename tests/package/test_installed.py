"""The wheel in an empty environment, with nothing but what it needs."""

import os
import re
import subprocess
import sys
import venv

import pytest

from microagg.cli.demo import KERNELS
from tests.package.conftest import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The programs of an environment into which only the wheel was installed, by ordinary pip."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and re.search("No matching distribution|Connection|Temporary", done.stderr):
        pytest.skip("pip cannot reach a package index")
    assert done.returncode == 0, done.stderr
    return programs


@pytest.fixture
def run(installed, tmp_path):
    def run_program(program, *argv):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        command = [str(installed / program), *map(str, argv)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
        )

    return run_program


def test_only_what_is_needed_is_there(run):
    names = {line.partition("=")[0].lower() for line in run("pip", "freeze").stdout.splitlines()}
    assert {"numpy", "numba", "polars", "scikit-learn"} <= {name.split(" ")[0] for name in names}
    extras = {"pandas", "pyarrow", "openpyxl", "pyreadstat", "rdata", "distributed", "zensical"}
    assert not names & (extras | {"pytest", "mypy"})


def test_demo_on_an_empty_cache_says_what_it_compiles(run, tmp_path):
    began = run("microagg", "demo")
    assert began.returncode == 0, began.stderr
    assert began.stderr.startswith("The first run on this machine compiles the method")
    assert "Before\n" in began.stdout
    assert "After\n" in began.stdout
    assert (tmp_path / "microagg-demo" / "diabetes-report.html").is_file()
    again = run("microagg", "verify", "microagg-demo/diabetes-protected.csv")
    assert again.stdout.startswith("Yes")
    count = (
        "from microagg.cli.warming import all_kernels as a; "
        "print(sum(not k.is_uncompiled() for k in a()))"
    )
    compiled = int(run("python", "-c", count).stdout)
    # Some are called by other kernels only, and compiled with them.
    assert KERNELS - 5 <= compiled <= KERNELS + 5, "change KERNELS in cli/demo.py"


@pytest.mark.parametrize(
    ("argv", "extra"),
    [
        (("protect", "people.xlsx", "-k", "5"), "files"),
        (("protect", "people.sav", "-k", "5"), "files"),
        (("protect", "people.dta", "-k", "5"), "files"),
        (("protect", "people.rds", "-k", "5"), "r"),
        (("protect", "people", "-o", "safe", "-k", "5"), "datasets"),
        (("app", "people.csv"), "app"),
    ],
)
def test_a_missing_extra_is_named(run, tmp_path, argv, extra):
    source = tmp_path / argv[1]
    if source.suffix:
        source.write_bytes(b"age\n1\n2\n")
    else:
        source.mkdir()
        (source / "a.csv").write_text("age\n1\n2\n")
    done = run("microagg", *argv)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert f"microagg[{extra}]" in done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_example_runs_with_what_it_installs(run, page):
    text = (ROOT / page).read_text("utf-8")
    (line,) = re.findall(r"^pip install \. (.*?) *#", text, re.MULTILINE)
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if line:
        added = run("pip", "install", "--quiet", *line.split())
        assert added.returncode == 0, added.stderr
    done = run("python", "-c", code)
    assert done.returncode == 0, done.stderr


def test_it_is_the_wheel_that_was_run(run):
    where = run("python", "-c", "import microagg; print(microagg.__file__, microagg.__version__)")
    assert "site-packages" in where.stdout
    assert str(sys.prefix) not in where.stdout
