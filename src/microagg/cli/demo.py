"""microagg demo: the whole way once, on a real table that is at hand."""

from pathlib import Path
from typing import Annotated, Any

import typer

from microagg.cli.layout import counted, facts, names
from microagg.cli.options import Force, Quiet, Version, whole_or_text

SENSITIVE = "progression"
SHOWN_COLUMNS, SHOWN_RECORDS = 5, 4


def demo(
    k: Annotated[
        str,
        typer.Option("-k", metavar="K", help="Least number of records behind a combination."),
    ] = "5",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Where the two files go.")
    ] = "microagg-demo",
    quiet: Quiet = False,
    force: Force = False,
    _version: Version = False,
) -> None:
    """Protect the diabetes patients that come with scikit-learn, and show what was lost."""
    from microagg.tables.atomic import check_target
    from microagg.tables.files import write_table
    from microagg.validation import check_count

    check_count("k", whole_or_text(k))
    folder = _folder(output)
    original, protected = folder / "diabetes.csv", folder / "diabetes-protected.csv"
    for path in (original, protected):
        check_target(path, force=force)

    from microagg.release import protect

    table = diabetes()
    release = protect(table, whole_or_text(k), sensitive=[SENSITIVE], progress=not quiet)  # type: ignore[arg-type]
    write_table(table, str(original), force=force)
    write_table(release.table, str(protected), force=force)
    if not quiet:
        typer.echo(_story(table, release, original, protected))


def _folder(output: str) -> Path:
    from microagg.errors import ParameterError

    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"the folder {output!r} cannot be made: {error.strerror}. Choose another with -o."
        ) from None
    return folder


def diabetes() -> Any:
    """442 patients in their own units; columns of whole numbers are integers."""
    import numpy as np
    import polars as pl
    from sklearn.datasets import load_diabetes

    patients = load_diabetes(scaled=False)
    columns = dict(zip(patients.feature_names, patients.data.T, strict=True))
    columns[SENSITIVE] = patients.target
    whole = {name: bool((np.rint(values) == values).all()) for name, values in columns.items()}
    return pl.DataFrame(
        {name: v.astype(np.int64) if whole[name] else v.copy() for name, v in columns.items()}
    )


def _story(table: Any, release: Any, original: Path, protected: Path) -> str:
    done = release.manifest
    rows = [
        ("information loss", f"{release.information_loss:.4g} %"),
        ("groups", f"{done['n_groups']} of {done['min_group']} to {done['max_group']} records"),
        (
            "verified",
            "every released combination stands for at least "
            f"{counted(done['smallest_class'], 'record')}",
        ),
        ("protected", names(done["quasi_identifiers"])),
        ("unchanged", names(done["sensitive"])),
        ("original", str(original)),
        ("result", str(protected)),
    ]
    by_hand = f"microagg protect {original} -k {done['k']} --sensitive {SENSITIVE} -o again.csv"
    return (
        f"Protected {counted(done['n_records'], 'diabetes patient')} at k = {done['k']} with "
        f"{done['method']}\n\n{facts(rows)}\n\n"
        f"Before\n{_excerpt(table)}\nAfter\n{_excerpt(release.table)}\n\n"
        f"By hand\n  {by_hand}"
    )


def _excerpt(table: Any) -> str:
    """Return the first records in a few columns, right-aligned."""
    columns = [*table.columns[: SHOWN_COLUMNS - 1], SENSITIVE]
    head = table.head(SHOWN_RECORDS)
    texts = [
        [name, *(f"{v:.2f}" if isinstance(v, float) else str(v) for v in head[name].to_list())]
        for name in columns
    ]
    widths = [max(len(text) for text in column) for column in texts]
    lines = (
        "  " + "  ".join(f"{text:>{w}}" for text, w in zip(row, widths, strict=True))
        for row in zip(*texts, strict=True)
    )
    return "\n".join(lines)
