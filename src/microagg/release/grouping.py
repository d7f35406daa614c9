"""Third stage: groups, found separately for each block and within each stratum."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from microagg.bounds.choice import Bound, find_bound
from microagg.bounds.choices import AUTO, NONE
from microagg.bounds.lower import InterruptedBound
from microagg.constraints.system import System
from microagg.core.arrays import Floats, Labels, Order
from microagg.core.errors import BOUND_INTERRUPTED, DataError, InterruptedSearchWarning, warn
from microagg.core.estimator import Estimator
from microagg.core.registry import DEFAULT, PLAN_OPTIONS, Method, find
from microagg.core.validation import check_seed
from microagg.core.words import short_name
from microagg.kernels.basics.group_sums import summarise
from microagg.measures.utility.indicator_errors import indicator_errors
from microagg.measures.utility.information_loss import Errors, squared_errors
from microagg.plans.manifest_facts import Promise
from microagg.plans.plan import Plan
from microagg.release.constrained import scaled_equalities
from microagg.release.loss_so_far import LossSoFar
from microagg.release.parts import fit_parts, fit_under
from microagg.release.records import Block, Records

if TYPE_CHECKING:
    from microagg.fuzzy.base import FuzzyMicroaggregator
    from microagg.requirements.coded import GroupRule

# Exact distances between very many categories need a wide matrix: at most this many numbers by
# default, and this many if a bound is asked for.
_MOST_BY_DEFAULT, _MOST_NUMBERS = 2**21, 2**26


@dataclass(frozen=True, eq=False)
class GroupingPart:
    """Records that were grouped separately, by the columns of one block.

    `fitted` is the fitted estimator; its labels are those of `rows`.
    """

    block: int
    rows: Labels
    fitted: Estimator


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of every block, how they were found, and their errors about their means.

    `estimator` is the one that was asked for, `seed` the seed that it or the next stage uses, or
    None if neither uses randomness.
    """

    method: Method
    estimator: Estimator
    labels: tuple[Labels, ...]  # one for each block
    parts: tuple[GroupingPart, ...]
    errors: Errors
    promise: Promise
    seed: int | None

    @property
    def hold_k(self) -> bool:
        """Whether every group of every block has at least k records; drawn ones may have fewer."""
        return not self.method.draws or bool(self.estimator.get_params()["strict_k"])

    @property
    def interrupted(self) -> bool:
        """Whether a search was ended from the keyboard."""
        return any(part.fitted.interrupted_ for part in self.parts)

    @property
    def timed_out(self) -> bool:
        """Whether a search was ended by the clock."""
        return any(part.fitted.timed_out_ for part in self.parts)

    @property
    def sizes(self) -> Labels:
        """The sizes of the groups of all blocks."""
        return np.concatenate([np.bincount(labels) for labels in self.labels])

    def labels_as_array(self, order: Order | None = None) -> Labels:
        """Return the group of every record, read-only; with several blocks, a column for each.

        If the records come in another `order`, groups are numbered by the first records there.
        """
        each = self.labels
        if order is not None:
            each = tuple(summarise(np.zeros((len(own), 1)), own[order]).labels for own in each)
        labels = each[0] if len(each) == 1 else np.column_stack(each)
        labels.flags.writeable = False
        return labels


def estimator_of(plan: Plan) -> Estimator:
    """Return the estimator that a plan asks for; if it takes a seed, it gets a whole number."""
    method = find(plan.method)
    options = {name: getattr(plan, name) for name in PLAN_OPTIONS if name in method.options}
    if "random_state" in options:
        options["random_state"] = check_seed(plan.random_state)
    return method.load()(k=plan.k, **options, **plan.method_options)


