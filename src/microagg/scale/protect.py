"""protect_dataset(): a folder of files, or one that is too large, protected within memory."""

import shutil
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from microagg.core.errors import MicroaggError, ParameterError
from microagg.core.progress import ProgressCallback, announce, reporting_to
from microagg.core.validation import SeedLike, check_flag, check_seed
from microagg.files.dialect import Dialect
from microagg.files.formats import suffix_of
from microagg.plans.arguments import alone_with_plan, plan_of
from microagg.plans.commands import command_line
from microagg.plans.manifest import Manifest
from microagg.plans.plan import Plan
from microagg.plans.signatures import with_options
from microagg.release.cautions import warn_of_k
from microagg.release.grouping import estimator_of
from microagg.release.protect import DatasetOptions
from microagg.release.release import PathName
from microagg.release.saving import file_name
from microagg.scale.driving import Driver, check_memory
from microagg.scale.outputs.describing import describe
from microagg.scale.outputs.output import Output, remove
from microagg.scale.outputs.report_files import Pages, ReportFiles
from microagg.scale.outputs.sending import UrlOutput
from microagg.scale.refusals import check_folders, check_plan, check_types
from microagg.scale.sources.delimited import CSV_BYTES
from microagg.scale.sources.listing import Found, Listing, find_files, list_files
from microagg.scale.steps.converting import convert
from microagg.scale.steps.fetching import fetch_all, find_at
from microagg.scale.steps.keys import new_secret
from microagg.scale.steps.names import n_buckets
from microagg.scale.storage.urls import Place, Url, place_of
from microagg.scale.storage.work import UnfinishedError, WorkFolder, working_in
from microagg.scale.tasks.begun import BEGUN, RunStart
from microagg.scale.tasks.engines import check_engine, working_with
from microagg.scale.tasks.memory import memory_limit, too_little
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import SETTING, DatasetSetting
from microagg.scale.tasks.space import check_space
from microagg.scale.tasks.versions import versions_here
from microagg.tables.frames import open_frame
from microagg.tables.resolving import resolve

# Records of a region, about. It does not depend on memory, so that memory does not change groups.
REGION_RECORDS = 50_000


@alone_with_plan()
@with_options
def protect_dataset(
    source: PathName,
    target: PathName,
    k: int | None = None,
    *,
    engine: Any = None,
    memory: str | int | None = None,
    work_dir: PathName | None = None,
    keep_work: bool = False,
    resume: bool = False,
    report: PathName | None = None,
    public_report: PathName | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    force: bool = False,
    random_state: SeedLike = None,
    plan: Plan | str | PathLike[str] | None = None,
    progress: bool | ProgressCallback = False,
    **options: Unpack[DatasetOptions],
) -> Manifest:
    """Protect a folder of files, or a file that is too large, and return the manifest.

    Every combination of quasi-identifiers stands for k records or more in the folder as a whole,
    not in each of its files. The files of the target have the names, rows, order and types of those
    of the source; they appear together, once they were read again and checked, and the manifest
    beside them comes last. Records are grouped region by region, and whole groups are regrouped
    across the seams. The same input, plan and seed give the same bytes, whatever the engine, the
    memory, and however often the run was interrupted and resumed.

    Parameters
    ----------
    source : a folder of Parquet, Arrow or CSV files, including those in folders below it
        (hive-partitioned, for example), or one file; a path, or a URL that fsspec knows, such as
        s3://bucket/visits
    target : the folder, or file, to write, a path or a URL; a folder must not exist or be empty
    engine : who does the work: None for the cores of this machine, a
        `concurrent.futures.Executor`, or a Dask `Client`, whose workers see the same files
    memory : most memory to use, such as "4GB"; it decides how many tasks run at once. With an
        engine, each of its workers takes what one task takes. None for no limit
    work_dir : where the work folder is made, which is private and holds original values; by default
        beside the target, unless that is at a URL
    keep_work : whether the work folder stays in the end
    resume : continue a run that was stopped, from its work folder
    report, public_report : where reports go, HTML pages for internal use and for publishing; they
        are written with the files, or not at all. Above 100,000 records, what cannot be added up is
        from a sample, and says so
    delimiter, decimal, encoding : how CSV files are written; detected in the first of them where
        not given
    force : whether an existing file, or report, is replaced; a folder never is
    plan : a `Plan` that says all of the options below, or the path of a plan file; no other option
        may be given with it
    progress : True for a bar where standard error is a terminal, or a function that is called with
        (task, done, total), at first with what the work folder will take
    k : Least number of records behind a released combination, in the folder as a whole.
    random_state : Seed of a method that uses randomness; None draws one
    **options : as in `protect`

    What needs the whole table at once is refused: methods whose records draw, `hybrid`, `blocks`,
    `keep_margins`, `shuffle`, `time_budget`, and a `bound`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "people").mkdir()
    >>> for year, ages in ((2023, [34, 61]), (2024, [36, 62])):
    ...     table = pl.DataFrame({"age": ages, "income": [31.5, 44.0]})
    ...     table.write_parquet(folder / "people" / f"{year}.parquet")
    >>> done = protect_dataset(folder / "people", folder / "safe", k=2)
    >>> pl.read_parquet(folder / "safe" / "2024.parquet")["age"].to_list()
    [35, 62]
    >>> done.n_records, done.smallest_class
    (4, 2)
    """
    chosen = plan_of({"k": k, "random_state": random_state, **options}, plan)
    check_plan(chosen)
    check_engine(engine)
    limit = memory_limit(memory)
    keep_work, resume = check_flag("keep_work", keep_work), check_flag("resume", resume)
    given, goal = place_of(file_name(source)), place_of(file_name(target))
    if not given.exists():
        raise ParameterError(f"the input {str(given)!r} does not exist.")
    place = _work_place(given, goal, work_dir).absolute()
    output = _output(goal, given, place, force=check_flag("force", force))
    reports = ReportFiles.of(report, public_report)
    with reporting_to(progress):
        found = find_at(given) if isinstance(given, Url) else find_files(given)
        dialect = _dialect(found, delimiter, decimal, encoding)
        begun = RunStart(chosen, found, dialect, versions_here(), reports.names)
        warn_of_k(chosen)
        setting = (
            None
            if resume
            else _first_setting(begun, given, output, reports, place, limit, force=force)
        )
        with working_in(place, resume=resume) as work, working_with(engine):
            passes = Passes(work, limit)
            manifest = output.finished(passes) if resume else None
            if manifest is None:
                if resume:
                    output.check(given)
                    reports.check(given, goal, force=force)
                    begun.check(work)
                work.keep(BEGUN, begun)
                with output.staged(is_new=not work.is_kept(SETTING)):
                    manifest, pages = _protected(passes, begun, setting, output, reports)
                    output.publish(passes, manifest, pages)
        if keep_work:
            announce(f"the work folder {str(place)!r} was kept; it holds original values")
        else:
            remove(WorkFolder(place))
    return manifest


