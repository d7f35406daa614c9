"""Two processes that save to one name without `force` at the same moment, round after round."""

import hashlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

# Waits in every round until the moment it is told, and saves its own table. A line says what came
# of it; an error has the line and the exit code that the command line would have.
_RACER = """
import json, sys, time

import polars as pl

from microagg.core.errors import MicroaggError
from microagg.plans.manifest import Manifest
from microagg.release.saving import save_release

own, described = int(sys.argv[1]), sys.argv[2]
manifest = Manifest.model_validate_json(described).model_copy(update={"n_records": own})
table = pl.DataFrame({"x": [own] * 500})
print("ready", flush=True)
for line in sys.stdin:
    path, moment = json.loads(line)
    while time.time() < moment:
        pass
    try:
        save_release(table, manifest, path, force=False)
        print(json.dumps([0, ""]), flush=True)
    except MicroaggError as error:
        print(json.dumps([error.exit_code, str(error)]), flush=True)
"""
_SECONDS_TO_START = 0.003


@dataclass(frozen=True)
class Racer:
    """A process that saves when it is told; its tables are full of its number."""

    number: int
    process: subprocess.Popen[str]

    @classmethod
    def started(cls, number: int, manifest: str) -> "Racer":
        argv = [sys.executable, "-c", _RACER, str(number), manifest]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return cls(number, subprocess.Popen(argv, text=True, **pipes))

    def told(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def heard(self) -> str:
        return self.process.stdout.readline()

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def race(folder: Path, n_rounds: int, manifest: str) -> list[int]:
    """Let two processes race, and return who won each round, if each had exactly one winner.

    `manifest` is any manifest, as JSON.
    """
    racers = [Racer.started(number, manifest) for number in (1, 2)]
    try:
        assert [racer.heard().strip() for racer in racers] == ["ready", "ready"]
        return [_round(racers, folder / str(at)) for at in range(n_rounds)]
    finally:
        for racer in racers:
            racer.stop()


def _round(racers: list[Racer], folder: Path) -> int:
    folder.mkdir()
    path = folder / "out.csv"
    line = json.dumps([str(path), time.time() + _SECONDS_TO_START])
    for racer in racers:
        racer.told(line)
    answers = {racer.number: json.loads(racer.heard()) for racer in racers}
    winners = [number for number, (code, _) in answers.items() if code == 0]
    if len(winners) != 1:
        pytest.fail(f"{len(winners)} of two processes saved to one name: {answers}")
    ((code, sentence),) = (told for number, told in answers.items() if number not in winners)
    assert code == 2, sentence
    assert "already exists" in sentence
    assert "\n" not in sentence
    check_won(path, winners[0])
    return winners[0]


def check_won(path: Path, number: int) -> None:
    """Check that the table and the manifest are the winner's, and that nothing else is there."""
    data = path.read_bytes()
    assert set(data.split()[1:]) == {str(number).encode()}
    told = json.loads(path.with_name(f"{path.name}.manifest.json").read_text("utf-8"))
    assert told["n_records"] == number
    assert told["output"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert len(list(path.parent.iterdir())) == 2
