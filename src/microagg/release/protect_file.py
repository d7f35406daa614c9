"""protect_file(): from a file to a release in another, with all that is written beside it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from microagg.core.keywords import with_hints
from microagg.core.progress import ProgressCallback, reporting_to
from microagg.core.validation import check_flag
from microagg.files.dialect import Dialect
from microagg.files.formats import STANDARD, check_escaping, protected_name
from microagg.plans.commands import command_line
from microagg.plans.plan import Plan
from microagg.release.protect import make_release
from microagg.release.release import PathName, Release
from microagg.release.saving import Outputs, file_or_stream
from microagg.release.source import read_source


@with_hints
def protect_file(
    source: PathName,
    target: PathName | None,
    plan: Plan | PathName,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | str | None = None,
    audit: PathName | None = None,
    report: PathName | None = None,
    public_report: PathName | None = None,
    escape_formulas: bool = False,
    force: bool = False,
    progress: bool | ProgressCallback = False,
) -> Release:
    r"""Protect a file according to a plan, and write the result with its manifest beside it.

    What `microagg protect SOURCE --plan PLAN -o TARGET` does. All files are written or none; the
    source is never overwritten. A table that goes to standard output has no manifest and comes
    last, so that the other files stay if it fails.

    Parameters
    ----------
    source : the file to protect; its suffix names the format, "-" is standard input
    target : where the result goes, "-" for standard output; None for NAME-protected beside the
        source
    plan : a `Plan`, or the path of a plan file
    delimiter, decimal, encoding : how a CSV file is written; detected where not given
    sheet : the sheet of an Excel workbook, or the data frame in an R file; by default the only one
    max_expanded : what a compressed file of any format may expand to, in bytes or as in "8GB"; by
        default 4 GB
    audit : a file that says which record is in which group, for internal use only
    report, public_report : HTML pages that describe the release, one for internal use and one to
        publish with it
    escape_formulas : whether text in CSV and other text files that a spreadsheet would run as a
        formula gets an apostrophe before it, in the audit as well
    force : whether existing outputs are replaced
    progress : True for a bar where standard error is a terminal, or a function that is called with
        (task, done, total)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import microagg
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("name,age\nAda,34\nBen,36\nCleo,61\nDan,62\n")
    >>> plan = microagg.Plan(k=2, columns={"name": {"role": "identifier"}})
    >>> release = microagg.protect_file(folder / "people.csv", folder / "safe.csv", plan)
    >>> print((folder / "safe.csv").read_text(), end="")
    age
    35
    35
    62
    62
    """
    asked = plan if isinstance(plan, Plan) else Plan.read(plan)
    path = file_or_stream(source)
    outputs = Outputs(
        protected_name(path) if target is None else file_or_stream(target),
        *(
            None if place is None else file_or_stream(place)
            for place in (audit, report, public_report)
        ),
    )
    if check_flag("escape_formulas", escape_formulas):
        check_escaping(outputs.table)
    outputs.check(path, force=force)
    dialect: dict[str, Any] = {
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
        "sheet": sheet,
        "max_expanded": max_expanded,
    }
    with reporting_to(progress):
        release = release_of_file(
            path, asked, dialect, target=outputs.table, with_identifiers=audit is not None
        )
        return save_release_of_file(
            release, path, outputs, dialect, escape_formulas=escape_formulas, force=force
        )


def release_of_file(
    path: str,
    plan: Plan,
    dialect: Mapping[str, Any],
    *,
    target: str | None = None,
    with_identifiers: bool = False,
) -> Release:
    """Protect a file, and write nothing yet.

    Columns that the format of the `target` does not support are refused before any long work. An
    audit needs the identifiers.
    """
    opened = read_source(
        path,
        plan,
        dialect=Dialect(**dialect),
        target=target,
        with_identifiers=with_identifiers or plan.keep_key,
    )
    command = partial(
        command_line, source=path, target=target or protected_name(path), dialect=dialect
    )
    return make_release(opened, plan, command=command)


def save_release_of_file(
    release: Release,
    path: str,
    outputs: Outputs,
    dialect: Mapping[str, Any],
    *,
    escape_formulas: bool = False,
    force: bool = False,
) -> Release:
    """Write the release of a file with all that is asked for, and return it as it is written."""
    command = command_line(
        release.manifest.plan,
        source=path,
        target=outputs.table,
        dialect=dialect,
        escape_formulas=escape_formulas,
    )
    done = replace(release, manifest=release.manifest.model_copy(update={"command": command}))
    beside = (outputs.audit, outputs.report, outputs.public_report)
    if outputs.table == STANDARD:
        done.write_to_standard_output(*beside, escape_formulas=escape_formulas, force=force)
        return done
    saved = done._save(outputs.table, *beside, escape_formulas=escape_formulas, force=force)
    return replace(done, manifest=saved)
