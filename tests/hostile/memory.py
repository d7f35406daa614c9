"""Memory: under any limit a run ends in a release or in one line, and never hangs."""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from tests.hostile.cases import Case, expect
from tests.hostile.commands import Outcome, ended, started
from tests.hostile.judges_of_files import judge_folder
from tests.hostile.kills import TEMPORARY, judge_left, judge_whole, usual_seconds, write_people

MB = 1 << 20
COLUMNS = ("-k", "5", "--identifier", "name", "--quiet")
QUICK = ("--method", "zscore-mhm", "--bound", "none")
COMMANDS = (
    ("protect", "in.csv", "-o", "out.csv", *COLUMNS, *QUICK),
    ("protect", "in.csv", "-o", "out.csv", *COLUMNS, *QUICK),
    ("protect", "in.csv", "-o", "out.csv", *COLUMNS, "--method", "mdav"),
    ("protect", "in.csv", "-o", "out.parquet", *COLUMNS, *QUICK),
    ("verify", "in.csv", "-k", "1", "--quasi-identifier", "x,y,z", "--sensitive", "name"),
    ("compare", "in.csv", "-k", "5", "--identifier", "name", "--methods", "mdav,zscore-mhm"),
)


def run(case: Case, folder: Path) -> str:
    """Run a command that may hold little, or that the system kills for holding too much."""
    chance = case.chance
    write_people(chance, folder / "in.csv", chance.choice([300, 5_000, 60_000]))
    command = chance.choice(COMMANDS)
    if chance.random() < 0.25:
        return _killed(chance, folder)
    limit = chance.choice([chance.randint(30, 700), chance.randint(680, 1000)]) * MB
    outcome = ended(started(folder, *command, memory=limit))
    expect(outcome.code in (0, 1), f"{limit // MB} MB ended in code {outcome.code}")
    if outcome.code == 1:
        judge_line(outcome)
        expect(not (folder / "out.csv").exists(), "there is an output of a run that failed")
    elif command[2:4] == ("-o", "out.csv"):
        judge_whole(folder)
    left = {path.name for path in folder.iterdir() if not path.name.startswith(TEMPORARY)}
    judge_folder(folder, left)
    expect(left <= {"in.csv", *_outputs(command)}, f"it left {sorted(left)}")
    return f"{command[0]}: {'done' if outcome.code == 0 else 'one line'}"


def _outputs(command: tuple[str, ...]) -> set[str]:
    name = command[3]
    return {name, f"{name}.manifest.json"} if command[0] == "protect" else set()


def judge_line(outcome: Outcome) -> None:
    """What went wrong is one line that says so, and what to do."""
    expect(outcome.err.count("\n") == 1, f"not one line: {outcome.err[-600:]!r}")
    is_said = "not enough memory" in outcome.err or "memory runs out" in outcome.err
    expect(is_said, f"it is not about memory: {outcome.err!r}")
    expect("ulimit" in outcome.err or "more memory" in outcome.err, f"{outcome.err!r}")
    expect(outcome.out == "", "a run that failed printed a result")


def _killed(chance: random.Random, folder: Path) -> str:
    """End the process that does the work, as a system does that has run out of memory."""
    process = started(folder, *COMMANDS[0])
    deadline = time.monotonic() + chance.random() * usual_seconds()
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    for worker in _workers(process):
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    outcome = ended(process)
    expect(outcome.code in (0, 1), f"a killed worker ended in code {outcome.code}")
    if outcome.code == 1:
        judge_line(outcome)
    is_new = judge_left(folder, {"in.csv": (folder / "in.csv").read_bytes()})
    expect(is_new or outcome.code == 1, "nothing was written, and nothing said")
    return f"worker killed: {'new' if is_new else 'one line'}"


def _workers(process: "subprocess.Popen[bytes]") -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with suppress(OSError):
        return [int(pid) for pid in listed.read_text().split()]
    return []
