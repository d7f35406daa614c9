"""microagg demo: the whole process, once, on a real table."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from microagg.cli.first_run import is_first_run, showing_what_is_compiled
from microagg.cli.layout import bar, facts, show, warnings_as_lines
from microagg.cli.options import (
    FORCE,
    OUTPUT_SECTION,
    QUIET,
    output_file,
    parameters,
    parsed,
    plan_options,
    takes,
)
from microagg.cli.summary import outcome, title
from microagg.core.words import counted, listed_names
from microagg.tables.samples import SENSITIVE, diabetes

SEED = 1  # so that everyone sees the same
SHOWN_COLUMNS, SHOWN_RECORDS = 5, 4
KERNELS = 35  # that are compiled on the first run, as a test counts
_FIRST_RUN = (
    "The first run on this machine compiles the method, which takes a minute or so; later runs "
    "start at once."
)


@takes(
    output_file(
        "Where the files go.", metavar="FOLDER", section=OUTPUT_SECTION, default="microagg-demo"
    ),
    parameters(plan_options("k")),
    (QUIET, FORCE),
)
def demo(*, output: str, given: dict[str, Any]) -> None:
    """Protect the diabetes patients that come with scikit-learn, and show what was lost."""
    from microagg.core.validation import check_count
    from microagg.files.atomic import check_target
    from microagg.files.formats import write_table
    from microagg.plans.beside import manifest_path

    least = check_count("k", parsed(plan_options("k"), given).get("k", 5))
    quiet, force = given["quiet"], given["force"]
    with _folder(output) as folder, warnings_as_lines(quiet=quiet):
        original, protected = folder / "diabetes.csv", folder / "diabetes-protected.csv"
        report = folder / "diabetes-report.html"
        for path in (original, protected, manifest_path(str(protected)), report):
            check_target(path, force=force)
        with bar(quiet=quiet), showing_what_is_compiled(KERNELS):
            from microagg.release.protect import protect

            if not quiet and is_first_run():
                show(_FIRST_RUN, err=True)
            table = diabetes()
            release = protect(table, least, sensitive=[SENSITIVE], random_state=SEED)
            write_table(table, str(original), force=force)
            release.save(protected, force=force, report=report)
    if not quiet:
        show(_story(table, release, original, protected, report))


@contextmanager
def _folder(output: str) -> Iterator[Path]:
    """Make the folder; if the block fails, remove what was made."""
    from microagg.core.errors import ParameterError

    folder = Path(output)
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
    except OSError:  # the name is too long: making the folder fails with a clear error
        missing = []
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ParameterError(
                f"the folder {output!r} cannot be made: {error.strerror}. Choose another with -o."
            ) from None
        yield folder
    except BaseException:
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        raise


def _story(table: Any, release: Any, original: Path, protected: Path, report: Path) -> str:
    from microagg.plans.beside import manifest_path

    done = release.manifest
    rows = [
        *outcome(done),
        ("unchanged", listed_names(done.sensitive)),
        ("original", str(original)),
        ("result", str(protected)),
        ("manifest", str(manifest_path(str(protected)))),
        ("report", f"{report}: open it in a browser"),
    ]
    by_hand = f"microagg protect {original} -k {done.k} --sensitive {SENSITIVE}"
    return (
        f"{title(done, counted(done.n_records, 'diabetes patient'))}\n\n{facts(rows)}\n\n"
        f"Before\n{_excerpt(table)}\nAfter\n{_excerpt(release.table)}\n\n"
        f"Do it yourself\n  {by_hand} --seed {SEED} -o again.csv"
    )


def _excerpt(table: Any) -> str:
    """Return the first records in a few columns, right-aligned."""
    shown = [*table.columns[: SHOWN_COLUMNS - 1], SENSITIVE]
    head = table.head(SHOWN_RECORDS)
    texts = [
        [name, *(f"{v:.2f}" if isinstance(v, float) else str(v) for v in head[name].to_list())]
        for name in shown
    ]
    widths = [max(len(text) for text in column) for column in texts]
    lines = (
        "  " + "  ".join(f"{text:>{w}}" for text, w in zip(row, widths, strict=True))
        for row in zip(*texts, strict=True)
    )
    return "\n".join(lines)
