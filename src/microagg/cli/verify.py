"""microagg verify: whether a file satisfies k, other requirements and constraints."""

from typing import Annotated, Any

import typer

from microagg.cli.layout import facts, print_json, show, warnings_as_lines
from microagg.cli.options import (
    DIALECT,
    FILES_OR_FOLDER,
    JSON,
    QUIET,
    audit_file,
    column_options,
    dataset_files,
    dialect_of,
    original_file,
    parameters,
    parsed,
    parsed_columns,
    plan_file,
    plan_options,
    role_options,
    takes,
)
from microagg.core.errors import GuaranteeError
from microagg.plans.columns import NEED_ORIGINAL, REQUIREMENT_OPTIONS
from microagg.tables.roles import QUASI_IDENTIFIER, SENSITIVE

_OPTIONS = [
    *plan_options("k", "unit", "constraints", "dates"),
    *role_options(QUASI_IDENTIFIER, SENSITIVE),
]
_REQUIREMENTS = [option.keyword for option in REQUIREMENT_OPTIONS]


@takes(
    dataset_files(),
    plan_file(
        "The plan of the release: its roles, blocks, constraints, requirements and k. Only -k "
        "overrides it; columns, requirements and constraints beside it are refused."
    ),
    original_file(f"The table before it was protected, to check {NEED_ORIGINAL}."),
    audit_file("The audit of the release, needed beside the original if records were shuffled."),
    parameters(
        _OPTIONS,
        unit="Column of the original that says whom a record is about; K then counts units.",
        quasi_identifiers="Columns to check. Default: all that are not sensitive.",
        sensitive="Columns to leave out of the check.",
        constraints='What every record must satisfy, such as "net + tax = gross".',
    ),
    parameters(column_options(*_REQUIREMENTS), of_columns=True),
    DIALECT,
    (JSON, QUIET),
)
def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help=FILES_OR_FOLDER)],
    *,
    memory: str | None,
    work_dir: str | None,
    given: dict[str, Any],
) -> None:
    """Check that every combination in a file stands for K records or more; exit 4 if not.

    A combination is a record's values in all checked columns. A CSV file is compared as it is
    written, and a missing value is a value. If the manifest of the release is beside the file, it
    defines what to check. Units and contributions are not published: without --original they
    cannot be checked, and the exit code is 4 as well. Options for columns and --constraint can be
    repeated. A folder of Parquet, Arrow or CSV files, or one file with --memory, need not fit in
    memory; its combinations are counted over all files together.
    """
    from microagg.doors.verify import verify as verified

    with warnings_as_lines(quiet=given["quiet"]):
        found = verified(
            file,
            **parsed(_OPTIONS, given),
            **_required(given),
            original=given["original"],
            audit=given["audit"],
            plan=given["plan"],
            memory=memory,
            work_dir=work_dir,
            **dialect_of(given),
        )
    if given["json"]:
        print_json(found.as_dict())
    elif not given["quiet"]:
        show(f"{found.verdict}\n\n{facts(found.rows())}")
    if not found.satisfied:
        raise typer.Exit(GuaranteeError.exit_code)


def _required(given: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked of columns, by requirement."""
    found: dict[str, Any] = {}
    for name, said in parsed_columns(given).items():
        for keyword, value in said.items():
            found.setdefault(keyword, {})[name] = value
    return found
