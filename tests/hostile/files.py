"""Files through the command line: every pair of formats, read back by other libraries."""

import json
import random
import re
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.hostile.cases import OWNER_MARK, RELEASED, VALUE_MARK, Case, expect, one_in, secret
from tests.hostile.columns import IDENTIFIER, PUBLISH, QI, SENSITIVE, UNIT, WEIGHT
from tests.hostile.commands import Outcome, arguments, fresh, warm
from tests.hostile.judges import (
    Asked,
    judge_diversity,
    judge_k,
    judge_key,
    judge_shape,
    judge_totals,
    judge_units,
)
from tests.hostile.judges_of_files import (
    judge_bytes,
    judge_controls,
    judge_folder,
    judge_formulas,
    judge_hash,
    judge_private,
    judge_quiet,
    judge_refused,
    judge_values,
)
from tests.hostile.stored import (
    READABLE,
    TEXT,
    WRITABLE,
    output_dialect,
    read_output,
    same_value,
    write_input,
)
from tests.hostile.tables import Total

METHODS = ("mdav", "v-mdav", "mdav-mhm", "zscore-mhm", "hac", "auto")
TOWNS = ("Oslo", "Łódź", "東京", "São Paulo", "a,b", "a;b", 'say "x"', "=1+1", "x y", "🙂")
TOWNS += ('a|"=1+1|b', "b;@c", " +d")


