"""How the command line is run in tests, and the table it is run on."""

import csv
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from microagg.cli.main import main

# Values that no message may ever show.
SECRETS = ("Sentinella", "987654321", "00123", "777.125")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Everything in the folder, hidden files included."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = None
        if path.is_file():
            with open(path, "rb") as stream:
                found[str(path.relative_to(folder))] = stream.read()
    return found


def people(n: int = 60, seed: int = 1) -> list[dict[str, str]]:
    chance = random.Random(seed)
    rows = [
        {
            "name": f"Person {i}, née X",
            "age": str(chance.randint(18, 90)),
            "height": f"{chance.gauss(170, 10):.2f}",
            "income": str(chance.randint(0, 90_000)),
            "code": f"{chance.randint(0, 999):05d}",
        }
        for i in range(n)
    ]
    rows[7] |= {"name": "Sentinella", "income": "987654321", "height": "777.125", "code": "00123"}
    return rows


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in that holds people.csv."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "people.csv", people())
    return tmp_path


@pytest.fixture
def run(capsys, folder):  # noqa: ARG001
    """Run the command line inside this process, in the folder."""

    def run_main(*argv: str) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main(argv)
        captured = capsys.readouterr()
        return Outcome(int(leaving.value.code or 0), captured.out, captured.err)

    return run_main


@pytest.fixture
def refused(run, folder):
    """Run what must fail: one line, this exit code, no values, and the folder as it was."""

    def run_refused(code: int, *argv: str) -> str:
        before = snapshot(folder)
        outcome = run(*argv)
        assert outcome.code == code, outcome
        assert outcome.out == ""
        assert outcome.err.startswith("microagg: ")
        assert outcome.err.endswith("\n")
        assert outcome.err.count("\n") == 1, outcome.err
        assert "Traceback" not in outcome.err
        assert not [value for value in SECRETS if value in outcome.err]
        assert snapshot(folder) == before
        return outcome.err

    return run_refused
