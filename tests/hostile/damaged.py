"""Damaged files of every format: one sentence, or a right release; never anything else."""

import gzip
import random
import zlib
from pathlib import Path

from tests.hostile.cases import RELEASED, Case, Finding, expect
from tests.hostile.columns import IDENTIFIER, UNIT
from tests.hostile.commands import Outcome, warm
from tests.hostile.files import asked_for, file_columns
from tests.hostile.judges_of_files import judge_folder, judge_hash, judge_quiet, judge_refused
from tests.hostile.stored import READABLE, TEXT, read_output, write_input

COMMANDS = ("protect", "protect", "protect", "plan", "verify", "measure")


def flipped(chance: random.Random, raw: bytearray) -> None:
    for _ in range(chance.choice([1, 1, 2, 8, 64])):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)


def flipped_early(chance: random.Random, raw: bytearray) -> None:
    """Damage the header, where formats say how large everything is."""
    for _ in range(chance.choice([1, 2, 4])):
        raw[chance.randrange(min(400, len(raw)))] = chance.choice([0, 1, 127, 128, 255])


def flipped_late(chance: random.Random, raw: bytearray) -> None:
    """Damage the end, where Parquet, Arrow and zip files say where everything is."""
    for _ in range(chance.choice([1, 2, 4])):
        raw[-chance.randint(1, min(200, len(raw)))] = chance.choice([0, 1, 127, 128, 255])


def truncated(chance: random.Random, raw: bytearray) -> None:
    del raw[chance.randrange(len(raw)) :]


def beheaded(chance: random.Random, raw: bytearray) -> None:
    del raw[: chance.randrange(len(raw))]


def swapped(chance: random.Random, raw: bytearray) -> None:
    first, second, third = sorted(chance.randrange(len(raw)) for _ in range(3))
    raw[first:third] = raw[second:third] + raw[first:second]


def zeroed(chance: random.Random, raw: bytearray) -> None:
    first = chance.randrange(len(raw))
    last = min(len(raw), first + chance.choice([1, 8, 100]))
    raw[first:last] = bytes(last - first)


def doubled(chance: random.Random, raw: bytearray) -> None:
    first = chance.randrange(len(raw))
    raw[first:first] = raw[first : first + chance.choice([1, 40, 5000])]


def stuffed(chance: random.Random, raw: bytearray) -> None:
    """Put something in that no editor would: other ends of lines, quotes, zeros, half letters."""
    pieces = (b"\x00", b'"', b"\r", b"\n\n", b"\xff\xfe", b"\xe2\x82", b",,,,", b"\x1b[2J", b"\x1a")
    first = chance.randrange(len(raw) + 1)
    raw[first:first] = chance.choice(pieces) * chance.choice([1, 1, 3, 2000])


def replaced(chance: random.Random, raw: bytearray) -> None:
    """Take something else for the whole file."""
    others = (
        b"",
        b"\x00" * 100,
        b"x",
        b"\n" * 50,
        b"PK\x03\x04",
        b"PAR1PAR1",
        b"$FL2" + b" " * 300,
    )
    others += (b"\x1f\x8b", chance.randbytes(500), b"<html><body>404</body></html>", b"ARROW1\0\0")
    raw[:] = chance.choice(others)


DAMAGES = (flipped, flipped, flipped_early, flipped_late, truncated, beheaded, swapped, zeroed)
DAMAGES += (doubled, stuffed, replaced)


def run(case: Case, folder: Path) -> str:
    """Damage one file and use it."""
    chance = case.chance
    columns, roles = file_columns(chance)
    suffix = chance.choice(READABLE)
    path = folder / f"in{suffix}"
    dialect = write_input(columns, path, suffix, chance)
    whole = path.read_bytes()
    options, asked = asked_for(chance, columns, roles)
    path.write_bytes(damaged(chance, whole, suffix))
    command = chance.choice(COMMANDS)
    output = f"out{chance.choice(TEXT) if suffix in TEXT else '.csv'}"
    argv = {
        "protect": [path.name, "-o", output, *options, "--quiet"],
        "plan": [path.name],
        "verify": [path.name, "-k", "2"],
        "measure": [path.name, f"whole{suffix}", "--quasi-identifier", "age"],
    }[command]
    if command == "measure":
        (folder / f"whole{suffix}").write_bytes(whole)
    names = [own.name for own in folder.iterdir()]
    outcome = warm().run(folder, command, *argv)
    owners = {str(v) for c in asked.named(IDENTIFIER, UNIT) for v in columns[c]}
    judge_alive(outcome)
    judge_quiet("standard error", outcome.err, owners)
    if command != "protect":
        return _told(command, outcome, folder, names)
    if outcome.code:
        judge_refused(outcome.code, outcome.out, outcome.err)
        judge_folder(folder, [path.name])
        return f"refused {outcome.code}"
    judge_hash(folder / output)
    judge_folder(folder, [path.name, output, f"{output}.manifest.json"])
    if suffix not in TEXT:  # the dialect of a damaged text may be another
        judge_release(asked.k, folder / output, dialect)
    return RELEASED


def damaged(chance: random.Random, whole: bytes, suffix: str) -> bytes:
    """Return the bytes of a file, damaged; of a compressed one also what is compressed."""
    inside = suffix.endswith(".gz") and chance.random() < 0.4
    raw = bytearray(gzip.decompress(whole) if inside else whole)
    for _ in range(chance.choice([1, 1, 1, 2])):
        if raw:
            chance.choice(DAMAGES)(chance, raw)
    if not inside:
        return bytes(raw)
    made = gzip.compress(bytes(raw))
    return made + chance.choice([b"", b"", b"junk", zlib.compress(b"x"), made])


def judge_alive(outcome: Outcome) -> None:
    """A damaged file ends no process and is no reason for a traceback or a panic."""
    if outcome.code < 0:
        raise Finding(f"a damaged file ended the process: signal {-outcome.code}")
    for word in ("Traceback", "panicked", "thread '"):
        expect(word not in outcome.err, f"{word} on standard error: {outcome.err[:300]!r}")


def judge_release(k: int, path: Path, dialect: dict[str, str]) -> None:
    """Whatever was read, k records share what is released of quasi-identifiers."""
    after = read_output(path, ".csv", {"encoding": dialect.get("encoding", "utf-8")})
    shown = [name for name in after if name not in ("disease", "score", "w", "name")]
    if not shown:
        return
    rows = list(zip(*(after[name] for name in shown), strict=True))
    fewest = min((rows.count(row) for row in rows), default=k)
    expect(fewest >= k, f"{fewest} records, not {k}, are alike")


def _told(command: str, outcome: Outcome, folder: Path, names: list[str]) -> str:
    judge_folder(folder, names)
    if outcome.code == 0 or (command == "verify" and outcome.code == 4):
        return f"{command} answered"
    judge_refused(outcome.code, outcome.out, outcome.err)
    return f"{command} refused {outcome.code}"
