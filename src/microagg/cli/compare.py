"""microagg compare: what each method would lose on a file, before anything is released."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from microagg.cli.command_plan import CommandPlan, plan_from
from microagg.cli.layout import bar, facts, print_json, show
from microagg.cli.options import (
    FIGURES_FILE,
    FORCE,
    JSON,
    QUIET,
    Input,
    dialect_of,
    several_k,
    table_options,
    takes,
    text_option,
)
from microagg.cli.summary import Facts, assumed
from microagg.core.errors import ParameterError
from microagg.core.registry import ALL, find
from microagg.core.words import counted, listed_names
from microagg.plans.options import Section
from microagg.plans.texts import listed_ks, whole_or_text

if TYPE_CHECKING:
    from microagg.plans.plan import Plan
    from microagg.studies.comparison import Comparison


@takes(
    several_k("One k or several, as in 3,5,10. Default: that of the plan."),
    (
        text_option(
            "methods",
            "M,...",
            "Methods to compare, as in mdav,tsp-mhm.",
            section=Section.METHOD,
            default=ALL,
        ),
        text_option(
            "figure", "F.svg", "Draw risk against loss, with a mark for each method and k."
        ),
        text_option(
            "jobs",
            "N",
            "Number of parallel runs; -1 for one per core.",
            section=Section.METHOD,
            default="-1",
        ),
    ),
    table_options("compare"),
    FIGURES_FILE,
    (JSON, QUIET, FORCE),
)
def compare(
    context: typer.Context,
    source: Input,
    *,
    k: str | None,
    methods: str,
    figure: str | None,
    jobs: str,
    given: dict[str, Any],
) -> None:
    """Show what each method would lose at each K, in how many groups, and how long it takes.

    Nothing is released. Roles and types of columns are given as for protect. If a method fails, the
    reason is given and the others continue; the exit code is 0 if any of them succeeds.
    """
    ks = _checked_ks(k, given["plan"])
    asked = plan_from(given, method_apart=True, **({} if ks is None else {"k": ks[0]}))
    plan = asked.plan
    n_jobs = _jobs(jobs)
    _check_paths(source, given["output"], figure, json=given["json"], force=given["force"])
    with bar(quiet=given["quiet"]):
        done = _compared(source, ks or [plan.k], methods, asked, given, n_jobs)
    says_why = False
    if not done.exit_code:
        _write(done, given["output"], figure, force=given["force"])
        if given["json"]:
            print_json(_facts(done, plan, given["output"]))
        elif not given["quiet"] and given["output"] != "-":
            show(_summary(done, given["output"], figure, began=context.obj))
            says_why = True
    for line in () if says_why else done.failures():
        show(f"microagg: {line}", err=True)
    raise typer.Exit(done.exit_code)


def _checked_ks(text: str | None, plan: str | None) -> list[int] | None:
    from microagg.core.validation import check_ks

    if text is not None:
        return check_ks(listed_ks(text))
    if plan is None:
        raise ParameterError("missing option '-k': one k or several, as in 3,5,10.")
    return None


def _jobs(text: str) -> int:
    jobs = whole_or_text(text)
    if isinstance(jobs, int) and (jobs == -1 or jobs >= 1):
        return jobs
    raise ParameterError(
        f"--jobs must be a whole number of at least 1, or -1 for all cores; got {jobs!r}."
    )


def _check_paths(
    source: str, output: str | None, figure: str | None, *, json: bool, force: bool
) -> None:
    from microagg.cli.outputs import check_figures_file, check_svg
    from microagg.files.atomic import check_distinct
    from microagg.release.saving import check_source

    check_source(source)
    if output is not None:
        check_figures_file(output, source, json=json, force=force)
    if figure is not None:
        check_svg(figure, source, force=force)
        check_distinct([Path(figure), *([] if output in (None, "-") else [Path(str(output))])])


def _compared(
    source: str,
    ks: list[int],
    methods: str,
    asked: CommandPlan,
    given: dict[str, Any],
    n_jobs: int,
) -> "Comparison":
    from microagg.files.dialect import Dialect
    from microagg.release.source import read_source
    from microagg.studies.compare import Contest, run_comparison

    effort_given = given["effort"] is not None
    contest = Contest.of(methods, asked.plan, n_jobs, own=asked.own, effort_given=effort_given)
    dialect = Dialect(**dialect_of(given))
    return run_comparison(read_source(source, asked.plan, dialect=dialect), ks, contest)


def _write(done: "Comparison", output: str | None, figure: str | None, *, force: bool) -> None:
    from microagg.files.atomic import atomic_write_all
    from microagg.files.formats import write_table
    from microagg.files.writing import text_writer
    from microagg.studies.comparison import risk_utility_map

    if output is not None:
        write_table(done.table, output, force=force)
    if figure is not None:
        atomic_write_all({Path(figure): text_writer(risk_utility_map(done))}, force=force)


def _facts(done: "Comparison", plan: "Plan", output: str | None) -> dict[str, Any]:
    return {
        "comparison": done.as_dicts(),
        "n_records": done.n_records,
        **done.setting.as_dict(),
        "scale": plan.scale,
        "seed": done.seed,
        "left_out": list(done.left_out),
        "effort": plan.effort,
        "output": output,
    }


def _summary(done: "Comparison", output: str | None, figure: str | None, *, began: float) -> str:
    columns = done.roles.quasi_identifiers
    rows: Facts = [
        ("grouped by", listed_names(columns)),
        *assumed(done.roles.assumed, columns),
        *done.setting.rows(),
    ]
    reasons = []
    others = [find(name) for name in done.left_out if name not in done.drawn]
    if unfit := [method.name for method in others if not method.needs]:
        reasons.append(f"{listed_names(unfit)} (for one column only)")
    for flag in dict.fromkeys(method.needed_flag for method in others if method.needs):
        needing = [method.name for method in others if method.needed_flag == flag]
        reasons.append(f"{listed_names(needing)} (for tables with {flag})")
    if done.drawn:
        reasons.append(
            f"{listed_names(done.drawn)} (unless named: they draw values at random and do not "
            "guarantee k)"
        )
    if reasons:
        rows.append(("left out", "; ".join(reasons)))
    if done.seed is not None:
        rows.append(("seed", str(done.seed)))
    rows.append(("time", f"{time.perf_counter() - began:.2f} s"))
    if output is not None:
        rows.append(("written to", output))
    if figure is not None:
        rows.append(("figure", figure))
    n_methods = len({row.method for row in done})
    title = f"Compared {counted(n_methods, 'method')} on {counted(done.n_records, 'record')}"
    return f"{title}\n\n{facts(rows)}\n\n{done}"
