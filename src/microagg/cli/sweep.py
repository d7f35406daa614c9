"""microagg sweep: what a file loses as k grows, and what it must lose at least."""

import time
from typing import TYPE_CHECKING, Any

import typer

from microagg.cli.command_plan import plan_from
from microagg.cli.layout import bar, facts, print_json, show
from microagg.cli.options import (
    FIGURES_FILE,
    FORCE,
    JSON,
    QUIET,
    Input,
    dialect_of,
    parameters,
    plan_options,
    several_k,
    table_options,
    takes,
)
from microagg.cli.summary import Facts, assumed
from microagg.core.words import counted, listed_names
from microagg.plans.texts import listed_ks

if TYPE_CHECKING:
    from microagg.plans.plan import Plan
    from microagg.studies.sweep_result import Sweep


@takes(
    several_k(
        "Ranges of k and single ones: 2-20,30. Default: 2-20, or to the number of records (of the "
        "smallest stratum) if there are fewer."
    ),
    parameters(
        plan_options("effort", "bound"),
        effort="How hard to search: fast, balanced, best. Default: fast, or the plan's best.",
        bound="Bound of the grouping loss: fast, tight (minutes for each K), or none. Default: "
        "fast, or none with weights.",
    ),
    table_options("sweep"),
    FIGURES_FILE,
    (JSON, QUIET, FORCE),
)
def sweep(
    context: typer.Context,
    source: Input,
    *,
    k: str | None,
    effort: str | None,
    bound: str | None,
    given: dict[str, Any],
) -> None:
    """Show what a file loses at each K, what it must lose at least, and how long it takes.

    Nothing is released. Roles and types of columns are given as for protect. Groups are found as by
    the method auto, with less work for a K that starts with the groups of a larger one.
    """
    from microagg.cli.outputs import check_figures_file
    from microagg.core.validation import check_ks
    from microagg.files.formats import write_table
    from microagg.release.saving import check_source

    ks = None if k is None else check_ks(listed_ks(k))
    plan = plan_from(given, k=1).plan
    output = given["output"]
    check_source(source)
    if output is not None:
        check_figures_file(output, source, json=given["json"], force=given["force"])
    with bar(quiet=given["quiet"]):
        done = _swept(source, ks, plan, dialect_of(given), effort, bound)
    if output is not None:
        write_table(done.table, output, force=given["force"])
    if given["json"]:
        print_json({**_facts(done, plan), "output": output})
    elif not given["quiet"] and output != "-":
        show(_summary(done, output, began=context.obj))


def _swept(
    source: str,
    ks: list[int] | None,
    plan: "Plan",
    dialect: dict[str, Any],
    effort: str | None,
    bound: str | None,
) -> "Sweep":
    from microagg.files.dialect import Dialect
    from microagg.release.source import read_source
    from microagg.studies.sweep import Work, sweep_source

    work = Work.of(effort, bound, -1)
    opened = read_source(source, plan, dialect=Dialect(**dialect))
    return sweep_source(opened, ks, plan, work)


def _facts(done: "Sweep", plan: "Plan") -> dict[str, Any]:
    assert done.setting is not None
    return {
        "sweep": done.as_dicts(),
        "n_records": done.n_records,
        **done.setting.as_dict(),
        "seed": done.seed,
        "seconds": done.seconds,
        "scale": plan.scale,
        "effort": done.effort,
        "bound": done.bound,
        "why_no_bound": done.why_no_bound,
    }


def _summary(done: "Sweep", output: str | None, *, began: float) -> str:
    assert done.setting is not None
    roles = done.setting.roles
    rows: Facts = [
        ("grouped by", listed_names(roles.quasi_identifiers)),
        *assumed(roles.assumed, roles.quasi_identifiers),
        *done.setting.rows(),
        ("effort", done.effort),
        ("seed", str(done.seed)),
        ("time", f"{time.perf_counter() - began:.2f} s"),
    ]
    if output is not None:
        rows.append(("written to", output))
    ks = f"{counted(len(done), 'value')} of k"
    title = f"Tried {ks} on {counted(done.n_records, 'record')}"
    return f"{title}\n\n{facts(rows)}\n\n{done}"
