"""microagg verify: whether a file keeps the promise of k, and constraints."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from microagg.cli.layout import facts, names, print_json
from microagg.cli.options import (
    FILES,
    Constraints,
    Decimal,
    Delimiter,
    Encoding,
    Json,
    Quiet,
    Version,
    count_or_text,
)
from microagg.core.errors import DataError, GuaranteeError, ParameterError
from microagg.core.words import counted


def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help=FILES)],
    k: Annotated[
        str, typer.Option("-k", metavar="K", help="Least number of records behind a combination.")
    ],
    quasi_identifier: Annotated[
        list[str] | None,
        typer.Option(metavar="C", help="Column to check. Default: all that are not sensitive."),
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(metavar="C", help="Column to leave out of the check.")
    ] = None,
    constraint: Constraints = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json: Json = False,
    quiet: Quiet = False,
    _version: Version = False,
) -> None:
    """Check that every combination in a file stands for K records or more; exit 4 if not.

    A combination is what a record shows in all checked columns. A CSV file is compared as it is
    written, and a missing value is a value. Options for a column and --constraint can be repeated.
    """
    from microagg.core.validation import check_count

    least = check_count("k", count_or_text(k))
    dialect = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    found = _count(file, least, quasi_identifier, sensitive, constraint or (), dialect)
    if json:
        print_json(found)
    elif not quiet:
        typer.echo(_summary(found))
    if not found["satisfied"]:
        raise typer.Exit(GuaranteeError.exit_code)


def _count(
    path: str,
    k: int,
    quasi_identifiers: list[str] | None,
    sensitive: list[str] | None,
    constraints: Sequence[str],
    dialect: dict[str, Any],
) -> dict[str, Any]:
    from microagg.files.dialect import Dialect
    from microagg.files.formats import open_table
    from microagg.release.verification import count_classes
    from microagg.tables.frames import open_frame
    from microagg.tables.roles import check_named

    file = open_table(path, dialect=Dialect(**dialect))
    named = check_named(file.columns, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    checked = named.quasi_identifiers or tuple(c for c in file.columns if c not in named.sensitive)
    if not checked:
        raise ParameterError("there is no column to check: all are sensitive. Leave one out.")
    violations = _violations(file, constraints) if constraints else {}
    table = file.table(as_text=file.columns)
    classes = count_classes(open_frame(table), checked, k=k)
    return {
        "k": k,
        "satisfied": classes.smallest >= k and not any(violations.values()),
        "smallest_class": classes.smallest,
        "n_classes": classes.count,
        "n_records": len(table),
        "records_below_k": classes.records_below,
        "quasi_identifiers": list(checked),
        "records_in_violation": violations,
    }


def _violations(file: Any, constraints: Sequence[str]) -> dict[str, int]:
    """Count the records that violate each constraint."""
    from microagg.constraints.system import System
    from microagg.release.request import check_constraints
    from microagg.tables.frames import open_frame
    from microagg.tables.roles import require_numbers
    from microagg.tables.scaling import scaling
    from microagg.tables.typed import code_numbers

    system = System.of(check_constraints(constraints), file.columns)
    frame = open_frame(file.table(as_text=[c for c in file.columns if c not in system.columns]))
    require_numbers(frame, system.columns)
    values = {name: code_numbers(frame, name) for name in system.columns}
    if absent := [name for name in values if values[name].n_missing]:
        raise DataError(
            f"values are missing in {', '.join(map(repr, absent))}, which satisfy no constraint. "
            "Leave the constraint out."
        )
    columns = {name: values[name].numbers for name in values}
    units = {name: scaling(numbers).unit for name, numbers in columns.items()}
    return system.violations(columns, units)


def _summary(found: dict[str, Any]) -> str:
    k, smallest, below = found["k"], found["smallest_class"], found["records_below_k"]
    broken = {text: count for text, count in found["records_in_violation"].items() if count}
    if smallest >= k and broken:
        listed = "; ".join(f"{text} ({counted(n, 'record')})" for text, n in broken.items())
        verdict = f"No: a constraint is violated: {listed}"
    elif k == 1:
        verdict = "Yes, as any file does: k = 1 asks for no protection"
    elif found["satisfied"]:
        verdict = f"Yes: every combination stands for at least {counted(k, 'record')}"
    else:
        verdict = (
            f"No: {below:,} of {counted(found['n_records'], 'record')} "
            f"{'shows' if below == 1 else 'show'} a combination that fewer than {k:,} share"
        )
    rows = [
        ("checked", names(found["quasi_identifiers"])),
        ("combinations", f"{found['n_classes']:,} in {counted(found['n_records'], 'record')}"),
        (
            "rarest",
            f"stands for {counted(smallest, 'record')}: the file satisfies k up to {smallest:,}",
        ),
        ("below k", f"{below:,} of {counted(found['n_records'], 'record')}"),
        *(
            ("violated" if n else "satisfied", f"{text} ({counted(n, 'record')})" if n else text)
            for text, n in found["records_in_violation"].items()
        ),
    ]
    return f"{verdict}\n\n{facts(rows)}"
