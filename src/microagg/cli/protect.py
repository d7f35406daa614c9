"""microagg protect: from a file to a protected file."""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from microagg.cli.layout import facts, names, print_json, warnings_as_lines
from microagg.cli.main import INTERRUPTED
from microagg.cli.options import (
    Constraints,
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Identifiers,
    Input,
    Json,
    Orders,
    QuasiIdentifiers,
    Quiet,
    Sensitive,
    Types,
    Version,
    assignments,
    by_column,
    count_or_text,
    listed_names,
    number_or_text,
    seed_or_none,
)
from microagg.cli.paths import check_output, check_page_or_figure, check_source, origin_of
from microagg.cli.repeating import repeating_command
from microagg.cli.summary import assumed, constraint_rows, outcome, table_rows, title
from microagg.core.errors import ParameterError
from microagg.core.words import counted


def protect(
    context: typer.Context,
    source: Input,
    k: Annotated[
        str | None,
        typer.Option("-k", metavar="K", help="Least number of records behind a combination."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where the result goes, or -. Default: beside the input, as NAME-protected.",
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="P", help="A plan file, see 'microagg plan'; options here go before it."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="M", help="How records are grouped; see 'microagg methods'. Default: auto."
        ),
    ] = None,
    quasi_identifier: QuasiIdentifiers = None,
    identifier: Identifiers = None,
    sensitive: Sensitive = None,
    keep_key: Annotated[
        bool,
        typer.Option("--keep-key", help="Put random numbers in the place of the identifier."),
    ] = False,
    column_type: Types = None,
    order: Orders = None,
    aggregate: Annotated[
        list[str] | None,
        typer.Option(metavar="C=A", help="What a group releases of it: mean, median or mode."),
    ] = None,
    resolution: Annotated[
        list[str] | None,
        typer.Option(metavar="C=R", help="Unit of released times: day, hour, minute, second."),
    ] = None,
    column_weight: Annotated[
        list[str] | None,
        typer.Option(metavar="C=W", help="How much a column counts in comparisons. Default: 1."),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="M",
            help="Missing values: error (the default), value (groups release them together), or "
            "impute.",
        ),
    ] = None,
    strata: Annotated[
        list[str] | None,
        typer.Option(metavar="C", help="Group only records with the same value in C."),
    ] = None,
    small_strata: Annotated[
        str | None,
        typer.Option(metavar="S", help="Strata of fewer than K records: error (default), merge."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="C", help="Column that says for how many a record stands.")
    ] = None,
    block: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,..", help="Columns to group on their own; K holds there only."),
    ] = None,
    valid_combinations: Annotated[
        bool,
        typer.Option(
            "--valid-combinations", help="Release only combinations of categories that exist."
        ),
    ] = False,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the method.")
    ] = None,
    constraint: Constraints = None,
    strict_k: Annotated[
        bool, typer.Option("--strict-k", help="Merge what was drawn until K is kept (fcm, efcm).")
    ] = False,
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="How numbers are compared: standardise (the default), robust, rank, log, or none.",
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(metavar="N", help="Repeat the draws of a method with chance in it."),
    ] = None,
    effort: Annotated[
        str | None,
        typer.Option(metavar="E", help="How much work auto does: fast, balanced (default), best."),
    ] = None,
    time_budget: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="Seconds for the search (auto, icsm), and for --bound tight."
        ),
    ] = None,
    bound: Annotated[
        str | None,
        typer.Option(
            metavar="B",
            help="Prove how near to the best possible: fast, tight (minutes), none, or auto, the "
            "default: fast, unless there are very many records.",
        ),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write who is in which group: for inside the house only."
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="R.html", help="Write a report of it all, for inside the house."),
    ] = None,
    public_report: Annotated[
        str | None,
        typer.Option(metavar="R.html", help="Write a report to publish with the copy."),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    _version: Version = False,
) -> None:
    """Write a copy in which every combination of protected columns stands for K records or more.

    Records are grouped by their quasi-identifiers and get their group's mean, median or most
    frequent value. A column of text needs a role; a column of numbers without one is protected.
    Options for a column, --option and --constraint can be repeated. Beside the copy goes a manifest
    that says what was done. Ctrl-C ends the search of auto with the best groups so far, which are
    written; pressed again after that, it ends everything.
    """
    options = {
        "k": None if k is None else count_or_text(k),
        "method": method,
        "options": assignments(option or ()) or None,
        "seed": seed_or_none(seed),
        "effort": effort,
        "time_budget": None if time_budget is None else number_or_text(time_budget),
        "bound": bound,
        "scale": scale,
        "missing": missing,
        "constraints": constraint or None,
        "strict_k": strict_k or None,
        "small_strata": small_strata,
        "blocks": [listed_names(names) for names in block] if block else None,
        "valid_combinations": valid_combinations or None,
        "keep_key": keep_key or None,
    }
    roles = {
        "quasi_identifiers": quasi_identifier,
        "identifiers": identifier,
        "sensitive": sensitive,
        "strata": [name for listed in strata or () for name in listed_names(listed)],
        "weights": weights,
    }
    said = by_column(
        type=column_type,
        order=order,
        aggregate=aggregate,
        resolution=resolution,
        weight=column_weight,
    )
    dialect = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    _check_early(options, plan)
    asked = _asked(plan, options, roles, said)
    beside = {"audit": audit, "report": report, "public_report": public_report}
    target = _check_paths(source, output, beside, json=json, force=force)
    with warnings_as_lines(quiet=quiet):
        release = _protected(source, target, audit, asked, dialect, quiet=quiet)
        _write(release, target, beside, force=force, quiet=quiet)
    if json:
        print_json({**release.manifest, "output": target})
    elif not quiet:
        typer.echo(_summary(release, target, beside, began=context.obj), err=target == "-")
    if release.manifest["interrupted"]:
        raise typer.Exit(INTERRUPTED)


