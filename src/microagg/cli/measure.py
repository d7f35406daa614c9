"""microagg measure: how safe a protected file is, and how useful it still is."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from microagg.cli.layout import bar, facts, print_json, show, warnings_as_lines
from microagg.cli.options import (
    DIALECT,
    FILES_OR_FOLDER,
    JSON,
    QUIET,
    audit_file,
    column_options,
    dataset_files,
    dialect_of,
    parameters,
    parsed,
    parsed_columns,
    plan_file,
    plan_options,
    role_options,
    takes,
)
from microagg.core.words import counted
from microagg.plans.options import Section
from microagg.plans.texts import name_in
from microagg.tables.roles import IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, WEIGHT

if TYPE_CHECKING:
    from microagg.measures.measured import Measures

_ROLES = role_options(QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE)
_SEED, _UNIT, _WEIGHTS = plan_options("random_state"), plan_options("unit"), role_options(WEIGHT)


@takes(
    dataset_files(),
    plan_file("The plan of the release: its roles and types. Columns named beside it are refused."),
    audit_file("The audit of the release, needed to match records if they were shuffled."),
    parameters(
        _ROLES,
        quasi_identifiers="Columns that an intruder may know. Default: all that were changed.",
        identifiers="Columns to leave out.",
        sensitive="Columns that an intruder wants to know. Default: all unchanged ones.",
    ),
    parameters(
        _UNIT,
        unit="Column of the original that says whom a record is about: figures are also given "
        "for units. Default: that of the plan or the manifest; rows: none.",
    ),
    parameters(
        _WEIGHTS,
        weights="Column of the original with sampling weights: figures of columns are weighted, "
        "and the risk in the population is estimated. Default: that of the plan or the manifest.",
    ),
    parameters(column_options("type", "order"), of_columns=True),
    parameters(_SEED, random_state="Seed of samples and of the folds of models. Default: 0."),
    DIALECT,
    (JSON, QUIET),
)
def measure(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help=FILES_OR_FOLDER)],
    protected: Annotated[
        str, typer.Argument(metavar="PROTECTED", help="The protected file or folder.")
    ],
    key: Annotated[
        str | None,
        typer.Option(
            metavar="C",
            help="Column that matches records. Default: by their order.",
            rich_help_panel=Section.COLUMNS,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="C",
            help="Column for models to predict, before and after.",
            rich_help_panel=Section.COLUMNS,
        ),
    ] = None,
    *,
    memory: str | None,
    work_dir: str | None,
    given: dict[str, Any],
) -> None:
    """Measure how safe a protected file is, and how useful it still is.

    It may come from any tool. Records are matched by their order, by --key, or, if they were
    shuffled, by --audit. If the manifest of the release is beside the file, roles and types of
    columns are read from it, and what it asks of every combination is checked. Columns that only
    the original has are left out. Options for columns can be repeated. Up to 100,000 records all
    figures are exact; above that, some come from a sample, and say so. Two folders of the same
    files and rows, or two files with --memory, need not fit in memory. The figures are for internal
    use only: --json has quantiles of the original.
    """
    from microagg.doors.datasets import is_dataset
    from microagg.release.saving import check_source

    for source in (original, protected):
        if not is_dataset(source, memory, work_dir):
            check_source(source)
    seed = parsed(_SEED, given).get("random_state", 0)
    with warnings_as_lines(quiet=given["quiet"]), bar(quiet=given["quiet"]):
        from microagg.doors.measure import measure as measured

        found = measured(
            original,
            protected,
            key=None if key is None else name_in(key),
            audit=given["audit"],
            **parsed(_ROLES, given),
            **parsed(_UNIT, given),
            **parsed(_WEIGHTS, given),
            columns=parsed_columns(given),
            target=None if target is None else name_in(target),
            random_state=seed,
            plan=given["plan"],
            memory=memory,
            work_dir=work_dir,
            **dialect_of(given),
        )
    if given["json"]:
        print_json({**found.as_dict(), "original": original, "protected": protected})
    elif not given["quiet"]:
        show(_summary(found))


def _summary(found: "Measures") -> str:
    about = [*found.rows(), ("time", f"{found.seconds:.2f} s")]
    sections = [f"Measured {counted(found.n_records, 'record')}", facts(about)]
    sections += [facts([("Note:", note)], indent=0) for note in found.notes()]
    for title, rows in (("Risk", found.risk.rows()), ("Utility", found.utility.rows())):
        lines = facts([(row.measure, f"{row.figure}\n{row.meaning}") for row in rows])
        sections.append(f"{title}\n{lines}")
    return "\n\n".join(sections)
