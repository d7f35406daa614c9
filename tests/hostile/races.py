"""Races: two processes at once that write to one name."""

import json
from pathlib import Path

from tests.hostile.cases import Case, expect
from tests.hostile.commands import warm
from tests.hostile.judges_of_files import judge_folder, judge_hash, judge_refused
from tests.hostile.kills import write_people


def run(case: Case, folder: Path) -> str:
    """Let two releases of one table, which differ in k, go to the same files."""
    chance = case.chance
    write_people(chance, folder / "in.csv", chance.choice([20, 60, 300]))
    force, existing = chance.random() < 0.4, chance.random() < 0.3
    suffix = chance.choice([".csv", ".csv", ".parquet", ".xlsx", ".sav"])
    output, names = f"out{suffix}", {f"out{suffix}", f"out{suffix}.manifest.json", "in.csv"}
    common = [
        "-o",
        output,
        "--identifier",
        "name",
        "--method",
        "mdav",
        "--bound",
        "none",
        "--quiet",
    ]
    if chance.random() < 0.5:
        common += ["--audit", "audit.csv"]
        names.add("audit.csv")
    if existing:
        outcome = warm(0).run(folder, "protect", "in.csv", "-k", "4", *common)
        expect(outcome.code == 0, f"the first run failed: {outcome.err!r}")
    common += ["--force"] if force else []
    both = (warm(0), warm(1))
    for process in both:
        process.ready()
    for k, process in zip((2, 3), both, strict=True):
        process.start(folder, "protect", "in.csv", "-k", str(k), *common)
    outcomes = [process.wait() for process in both]
    for outcome in (own for own in outcomes if own.code):
        judge_refused(outcome.code, outcome.out, outcome.err)
    won = [k for k, outcome in zip((2, 3), outcomes, strict=True) if outcome.code == 0]
    told = json.loads((folder / f"{output}.manifest.json").read_text("utf-8"))
    judge_hash(folder / output)
    judge_folder(folder, names)
    if force:
        expect(won, "both were refused although they may replace what there is")
        expect(told["k"] in won, "what is there is from a run that failed")
        return f"with force: {len(won)} won"
    expect(len(won) == (0 if existing else 1), f"{len(won)} of two runs had one name to themselves")
    expect(told["k"] == (4 if existing else won[0]), "the files of a run that was refused stay")
    return "nobody won" if existing else "one won"
