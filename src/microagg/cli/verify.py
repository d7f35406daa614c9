"""microagg verify: whether a file satisfies k and constraints."""

from typing import Annotated, Any

import typer

from microagg.cli.layout import facts, print_json, warnings_as_lines
from microagg.cli.options import (
    DIALECT,
    FILES,
    JSON,
    QUIET,
    dialect_of,
    parameters,
    parsed,
    plan_file,
    plan_options,
    role_options,
    takes,
)
from microagg.core.errors import GuaranteeError
from microagg.tables.roles import QUASI_IDENTIFIER, SENSITIVE

_OPTIONS = [*plan_options("k", "constraints"), *role_options(QUASI_IDENTIFIER, SENSITIVE)]


@takes(
    plan_file(
        "The plan of the release: its roles, blocks, constraints and k. Only -k overrides it; "
        "columns and constraints beside it are refused."
    ),
    parameters(
        _OPTIONS,
        quasi_identifiers="Columns to check. Default: all that are not sensitive.",
        sensitive="Columns to leave out of the check.",
        constraints='What every record must satisfy, such as "net + tax = gross".',
    ),
    DIALECT,
    (JSON, QUIET),
)
def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help=FILES)],
    *,
    given: dict[str, Any],
) -> None:
    """Check that every combination in a file stands for K records or more; exit 4 if not.

    A combination is a record's values in all checked columns. A CSV file is compared as it is
    written, and a missing value is a value. If the manifest of the release lies beside the file, it
    defines what to check. Options for columns and --constraint can be repeated.
    """
    from microagg.release.verify import verify as verified

    with warnings_as_lines(quiet=given["quiet"]):
        found = verified(file, **parsed(_OPTIONS, given), plan=given["plan"], **dialect_of(given))
    if given["json"]:
        print_json(found.as_dict())
    elif not given["quiet"]:
        typer.echo(f"{found.verdict}\n\n{facts(found.rows())}")
    if not found.satisfied:
        raise typer.Exit(GuaranteeError.exit_code)