def _check_early(options: dict[str, Any], plan: str | None) -> None:
    """Refuse what can be refused without loading or reading much."""
    from microagg.core.registry import find
    from microagg.core.validation import check_count

    if options["method"] is not None:
        find(options["method"])
    if options["k"] is not None:
        check_count("k", options["k"])
    elif plan is None:
        raise ParameterError("missing option '-k': the least number of records in a group.")


def _check_paths(
    source: str, output: str | None, beside: dict[str, str | None], *, json: bool, force: bool
) -> str:
    """Return the output that may be written; nothing has been read yet."""
    from microagg.files.formats import STANDARD, protected_name

    check_source(source)
    target = protected_name(source) if output is None else output
    check_output(target, source, json=json, force=force)
    from microagg.files.atomic import check_distinct, check_target
    from microagg.release.saving import manifest_path

    own: list[Path] = []
    if target != STANDARD:
        own = [Path(target), manifest_path(target)]
        check_target(own[1], force=force, source=origin_of(source))
    check_distinct([*own, *(Path(path) for path in beside.values() if path)])
    for name, path in beside.items():
        if path is not None:
            if path == STANDARD:
                option = name.replace("_", "-")
                raise ParameterError(
                    f"--{option} must name a file; it does not go to standard output."
                )
            _check_beside(name, path, source, force=force)
    return target


def _check_beside(name: str, path: str, source: str, *, force: bool) -> None:
    if name == "audit":
        check_output(path, source, json=False, force=force)
        return
    check_page_or_figure(path, source, suffix=".html", force=force)