def group(
    records: Records,
    plan: Plan,
    systems: Sequence[System | None] = (),
    rules: "Sequence[GroupRule]" = (),
) -> Groups:
    """Group the records of every stratum by the columns of every block, so that groups meet rules.

    Methods that draw take the equalities of the `systems` into account.
    """
    method, estimator = find(plan.method), estimator_of(plan)
    if method.draws and systems and systems[0] is not None:
        estimator.set_params(constraints=scaled_equalities(systems[0], records))
    labels, parts = _fit(estimator, records, rules)
    return Groups(
        method,
        estimator,
        labels,
        parts,
        _errors(method, labels, parts, records),
        promise=Promise.HYBRID if plan.hybrid else _promise(method, parts[0].fitted, records),
        seed=plan.random_state if plan.hybrid else _seed(estimator),
    )


def _seed(estimator: Estimator) -> int | None:
    """Return the seed of the estimator, if it uses randomness."""
    if not estimator.uses_randomness():
        return None
    return int(estimator.get_params()["random_state"])


def _fit(
    estimator: Estimator, records: Records, rules: "Sequence[GroupRule]"
) -> tuple[tuple[Labels, ...], tuple[GroupingPart, ...]]:
    strata = records.rows_of_strata()
    pieces = [(block, rows) for block in range(len(records.blocks)) for rows in strata]
    if len(pieces) == 1:
        with LossSoFar([(records.X, strata[0])]).of_part(0):
            fitted = fit_under(estimator, records.X, rules)
        return (fitted.labels_,), (GroupingPart(0, strata[0], fitted),)
    return _in_pieces(estimator, records, pieces, rules)


def _in_pieces(
    estimator: Estimator,
    records: Records,
    pieces: list[tuple[int, Labels]],
    rules: "Sequence[GroupRule]",
) -> tuple[tuple[Labels, ...], tuple[GroupingPart, ...]]:
    n = len(records.frame)
    raw = [np.empty(n, dtype=np.intp) for _ in records.blocks]
    firsts = [0] * len(raw)
    parts: list[GroupingPart] = []
    matrices = [(records.blocks[block].X, rows) for block, rows in pieces]
    for (block, rows), fitted in zip(pieces, fit_parts(estimator, matrices, rules), strict=True):
        raw[block][rows] = fitted.labels_ + firsts[block]
        firsts[block] += fitted.n_groups_
        parts.append(GroupingPart(block, rows, fitted))
    labels = [summarise(np.zeros((n, 1)), own).labels for own in raw]
    return tuple(labels), tuple(parts)


def _errors(
    method: Method, labels: Sequence[Labels], parts: Sequence[GroupingPart], records: Records
) -> Errors:
    """Return the squared errors of all blocks; for methods that draw, about the drawn centres."""
    if method.draws:
        return squared_errors(records.X, labels[0], drawn_centers(parts[0].fitted))
    return errors_of(records, labels)


def errors_of(records: Records, labels: Sequence[Labels]) -> Errors:
    """Return the squared errors of the groups of all blocks about their means.

    Distances are exact, also where groups are searched for in fewer dimensions.
    """
    each = []
    for block, own in zip(records.blocks, labels, strict=True):
        each.append(_exact_errors(block, records, own))
    return in_table_weights(each, records.weight_unit)


def _exact_errors(block: Block, records: Records, labels: Labels) -> Errors:
    sse = sst = 0.0
    axes = block.encoding.exact_axes(block.X)
    if axes.shape[1]:
        sse, sst = squared_errors(axes, labels, weights=records.weights)
    for fitted in block.encoding.compact:
        rows = fitted.apply(records.columns[fitted.type.name]).rows
        assert rows is not None
        own = indicator_errors(rows, labels, records.weights, fitted.shares)
        sse, sst = sse + fitted.apart * own.sse, sst + fitted.apart * own.sst
    return Errors(sse, sst)


def in_table_weights(each: Sequence[Errors], weight_unit: float) -> Errors:
    """Return the sum of errors, in which a record of weight 2 counts as two."""
    sse, sst = (sum(errors) * weight_unit for errors in zip(*each, strict=True))
    if not np.isfinite(sst):
        raise DataError(
            "weights times squared values are too large to add up. Divide all weights by a "
            "constant first, or use --scale standardise (scale='standardise' in Python)."
        )
    return Errors(sse, sst)


