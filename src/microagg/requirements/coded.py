"""Requirements on the records of a group, as arrays: what the methods work with.

`MDAV(k=5).fit(X, requirements=[GroupRule.distinct(codes, 3)])` forms groups that meet the rule. The
table layer makes the codes, from units and sensitive columns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.core.arrays import Floats, Labels, Rows
from microagg.core.errors import GuaranteeError, ParameterError
from microagg.core.validation import check_count, check_number
from microagg.kernels.rules.rules import (
    DISTINCT,
    DOMINANCE,
    ENTROPY,
    EQUAL,
    ORDERED,
    P_PERCENT,
    Rules,
    groups_that_fail,
)


@dataclass(frozen=True, eq=False)
class GroupRule:
    """A condition on the codes of a group's records. Merging groups that meet it never breaks it.

    `shares` are those of the codes among all records, `amounts` what each record contributes to a
    total, `count` how many contributors dominate it.

    >>> from microagg.partitions import Auto
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> Auto(k=2, random_state=0).fit(X).labels_.tolist()
    [0, 0, 1, 1]
    >>> two_answers = GroupRule.distinct([0, 0, 1, 1], least=2)
    >>> Auto(k=2, random_state=0).fit(X, requirements=[two_answers]).labels_.tolist()
    [0, 1, 0, 1]
    """

    kind: int
    codes: Rows
    limit: float
    shares: Floats
    count: int = 0
    amounts: Floats | None = None

    @classmethod
    def distinct(cls, codes: ArrayLike, least: int) -> Self:
        """Return the rule that a group has `least` different codes; -1 counts for nothing."""
        return cls(DISTINCT, *_with_shares(codes, check_count("least", least), lowest=-1))

    @classmethod
    def entropy(cls, codes: ArrayLike, least: float) -> Self:
        """Return the rule that the entropy is that of `least` equally frequent codes, or more."""
        return cls(ENTROPY, *_with_shares(codes, check_number("least", least, low=1.0)))

    @classmethod
    def ordered_closeness(
        cls, codes: ArrayLike, t: float, overall: ArrayLike | None = None
    ) -> Self:
        """Return the rule that codes are distributed as in all records, up to a distance t.

        It is the earth mover's distance, in which neighbouring codes are 1 / (m - 1) apart.
        `overall` counts each code in all records, if these are only some of them.
        """
        limit = check_number("t", t, low=0.0, high=1.0)
        return cls(ORDERED, *_with_shares(codes, limit, overall=overall))

    @classmethod
    def equal_closeness(cls, codes: ArrayLike, t: float, overall: ArrayLike | None = None) -> Self:
        """Return the rule that codes are distributed as in all records, all equally far apart."""
        limit = check_number("t", t, low=0.0, high=1.0)
        return cls(EQUAL, *_with_shares(codes, limit, overall=overall))

    @classmethod
    def p_percent(cls, amounts: ArrayLike, p: float, contributors: ArrayLike | None = None) -> Self:
        """Return the rule that nobody can estimate the largest contribution within p per cent.

        The second largest contributor knows the total and their own amount; all others together
        must be p per cent of the largest, or more. By default every record is a contributor.
        """
        numbers = _amounts(amounts)
        limit = check_number("p", p, low=0.0, high=100.0) / 100.0
        codes = np.arange(len(numbers)) if contributors is None else contributors
        return cls(P_PERCENT, *_with_shares(codes, limit), amounts=numbers)

    @classmethod
    def dominance(
        cls, amounts: ArrayLike, n: int, share: float, contributors: ArrayLike | None = None
    ) -> Self:
        """Return the rule that the n largest contributors make up at most `share` per cent."""
        numbers = _amounts(amounts)
        limit = check_number("share", share, low=0.0, high=100.0) / 100.0
        codes = np.arange(len(numbers)) if contributors is None else contributors
        largest = check_count("n", n)
        return cls(DOMINANCE, *_with_shares(codes, limit), count=largest, amounts=numbers)

    @property
    def is_closeness(self) -> bool:
        """Whether the rule compares a group with all records."""
        return self.kind in (ORDERED, EQUAL)

    def parts(self) -> list[Floats]:
        """Return what the rule sees of each record, a column each."""
        amounts = [] if self.amounts is None else [self.amounts]
        return [self.codes.astype(np.float64), *amounts]

    def within(self, rows: Rows) -> Self:
        """Return the rule for some of the records; the shares of all records stay."""
        amounts = None if self.amounts is None else self.amounts[rows]
        return replace(self, codes=self.codes[rows], amounts=amounts)


def _with_shares(
    codes: ArrayLike, limit: float, *, lowest: int = 0, overall: ArrayLike | None = None
) -> tuple[Rows, float, Floats]:
    array = np.asarray(codes)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size or array.min() < lowest:
        raise ParameterError(
            f"codes must be whole numbers from {lowest}, one for each record; got an array of "
            f"{array.dtype} with {array.ndim} dimensions or numbers below."
        )
    array = array.astype(np.intp)
    counts = np.bincount(array[array >= 0], minlength=1)
    if overall is not None:
        own, counts = counts, np.asarray(overall)
        if counts.ndim != 1 or len(counts) < len(own) or (counts[: len(own)] < own).any():
            raise ParameterError("overall must count each code at least as often as it is here.")
    return array, float(limit), counts / max(1, counts.sum())


def _amounts(amounts: ArrayLike) -> Floats:
    numbers = np.abs(np.asarray(amounts, dtype=np.float64))
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ParameterError("amounts must be finite numbers, one for each record.")
    # Only ratios count, and sums must not overflow.
    largest = float(numbers.max(initial=0.0))
    return np.ldexp(numbers, -int(np.frexp(largest)[1])) if largest > 0.0 else numbers


def check_rules(requirements: object, n_records: int) -> tuple[GroupRule, ...]:
    """Return requirements as a tuple, if they are for this many records; None is none."""
    if requirements is None:
        return ()
    listed = tuple(requirements) if isinstance(requirements, Iterable) else (requirements,)
    for rule in listed:
        if not isinstance(rule, GroupRule):
            raise ParameterError(
                "requirements must be rules such as GroupRule.distinct(codes, 3); got "
                f"{type(rule).__name__}."
            )
        if len(rule.codes) != n_records:
            raise ParameterError(
                f"a rule must have a code for each of the {n_records} records; got "
                f"{len(rule.codes)}."
            )
    return listed


def pack(rules: Sequence[GroupRule], k: int, n_records: int) -> Rules:
    """Return rules as kernels take them, with scratch for one thread."""
    lengths = [len(rule.shares) + 1 for rule in rules]
    begins = np.concatenate(([0], np.cumsum(lengths, dtype=np.intp))).astype(np.intp)
    amounts = np.zeros((len(rules), n_records if any(r.amounts is not None for r in rules) else 0))
    for at, rule in enumerate(rules):
        if rule.amounts is not None:
            amounts[at] = rule.amounts
    shares, sums = _tables(rules, int(begins[-1]))
    codes = np.array([rule.codes for rule in rules], dtype=np.intp)
    return Rules(
        k=k,
        kinds=np.array([rule.kind for rule in rules], dtype=np.intp),
        limits=np.array([rule.limit for rule in rules], dtype=np.float64),
        counts=np.array([rule.count for rule in rules], dtype=np.intp),
        codes=codes.reshape(len(rules), n_records),
        amounts=amounts,
        begins=begins,
        shares=shares,
        sums=sums,
        seen=np.zeros(int(begins[-1]), dtype=np.int64),
        totals=np.zeros(int(begins[-1])),
        ordered=np.zeros(n_records + 1, dtype=np.int64),
    )


def _tables(rules: Sequence[GroupRule], length: int) -> tuple[Floats, Floats]:
    """Return the shares of all codes, cumulated where they are ordered, and the sums before."""
    shares, sums = np.zeros(length), np.zeros(length)
    first = 0
    for rule in rules:
        own = rule.shares.cumsum() if rule.kind == ORDERED else rule.shares
        shares[first : first + len(own)] = own
        sums[first + 1 : first + 1 + len(own)] = own.cumsum()
        first += len(own) + 1
    return shares, sums


def failing_rules(rules: Rules, labels: Labels) -> Rows:
    """Return which rule each group fails: -1 for too few records, -2 for none."""
    order = labels.argsort(kind="stable")
    begins = np.concatenate(([0], np.bincount(labels).cumsum())).astype(np.intp)
    failed = np.empty(len(begins) - 1, dtype=np.intp)
    groups_that_fail(rules, order, begins, failed)
    return failed


def check_feasible(rules: Sequence[GroupRule], k: int) -> None:
    """Refuse rules that all records together do not meet: then no partition does."""
    n = len(rules[0].codes)
    (failed,) = failing_rules(pack(rules, k, n), np.zeros(n, dtype=np.intp))
    if failed >= 0:
        raise ParameterError(
            f"no partition meets the requirements: all {n} records together do not meet rule "
            f"{int(failed) + 1} of {len(rules)}. Ask for less."
        )


def check_met(rules: Sequence[GroupRule], k: int, labels: Labels) -> None:
    """Refuse groups of which one does not meet all rules."""
    numbered = np.unique(labels, return_inverse=True)[1]
    if failing := int(np.count_nonzero(failing_rules(pack(rules, k, len(labels)), numbered) > -2)):
        raise GuaranteeError(
            f"{failing} groups do not meet the requirements. This is a bug in microagg: please "
            "report it."
        )
