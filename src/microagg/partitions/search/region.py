"""The search of one region: a plain function of arrays, for regions in memory or anywhere else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from microagg.core.arrays import Floats, Labels, Mask, Order
from microagg.core.parallel import side_by_side
from microagg.kernels.basics.group_sums import GroupSums, summarise
from microagg.kernels.neighbours.blocks import split_into_boxes
from microagg.kernels.search.thinning import dissolve_groups
from microagg.partitions.mdav import MDAV
from microagg.partitions.search.annealing import Annealing, Offer
from microagg.partitions.search.neighbours import close_lists

if TYPE_CHECKING:
    from microagg.partitions.search.ruled import RuledAnnealing
    from microagg.requirements.coded import GroupRule

# Neighbours of a record whose groups are tried: this many, or 2k + 5 of them if that is more.
_NEIGHBOURS = 15
# Records that MDAV groups at a time, or 20k if that is more. The search that follows repairs the
# borders.
_FIRST_GROUPS = 2_500


def _ignore(*_: object) -> None:
    """Take no notice of better groups until the search has ended."""


def n_close(k: int) -> int:
    """How many neighbours of each record the search of a region uses."""
    return max(_NEIGHBOURS, 2 * k + 5)


@dataclass(frozen=True)
class RegionEffort:
    """How much work to do on each region, in each of several rounds of other regions."""

    trials_per_record: float  # in all rounds together, at k = 3
    rounds: int
    dissolved: float  # share of the first groups that are dissolved, so that others can spare some
    merges: bool  # whether trials merge groups; it takes many trials to pay
    # First and last temperature: the mean loss that is accepted, as a share of the groups' error.
    temperatures: tuple[float, float] = (3e-4, 6e-5)
    growth: float = 2.0  # the cost of a trial grows with k to this power

    def trials(self, n_records: int, k: int) -> int:
        """Number of trials for a region, in one round."""
        per_round = self.trials_per_record / self.rounds
        return int(per_round * n_records * (3 / k) ** self.growth)

    def turn(self, number: int) -> "RegionEffort":
        """Return the effort of one of the rounds; each begins as cool as the last one ended."""
        hot, cold = self.temperatures
        first, last = (hot * (cold / hot) ** ((number + end) / self.rounds) for end in (0, 1))
        return replace(self, temperatures=(first, last))

    def without_trials(self) -> "RegionEffort":
        """Return the effort of a round of steps that gain, and no trials."""
        return replace(self, trials_per_record=0.0)


def search_region(
    X: Floats,
    k: int,
    effort: RegionEffort,
    seed: int,
    *,
    labels: Labels | None = None,
    rules: "Sequence[GroupRule]" = (),
) -> Labels:
    """Return groups of the records of a region, better than the given ones if there are any.

    A pure function of arrays: the same arguments give the same groups in any process. To regroup
    records across the borders of regions, call it with the records of whole groups from several,
    and their labels. Without labels it begins with groups of MDAV, or under t-closeness with groups
    that are dealt out (Soria-Comas et al. 2015). Under rules, which the region must meet as a
    whole, it repairs the groups that break one. Time nearly proportional to the
    number of records, some 5,000 to 50,000.

    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> effort = RegionEffort(trials_per_record=1, rounds=1, dissolved=0.05, merges=True)
    >>> first = search_region(X, 3, effort, seed=1)
    >>> again = search_region(X, 3, effort, seed=2, labels=first)
    >>> summarise(X, again).sse < summarise(X, first).sse < summarise(X, MDAV(3).fit_predict(X)).sse
    True
    """
    if len(X) < 2 * k or k == 1:
        return np.zeros(len(X), dtype=np.intp) if k > 1 else np.arange(len(X))
    order = boxes_order(X)
    ordered = X[order]
    near = close_lists(ordered, n_close(k))
    rng = np.random.default_rng(seed)
    rules = [rule.within(order) for rule in rules]
    closeness = [rule for rule in rules if rule.is_closeness]
    if labels is not None:
        found = summarise(ordered, np.unique(labels[order], return_inverse=True)[1]).labels
    elif closeness:  # groups of MDAV are far from it, and to repair them takes long
        from microagg.partitions.search.dealing import deal_out_parts

        strictest = min(closeness, key=lambda rule: rule.limit)
        found = deal_out_parts(ordered, strictest, k, rng)
    else:
        found = thin_out(ordered, groups_of_parts(ordered, k), near, k, effort.dissolved, rng)
    search = region_search(
        *(ordered, near, found, k, effort, int(rng.integers(2**63))), rules=rules
    )
    search.run(effort.trials(len(X), k))
    result = np.empty(len(X), dtype=np.intp)
    result[order] = search.labels
    return summarise(X, result).labels


def region_search(
    X: Floats,
    near: Labels,
    labels: Labels,
    k: int,
    effort: RegionEffort,
    seed: int,
    *,
    rules: "Sequence[GroupRule]" = (),
    waiting: Labels | None = None,
    offer: Offer = _ignore,
) -> "Annealing | RuledAnnealing":
    """Lay out the search of a region whose neighbours are listed."""
    temperatures = effort.temperatures
    if not rules:
        return Annealing(
            *(X, near, labels, k),
            seed=seed,
            temperatures=temperatures,
            offer=offer,
            merges=effort.merges,
            waiting=waiting,
        )
    from microagg.partitions.search.repairing import repair
    from microagg.partitions.search.ruled import RuledAnnealing
    from microagg.requirements.coded import pack

    packed = pack(rules, k, len(X))
    repaired = repair(X, labels, packed, near)
    return RuledAnnealing(
        X, near, repaired, packed, seed=seed, temperatures=temperatures, offer=offer
    )


def boxes_order(X: Floats) -> Order:
    """Return an order in which records that are near each other are near in memory as well."""
    order = np.arange(len(X))
    split_into_boxes(X, order)
    return order


def groups_of_parts(X: Floats, k: int, n_jobs: int = 1) -> Labels:
    """Return the groups of MDAV for parts of the records, which are ordered by `boxes_order`."""
    n_parts = max(1, len(X) // max(_FIRST_GROUPS, 20 * k))
    parts = np.array_split(np.arange(len(X)), n_parts)
    found = side_by_side(partial(_mdav, X, k), parts, n_jobs=n_jobs, task="first groups")
    return join_parts(parts, found)


def _mdav(X: Floats, k: int, rows: Labels) -> Labels:
    labels: Labels = MDAV(k).fit_predict(X[rows])
    return labels


def join_parts(parts: Sequence[Labels], found: Sequence[Labels]) -> Labels:
    """Return labels of all records, from the rows of each part and the labels found there.

    >>> join_parts([np.array([0, 2]), np.array([1, 3])], [np.array([0, 0]), np.array([0, 1])])
    array([0, 1, 0, 2])
    """
    labels, first = np.empty(sum(map(len, parts)), dtype=np.intp), 0
    for rows, own in zip(parts, found, strict=True):
        labels[rows] = own + first
        first += int(own.max()) + 1
    return labels


def thin_out(
    X: Floats, labels: Labels, near: Labels, k: int, share: float, rng: np.random.Generator
) -> Labels:
    """Dissolve a share of the groups, so that others hold records that they can spare.

    Groups whose records would cost less elsewhere are dissolved in any case: those that straddle
    clusters, which steps of single records cannot mend. Labels are from 0 on, before and after.
    """
    groups = summarise(X, labels)
    is_chosen = rng.random(len(groups.sizes)) < share
    is_chosen |= _cost_less_elsewhere(X, groups, near)
    begins = np.concatenate(([0], groups.sizes.cumsum()))
    members = groups.labels.argsort(kind="stable")
    thinned, sizes = groups.labels.copy(), groups.sizes.copy()
    chosen = np.flatnonzero(is_chosen)
    dissolve_groups(near, k, chosen, is_chosen, members, begins, thinned, sizes)
    return summarise(X, thinned).labels


def _cost_less_elsewhere(X: Floats, groups: GroupSums, near: Labels) -> Mask:
    """Which groups have a larger error than their records would add to neighbouring groups."""
    gains = np.zeros(len(groups.sizes))
    for rows in np.array_split(np.arange(len(X)), max(1, len(X) // _FIRST_GROUPS)):
        own, around = groups.labels[rows], groups.labels[near[rows]]
        is_other = around != own[:, None]
        other = around[np.arange(len(rows)), is_other.argmax(axis=1)]
        sizes = groups.sizes[other]
        cost = ((X[rows] - groups.centers[other]) ** 2).sum(axis=1) * sizes / (sizes + 1)
        cost[~is_other.any(axis=1)] = np.inf
        saved = ((X[rows] - groups.centers[own]) ** 2).sum(axis=1)
        np.add.at(gains, own, saved - cost)
    return gains > 0.0
