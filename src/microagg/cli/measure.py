"""microagg measure: how safe a protected file is, and what it is still good for."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from microagg.cli.layout import facts, names, print_json
from microagg.cli.options import (
    FILES,
    Decimal,
    Delimiter,
    Encoding,
    Json,
    Orders,
    Quiet,
    Types,
    Version,
    by_column,
    seed_or_none,
)
from microagg.cli.paths import check_source
from microagg.core.errors import ParameterError
from microagg.core.words import counted

if TYPE_CHECKING:
    from microagg.measures.measure import Measures


def measure(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help=FILES)],
    protected: Annotated[str, typer.Argument(metavar="PROTECTED", help="What was made of it.")],
    key: Annotated[
        str | None,
        typer.Option(metavar="C", help="Column that matches records. Default: by their order."),
    ] = None,
    quasi_identifier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="C", help="Column that an intruder may know. Default: all that were changed."
        ),
    ] = None,
    identifier: Annotated[
        list[str] | None, typer.Option(metavar="C", help="Column to leave out.")
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            metavar="C", help="Column that an intruder wants to know. Default: all unchanged ones."
        ),
    ] = None,
    column_type: Types = None,
    order: Orders = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="C", help="Column that models are to predict, before and after."),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(metavar="N", help="Seed of samples and of the folds of models. Default: 0."),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json: Json = False,
    quiet: Quiet = False,
    _version: Version = False,
) -> None:
    """Show who could still be found in a protected file, and what the data are still good for.

    Any tool may have made the file. Records are matched by their order or by --key. Columns that
    only the original has are left out. Options for a column can be repeated. Up to 100,000 records
    all figures are exact; above that, some come from a sample, and say so. The figures are for
    internal use only: --json has quantiles of the original.
    """
    asked: dict[str, Any] = {
        "key": key,
        "quasi_identifiers": quasi_identifier,
        "identifiers": identifier,
        "sensitive": sensitive,
        "columns": by_column(type=column_type, order=order),
        "target": target,
        "random_state": seed_or_none(seed) or 0,
    }
    if original == protected or _is_same(original, protected):
        raise ParameterError(
            "the original and the protected table must be two files; both are the same one."
        )
    check_source(original)
    check_source(protected)
    dialect = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    found = _measured(original, protected, asked, dialect, quiet=quiet)
    if json:
        print_json({**found.as_dict(), "original": original, "protected": protected})
    elif not quiet:
        typer.echo(_summary(found))


def _is_same(original: str, protected: str) -> bool:
    first, second = Path(original), Path(protected)
    return first.exists() and second.exists() and first.samefile(second)


def _measured(
    original: str, protected: str, asked: dict[str, Any], dialect: dict[str, Any], *, quiet: bool
) -> "Measures":
    from microagg.core.progress import terminal_bar

    with nullcontext() if quiet else terminal_bar():
        from microagg.files.dialect import Dialect
        from microagg.files.formats import TableFile

        tables = [TableFile(path, dialect=Dialect(**dialect)) for path in (original, protected)]

        from microagg.measures.measure import measure as measured

        return measured(*(file.table() for file in tables), **asked)


def _assumed(found: "Measures") -> str:
    listed = "all of these" if found.assumed == found.sensitive else names(found.assumed)
    return f"{listed} (unchanged, and no option names them)"


def _summary(found: "Measures") -> str:
    about = [
        ("intruder knows", names(found.quasi_identifiers)),
        ("wants to know", names(found.sensitive)),
        *([("assumed", _assumed(found))] if found.assumed else []),
        *([("left out", names(found.dropped))] if found.dropped else []),
        *(
            [("not released", f"{counted(found.unmatched, 'record')} of the original")]
            if found.unmatched
            else []
        ),
        ("time", f"{found.seconds:.2f} s"),
    ]
    sections = [f"Measured {counted(found.n_records, 'record')}", facts(about)]
    sections += [f"Note: {note}" for note in found.notes()]
    for title, rows in (
        ("Risk", found.risk.rows()),
        ("Utility", found.utility.rows()),
    ):
        lines = facts([(row.measure, f"{row.figure}\n{row.meaning}") for row in rows])
        sections.append(f"{title}\n{lines}")
    return "\n\n".join(sections)
