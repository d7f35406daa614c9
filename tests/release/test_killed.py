"""A run that is killed leaves a whole output with its manifest, or no output at all."""

import csv
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.kills import killed_before
from tests.manifests import manifest

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")

N_RECORDS = 20_000
K = 50
OLD = "x\n1\n1\n"

# Saves a small table, and is killed before the step whose number is given: a step is a call that
# makes a file or a name, or makes one last. After a step is before the next.
SAVING = """
import sys
from pathlib import Path

import polars as pl

from microagg.plans.manifest import Manifest
from microagg.release.saving import save_release

folder, described, step, force = *sys.argv[1:3], *map(int, sys.argv[3:])
manifest = Manifest.model_validate_json(described)
"""
SAVING += killed_before("open", "fsync", "link", "replace", "unlink")
SAVING += """
table = pl.DataFrame({"x": [2] * 5})
save_release(table, manifest, f"{folder}/out.csv", force=bool(force))
"""


def is_whole(folder: Path) -> bool:
    """Whether there is an output and its manifest speaks of it; it must not be there otherwise."""
    output, described = folder / "out.csv", folder / "out.csv.manifest.json"
    if not output.exists():
        return False
    told = json.loads(described.read_text("utf-8"))
    return told["output"]["sha256"] == hashlib.sha256(output.read_bytes()).hexdigest()


def write_old(folder: Path) -> None:
    (folder / "out.csv").write_text(OLD)
    sha256 = hashlib.sha256(OLD.encode()).hexdigest()
    (folder / "out.csv.manifest.json").write_text(
        json.dumps(manifest().with_output("out.csv", sha256).as_dict())
    )


def saved(folder: Path, step: int, *, force: bool) -> int:
    steps = [str(int(number)) for number in (step, force)]
    return subprocess.run(
        [sys.executable, "-c", SAVING, str(folder), manifest().model_dump_json(), *steps],
        check=False,
    ).returncode


@pytest.mark.parametrize("force", [False, True], ids=["new", "over an older one"])
@pytest.mark.slow
def test_killed_at_every_step_of_saving(tmp_path, force):
    ended = []
    for step in range(1, 40):
        folder = tmp_path / str(step)
        folder.mkdir()
        if force:
            write_old(folder)
        code = saved(folder, step, force=force)
        content = (folder / "out.csv").read_text() if (folder / "out.csv").exists() else None
        assert content in ((OLD, "x\n2\n2\n2\n2\n2\n") if force else (None, "x\n2\n2\n2\n2\n2\n"))
        if content not in (None, OLD):
            assert is_whole(folder)
        ended.append(content)
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert code == 0, "every step was tried"
    assert len(set(ended)) == 2, "killed early and late"
    assert not list(folder.glob(".microagg-*"))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("killed") / "in.csv"
    columns = {f"x{j}": rng.normal(size=N_RECORDS) for j in range(8)}
    pl.DataFrame(columns).write_csv(path)
    return path


def started(table: Path, folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start the command line on the table, with an output in the folder."""
    asked = ("-k", str(K), "--method", "zscore-mhm", "--bound", "none", "--quiet", *options)
    command = [sys.executable, "-m", "microagg", "protect", str(table), *asked]
    return subprocess.Popen([*command, "-o", str(folder / "out.csv")])


def check_left(folder: Path, old: str | None) -> bool:
    """Return whether there is a new output; what there is must be whole."""
    output = folder / "out.csv"
    if not output.exists():
        assert old is None
        return False
    if output.read_text() == old:
        return False
    assert is_whole(folder)
    with output.open(newline="") as stream:
        rows = [tuple(row) for row in csv.reader(stream)]
    assert len(rows) == N_RECORDS + 1
    assert min(Counter(rows[1:]).values()) >= K
    return True


@pytest.mark.slow
def test_killed_at_any_moment(table, tmp_path):
    chance = random.Random(1)
    began = time.monotonic()
    reference = tmp_path / "reference"
    reference.mkdir()
    assert started(table, reference).wait() == 0
    takes = time.monotonic() - began
    assert check_left(reference, None)
    for turn in range(6):
        folder = tmp_path / str(turn)
        folder.mkdir()
        force = turn % 2 == 1
        if force:
            write_old(folder)
        process = started(table, folder, *(["--force"] if force else []))
        if turn < 2:
            time.sleep(chance.uniform(0.2, 1.0) * takes)
        else:
            wait_for_writing(process, folder)
            time.sleep(chance.choice([0.0, 0.001, 0.004, 0.016, 0.05]))
        process.kill()
        assert process.wait() in (0, -signal.SIGKILL)
        check_left(folder, OLD if force else None)


def wait_for_writing(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Return when a file beside the output begins to fill, or all is over."""
    while process.poll() is None:
        for path in folder.glob(".microagg-*"):
            try:
                if os.stat(path).st_size:
                    return
            except FileNotFoundError:
                continue
