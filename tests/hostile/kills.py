"""Kills: a run that is ended at any moment leaves a whole set of files or none of it."""

import csv
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.hostile.cases import OWNER_MARK, Case, expect, secret
from tests.hostile.commands import ended, fresh, started, stopped, warm
from tests.hostile.judges_of_files import judge_folder, judge_hash, judge_private

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}
K = 5
TEMPORARY = ".microagg-"


def write_people(chance: random.Random, path: Path, n: int) -> None:
    """Write a table with names, quickly."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "x", "y", "z"])
        for _ in range(n):
            numbers = [f"{chance.gauss(0, 1):.4f}" for _ in range(3)]
            writer.writerow([secret(chance, OWNER_MARK), *numbers])


@cache
def usual_seconds() -> float:
    """Return how long a run takes on this machine."""
    with tempfile.TemporaryDirectory() as name:
        write_people(random.Random(0), Path(name) / "in.csv", 300)
        began = time.monotonic()
        fresh(Path(name), *_command(()))
        return time.monotonic() - began


def _command(others: tuple[str, ...], k: int = K) -> list[str]:
    asked = ["-k", str(k), "--identifier", "name", "--method", "zscore-mhm", "--bound", "none"]
    return ["protect", "in.csv", "-o", "out.csv", *asked, "--quiet", *others]


def run(case: Case, folder: Path) -> str:
    """End a run at some moment, judge what is left, and run it again."""
    chance = case.chance
    n = chance.choice([300, 5_000])
    write_people(chance, folder / "in.csv", n)
    others: tuple[str, ...] = chance.choice([(), ("--audit", "audit.csv")])
    replaces = chance.random() < 0.4
    if replaces:
        expect(warm().run(folder, *_command(others, 9)).code == 0, "the first run failed")
    before = _contents(folder)
    number = chance.choice(SIGNALS)
    when = chance.choice(["any time", "first file", "writing", "writing"])
    wait = chance.choice([0.0, 0.001, 0.003, 0.01, 0.03])
    process = started(folder, *_command(others), *(["--force"] if replaces else []))
    if when == "any time":
        wait = chance.random() * usual_seconds()
    else:
        _wait_for_file(process, folder, filled=when == "writing")
    stopped(process, wait, number)
    outcome = ended(process)
    ways = (0, CODES[number], -number)
    expect(outcome.code in ways, f"signal {number} ended in code {outcome.code}: {outcome.err!r}")
    expect("Traceback" not in outcome.err or outcome.code < 0, f"{outcome.err[-300:]!r}")
    is_new = judge_left(folder, before)
    if outcome.code == CODES[signal.SIGTERM] or (outcome.code == 130 and not is_new):
        left = [path.name for path in folder.iterdir() if path.name.startswith(TEMPORARY)]
        expect(not left, f"{number.name} left {left}: {outcome.err!r}")
    again = warm().run(folder, *_command(others), "--force", later=True)
    expect(again.code == 0, f"the next run failed: {again.err!r}")
    judge_folder(folder, {"in.csv", "out.csv", "out.csv.manifest.json", *others[1:]})
    judge_whole(folder)
    return f"{number.name}, {when}: {'new' if is_new else 'as before'}"


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _wait_for_file(process: "subprocess.Popen[bytes]", folder: Path, *, filled: bool) -> None:
    """Return when a temporary file is there, or has something in it, or all is over."""
    while process.poll() is None:
        for path in folder.glob(f"{TEMPORARY}*"):
            with suppress(FileNotFoundError):
                if not filled or path.stat().st_size:
                    return
        time.sleep(0.0005)


def judge_left(folder: Path, before: dict[str, bytes]) -> bool:
    """What is left is what there was, or a whole new release. Returns whether it is new."""
    after = _contents(folder)
    if "audit.csv" in after:
        judge_private(folder / "audit.csv")
    for path in folder.iterdir():
        if path.name.startswith(TEMPORARY):
            mode = path.stat().st_mode & 0o077
            raw = path.read_bytes()
            expect(not mode or OWNER_MARK.encode() not in raw, "others may read a temporary file")
    if "out.csv" not in after:
        expect("out.csv" not in before, "a killed run removed the earlier output")
        return False
    if after["out.csv"] == before.get("out.csv"):
        return False
    judge_whole(folder)
    return True


def judge_whole(folder: Path) -> None:
    """The table is whole, k records are alike, and the manifest is of this table."""
    judge_hash(folder / "out.csv")
    with (folder / "out.csv").open(newline="", encoding="utf-8") as stream:
        header, *rows = [tuple(row) for row in csv.reader(stream)]
    with (folder / "in.csv").open(newline="", encoding="utf-8") as stream:
        n = sum(1 for _ in csv.reader(stream)) - 1
    expect(header == ("x", "y", "z"), "the header is another")
    expect(len(rows) == n, f"{len(rows)} of {n} records were written")
    expect(min(Counter(rows).values()) >= K, "fewer than k records are alike")