def _first_setting(
    begun: RunStart,
    given: Place,
    output: Output | UrlOutput,
    reports: ReportFiles,
    place: Path,
    limit: int | None,
    *,
    force: bool,
) -> DatasetSetting | None:
    """Check what a new run would write and take; return its setting if that is known already."""
    output.check(given)
    if not output.is_folder:
        _check_suffix(given, output.target)
    reports.check(given, output.target, force=force)
    found, setting = begun.found, None
    if found.kind == "CSV" and limit is not None and (complaint := too_little(limit, CSV_BYTES)):
        raise ParameterError(complaint)
    if found.kind != "CSV" and not isinstance(given, Url):
        setting = _setting(begun.plan, list_files(found))
        check_memory(limit, setting)
    announce(check_space(found, setting, place.parent, output.target))
    return setting


def _dialect(
    found: Found, delimiter: str | None, decimal: str | None, encoding: str | None
) -> Dialect:
    """Return how CSV files are written; other files have no dialect."""
    given = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    for name, value in given.items():
        if value is not None and found.kind != "CSV":
            raise ParameterError(
                f"{found.kind} files do not take --{name} ({name}=). Leave it out."
            )
    return Dialect(delimiter, decimal, encoding)


def _output(target: Place, source: Place, work: Path, *, force: bool) -> Output | UrlOutput:
    """Return where the result goes: a folder if the input is one."""
    is_folder = source.is_dir()
    if isinstance(target, Url):
        return UrlOutput(target, is_folder, work, force)
    return Output(target, is_folder, force)


def _check_suffix(source: Place, target: Place) -> None:
    suffix = suffix_of(source.name)
    if not target.name.lower().endswith(suffix):
        raise ParameterError(
            f"a file that is read in parts keeps its format, so the output must end in {suffix!r}, "
            f"as the input does; got {str(target)!r}."
        )


