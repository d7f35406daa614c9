"""Parts of summaries that several commands share."""

from collections.abc import Sequence

from microagg.core.words import (
    at_least,
    at_most,
    counted,
    counted_units,
    grouping_loss_of,
    judged_words,
    listed_names,
    percent,
    spread,
    worst_losses,
)
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import (
    CategoryFacts,
    CombinationFacts,
    ConstraintFacts,
    DrawFacts,
    HybridFacts,
    Promise,
)
from microagg.plans.plan import Plan
from microagg.plans.required import (
    WHY_LOST,
    left_out,
    lost_columns,
    may_have_lost_others,
    required_rows,
    shared_words,
)
from microagg.requirements.units import KUnits

Facts = list[tuple[str, str]]

# In standard deviations; less is invisible.
NEGLIGIBLE = 1e-6


def title(done: Manifest, subjects: str) -> str:
    """Return the title of a summary; `subjects` are the records, counted."""
    if done.units is not None:
        subjects += f" of {counted_units(done.units.count, done.units.column)}"
    if done.k == 1:
        return f"Nobody is protected: {subjects} written at k = 1 with {done.method}"
    if done.draw is not None and done.is_drawn:
        centers = counted(done.draw.n_centers, "centre")
        return f"{subjects} drew from {centers} with {done.method} at k = {done.k:,}"
    if done.hybrid is not None:
        return f"{subjects} became hybrid records at k = {done.k:,} with {done.method}"
    return f"Protected {subjects} at k = {done.k:,} with {done.method}"


def outcome(done: Manifest) -> Facts:
    """Return rows on the loss, the groups, what was verified, and the columns."""
    low, high = done.min_group, done.max_group
    records = "record" if high == 1 else "records"
    each = " each" if done.n_groups > 1 else ""
    rows = [
        ("information loss", _loss(done)),
        *_lost(done),
        (grouping_loss_of(done.scale), _grouping_loss(done)),
        *_bound(done),
        *_cut_short(done),
        ("groups", f"{done.n_groups:,}, of {spread(low, high)} {records}{each}"),
    ]
    columns = listed_names(done.quasi_identifiers)
    if done.k == 1:
        alone = "nothing: at k = 1 any record may keep its own values"
        return [*rows, ("verified", alone), ("grouped by", columns)]
    if done.hybrid is not None:
        return [*rows, *_hybrid(done.hybrid), ("synthesised", columns)]
    least = counted(done.smallest_class, "record")
    if done.draw is None or not done.is_drawn:
        where = "in each block " if len(done.blocks) > 1 else ""
        if done.units is not None:
            units = counted_units(done.units.fewest, done.units.column)
            least = f"{units}, and {least}"
        verified = f"{where}every released combination stands for at least {least}"
        return [*rows, ("verified", verified), *_required(done), ("protected", columns)]
    return [*rows, *_drawn(done, done.draw), ("drawn for", columns)]


def _required(done: Manifest) -> Facts:
    """Return what else was asked of every combination, and what was found."""
    rows = required_rows(done)
    return [(row.name, f"{row.asked}: {row.found}") for row in rows if row.name != KUnits.name]


def dropped_rows(done: Manifest) -> Facts:
    """Return the columns that are not released: identifiers, the unit, and those left out."""
    others = left_out(done)
    naming = [name for name in done.dropped if name not in (*others, done.unit)]
    rows = [("dropped", listed_names(naming))] if naming or not done.dropped else []
    if done.units is not None:
        without, none = done.units.records_without, ""
        if without:
            are = "is" if without == 1 else "are"
            none = f"; {counted(without, 'record')} without one {are} not counted"
        rows.append(("unit", f"{listed_names([done.units.column])}, dropped{none}"))
    return [*rows, *([("left out", listed_names(others))] if others else [])]


def _loss(done: Manifest) -> str:
    """Write what the released values lose, with the columns that lose most."""
    if done.information_loss is None:
        return "not defined: no protected column varied before"
    loss = f"{percent(done.information_loss)} of the released values"
    return f"{loss}; most in {worst_losses(done.worst_columns)}" if done.worst_columns else loss


def _lost(done: Manifest) -> Facts:
    """Warn of columns whose released values say next to nothing of a record."""
    if not (lost := lost_columns(done)):
        return []
    better = "its overall average" if len(lost) == 1 else "their overall averages"
    words = f"released values no closer to the true ones than {better}"
    others = " and possibly others" if may_have_lost_others(done) else ""
    return [("caution", f"{listed_names(lost)}{others}: {words}. {WHY_LOST}")]


