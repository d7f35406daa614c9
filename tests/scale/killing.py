"""Runs that are killed at random moments and resumed, until they end: the same bytes each time.

`make killed` kills fifty times: `python -m tests.scale.killing 50`.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.kills import killed_before
from tests.scale.datasets import digests, people, write_files

# Protects a dataset in small regions. At a given step it is killed: a step makes a file or a name.
RUN = """
import sys
from pathlib import Path

from microagg.scale.checks import checking
from microagg.scale.steps import names
from microagg.scale import protect
from microagg.scale.sources import spans

source, target, resume, step = *sys.argv[1:3], *map(int, sys.argv[3:])
protect.REGION_RECORDS, spans.PART_ROWS, checking.BUCKET_ROWS = 250, 500, 400
names._BUCKET = 900
protect.new_secret = lambda: b"the same in all runs"
"""
RUN += killed_before("replace", "rename", "link", "mkdir", "unlink", "rmdir")
RUN += """
protect.protect_dataset(
    source, target, k=5, method="mdav", identifiers="id", quasi_identifiers=["job"],
    sensitive="disease", strata="sex", keep_key=True, resume=bool(resume),
)
"""
NEVER = 0


def dataset(folder: Path) -> Path:
    """Write files with two strata of which one is cut."""
    import polars as pl

    table = people(1_500).with_columns(sex=pl.Series(["f", "f", "f", "m"] * 375))
    return write_files(table, folder / "in", (400, 900), rows=300)


def begun(source: Path, target: Path, step: int = NEVER) -> subprocess.Popen[bytes]:
    """Begin a run, or go on with it if there is something to go on with."""
    resume = (target.parent / f".{target.name}.microagg-work").exists()
    words = [str(source), str(target), str(int(resume)), str(step)]
    return subprocess.Popen([sys.executable, "-c", RUN, *words], env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def check_unpublished(target: Path) -> None:
    """A folder has its name only if all its files are there."""
    if target.exists():
        assert len(digests(target)) == 3


def is_finished(target: Path) -> bool:
    """Whether a run was killed only after it was done."""
    return target.exists() and not (target.parent / f".{target.name}.microagg-work").exists()


def killed_by_steps(source: Path, folder: Path, steps: list[int]) -> int:
    """Kill a run at these steps, each counted from where it went on; return how often it was."""
    target, kills = folder / "out", 0
    for step in steps:
        code = begun(source, target, step).wait()
        check_unpublished(target)
        if code == 0 or is_finished(target):
            return kills
        assert code == -signal.SIGKILL
        kills += 1
    assert begun(source, target).wait() == 0
    return kills


def killed_by_clock(source: Path, folder: Path, chance: random.Random, seconds: float) -> int:
    """Kill a run after random times until one lives to its end; return how often it was."""
    target, kills = folder / "out", 0
    while True:
        process = begun(source, target)
        try:
            code = process.wait(chance.uniform(0.2, 1.1) * seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        check_unpublished(target)
        if code == 0 or is_finished(target):
            return kills
        assert code == -signal.SIGKILL
        kills += 1


def main() -> None:
    """Kill so many times, and say what became of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int)
    wanted = parser.parse_args().kills
    chance, kills, runs = random.Random(7), 0, 0
    folder = Path(tempfile.mkdtemp())
    source = dataset(folder)
    (folder / "first").mkdir()
    began = time.monotonic()
    assert begun(source, folder / "first" / "out").wait() == 0
    seconds = time.monotonic() - began
    expected = digests(folder / "first" / "out")
    while kills < wanted:
        own = folder / f"run{runs}"
        own.mkdir()
        if runs % 2:
            kills += killed_by_clock(source, own, chance, seconds)
        else:
            kills += killed_by_steps(source, own, [chance.randint(1, 90) for _ in range(5)])
        assert digests(own / "out") == expected, "other bytes"
        assert sorted(os.listdir(own)) == ["out", "out.manifest.json"], os.listdir(own)
        runs += 1
    shutil.rmtree(folder)
    sys.stdout.write(f"killed {kills} times in {runs} runs: the same bytes each time\n")


if __name__ == "__main__":
    main()
