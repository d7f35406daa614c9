"""Hostile plans and manifests: whatever they hold, one sentence or a valid plan comes out."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from microagg import Manifest, Plan
from microagg.core.errors import MicroaggError
from tests.hostile.cases import Case, expect, one_in
from tests.hostile.commands import Outcome, warm
from tests.hostile.judges_of_files import (
    judge_controls,
    judge_folder,
    judge_hash,
    judge_refused,
    judge_sentence,
)
from tests.hostile.kills import write_people
from tests.hostile.requests import FIELDS, WRONG

VALID = 'k = 3\n[columns]\nname = { role = "identifier" }\n'


def deep(chance: random.Random) -> str:
    depth = chance.choice([20, 500, 5_000, 100_000])
    opened, closed = chance.choice([("[", "]"), ("{ a = ", " }")])
    return f"k = 3\nblocks = {opened * depth}{'' if one_in(chance, 3) else closed * depth}\n"


def digits(chance: random.Random) -> str:
    count = chance.choice([20, 400, 5_000, 200_000])
    number = chance.choice(
        ["9" * count, "0x" + "f" * count, "1." + "3" * count, f"1e{'9' * count}"]
    )
    return f"k = {number}\n"


def long_keys(chance: random.Random) -> str:
    parts = chance.choice([10, 1_000, 100_000])
    return f"k = 3\n{chance.choice(['.'.join(['a'] * parts), 'a' * parts])} = 1\n"


def many_columns(chance: random.Random) -> str:
    lines = [f'c{at} = {{ role = "drop" }}' for at in range(chance.choice([10, 5_000]))]
    return "k = 3\n[columns]\n" + "\n".join(lines)


def wrong_values(chance: random.Random) -> str:
    name = chance.choice(sorted(FIELDS))
    return f"k = 3\n{name} = {_toml(chance.choice(WRONG[name]))}\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{json.dumps(str(n))} = {_toml(v)}" for n, v in value.items()) + " }"
        )
    return (
        '""'
        if value is None
        else json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")
    )


def control_characters(chance: random.Random) -> str:
    sign = chance.choice(
        ["\\u001b[31m", "\\u0007", "\\u202e", "\\u0000", "\\r", "\\n", "\\u009b2J"]
    )
    place = chance.choice(["key", "column", "value", "raw", "constraint"])
    raw = sign.encode().decode("unicode_escape")
    return {
        "key": f'k = 3\n"a{sign}b" = 1\n',
        "column": f'k = 3\n[columns]\n"na{sign}me" = {{ role = "drop" }}\n',
        "value": f'k = 3\nmethod = "md{sign}av"\n',
        "raw": f"k = 3\nmethod = '{raw}'\n",
        "constraint": f'k = 3\nconstraints = ["x{sign} = y"]\n',
    }[place]


def unknown_keys(chance: random.Random) -> str:
    key = chance.choice(["kk", "K", "metod", "__class__", "columns.x.y.z", '""', "self", "cls"])
    return f"k = 3\n{key} = {chance.choice(['1', 'true', '[]', '{}', '1979-05-27', 'nan'])}\n"


def mangled(chance: random.Random) -> str:
    text = list(VALID * chance.choice([1, 1, 2]))
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text))
        text[at : at + chance.choice([0, 1, 3])] = chance.choice(
            ['"', "=", "[", "]]", "\n", "\\", "#"]
        )
    return "".join(text)


def no_text(chance: random.Random) -> str:
    return chance.choice(["", "\x00" * 9, "\ufeffk = 3", "k: 3", "{}", "<xml/>", "\ud800", "k=3\r"])


PLANS: tuple[Callable[[random.Random], str], ...] = (
    *(deep, digits, long_keys, many_columns, wrong_values, wrong_values),
    *(control_characters, unknown_keys, mangled, no_text),
)


def run(case: Case, folder: Path) -> str:
    """Use one hostile plan or manifest, in Python or on the command line."""
    chance = case.chance
    if one_in(chance, 3):
        return _manifest(chance, folder)
    text = chance.choice(PLANS)(chance)
    place = folder / "plan.toml"
    place.write_bytes(text.encode("utf-8", "surrogatepass"))
    if one_in(chance, 2):
        return _in_python(lambda: Plan.read(place))
    write_people(chance, folder / "in.csv", 30)
    outcome = warm().run(
        folder, "protect", "in.csv", "--plan", "plan.toml", "-o", "o.csv", "--quiet"
    )
    return _judged(outcome, folder, {"in.csv", "plan.toml"})


def _in_python(read: Callable[[], object]) -> str:
    try:
        read()
    except MicroaggError as error:
        judge_sentence(str(error))
        return f"refused {error.exit_code}"
    return "read"


def _judged(outcome: Outcome, folder: Path, there: set[str]) -> str:
    if outcome.code:
        judge_refused(outcome.code, outcome.out, outcome.err)
        judge_folder(folder, there)
        return f"refused {outcome.code}"
    judge_hash(folder / "o.csv")
    judge_folder(folder, there | {"o.csv", "o.csv.manifest.json"})
    return "released"


def _manifest(chance: random.Random, folder: Path) -> str:
    """Put something hostile where an earlier manifest would be."""
    write_people(chance, folder / "in.csv", 30)
    asked = ["-k", "3", "--identifier", "name", "-o", "o.csv", "--method", "mdav"]
    first = warm().run(folder, "protect", "in.csv", *asked, "--quiet")
    expect(first.code == 0, f"a plain release failed: {first.err!r}")
    beside = folder / "o.csv.manifest.json"
    beside.write_bytes(hostile_json(chance, beside.read_text("utf-8")))
    way = chance.choice(["read", "verify", "again"])
    if way == "read":
        return f"manifest {_in_python(lambda: Manifest.load(beside))}"
    if way == "again":
        outcome = warm().run(folder, "protect", "in.csv", *asked, "--force")
        judge_controls("standard error", outcome.err)
        return f"beside: {_judged(outcome, folder, {'in.csv'})}"
    outcome = warm().run(folder, "verify", "o.csv")
    judge_controls("the answer", outcome.out + outcome.err)
    if outcome.out == "":
        judge_refused(outcome.code, outcome.out, outcome.err)
    expect(outcome.code in (0, 2, 3, 4), f"exit code {outcome.code}: {outcome.err[-300:]!r}")
    return f"verify {outcome.code}"


def hostile_json(chance: random.Random, text: str) -> bytes:
    """Return a manifest that is none, or one whose entries are not what they should be."""
    facts = json.loads(text)
    way = chance.choice(["deep", "digits", "entry", "entry", "entry", "other", "cut", "bytes"])
    if way == "entry":
        name = chance.choice(sorted(facts))
        worse = (None, -1, 10**30, "\x1b[31m", [], {}, [[[]]], "x" * 10_000, True, 1e308, {"a": {}})
        facts[name] = chance.choice(worse)
        if one_in(chance, 4):
            del facts[name]
        return json.dumps(facts).encode()
    others = ("[]", "null", "3", '"x"', "{}", "", '{"microagg_version": 3}', "NaN", "\ufeff{}")
    return {
        "deep": b"[" * chance.choice([900, 100_000]),
        "digits": b'{"k": ' + b"9" * chance.choice([400, 5_000]) + b"}",
        "other": chance.choice(others).encode(),
        "cut": text.encode()[: chance.randrange(len(text))],
        "bytes": chance.randbytes(200),
    }[way]