def _grouping_loss(done: Manifest) -> str:
    """Write what the groups lose about their means, and what satisfying constraints adds."""
    loss, found = percent(done.grouping_loss), done.constraints
    about = "the drawn centres" if done.draw is not None else "their means"
    added = ""
    if found is not None and found.groups_moved:
        added = f"; satisfying the constraints adds {percent(found.added_information_loss)}"
    return f"{loss} of the groups about {about}{added}"


def _bound(done: Manifest) -> Facts:
    """Write how far from optimal the grouping is at most, if that is known."""
    if done.k == 1:
        return []
    if done.lower_bound is None:
        return [("lower bound", f"none: {done.why_no_bound}")] if done.why_no_bound else []
    if done.proved_optimal:
        return [("lower bound", "the same: no other groups lose less")]
    if done.gap is None:
        return [("lower bound", f"{at_least(done.lower_bound)} of the grouping loss")]
    above = f"the grouping loss is at most {at_most(done.gap)} above the least possible"
    return [("lower bound", f"{at_least(done.lower_bound)} ({done.bound}): {above}")]


def _cut_short(done: Manifest) -> Facts:
    """Note that the search was ended early, if it was."""
    if not (done.interrupted or done.timed_out):
        return []
    by = "Ctrl-C" if done.interrupted else "the time budget"
    return [("search", f"ended by {by}: the best groups so far; another run may find others")]


def _drawn(done: Manifest, draw: DrawFacts) -> Facts:
    """Return rows on the expected and realised class sizes of a draw."""
    k = done.k
    promise = f"nothing: {draw.n_expected_below_k:,} of {draw.n_centers:,} centres expect "
    promise += f"fewer than {k:,} records"
    if done.promise == Promise.PROBABILISTIC:
        promise = f"{Promise.PROBABILISTIC}: every centre expects {k:,} records or more"
    realised = (
        f"{draw.n_realised_below_k:,} of {done.n_groups:,} groups hold fewer than {k:,} "
        f"records, the smallest {done.min_group:,}"
    )
    if draw.n_realised_below_k:
        realised += "; --strict-k merges until none does"
    used = ", ".join(f"{name} = {value:.4g}" for name, value in draw.fuzziness.items())
    doubt = f"{draw.doubt:.2f} bits about a record's centre on average ({used})"
    return [("promise", promise), ("realised", realised), ("doubt", doubt)]


def _hybrid(found: HybridFacts) -> Facts:
    """Return rows on what hybrid records promise, and on what they keep."""
    kept = "the mean and covariance of every group"
    if found.rounded:
        kept += (
            ", but for rounding whole numbers: means moved by at most "
            f"{found.group_mean_moved:.2g} standard deviations ({found.table_mean_moved:.2g} in "
            f"the whole table), covariances by {found.group_covariance_moved:.2g} "
            f"({found.table_covariance_moved:.2g})"
        )
    return [("promise", str(Promise.HYBRID)), ("verified", kept)]


def constraint_rows(found: ConstraintFacts | None) -> Facts:
    """Return rows on records that violated the constraints, and what it took to satisfy them."""
    if found is None:
        return []
    violations = found.records_in_violation
    rows = [("satisfied", f"in every released record: {'; '.join(violations)}")]
    listed = "; ".join(f"{text} ({count:,})" for text, count in violations.items() if count)
    rows.append(("violated before", listed or "by no record"))
    moved = f"{found.groups_moved:,}"
    if found.farther_than_nearest_by_at_most > NEGLIGIBLE:
        moved += (
            f"; for {counted(found.groups_not_proved_nearest, 'group')} there may be values up "
            f"to {found.farther_than_nearest_by_at_most:.2g} standard deviations nearer"
        )
    return [*rows, ("groups moved", moved)]


def assumed(columns: Sequence[str], quasi_identifiers: Sequence[str]) -> Facts:
    """Return a row on columns protected because they have no role, if there are any."""
    if not columns:
        return []
    listed = "all of these" if len(columns) == len(quasi_identifiers) else listed_names(columns)
    return [("assumed", f"{listed} (numeric columns without a role)")]


def unchanged_rows(done: Manifest) -> Facts:
    """Return rows on columns that are published unchanged: sensitive ones, and others."""
    if done.worth_knowing == done.unchanged or not done.sensitive:
        return [("unchanged", listed_names(done.unchanged))]
    others = [name for name in done.unchanged if name not in done.sensitive]
    return [
        ("sensitive", f"{listed_names(done.sensitive)} (unchanged)"),
        ("unchanged", listed_names(others)),
    ]


