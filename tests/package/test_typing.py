"""The types of the package, as a type checker sees them in somebody else's code."""

import subprocess
import sys

import pytest

from tests.package.conftest import ROOT

GOOD = """
import microagg
import polars as pl
from microagg.partitions import get

people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [171, 175, 162, 160]})
release: microagg.Release = microagg.protect(people, k=2, sensitive=["height"])
lost: float = release.information_loss
bound: float | None = release.lower_bound
done: microagg.Manifest = release.manifest
groups: int = done.n_groups
found: microagg.Verification = microagg.verify(release.table, k=2)
is_kept: bool = found.satisfied
plan: microagg.Plan = microagg.Plan(k=5).replace(k=10)
rows: microagg.Comparison = microagg.compare(people, [2], ["mdav"], effort="fast")
best: float | None = rows[0].information_loss
labels = get("mdav")(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0]])
try:
    microagg.protect(people, k=9)
except microagg.errors.ParameterError as error:
    code: int = error.exit_code
"""
BAD = """
import microagg

microagg.protect([], k="five")
microagg.compare([], 2, efort="fast")
microagg.protect([], k=5).informationloss
"""
WRONG = ("arg-type", "call-arg", "attr-defined")


def checked(tmp_path, code):
    script = tmp_path / "script.py"
    script.write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file="]
    command += [f"--cache-dir={ROOT / '.mypy_cache'}", str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)


@pytest.mark.slow
def test_right_code_passes(tmp_path):
    done = checked(tmp_path, GOOD)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_wrong_code_does_not(tmp_path):
    done = checked(tmp_path, BAD)
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert len(errors) == len(WRONG), done.stdout
    for line, kind in zip(errors, WRONG, strict=True):
        assert f"[{kind}]" in line