def _asked(
    path: str | None, options: dict[str, Any], roles: dict[str, Any], said: dict[str, Any]
) -> Any:
    """Return the plan: that of the file, if there is one, with what the options say instead."""
    from microagg.plans.plan import Plan, columns_by_name, read_plan

    planned = {} if path is None else read_plan(Path(path))
    columns = planned.pop("columns", {})
    given = {name: value for name, value in options.items() if value is not None}
    own = columns_by_name(said, **roles)
    if isinstance(columns, dict):
        for name, more in own.items():
            base = columns.get(name, {})
            # A type that the plan gives is for the role that it gives.
            fits = isinstance(base, dict) and more.get("role", base.get("role")) == base.get("role")
            columns[name] = {**base, **more} if fits else more
    return Plan.of(**{**planned, **given, "columns": columns})


def _protected(
    source: str,
    target: str,
    audit: str | None,
    plan: Any,
    dialect: dict[str, Any],
    *,
    quiet: bool,
) -> Any:
    from microagg.core.progress import terminal_bar

    # Around all that takes time, loading included: whoever waits sees it from the first moment.
    with nullcontext() if quiet else terminal_bar():
        from microagg.files.dialect import Dialect
        from microagg.files.formats import STANDARD, TableFile, check_fits
        from microagg.plans.drafting import told_types
        from microagg.tables.frames import open_frame
        from microagg.tables.roles import check_named

        file = TableFile(source, dialect=Dialect(**dialect))
        named = check_named(file.columns, **plan.roles(), typed=plan.column_options())

        from microagg.release.pipeline import Source
        from microagg.release.protect import protect_as_planned
        from microagg.release.saving import sha256_of

        kept = [c for c in file.columns if c not in named.identifiers]
        # Identifiers are dropped: where nobody needs them, they are not even read.
        not_read = () if audit is not None or plan.keep_key else named.identifiers
        table = file.table(
            as_text=(*named.identifiers, *named.sensitive),
            columns=[c for c in file.columns if c not in not_read],
        )
        check_fits(table[kept], target)
        plan = plan.with_types(told_types(open_frame(table), file.annotations))
        origin = Source(
            file=None if source == STANDARD else Path(source).name,
            sha256=None if source == STANDARD else sha256_of(Path(source)),
            dialect=file.dialect,
            annotations=file.annotations,
            not_read=tuple(not_read),
            command=partial(repeating_command, source=source, target=target, dialect=dialect),
        )
        del file
        return protect_as_planned(table, plan, source=origin)


def _write(
    release: Any, target: str, beside: dict[str, str | None], *, force: bool, quiet: bool
) -> None:
    from microagg.core.progress import terminal_bar
    from microagg.files.formats import STANDARD

    with nullcontext() if quiet else terminal_bar():
        if target != STANDARD:
            release.save(target, force=force, **beside)
            return
        if (audit := beside["audit"]) is not None:
            release.save_audit(audit, force=force)
        for name, is_public in (("report", False), ("public_report", True)):
            if (path := beside[name]) is not None:
                release.report(path, public=is_public, force=force)
    release.write_to_standard_output()


def _summary(release: Any, target: str, beside: dict[str, str | None], *, began: float) -> str:
    done = release.manifest
    rows = outcome(release)
    rows += assumed(done["assumed_quasi_identifiers"], done["quasi_identifiers"])
    rows += table_rows(done)
    rows += constraint_rows(done["constraints"])
    rows += [
        ("dropped", names(done["dropped"])),
        ("unchanged", names(done["unchanged"])),
        *([] if done["random_state"] is None else [("seed", str(done["random_state"]))]),
        ("time", f"{time.perf_counter() - began:.2f} s"),
        ("written to", "standard output" if target == "-" else target),
        *_beside(target),
        *_written(beside),
    ]
    return f"{title(done, counted(done['n_records'], 'record'))}\n\n{facts(rows)}"


def _written(beside: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    inside = "which must not leave the house"
    for name, path in beside.items():
        if path is not None:
            shown = path if name == "public_report" else f"{path}, {inside}"
            yield name.replace("_", " "), shown


def _beside(target: str) -> list[tuple[str, str]]:
    from microagg.release.saving import manifest_path

    return [] if target == "-" else [("manifest", str(manifest_path(target)))]