def rows_as_units(done: Manifest) -> Facts:
    """Return a row on records that count as units because the plan says so."""
    if not done.plan.counts_rows:
        return []
    return [("units", "every record counts as a different person, as --unit rows says")]


def judged(done: Manifest) -> Facts:
    """Return rows on types that nobody stated and storage does not suggest, and on markers."""
    rows: Facts = []
    types = [
        judged_words(name, column.type, column.why)
        for name, column in done.columns.items()
        if column.why
    ]
    if types:
        rows.append(("judged", "; ".join(types)))
    if coarse := [_rounded(name, own.digits) for name, own in done.columns.items() if own.coarse]:
        rows.append(("rounded", f"{', '.join(coarse)}: coarse for how much it varies"))
    if done.markers:
        counts = (f"{listed_names([name])} ({count:,})" for name, count in done.markers.items())
        rows.append(("missing", f"entries such as NA: {', '.join(counts)}"))
    return rows


def _rounded(name: str, digits: int | str) -> str:
    """Write what a column was rounded to: decimals, whole numbers, or powers of ten."""
    if isinstance(digits, str) or digits > 0:
        to = counted(int(digits), "decimal")
    else:
        to = "whole numbers" if digits == 0 else f"multiples of {10**-digits:,}"
    return f"{listed_names([name])} to {to}"


def shared_rows(done: Manifest) -> Facts:
    """Return a row for each sensitive column that some released combinations reveal."""
    return [("revealed", words) for words in shared_words(done)]


def without_effect(plan: Plan, done: Manifest) -> Facts:
    """Return rows on options of a plan that its method, or these columns, have no use for."""
    rows: Facts = []
    if plan.random_state is not None and done.random_state is None:
        rows.append(("not used", f"the seed: {done.method!r} uses no randomness here"))
    if plan.keep_margins and done.categories is None:
        rows.append(("not used", "--keep-margins: no protected column has categories"))
    return rows


def table_rows(done: Manifest) -> Facts:
    """Return rows on missing values, strata, weights, blocks, types and keys."""
    rows: Facts = []
    if missing := done.missing_values:
        before, after = (sum(getattr(missing, when).values()) for when in ("before", "after"))
        rows.append(("missing values", f"{before:,} before, {after:,} released"))
    if strata := done.strata_found:
        verb = "was" if strata.merged == 1 else "were"
        merged = f", after {counted(strata.merged, 'small one')} {verb} merged"
        rows.append(
            (
                "strata",
                f"{strata.count:,} by {listed_names(strata.columns)}, the smallest of "
                f"{counted(strata.smallest, 'record')}{merged if strata.merged else ''}",
            )
        )
    if done.weights is not None:
        used = "in means and in the losses"
        rows.append(("weights", f"{listed_names([done.weights])}, {used}"))
    if len(done.blocks) > 1:
        rows.append(("blocks", "; ".join(listed_names(block) for block in done.blocks)))
    if new := done.new_combinations:
        rows.append(("new combinations", _new_combinations(new, done)))
    if chosen := done.categories:
        rows += _categories(chosen, has_weights=done.weights is not None)
    if done.key is not None:
        rows.append(("random key", f"instead of {listed_names([done.key])}"))
    if done.plan.shuffle:
        rows.append(("order", "random"))
    return rows


def _new_combinations(new: CombinationFacts, done: Manifest) -> str:
    if not new.combinations:
        return "none: all combinations of categories existed before"
    is_free = done.categories is not None and not done.categories.valid_combinations
    avoids = "; --valid-combinations avoids it" if is_free and len(done.blocks) == 1 else ""
    return (
        f"{counted(new.combinations, 'combination')} of categories in "
        f"{counted(new.records, 'record')} did not exist before{avoids}"
    )


def _categories(chosen: CategoryFacts, *, has_weights: bool) -> Facts:
    """Return rows on groups without a complete record, and on the totals of categories."""
    rows: Facts = []
    if chosen.incomplete_groups:
        groups = counted(chosen.incomplete_groups, "group")
        have = "has" if chosen.incomplete_groups == 1 else "have"
        each = "it releases" if chosen.incomplete_groups == 1 else "they release"
        rows.append(
            ("categories", f"{groups} {have} no complete record; {each} each column on its own")
        )
    if kept := chosen.margins:
        of = "in weight" if has_weights else "records"
        rows.append(
            (
                "margins",
                f"totals of categories differ by {kept.deviation:,.6g} {of} in all, not by "
                f"{kept.least_loss_deviation:,.6g} (lower bound {kept.lower_bound:,.3g}); the "
                f"categories lose {percent(kept.extra_loss, 2)} more",
            )
        )
    return rows
