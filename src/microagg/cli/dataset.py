"""microagg protect DATA/ -o OUT/: a dataset that need not fit in memory."""

import time
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from microagg.cli.command_plan import CommandPlan
from microagg.cli.done import done_rows, written_beside
from microagg.cli.layout import bar, facts, print_json, show, warnings_as_lines
from microagg.cli.summary import Facts, title
from microagg.core.errors import ParameterError
from microagg.core.words import counted

if TYPE_CHECKING:
    from microagg.plans.manifest import Manifest


class DatasetChoices(NamedTuple):
    """What was asked for that only datasets have."""

    memory: str | None
    work_dir: str | None
    keep_work: bool
    resume: bool
    scheduler: str | None

    def apply_to(self, source: str, target: str | None) -> bool:
        """Whether the source is protected as a dataset.

        That is a folder, a file with such an option, and what comes from a URL or goes there.
        """
        return Path(source).is_dir() or any(self) or any(map(_is_url, (source, target or "")))

    @staticmethod
    def refuse(*, given: Mapping[str, Any], **others: object) -> None:
        """Refuse what datasets do not have."""
        for name, wanted in others.items():
            if wanted:
                raise ParameterError(
                    f"--{name.replace('_', '-')} is not available for datasets beyond memory. "
                    "Leave it out."
                )
        if given["max_expanded"] is not None:
            raise ParameterError(
                "--max-expanded is not for datasets, which are read in parts. Leave it out."
            )
        if given["sheet"] is not None:
            raise ParameterError(
                "--sheet is not for datasets, which consist of Parquet, Arrow or CSV files. Leave "
                "it out."
            )


def protect_dataset(
    context: typer.Context,
    source: str,
    output: str | None,
    asked: CommandPlan,
    wanted: DatasetChoices,
    given: Mapping[str, Any],
    reports: Mapping[str, str | None],
) -> None:
    """Protect a dataset, and say what was done."""
    if source == "-" or output == "-":
        raise ParameterError(
            "a dataset is read from and written to files, not standard input or output. Name them."
        )
    target = _default_name(source) if output is None else output

    def tell(sentence: str) -> None:
        if not given["quiet"]:
            show(f"microagg: {sentence}.", err=True)

    with warnings_as_lines(quiet=given["quiet"]), bar(quiet=given["quiet"]):
        from microagg.core.progress import announcing
        from microagg.scale.protect import protect_dataset as protect
        from microagg.scale.tasks.engines import client_at

        address = wanted.scheduler
        with announcing(tell), nullcontext() if address is None else client_at(address) as client:
            done = protect(
                source,
                target,
                plan=asked.plan,
                engine=client,
                memory=wanted.memory,
                work_dir=wanted.work_dir,
                keep_work=wanted.keep_work,
                resume=wanted.resume,
                delimiter=given["delimiter"],
                decimal=given["decimal"],
                encoding=given["encoding"],
                force=given["force"],
                report=reports["report"],
                public_report=reports["public_report"],
            )
    if given["json"]:
        print_json(done.as_dict())
    elif not given["quiet"]:
        show(_summary(done, asked, target, reports, began=context.obj), err=False)


def _is_url(name: str) -> bool:
    return "://" in name  # without loading what reads from there


def _default_name(source: str) -> str:
    if _is_url(source):
        raise ParameterError("the output of a dataset at a URL must be named. Give it with -o.")
    if Path(source).is_dir():
        folder = Path(source)
        if folder.name in ("", ".."):  # such as . and ..
            folder = folder.resolve()
        return str(folder.parent / f"{folder.name}-protected")
    from microagg.files.formats import protected_name

    return protected_name(source)


def _summary(
    done: "Manifest",
    asked: CommandPlan,
    target: str,
    reports: Mapping[str, str | None],
    *,
    began: float,
) -> str:
    from microagg.plans.beside import SUFFIX

    rows: Facts = [
        *done_rows(done, asked),
        *_dataset_rows(done),
        ("time", f"{time.perf_counter() - began:.2f} s"),
        ("written to", target),
        ("manifest", f"{target.rstrip('/')}{SUFFIX}"),
        *written_beside({name: path for name, path in reports.items() if path is not None}),
    ]
    return f"{title(done, counted(done.n_records, 'record'))}\n\n{facts(rows)}"


def _dataset_rows(done: "Manifest") -> Facts:
    """Return rows on the files: k holds for all of them together."""
    found = done.dataset
    assert found is not None
    files = counted(len(found.files), f"{found.format} file")
    together = "; k holds for all of them together, not for each file"
    rows: Facts = [("dataset", files + (together if len(found.files) > 1 else ""))]
    if found.in_folders:
        names = ", ".join(map(repr, found.in_folders))
        rows.append(("folders", f"named by values of {names}, which are published"))
    return rows
