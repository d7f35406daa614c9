"""Judges of what a run says and leaves behind: messages, files, folders."""

import csv
import gzip
import hashlib
import io
import json
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from tests.hostile.cases import VALUE_MARK, expect

# Line ends are fine, and tabs within a line do no harm.
HARMLESS = "\n\t"
FORMULA = re.compile(r"[=+@-]")
NUMBER = re.compile(r"[+-]?\d[\d.,]*(?:e[+-]?\d+)?(?=$|[,;|\t])")


def judge_quiet(where: str, text: str, owners: Iterable[str]) -> None:
    """Nobody is named."""
    for owner in owners:
        if len(owner) > 4 and owner in text:
            expect(False, f"{where} names somebody")
    expect("Zq-" not in text, f"{where} names somebody")


def judge_values(where: str, text: str) -> None:
    """No value of a single record is told."""
    expect(VALUE_MARK not in text, f"{where} quotes a record")


def judge_sentence(message: str) -> None:
    """A message is text for people, and ends as a sentence does."""
    expect(message.strip() == message and message, "a message is blank or padded")
    expect(message[-1] in ".?!", f"a message does not end as a sentence: {message[-60:]!r}")
    expect(len(message) < 3000, f"a message of {len(message)} characters")
    expect("Traceback" not in message, "a message is a traceback")


def judge_controls(where: str, text: str) -> None:
    """Nothing that comes from a file can control a terminal."""
    bad = sorted({c for c in text if not c.isprintable() and c not in HARMLESS and c != "\xa0"})
    expect(not bad, f"{where} holds control characters: {bad!r}")


def judge_refused(code: int, out: str, err: str) -> None:
    """A refusal is one line on standard error, nothing on standard output, and its exit code."""
    expect(code in (2, 3, 4), f"exit code {code}: {err[-300:]!r}")
    expect(out == "", "a refusal wrote to standard output")
    lines = err.splitlines()
    expect(len(lines) == 1, f"a refusal of {len(lines)} lines: {err[:300]!r}")
    expect(err.startswith("microagg: ") and err.endswith("\n"), f"not one line: {err[:200]!r}")
    judge_sentence(err.strip())
    judge_controls("a refusal", err)


def judge_hash(output: Path) -> None:
    """The manifest beside a file is of that file."""
    beside = output.with_name(f"{output.name}.manifest.json")
    expect(beside.is_file(), "there is no manifest beside the output")
    told = json.loads(beside.read_text("utf-8"))["output"]
    expect(told["file"] == output.name, "the manifest names another file")
    sha256 = hashlib.sha256(output.read_bytes()).hexdigest()
    expect(told["sha256"] == sha256, "the manifest is of another file")


def judge_folder(folder: Path, expected: Iterable[str]) -> None:
    """A folder holds what it should, and nothing that was left over."""
    found = {path.name for path in folder.iterdir()}
    expect(found == set(expected), f"the folder holds {sorted(found ^ set(expected))} by mistake")


def judge_private(path: Path) -> None:
    """Only its owner may read it."""
    mode = stat.S_IMODE(path.stat().st_mode)
    expect(not mode & 0o077, f"others may read {path.suffix} files with mode {mode:o}")


def judge_formulas(path: Path, encoding: str) -> None:
    """Whatever a spreadsheet takes for the delimiter, it finds no formula.

    Numbers are none, also with the rest of a line that is not split.
    """
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.name.endswith(".gz") else raw).decode(encoding)
    for delimiter in ",;|\t":
        rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter)
        for cell in (cell.lstrip() for row in rows for cell in row):
            runs = FORMULA.match(cell) and not NUMBER.match(cell)
            expect(not runs, f"split at {delimiter!r}, a cell is a formula")


def judge_bytes(path: Path, owners: Iterable[str]) -> None:
    """No identifier is in the bytes of a file, as text in any usual encoding."""
    raw = path.read_bytes()
    for owner in owners:
        if len(owner) > 4:
            encoded = (owner.encode(), owner.encode("utf-16-le"))
            expect(not any(own in raw for own in encoded), f"{path.suffix} file names somebody")