def _protected(
    passes: Passes,
    begun: RunStart,
    setting: DatasetSetting | None,
    output: Output | UrlOutput,
    reports: ReportFiles,
) -> tuple[Manifest, Pages]:
    """Do all passes; nothing stays behind if the data or the plan are to blame for a failure."""
    work, found = passes.work, begun.found
    try:
        if work.is_kept(SETTING):
            setting = DatasetSetting.of(work)
        elif setting is None:
            setting = _late_setting(passes, begun, output.target)
        work.keep(SETTING, setting)
        driver = Driver(work, setting, passes, output.staging)
        others = dict(zip(("delimiter", "decimal", "encoding"), begun.given, strict=True))
        if not output.is_folder:
            others["memory"] = str(passes.memory or "1TB")
        command = partial(
            command_line, source=str(found.root), target=str(output.target), dialect=others
        )
        manifest = describe(driver.drive(output.target.name, command))
    except UnfinishedError:
        raise
    except MicroaggError:
        shutil.rmtree(work.path, ignore_errors=True)
        shutil.rmtree(output.staging, ignore_errors=True)
        raise
    return manifest, _pages(passes, setting, manifest, reports)


def _pages(
    passes: Passes, setting: DatasetSetting, manifest: Manifest, reports: ReportFiles
) -> Pages:
    """Return the text of the reports; plots and measures are loaded only if there are any.

    The files are finished: a report that cannot be made does not cost them.
    """
    if not reports.paths:
        return {}
    from microagg.scale.measures.reporting import report_pages

    try:
        return report_pages(passes, setting, manifest, reports.paths)
    except UnfinishedError:
        raise
    except MicroaggError as error:
        raise UnfinishedError(
            f"the files are finished and checked, but a report cannot be made: {error} To have the "
            "files without it, leave --report and --public-report (report=, public_report=) out."
        ) from error


def _late_setting(passes: Passes, begun: RunStart, target: Place) -> DatasetSetting:
    """Return what a run begins with that has a work folder.

    Files at a URL are copied there, and CSV files are converted.
    """
    found = begun.found
    if isinstance(found.root, Url):
        found = fetch_all(passes, found)
    if found.kind != "CSV":
        setting = _setting(begun.plan, list_files(found))
        check_space(found, setting, passes.work.path.parent, target)
    else:
        converted = convert(passes, found, begun.plan, begun.dialect)
        setting = _setting(begun.plan, converted.listing)
        setting = replace(setting, dialect=converted.dialect, markers=converted.markers)
    try:
        check_memory(passes.memory, setting)
    except ParameterError as error:  # what was copied or converted is kept
        raise UnfinishedError(str(error)) from None
    return setting


def _work_place(source: Place, target: Place, work_dir: PathName | None) -> Path:
    """Return where the work folder is: beside the target, or in the folder that was named."""
    if work_dir is None:
        if isinstance(target, Url):
            raise ParameterError(
                f"the output {str(target)!r} is at a URL, and the work folder cannot be: tasks "
                "rename its files. Name a folder for it (--work-dir, or work_dir= in Python)."
            )
        return target.parent / f".{target.name}.microagg-work"
    folder = place_of(work_dir)
    if isinstance(folder, Url):
        raise ParameterError(
            f"work_dir must be a folder, not a URL, as tasks rename files there; got "
            f"{str(work_dir)!r}. Name one that all workers see under the same path."
        )
    if not folder.is_dir():
        raise ParameterError(
            f"work_dir must be an existing folder, in which the work folder is made; got "
            f"{str(work_dir)!r}. Create it first."
        )
    real = folder.resolve()
    for dataset in (source, target):
        if isinstance(dataset, Path) and real.is_relative_to(dataset.resolve()):
            raise ParameterError(
                f"work_dir must not be in the input or the output, whose files are those of a "
                f"dataset; got {str(work_dir)!r}. Choose another place."
            )
    return folder / f"{target.name}.microagg-work"


def _setting(plan: Plan, listing: Listing) -> DatasetSetting:
    """Return what a run begins with; every column must have a role."""
    check_folders(plan, listing)
    named = plan.roles_in(listing.columns)
    roles = resolve(open_frame(_first_rows(listing)), named)
    setting = DatasetSetting(
        plan,
        listing,
        roles,
        # Where methods use no randomness, the regions use none either.
        check_seed(plan.random_state) if estimator_of(plan).uses_randomness() else 0,
        REGION_RECORDS,
        n_buckets(listing.n_rows),
        secret=new_secret() if plan.keep_key else b"",
    )
    check_types(listing, setting.needed)
    return setting


def _first_rows(listing: Listing) -> Any:
    """Return some rows with all columns, by whose types every column gets a role."""
    for run, (_, own) in enumerate(listing.runs):
        if own.n_rows:
            _, table = next(iter(listing.read(run, listing.columns)))
            return table.slice(0, 1000).select([*listing.columns])
    raise AssertionError("a dataset has records")
