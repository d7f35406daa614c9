"""What a release did, in rows for its summary: of a table as of a dataset."""

from collections.abc import Iterator, Mapping

from microagg.cli.command_plan import CommandPlan
from microagg.cli.summary import (
    Facts,
    assumed,
    constraint_rows,
    dropped_rows,
    judged,
    outcome,
    rows_as_units,
    shared_rows,
    table_rows,
    unchanged_rows,
    without_effect,
)
from microagg.plans.manifest import Manifest


def done_rows(done: Manifest, asked: CommandPlan) -> Facts:
    """Return the rows, from what was lost to the seed."""
    rows = outcome(done) + asked.rows() + without_effect(asked.plan, done)
    rows += assumed(done.assumed_quasi_identifiers, done.quasi_identifiers)
    rows += rows_as_units(done) + judged(done)
    rows += table_rows(done)
    rows += constraint_rows(done.constraints)
    rows += [*dropped_rows(done), *unchanged_rows(done), *shared_rows(done)]
    return rows + ([] if done.random_state is None else [("seed", str(done.random_state))])


def written_beside(paths: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return rows on the files beside the result; only a public report is not internal."""
    for name, path in paths.items():
        note = "" if name == "public_report" else " (keep this file internal)"
        yield name.replace("_", " "), f"{path}{note}"