def file_columns(chance: random.Random) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Return columns that every format can hold, and their roles."""
    n = chance.randint(8, 60)
    columns: dict[str, list[Any]] = {
        "age": [chance.randint(18, 90) for _ in range(n)],
        "net": [round(chance.lognormvariate(5, 1), 2) for _ in range(n)],
        "tax": [round(chance.lognormvariate(3, 1), 2) for _ in range(n)],
        "town": [chance.choice(chance.sample(TOWNS, 3)) for _ in range(n)],
        "born": [date(1950, 1, 1) + timedelta(days=chance.randint(0, 9000)) for _ in range(n)],
        "disease": [chance.choice(["flu", "cold", "none"]) for _ in range(n)],
        "score": [round(chance.gauss(0, 9), 3) for _ in range(n)],
        "w": [chance.choice([1.5, 2.5, 4.0]) for _ in range(n)],
        "name": [secret(chance, OWNER_MARK) for _ in range(n)],
        "patient": [f"{OWNER_MARK}patient{chance.randrange(max(3, n // 2))}" for _ in range(n)],
    }
    columns["gross"] = [
        float(Decimal(str(a)) + Decimal(str(b))) for a, b in zip(columns["net"], columns["tax"])
    ]
    roles = dict.fromkeys(columns, QI)
    roles |= {"disease": SENSITIVE, "score": PUBLISH, "w": WEIGHT}
    roles |= {"name": IDENTIFIER, "patient": UNIT}
    kept = [c for c in columns if c in ("age", "name") or not one_in(chance, 3)]
    if "gross" in kept:
        kept = [*kept, *(c for c in ("net", "tax") if c not in kept)]
    chance.shuffle(kept)
    if one_in(chance, 4):  # missing values
        for name in (c for c in kept if c in ("age", "town", "born", "disease")):
            columns[name] = [None if chance.random() < 0.1 else v for v in columns[name]]
    if "disease" in kept:
        columns["disease"][chance.randrange(n)] = secret(chance, VALUE_MARK)
    return {name: columns[name] for name in kept}, {name: roles[name] for name in kept}


def asked_for(
    chance: random.Random, columns: dict[str, list[Any]], roles: dict[str, str]
) -> tuple[list[str], Asked]:
    """Return a command line's options, and what they promise."""
    n = len(next(iter(columns.values())))
    asked = Asked(k=chance.randint(2, max(2, min(5, n // 4))), roles=roles)
    asked.blocks = [asked.named(QI)]
    options: dict[str, Any] = {"-k": str(asked.k), "--method": chance.choice(METHODS)}
    options["--quasi-identifier"] = [c for c in asked.named(QI) if c in ("town", "born")]
    for flag, role in (("--identifier", IDENTIFIER), ("--sensitive", SENSITIVE)):
        options[flag] = asked.named(role)
    options |= {"--publish": asked.named(PUBLISH), "--weights": asked.named(WEIGHT)}
    options |= {"--unit": asked.named(UNIT), "--missing": chance.choice(["value", "impute"])}
    options["--bound"] = "none"
    if options["--method"] == "auto":
        options |= {"--effort": "fast", "--seed": str(chance.randrange(9))}
    if "gross" in columns and not one_in(chance, 4):
        options["--constraint"] = "net + tax = gross"
        parts = {"net": Decimal(1), "tax": Decimal(1), "gross": Decimal(-1)}
        asked.totals = [Total(parts, "=")]
    if "disease" in columns and one_in(chance, 4):
        options["--l-diversity"] = "disease=2"
        asked.diversity = {"disease": 2}
    if not asked.named(UNIT) and one_in(chance, 4):
        options["--keep-key"] = True
        asked.key = "name"
    return arguments(options), asked


def run(case: Case, folder: Path) -> str:
    """Protect one file, and judge all that was written and said."""
    chance = case.chance
    columns, roles = file_columns(chance)
    source, target = chance.choice(READABLE), chance.choice(WRITABLE)
    dialect = write_input(columns, folder / f"in{source}", source, chance)
    options, asked = asked_for(chance, columns, roles)
    beside = _beside(chance)
    escapes = target in TEXT and one_in(chance, 3)
    if escapes:
        options.append("--escape-formulas")
    to_stream = one_in(chance, 20)
    output = "-" if to_stream else f"out{target}"
    talk = chance.choice(["--quiet", "--quiet", "--json", ""]) if not to_stream else "--quiet"
    command = ["protect", f"in{source}", "-o", output, *options, *arguments(beside)]
    command += [talk] if talk else []
    outcome = (fresh if one_in(chance, 30) else warm().run)(folder, *command)
    owners = {str(v) for c in asked.named(IDENTIFIER, UNIT) for v in columns[c]}
    for where, text in (("standard output", outcome.out), ("standard error", outcome.err)):
        judge_quiet(where, text, owners)
    judge_controls("standard error", outcome.err)
    judge_values("standard error", outcome.err)
    if outcome.code:
        judge_refused(outcome.code, outcome.out, outcome.err)
        judge_folder(folder, [f"in{source}"])
        return f"refused {outcome.code}"
    if to_stream:
        target = ".csv"
        (folder / "out.csv").write_bytes(outcome.raw)
    else:
        _judge_talk(talk, outcome)
        judge_hash(folder / output)
    written = {str(path) for path in beside.values()} | {f"out{target}"}
    written |= set() if to_stream else {f"out{target}.manifest.json"}
    judge_folder(folder, {f"in{source}", *written})
    written_as = output_dialect(source, target, dialect)
    after = read_output(folder / f"out{target}", target, written_as)
    if escapes:
        judge_formulas(folder / f"out{target}", written_as.get("encoding", "utf-8"))
        after = {name: [plain_text(own) for own in cells] for name, cells in after.items()}
    judge_content(asked, columns, after)
    _judge_pages(folder, written, owners)
    return RELEASED


def _beside(chance: random.Random) -> dict[str, str]:
    """Return what else is asked for."""
    audit = chance.choice([".csv", ".xlsx", ".parquet", ".csv.gz"])
    asked = {"--audit": f"audit{audit}", "--report": "r.html", "--public-report": "p.html"}
    times = {"--audit": 4, "--report": 12, "--public-report": 12}
    return {flag: name for flag, name in asked.items() if one_in(chance, times[flag])}


def _judge_talk(talk: str, outcome: Outcome) -> None:
    """What was asked to be said is said, and nothing else."""
    if talk == "--json":
        expect(json.loads(outcome.out)["verified"], "a release is not verified")
    else:
        judge_controls("standard output", outcome.out)
    if talk == "--quiet":
        expect(outcome.out == outcome.err == "", f"--quiet says {outcome.out + outcome.err!r}")


def plain_text(cell: str) -> str:
    """Return a cell without the apostrophes that keep it from being a formula."""
    return re.sub(r"(^|[;|])'(?=[\" ]*[=+@-])", r"\1", cell)


def judge_content(asked: Asked, before: dict[str, list[Any]], after: dict[str, list[Any]]) -> None:
    """Let the judges see a file that was read back."""
    judge_shape(asked, before, after)
    judge_k(asked, after)
    judge_units(asked, before, after)
    judge_diversity(asked, after)
    judge_totals(asked, after)
    judge_key(asked, after)
    for name in asked.named(SENSITIVE, PUBLISH, WEIGHT):
        same = all(map(same_value, before[name], after[name]))
        expect(same, f"{name!r} was to be published unchanged")


def _judge_pages(folder: Path, written: set[str], owners: set[str]) -> None:
    """Only the audit file names people, and nobody else may read it."""
    for name in written:
        if name.startswith("audit"):
            judge_private(folder / name)
        else:
            judge_bytes(folder / name, owners)
        if name.endswith((".json", "p.html")):
            judge_values(name, (folder / name).read_text("utf-8"))
