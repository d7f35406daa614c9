"""What a manifest says of units, requirements and columns, in the words of summary and report."""

from math import inf
from typing import NamedTuple

from microagg.core.words import counted, counted_units, short_name
from microagg.plans.columns import names_about
from microagg.plans.commands import quoted_name
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import RequirementFacts
from microagg.requirements.base import About
from microagg.requirements.found import rounded
from microagg.tables.roles import DROP

# At this loss, in per cent, the overall mean would do as well; figures are rounded.
_ALL_LOST = 100.0 - 1e-6


class Required(NamedTuple):
    """A requirement on every released combination: its name and column, what was asked and found.

    `is_confidential` says that it is about amounts that are not published: what was asked and found
    helps to estimate them.
    """

    name: str
    column: str
    asked: str
    found: str
    is_confidential: bool


def least_behind(done: Manifest) -> str:
    """Return what is behind every combination at least: k records, or k different units."""
    if done.units is None:
        return counted(done.k, "record")
    return counted_units(done.k, done.units.column)


def left_out(done: Manifest) -> tuple[str, ...]:
    """Return the columns that are not published though they name nobody."""
    return tuple(name for name in done.dropped if name in done.plan.columns_as(DROP))


# Why columns lose all they said, and what helps.
WHY_LOST = (
    "Too few records are alike in all protected columns: merge rare categories, leave columns out "
    "or lower k."
)


def lost_columns(done: Manifest) -> list[str]:
    """Return columns whose released values are no closer to the true ones than their average.

    Synthetic values need not be close to those of their records.
    """
    if done.hybrid is not None or done.information_loss is None:
        return []
    losses = done.worst_columns or {done.quasi_identifiers[0]: done.information_loss}
    return [name for name, loss in losses.items() if loss >= _ALL_LOST]


def may_have_lost_others(done: Manifest) -> bool:
    """Whether more columns than a manifest lists may have lost all they said."""
    lost = len(lost_columns(done))
    return 0 < lost == len(done.worst_columns) and lost < len(done.quasi_identifiers)


def shared_words(done: Manifest) -> list[str]:
    """Return a sentence on every sensitive column that some combinations reveal."""
    return [
        f"{own.shared:,} of {own.combinations:,} released combinations share one value of "
        f"{short_name(name)!r}: anyone known to be behind one has it revealed; --l-diversity "
        f"{quoted_name(name)}=2 prevents that"
        for name, own in done.shared_values.items()
        if own.shared and done.k > 1
    ]


def required_rows(done: Manifest) -> list[Required]:
    """Return the requirements in the order of the plan, with a figure for each block."""
    by_requirement: dict[tuple[str, str, str], list[RequirementFacts]] = {}
    for own in done.requirements:
        by_requirement.setdefault((own.requirement, own.column, own.asked), []).append(own)
    rows = []
    for asked, blocks in by_requirement.items():
        is_share = asked[0] in names_about(About.CONTRIBUTIONS)
        rows.append(Required(*asked, _found(blocks, " %" if is_share else ""), is_share))
    return rows


def _found(blocks: list[RequirementFacts], sign: str) -> str:
    if not all(own.checkable for own in blocks):
        return "not checked"
    if all(own.worst is None for own in blocks):  # a figure would give a contribution away
        return "met" if not any(own.combinations_failing for own in blocks) else "not met"
    figures = [
        rounded(inf, round) if own.worst is None else f"{rounded(own.worst, round)}{sign}"
        for own in blocks
    ]
    if len(figures) == 1:
        return f"{figures[0]} at worst"
    return f"{', '.join(figures[:-1])} and {figures[-1]} at worst, block by block"
