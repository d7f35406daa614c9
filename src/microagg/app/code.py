"""The command line and the Python that do what a step does, from what was chosen."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg.app.answers import SourceAnswer
from microagg.app.state import DATA, EXPLORE, RELEASE, ROLES, Choices, OutputChoices
from microagg.files.formats import protected_name
from microagg.plans.commands import dialect_words, plan_words
from microagg.plans.plan import Plan

_DIALECT = "from microagg.files.dialect import Dialect\n"


@dataclass(frozen=True)
class Code:
    """What does the same: a command and a piece of Python."""

    command: str
    python: str


def code_for(step: str, choices: Choices) -> Code:
    """Return what does the same as a step."""
    source = choices.source or SourceAnswer(path="people.csv")
    if step in (DATA, ROLES):
        return _drafted(source, choices) if step == DATA else _planned(source, choices.plan)
    if step == EXPLORE:
        return _compared(source, choices)
    outputs = (
        choices.outputs if step == RELEASE else OutputChoices(choices.outputs.target, report=False)
    )
    return _released(source, choices.plan, outputs)


def target_of(source: SourceAnswer, outputs: OutputChoices) -> str:
    """Return where the table goes: as it was said, or beside the input."""
    return outputs.target or protected_name(source.path)


def files_of(source: SourceAnswer, outputs: OutputChoices) -> dict[str, str]:
    """Return the other files that are written, by their names as options."""
    target = Path(target_of(source, outputs))
    stem = str(target.with_name(target.name.partition(".")[0]))
    wanted = {
        "report": (outputs.report, f"{stem}-report.html"),
        "public_report": (outputs.public_report, f"{stem}-public-report.html"),
        "audit": (outputs.audit, f"{stem}-audit.csv"),
    }
    return {name: path for name, (is_wanted, path) in wanted.items() if is_wanted}


def plan_path(source: SourceAnswer, outputs: OutputChoices) -> str:
    """Return where the plan of a file goes: where its release goes.

    >>> plan_path(SourceAnswer(path="/data/people.csv.gz"), OutputChoices())
    '/data/people.toml'
    """
    name = Path(source.path).name.partition(".")[0] or "plan"
    return str(Path(target_of(source, outputs)).with_name(f"{name}.toml"))


def _drafted(source: SourceAnswer, choices: Choices) -> Code:
    plan, place = choices.plan, plan_path(source, choices.outputs)
    said = {name: value for name, value in plan.as_dict().items() if name in ("k", "na", "dates")}
    words = ["microagg", "plan", _named(source.path), *plan_words(Plan.of(**said))]
    words += [*dialect_words(source.dialect), "-o", place]
    python = (
        "import microagg\n\n"
        f"# check the draft of the command above, then:\n"
        f"plan = microagg.Plan.read({place!r})\n"
    )
    return Code(shlex.join(words), python)


def _planned(source: SourceAnswer, plan: Plan) -> Code:
    words = ["microagg", "protect", _named(source.path), *plan_words(plan)]
    words += dialect_words(source.dialect)
    return Code(shlex.join(words), f"import microagg\n\nplan = {_written(plan)}\n")


def _released(source: SourceAnswer, plan: Plan, outputs: OutputChoices) -> Code:
    beside = files_of(source, outputs)
    words = ["microagg", "protect", _named(source.path), *plan_words(plan)]
    words += dialect_words(source.dialect)
    words += ["--escape-formulas"] if outputs.escape_formulas else []
    words += ["-o", target_of(source, outputs)]
    for name, path in beside.items():
        words += [f"--{name.replace('_', '-')}", path]
    given: dict[str, Any] = {**source.dialect, **beside}
    if outputs.escape_formulas:
        given["escape_formulas"] = True
    named = "".join(f"\n    {name}={value!r}," for name, value in given.items())
    python = (
        f"import microagg\n\nplan = {_written(plan)}\n"
        f"release = microagg.protect_file(\n    {source.path!r},\n"
        f"    {target_of(source, outputs)!r},\n    plan,{named}\n)\nprint(release)\n"
    )
    return Code(shlex.join(words), python)


def _compared(source: SourceAnswer, choices: Choices) -> Code:
    study, plan = choices.study, choices.compared_plan
    words = ["microagg", "compare", _named(source.path), "-k", ",".join(map(str, study.ks))]
    words += ["--methods", ",".join(study.methods)]
    words += plan_words(plan, study="compare")
    words += dialect_words(source.dialect)
    read = _read(source, plan)
    python = (
        "import microagg\n"
        f"{_DIALECT if 'Dialect' in read else ''}"
        "from microagg.files.formats import open_table\n\n"
        f"plan = {_written(plan)}\n"
        f"table = {read}\n"
        f"found = microagg.compare(table, {list(study.ks)!r}, {list(study.methods)!r}, plan=plan)\n"
        "print(found)\n"
    )
    return Code(shlex.join(words), python)


def _read(source: SourceAnswer, plan: Plan) -> str:
    """Return how the file is read as the app reads it, NA and the like among numbers included."""
    given = {**source.dialect, **({"na": plan.na} if plan.na else {})}
    said = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"open_table({source.path!r}{f', dialect=Dialect({said})' if said else ''}).table()"


def _written(plan: Plan) -> str:
    """Return a plan as Python, a line for each option and column."""
    asked = plan.as_dict()
    columns = asked.pop("columns", {})
    lines = [f"    {name}={value!r}," for name, value in asked.items()]
    if columns:
        lines += ["    columns={"]
        lines += [f"        {name!r}: {said!r}," for name, said in columns.items()]
        lines += ["    },"]
    return "microagg.Plan(\n{}\n)".format("\n".join(lines))


def _named(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path
