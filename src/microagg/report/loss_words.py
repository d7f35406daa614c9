"""What was lost, and how close to optimal that is, in plain sentences.

Limits are rounded so that they stay true: lower bounds down, gaps up. Losses come rounded up to
steps (`microagg.report.loss`), so the sentences say "at most"; the gap is that before rounding.
"""

from collections.abc import Iterator, Sequence

from microagg.core.words import at_least, at_most, grouping_loss_of, percent, worst_losses
from microagg.plans.manifest import Manifest
from microagg.report.wording import listed

_LIMIT_HOLDS = (
    "The other requirements only rule some groups out, so this limit also holds for those that "
    "are left."
)


def loss_sentences(
    done: Manifest,
    *,
    public: bool = False,
    without: Sequence[str] = (),
    of_groups: bool = True,
) -> list[str]:
    """State what was lost, and how close to optimal the groups are.

    Figures of single columns are not for a public report. The loss may be `without` columns.
    """
    groups = _loss_of_groups(done, without) if of_groups else ()
    return [*_loss_of_values(done, without, public=public), *groups]


def _loss_of_values(done: Manifest, without: Sequence[str], *, public: bool) -> Iterator[str]:
    loss = done.information_loss
    if loss is None:
        yield "It is not known what the released values lose."
        return
    kept = (
        "Means, variances and correlations of these columns are preserved."
        if done.hybrid is not None
        else "At 0 % nothing is lost; 100 % is as bad as releasing overall averages only."
    )
    others = f" other than {listed(without)}" if without else ""
    yield (
        f"In the protected columns{others}, the released values differ from the original ones by "
        f"at most {percent(loss)} of all differences between records. (Differences are measured as "
        f"sums of squares, column by column, and averaged over the columns.) {kept}"
    )
    if done.worst_columns and not public:
        worst = worst_losses(done.worst_columns, 5)
        yield f"The columns that lose most, and how much at most: {worst}."


def _loss_of_groups(done: Manifest, without: Sequence[str]) -> Iterator[str]:
    loss, found = f"at most {percent(done.grouping_loss)}", done.constraints
    space = grouping_loss_of(done.scale)
    if without:
        space = f"{space}, of all protected columns"
    if done.is_drawn:
        yield f"The records lose {loss} about the typical records that they drew ({space})."
    else:
        yield (
            f"Groups that release their exact means would lose {loss} ({space}). {_closeness(done)}"
        )
    if found and found.groups_moved:
        added = percent(found.added_information_loss)
        yield f"Satisfying the constraints adds at most {added} to that."


def _closeness(done: Manifest) -> str:
    k, lower = done.k, done.lower_bound
    if k == 1:
        return "At k = 1, nothing needs to be lost."
    if done.proved_optimal:
        return f"This is proved to be optimal: no other groups of at least {k:,} records lose less."
    if lower is not None and done.requirements:
        return f"{_limits(done, lower)} {_LIMIT_HOLDS}"
    if lower is None and done.weights is not None:
        return (
            "No bound takes weights into account, so it is not known how close to optimal this is."
        )
    if lower is None:
        why = f" ({done.why_no_bound})" if done.why_no_bound else ""
        return f"No bound was computed{why}, so it is not known how close to optimal this is."
    return _limits(done, lower)


def _limits(done: Manifest, lower: float) -> str:
    proved = (
        f"It is proved that no groups of at least {done.k:,} records lose less than "
        f"{at_least(lower)}."
    )
    if done.gap is None:
        return proved
    if not lower:  # as rounded down; the gap is from what it was
        return f"It is proved that this is at most {at_most(done.gap)} above the least possible."
    return (
        f"{proved} Before rounding, their loss is at most {at_most(done.gap)} above the least "
        "possible. It may be closer than that, as the proof gives only a limit."
    )