def drawn_centers(estimator: Estimator) -> Floats:
    """Return the centres that some record drew; those that none did come after them."""
    centers: Floats = estimator.centers_[: estimator.n_groups_]
    return centers


def _promise(method: Method, estimator: Estimator, records: Records) -> Promise:
    if estimator.get_params()["k"] == 1:
        return Promise.NOTHING
    if len(records.blocks) > 1:
        return Promise.BLOCKWISE
    if not method.draws or estimator.get_params()["strict_k"]:
        return Promise.K_ANONYMITY
    return Promise.NOTHING if n_expecting_fewer(estimator) else Promise.PROBABILISTIC


def n_expecting_fewer(estimator: Estimator) -> int:
    """Return how many centres of a draw expect fewer than k records."""
    drawn = cast("FuzzyMicroaggregator", estimator)
    enough = drawn.k * (1.0 - 1e-9)  # sums of memberships round
    return int(np.count_nonzero(drawn.expected_sizes_ < enough))


def bound_of(asked: str, plan: Plan, records: Records, groups: Groups) -> Bound:
    """Return the bound, if it was asked for and not interrupted."""
    if records.weights is not None and plan.bound != NONE:
        return Bound(why_none="no bound takes weights into account")
    if asked == NONE:
        return Bound()
    if not groups.hold_k:
        return Bound(why_none="records drew their values, and groups may hold fewer than k")
    by_default = asked == AUTO
    most = _MOST_BY_DEFAULT if by_default else _MOST_NUMBERS
    if why_none := too_many_categories(records, most):
        ask = "; --bound fast asks for it" if by_default else ""
        return Bound(why_none=f"{why_none}{ask}")
    try:
        return _sum_of_bounds(asked, plan, records, groups)
    except KeyboardInterrupt:
        warn(
            "interrupted while computing a bound: the groups are complete, but there is no bound.",
            InterruptedSearchWarning,
        )
        return Bound(why_none="it was interrupted")


def too_many_categories(records: Records, most: int) -> str:
    """Say why there is no bound where exact distances need a matrix of more than `most` numbers."""
    for block in records.blocks:
        compact = block.encoding.compact
        if compact and len(block.X) * block.encoding.exact_width > most:
            widest = max(compact, key=lambda own: own.n_categories)
            return (
                f"{short_name(widest.type.name)!r} has {widest.n_categories:,} categories, and a "
                "bound needs an axis for each"
            )
    return ""


def _sum_of_bounds(asked: str, plan: Plan, records: Records, groups: Groups) -> Bound:
    """Return the sum of the bounds of all parts; after an interrupt, the rest get fast ones."""
    total, tightness = 0.0, None
    is_interrupted = False
    n_records = sum(len(part.rows) for part in groups.parts)
    exact = [
        block.encoding.exact_matrix([records.columns[name] for name in block.names], block.X)
        for block in records.blocks
    ]
    for part in groups.parts:
        X = exact[part.block]
        is_searched = X is records.blocks[part.block].X  # neighbours are those of that matrix
        if len(part.rows) < len(X):
            X = np.ascontiguousarray(X[part.rows])
        try:
            found = find_bound(
                "fast" if is_interrupted else asked,
                X,
                part.fitted.labels_,
                plan.k,
                searched=groups.method.name == DEFAULT,
                time_budget=plan.time_budget,
                share=len(X) / n_records,
                near=getattr(part.fitted, "near_", None) if is_searched else None,
            )
        except InterruptedBound as interrupted:
            is_interrupted, found = True, Bound(asked, interrupted.bound)
        if found.sse is None:
            return found
        total += found.sse
        tightness = tightness or found.tightness
    if is_interrupted:
        warn(BOUND_INTERRUPTED, InterruptedSearchWarning)
    # Sums round; a bound must not be rounded up.
    return Bound(tightness, total if len(groups.parts) == 1 else total * (1.0 - 1e-12))
