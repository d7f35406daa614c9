"""What jobs do: each task is a request and the folder of its job -> an answer.

They ask the library and word nothing themselves: the same functions are behind the command line, so
that a release is the same, byte by byte.
"""

import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from microagg.app.answers import (
    Categories,
    CategoriesRequest,
    Compared,
    CompareRequest,
    Described,
    DescribeRequest,
    Message,
    Protected,
    ProtectRequest,
    Saved,
    SaveRequest,
    SourceAnswer,
    VerifyAnswer,
    VerifyRequest,
    ViolationsAnswer,
    ViolationsRequest,
    Written,
)
from microagg.app.jobs import REQUEST
from microagg.core.errors import MicroaggError, ParameterError
from microagg.core.progress import listening_for_best, report

RELEASE = "release.pickle"
_JOB = re.compile(r"job-[0-9a-f]{16}")


def describe(_: Path, request: dict[str, Any]) -> Described:
    """Open a file, and draft what its columns are."""
    from microagg.app.describing import described

    return described(DescribeRequest(**request))


def categories(_: Path, request: dict[str, Any]) -> Categories:
    """Find the categories that enough units share."""
    from microagg.app.describing import shared_categories

    return shared_categories(CategoriesRequest(**request))


def protect(folder: Path, request: dict[str, Any]) -> Protected:
    """Make a release, keep it in the job's folder, and measure it."""
    from microagg.app.figures import figures_of
    from microagg.plans.plan import Plan
    from microagg.release.protect_file import release_of_file

    asked = ProtectRequest(**request)
    plan = Plan.of(**asked.plan)
    # With identifiers: whether an audit is wanted is only known once the release is looked at.
    release = release_of_file(asked.source.path, plan, asked.source.dialect, with_identifiers=True)
    report("measuring", 0, 1)
    answer = figures_of(release)
    report("keeping the release", 0, 1)
    with (folder / RELEASE).open("wb") as file:
        pickle.dump(release, file)
    return answer


def compare(_: Path, request: dict[str, Any]) -> Compared:
    """Find what each method would lose at each k."""
    from microagg.files.dialect import Dialect
    from microagg.plans.plan import Plan
    from microagg.release.source import read_source
    from microagg.studies.compare import Contest, run_comparison

    asked = CompareRequest(**request)
    plan = Plan.of(**asked.plan)
    contest = Contest.of(list(asked.methods), plan, -1, effort_given=False)
    source = read_source(asked.source.path, plan, dialect=Dialect(**asked.source.dialect))
    with listening_for_best(None):  # a search is one of many here
        found = run_comparison(source, asked.ks, contest)
    return Compared(
        rows=tuple(found.as_dicts()),
        notes=tuple(found.setting.notes()),
        failures=tuple(found.failures()),
        seed=found.seed,
    )


def save(folder: Path, request: dict[str, Any]) -> Saved:
    """Write the release of a finished `protect` job."""
    from microagg.plans.beside import manifest_path
    from microagg.release.protect_file import save_release_of_file
    from microagg.release.saving import Outputs

    asked = SaveRequest(**request)
    source, kept = _release_of(folder, asked.job)
    outputs = Outputs(asked.target, asked.audit, asked.report, asked.public_report)
    outputs.check(source.path, force=asked.force)
    report("writing", 0, 1)
    with kept.open("rb") as file:
        release = pickle.load(file)  # this app has written it, to its private folder
    save_release_of_file(
        release,
        source.path,
        outputs,
        source.dialect,
        escape_formulas=asked.escape_formulas,
        force=asked.force,
    )
    written = {
        "table": outputs.table,
        "manifest": str(manifest_path(outputs.table)),
        **{name.replace("_", " "): path for name, path in outputs.beside.items()},
    }
    return Saved(files=tuple(Written(what=what, path=path) for what, path in written.items()))


def _release_of(folder: Path, job: str) -> tuple[SourceAnswer, Path]:
    """Return the source of a `protect` job of this app, and where its release lies."""
    place = folder.parent / job
    kept = place / RELEASE
    if not _JOB.fullmatch(job) or not kept.is_file():
        raise ParameterError("there is no release to save. Protect the file first.")
    asked = json.loads((place / REQUEST).read_text("utf-8"))
    return ProtectRequest(**asked["request"]).source, kept


def verify(_: Path, request: dict[str, Any]) -> VerifyAnswer:
    """Say whether a file keeps what its manifest, a plan or k asks for."""
    from microagg.doors.verify import verify as verified
    from microagg.plans.plan import Plan

    asked = VerifyRequest(**request)
    original, about = (asked.original, ()) if asked.original else _open_original(asked)
    dialect = asked.source.dialect
    if asked.opened is not None and original == asked.opened.path:  # its release is written alike
        dialect = {**asked.opened.dialect, **dialect}
    found = verified(
        asked.source.path,
        asked.k,
        sensitive=asked.sensitive or None,
        plan=None if asked.plan is None else Plan.of(**asked.plan),
        original=original,
        audit=asked.audit,
        **dialect,
    )
    rows = (("file", Path(asked.source.path).name), *found.rows(), *about)
    return VerifyAnswer(satisfied=found.satisfied, title=found.verdict, facts=rows)


def _open_original(asked: VerifyRequest) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    """Return the table that is open, if what is verified was made from it and takes it to check.

    With what is to be said of that.
    """
    from microagg.files.dialect import Dialect
    from microagg.files.formats import open_table
    from microagg.plans.beside import manifest_beside

    if asked.opened is None or asked.sensitive or not Path(asked.source.path).is_file():
        return None, ()
    with catch_warnings():  # they come when the file is verified
        simplefilter("ignore")
        manifest = manifest_beside(asked.source.path)
    if manifest is None or not manifest.plan.needs_original:
        return None, ()
    opened = open_table(asked.opened.path, dialect=Dialect(**asked.opened.dialect))
    if opened.sha256 != manifest.input.sha256:
        return None, ()
    if manifest.plan.shuffle and asked.audit is None:
        words = "not used: the records were shuffled, and only the audit says which is which"
        return None, (("open table", words),)
    return asked.opened.path, (("original", f"{Path(asked.opened.path).name}, which is open"),)


def violations(_: Path, request: dict[str, Any]) -> ViolationsAnswer:
    """Count the records that violate each constraint of a plan, each on its own."""
    from microagg.files.dialect import Dialect
    from microagg.plans.plan import Plan
    from microagg.release.verify import violations_in

    asked = ViolationsRequest(**request)
    plan = Plan.of(**asked.plan)
    dialect = Dialect(**asked.source.dialect, na=plan.na)
    counts: dict[str, int] = {}
    gaps: dict[str, int] = {}
    errors: dict[str, str] = {}
    for at, constraint in enumerate(plan.constraints):
        report("counting", at, len(plan.constraints))
        try:
            found, n_gaps = violations_in(
                asked.source.path, [constraint], dialect, plan, plan.dates
            )
            counts |= found
            gaps[constraint.text] = n_gaps
        except MicroaggError as error:
            errors[constraint.text] = str(error)
    return ViolationsAnswer(counts=counts, gaps=gaps, errors=errors)


TASKS: dict[str, Callable[[Path, dict[str, Any]], Message]] = {
    "describe": describe,
    "categories": categories,
    "protect": protect,
    "compare": compare,
    "save": save,
    "verify": verify,
    "violations": violations,
}
