"""What people see: no control characters, no record's value, no identifier, whatever is named."""

import json
import random
from pathlib import Path
from typing import Any

from tests.hostile.cases import OWNER_MARK, VALUE_MARK, Case, expect, one_in, secret
from tests.hostile.commands import fresh, warm
from tests.hostile.judges_of_files import (
    judge_controls,
    judge_quiet,
    judge_refused,
    judge_values,
)
from tests.hostile.stored import write_input

SIGNS = (
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x07",
    "\x9b2J",
    "\u202e",
    "\u2066",
    "\x08",
    "\x7f",
    "\x85",
)
FORMATS = (".csv", ".csv", ".tsv", ".parquet", ".arrow", ".xlsx")


def run(case: Case, folder: Path) -> str:
    """Name columns and files so that a terminal might obey them, and look at all that is said."""
    chance = case.chance
    columns = hostile_columns(chance)
    suffix = chance.choice(FORMATS)
    if suffix == ".xlsx":  # cells cannot hold most of them
        columns = {_harmless(name): values for name, values in columns.items()}
    sign = chance.choice(["", "", *SIGNS])
    source, output = f"in{sign}{suffix}", f"out{sign}.csv"
    write_input(columns, folder / source, suffix, chance)
    outcome = (fresh if one_in(chance, 20) else warm().run)(
        folder, *_command(chance, columns, source, output)
    )
    owners = {str(value) for value in next(iter(columns.values()))}
    for where, text in (("standard output", outcome.out), ("standard error", outcome.err)):
        judge_controls(where, text)
        judge_quiet(where, text, owners)
        judge_values(where, text)
    for path in folder.iterdir():
        if path.name.endswith((".json", ".html")):
            text = path.read_text("utf-8")
            judge_quiet(path.suffix, text, owners)
            expect("\x1b" not in text, f"a {path.suffix} file holds control characters")
            if path.suffix == ".json":
                judge_values(path.suffix, text)
                json.loads(text)
    if outcome.code in (2, 3) or (outcome.code == 4 and not outcome.out):
        judge_refused(outcome.code, outcome.out, outcome.err)
    expect(outcome.code in (0, 2, 3, 4), f"exit code {outcome.code}: {outcome.err[-300:]!r}")
    return f"answered {outcome.code}"


def _harmless(name: str) -> str:
    return "".join(c if c.isprintable() else "_" for c in name)


def hostile_columns(chance: random.Random) -> dict[str, list[Any]]:
    """Return an identifier, two numbers, a category and a sensitive text, named for trouble."""
    n = chance.randint(6, 40)

    def name(word: str) -> str:
        sign = chance.choice(["", *SIGNS])
        return chance.choice([f"{word}{sign}", f"{sign}{word}", f"={word}()", f"{word}\n{sign}"])

    sick = [chance.choice(["flu", "cold"]) for _ in range(n)]
    sick[chance.randrange(n)] = secret(chance, VALUE_MARK)
    kinds = [chance.choice(["a", "b", "=1+1", "\x1b[2J"]) for _ in range(n)]
    kinds[chance.randrange(n)] = secret(chance, VALUE_MARK)
    return {
        name("who"): [secret(chance, OWNER_MARK) for _ in range(n)],
        name("age"): [chance.randint(0, 90) for _ in range(n)],
        name("pay"): [round(chance.lognormvariate(5, 1), 2) for _ in range(n)],
        name("kind"): [_harmless(kind) for kind in kinds],
        name("sick"): sick,
    }


def _command(
    chance: random.Random, columns: dict[str, list[Any]], source: str, output: str
) -> list[str]:
    who, age, pay, kind, sick = (_quoted(name) for name in columns)
    roles = ["--identifier", who, "--quasi-identifier", kind, "--sensitive", sick]
    if one_in(chance, 4):  # a role is missing, or a column is named that is not there
        del roles[chance.choice([0, 2, 4]) :][:2]
        roles += chance.choice([[], ["--drop", "no\x1b[31msuch"], ["--type", f"{age}=\x1b[2J"]])
    common = [source, "-k", chance.choice(["2", "3", "2", "3", "2", "0", "\x1b[31m", "99"]), *roles]
    more = chance.choice([[], ["--constraint", f"{pay} >= \x1b[2J"], ["--method", "\x1b[31mmdav"]])
    ways = {
        "protect": ["protect", *common, "-o", output, "--method", "mdav", *more],
        "report": ["protect", *common, "-o", output, "--report", "r.html", "--method", "mdav"],
        "plan": ["plan", source],
        "verify": ["verify", *common],
        "compare": ["compare", *common, "--methods", "mdav,hac"],
        "sweep": ["sweep", *common],
        "nonsense": [chance.choice(["prot\x1b[31m", "--\x1b[2J", "methods", "--help"]), source],
    }
    return ways[chance.choice(["protect", "protect", *ways])]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if "," in name or "\n" in name else name
