"""Published methods for t-closeness: deal out records by the sensitive value, or merge groups."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.errors import ParameterError
from microagg.core.progress import report
from microagg.core.words import counted
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.rules.rules import ORDERED
from microagg.partitions.base import Partitioner
from microagg.partitions.mdav import MDAV

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

# Mergers between two reports of progress, and the slack that rules have for rounding.
_MERGERS_PER_CALL, _ROUNDING = 200, 1e-12


class _Close(Partitioner):
    """Groups by a method that is made for one t-closeness rule, repaired for all others."""

    _needs_order: ClassVar[bool]

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def _group(self, X: NDArray[Any], k: int) -> Labels:  # noqa: ARG002
        raise self._refusal("none")

    def _group_under(self, X: NDArray[Any], k: int, rules: "tuple[GroupRule, ...]") -> Labels:
        from microagg.partitions.search.repairing import repair
        from microagg.requirements.coded import pack

        rule = self._rule_of(rules)
        X = without_offset(X)
        labels = self._published(X, k, rule)
        self.published_labels_ = summarise(X, labels).labels
        return repair(X, labels, pack(rules, k, len(X)))

    def _rule_of(self, rules: "tuple[GroupRule, ...]") -> "GroupRule":
        """Return the one rule that the method works on."""
        close = [rule for rule in rules if rule.is_closeness]
        fitting = [rule for rule in close if rule.kind == ORDERED or not self._needs_order]
        if len(fitting) != 1:
            got = "none" if not fitting else counted(len(fitting), "column")
            raise self._refusal(got if fitting or not close else "only values without an order")
        return fitting[0]

    def _refusal(self, got: str) -> ParameterError:
        what = "one column of ordered values" if self._needs_order else "one column"
        return ParameterError(
            f"{type(self).__name__} needs t-closeness of exactly {what}; got {got}. Give "
            "t_closeness (--t-closeness COLUMN=T; in fit, GroupRule.ordered_closeness(codes, t) "
            "among the requirements), or use another method, such as 'auto'."
        )

    @abstractmethod
    def _published(self, X: Floats, k: int, rule: "GroupRule") -> Labels:
        """Return the groups as the published algorithm makes them."""


class TCloseFirst(_Close):
    """Groups that resemble the whole table in one sensitive column: t-closeness first.

    The records, sorted by the sensitive value, are cut into as many parts as a group needs records
    for a distance of at most t, at least k. The record farthest from the mean of what is left takes
    the nearest one from every part, then the record farthest from that one does, and so on
    (algorithm 3 of [1]_). If all values differ, every group is within t; ties may exceed it, and
    then, as with other requirements, the groups that fall short are repaired by the cheapest
    mergers, moves and exchanges.

    `fit` needs the requirement: `GroupRule.ordered_closeness(codes, t)`. Time O(n^2 d / s) for
    groups of s records, memory O(n d).

    Parameters
    ----------
    k : least number of records in a group

    Attributes
    ----------
    published_labels_ : the groups before any repair

    References
    ----------
    .. [1] J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, "t-closeness through
       microaggregation: strict privacy with enhanced utility preservation", IEEE Transactions on
       Knowledge and Data Engineering 27(11), 2015.

    Examples
    --------
    >>> from microagg.requirements import GroupRule
    >>> X, income = [[0.0], [1.0], [8.0], [9.0]], [0, 3, 1, 2]
    >>> rule = GroupRule.ordered_closeness(income, 0.25)
    >>> TCloseFirst(k=2).fit(X, requirements=[rule]).labels_.tolist()
    [0, 0, 1, 1]
    """

    _needs_order = True

    def _published(self, X: Floats, k: int, rule: "GroupRule") -> Labels:
        from microagg.partitions.search.dealing import deal_out

        return deal_out(X, rule, k)


class TCloseMerge(_Close):
    """Groups of MDAV, merged until all resemble the whole table in one sensitive column.

    The group whose values are farthest from those of the table merges with the group of the nearest
    mean, again and again, until all are within t (algorithm 1 of [1]_). Ties go to the group of
    the lower number. Other requirements are met by repairs afterwards.

    `fit` needs the requirement: `GroupRule.ordered_closeness(codes, t)`, or `equal_closeness` for
    values without an order. Time O(n^2 d / k) at worst, memory O(n d).

    Parameters
    ----------
    k : least number of records in a group

    Attributes
    ----------
    published_labels_ : the groups before any repair

    References
    ----------
    .. [1] J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, "t-closeness through
       microaggregation: strict privacy with enhanced utility preservation", IEEE Transactions on
       Knowledge and Data Engineering 27(11), 2015.

    Examples
    --------
    >>> from microagg.requirements import GroupRule
    >>> X, income = [[0.0], [1.0], [8.0], [9.0]], [0, 3, 1, 2]
    >>> rule = GroupRule.ordered_closeness(income, 0.25)
    >>> TCloseMerge(k=2).fit(X, requirements=[rule]).labels_.tolist()
    [0, 0, 1, 1]
    """

    _needs_order = False

    def _published(self, X: Floats, k: int, rule: "GroupRule") -> Labels:
        from microagg.kernels.annealing.arrangement import make_arrangement
        from microagg.kernels.annealing.merging import measure_groups, merge_farthest
        from microagg.requirements.coded import pack

        labels: Labels = MDAV(k).fit(X).labels_
        most = int(labels.max()) + 1
        none = np.zeros((len(X), 0), dtype=np.intp)
        arrangement = make_arrangement(X, none, labels, most, seed=0)
        rules = pack([rule], k, len(X))
        distances, limit = np.empty(most), rule.limit + _ROUNDING
        measure_groups(arrangement, rules, distances)
        for begin in range(0, most, _MERGERS_PER_CALL):
            report("merging groups", begin, most)
            merge_farthest(arrangement, rules, distances, limit, _MERGERS_PER_CALL)
        return arrangement.labels
