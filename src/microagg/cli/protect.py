"""microagg protect: from a file to a protected file."""

import time
from typing import TYPE_CHECKING, Any

import typer

from microagg.cli.command_plan import CommandPlan, plan_from
from microagg.cli.dataset import DatasetChoices, protect_dataset
from microagg.cli.done import done_rows, written_beside
from microagg.cli.layout import bar, facts, print_json, show, warnings_as_lines
from microagg.cli.main import INTERRUPTED
from microagg.cli.options import (
    FILES_SECTION,
    FORCE,
    JSON,
    QUIET,
    InputOrFolder,
    audit_file,
    dataset_files,
    dialect_of,
    output_file,
    switch,
    table_options,
    takes,
    text_option,
)
from microagg.cli.summary import title
from microagg.core.words import counted

if TYPE_CHECKING:
    from microagg.plans.manifest import Manifest
    from microagg.release.release import Release
    from microagg.release.saving import Outputs


_FILES = (
    *output_file("Where the result goes, or -. Default: beside the input, as NAME-protected."),
    *audit_file("Write which record is in which group, for internal use only."),
    text_option("report", "R.html", "Write a full report, for internal use only."),
    text_option("public_report", "R.html", "Write a report to publish with the result."),
    switch(
        "escape_formulas",
        "Put ' before text in a CSV file that a spreadsheet would run as a formula.",
        section=FILES_SECTION,
    ),
    *dataset_files("that of the output"),
    switch(
        "keep_work",
        "Keep the work folder, which holds original values.",
        section=FILES_SECTION,
    ),
    switch("resume", "Continue a run on a dataset where it was stopped.", section=FILES_SECTION),
    text_option(
        "scheduler",
        "ADDRESS",
        "The Dask scheduler whose workers protect a dataset, such as tcp://host:8786.",
    ),
)


@takes(_FILES, table_options(), (JSON, QUIET, FORCE))
def protect(
    context: typer.Context,
    source: InputOrFolder,
    *,
    output: str | None,
    audit: str | None,
    report: str | None,
    public_report: str | None,
    escape_formulas: bool,
    memory: str | None,
    work_dir: str | None,
    keep_work: bool,
    resume: bool,
    scheduler: str | None,
    given: dict[str, Any],
) -> None:
    """Write a copy in which every combination of protected columns stands for K records or more.

    Records are grouped by their quasi-identifiers and get their group's mean or median, and the
    categories of one of its records. A column of text needs a role; a column of numbers without
    one is protected.
    Options for columns, --option, --block and --constraint can be repeated. A manifest of
    what was done is written beside the copy. Ctrl-C ends the search of auto, and the best groups
    so far are written; a second Ctrl-C ends everything.
    A folder of Parquet, Arrow or CSV files, or one file with --memory, is protected as a dataset
    that need not fit in memory; both may be at URLs such as s3://bucket/visits. Ctrl-C then leaves
    a work folder, from which --resume continues.
    """
    asked = plan_from(given)
    wanted = DatasetChoices(memory, work_dir, keep_work, resume, scheduler)
    if wanted.apply_to(source, output):
        wanted.refuse(
            audit=audit,
            escape_formulas=escape_formulas,
            given=given,
        )
        reports = {"report": report, "public_report": public_report}
        protect_dataset(context, source, output, asked, wanted, given, reports)
        return

    from microagg.cli.outputs import check_no_json
    from microagg.files.formats import protected_name
    from microagg.release.saving import Outputs

    target = protected_name(source) if output is None else output
    outputs = Outputs(target, audit, report, public_report)
    check_no_json(outputs.table, json=given["json"])
    with warnings_as_lines(quiet=given["quiet"]), bar(quiet=given["quiet"]):
        from microagg.release.protect_file import protect_file

        release = protect_file(
            source,
            outputs.table,
            asked.plan,
            **dialect_of(given),
            audit=audit,
            report=report,
            public_report=public_report,
            escape_formulas=escape_formulas,
            force=given["force"],
        )
    if given["json"]:
        print_json(release.manifest.as_dict())
    elif not given["quiet"]:
        show(_summary(release, asked, outputs, began=context.obj), err=outputs.table == "-")
    if release.manifest.interrupted:
        raise typer.Exit(INTERRUPTED)


def _summary(release: "Release", asked: CommandPlan, outputs: "Outputs", *, began: float) -> str:
    done = release.manifest
    rows = [
        *done_rows(done, asked),
        ("time", f"{time.perf_counter() - began:.2f} s"),
        ("written to", "standard output" if outputs.table == "-" else outputs.table),
        *_escaped(done),
        *_manifest(outputs.table),
        *written_beside(outputs.beside),
    ]
    return f"{title(done, counted(done.n_records, 'record'))}\n\n{facts(rows)}"


def _escaped(done: "Manifest") -> list[tuple[str, str]]:
    if done.output is None or not done.output.formulas_escaped:
        return []
    return [("formulas", "escaped: an apostrophe before text that a spreadsheet would run")]


def _manifest(target: str) -> list[tuple[str, str]]:
    from microagg.plans.beside import manifest_path

    return [] if target == "-" else [("manifest", str(manifest_path(target)))]
