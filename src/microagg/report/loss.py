"""The information loss as a report may show it: of the columns it may show, in steps.

A loss in per cent with all its digits, the released table and the number of records are enough to
work out in how many records a category was replaced. So it is made from columns without rare values
(`microagg.report.rare`) and rounded up to what `least` records make up of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from microagg.measures.utility.column_loss import ColumnLoss, column_loss
from microagg.plans.manifest import Manifest
from microagg.report.guarded import QUANTILE_WINDOWS
from microagg.report.rare import CATEGORIES, SafeColumns
from microagg.report.rounding import round_step
from microagg.report.steps import Steps
from microagg.report.whole import WholeTable
from microagg.tables.pairs import Pair, PairedColumn

_Loss = TypeVar("_Loss", bound=ColumnLoss)


@dataclass(frozen=True, eq=False)
class SafeLoss:
    """What may be shown of the loss.

    `measured` is the manifest with the losses of the columns that count, `manifest` the same with
    losses rounded up, and the bound down, to multiples of `step` per cent. `without` are columns
    that do not count. `why_not` says why no loss is shown, if none is; `of_groups` whether the loss
    of the groups is. `from_sample` says that it is that of a sample of the records.
    """

    measured: Manifest
    manifest: Manifest
    step: float
    without: tuple[str, ...] = ()
    why_not: str = ""
    of_groups: bool = True
    from_sample: bool = False


def safe_loss(
    pair: Pair,
    safe: SafeColumns,
    done: Manifest,
    least: int,
    *,
    public: bool,
    whole: WholeTable | None = None,
) -> SafeLoss:
    """Return the losses of a release, of the columns that may be shown.

    A public one is also without columns that a few records dominate, and is not shown at all with
    fewer than ten times `least` records.
    """
    kept = safe.pair if public else replace(pair, columns=safe.varying)
    counted = [name for name, column in pair.columns.items() if column.weight > 0.0]
    without = tuple(name for name in counted if name not in kept.columns)
    merged = [name for name in counted if safe.merged[name] is not pair.columns[name]]
    from_sample = whole is not None and not _is_exact(whole, counted, public=public)
    if whole is not None and not from_sample:
        kept = replace(pair, columns={name: pair.columns[name] for name in counted})
        merged, without = [], ()
    why_not = ""
    if public and pair.n_in_all < QUANTILE_WINDOWS * least:
        why_not = f"with fewer than {QUANTILE_WINDOWS * least:,} records, it would reveal values"
    elif len(without) == len(counted) and done.information_loss is not None:
        why_not = (
            f"fewer than {least:,} records differ from the others, if any do, or dominate a "
            "column, and it would reveal their number or their values"
        )
    if why_not:
        measured = done.model_copy(update={"information_loss": None, "worst_columns": {}})
    elif merged or set(without) - safe.constant or from_sample:
        measured = _measured(done, column_loss(kept))
    else:
        measured = done
    step = loss_step(kept.columns.values(), least)
    # The groups' own loss is of all columns. Where a few counts describe them, it would tell these.
    of_groups = any(name in safe.uncountable for name in counted)
    if whole is None:
        of_groups = of_groups and not without if public else of_groups or not merged
    else:
        of_groups = any(whole.columns[name].is_uncountable for name in counted)
        of_groups = of_groups and not (public and without)
    rounded = _rounded(measured, kept.columns, least, Steps(step))
    return SafeLoss(measured, rounded, step, without, why_not, of_groups, from_sample)


def _is_exact(whole: WholeTable, counted: Iterable[str], *, public: bool) -> bool:
    """Whether the loss of all records may be shown: all columns have too many values to count.

    Otherwise it is estimated, whether there are rare values or not, so that it does not reveal
    which.
    """
    columns = [whole.columns[name] for name in counted]
    if not all(own.is_uncountable for own in columns):
        return False
    return not public or not any(own.is_dominated for own in columns)


def _measured(done: Manifest, found: ColumnLoss) -> Manifest:
    """Return the manifest with the losses of some columns, unless it does not know any."""
    if done.information_loss is None:
        return done
    worst = found.worst_columns
    if not worst and len(done.quasi_identifiers) > 1:
        worst = {name: lost for name, lost in found.columns.items() if lost is not None}
    return done.model_copy(
        update={"information_loss": found.information_loss, "worst_columns": worst}
    )


def _rounded(
    done: Manifest, columns: Mapping[str, PairedColumn], least: int, steps: Steps
) -> Manifest:
    """Return the manifest with its losses as they may be shown, the worst columns first."""
    worst = {
        name: Steps(loss_step([column], least)).up(done.worst_columns[name])
        for name, column in columns.items()
        if name in done.worst_columns
    }
    changes: dict[str, Any] = {
        "information_loss": steps.known(done.information_loss),
        "worst_columns": dict(sorted(worst.items(), key=lambda own: -own[1])),
        "grouping_loss": steps.up(done.grouping_loss),
        "lower_bound": None if done.lower_bound is None else steps.down(done.lower_bound),
    }
    if done.constraints is not None:
        added = steps.up(done.constraints.added_information_loss)
        changes["constraints"] = done.constraints.model_copy(
            update={"added_information_loss": added}
        )
    return done.model_copy(update=changes)


def rounded_loss(found: _Loss, columns: Mapping[str, PairedColumn], least: int) -> _Loss:
    """Return losses that were measured, as they may be shown."""
    steps = Steps(loss_step(columns.values(), least))
    each = {
        name: Steps(loss_step([columns[name]], least)).known(lost)
        for name, lost in found.columns.items()
    }
    return replace(found, information_loss=steps.known(found.information_loss), columns=each)


def loss_step(columns: Iterable[PairedColumn], least: int) -> float:
    """Return how much `least` records with another value make up of a loss, in per cent.

    It is 1, 2 or 5 times a power of ten, and at most 100.
    """
    parts = [(column.weight, _part_of_one(column)) for column in columns]
    weight = sum(own for own, _ in parts)
    if weight <= 0.0:
        return 100.0
    most = max(own * part for own, part in parts) / weight
    return min(100.0, round_step(100.0 * least * most))


def _part_of_one(column: PairedColumn) -> float:
    """Return what one record with another value adds to the loss of a column, as a share.

    Of numbers that are not whole it is unknown, and taken for that of a standard deviation.
    """
    n = len(column.before.numbers)
    if not column.is_scaled:
        _, counts = np.unique(column.before.codes, return_counts=True)
        spread = float(1.0 - np.square(counts / n).sum())
        return 2.0 / (n * spread) if spread > 0.0 else 1.0 / n
    deviation = column.before.scaling.unit
    if deviation == 0.0:
        return 1.0 / n
    gap = 1.0
    if column.before.numbers.dtype.kind == "f":
        values = np.unique(column.before.present)
        gap = float(np.diff(values).min()) if len(values) <= CATEGORIES else 0.0
    return min(float(n), max(1.0, (gap / deviation) ** 2)) / n
