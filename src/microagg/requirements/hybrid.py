"""Hybrid records: no k is promised, and every group keeps its means and covariances.

The check shares no code with what made the records.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels, Rows
from microagg.requirements.base import Evidence

# Floats may miss the exact values by this share of the largest number of their column.
_TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2.0**-23}


@dataclass(frozen=True, slots=True)
class NotPromised:
    """The finding that k was never promised: `verify` does not vouch for it."""

    @property
    def satisfied(self) -> bool:
        """Never: records that share a combination do so by chance."""
        return False

    @property
    def complaint(self) -> str:
        """What is wrong."""
        return self.verdict

    @property
    def verdict(self) -> str:
        """What the records are."""
        return (
            "the records are hybrid, made to keep the means and covariances of groups, and k was "
            "not promised"
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return what is promised."""
        return [("promised", "nothing about k: the records are hybrid (--hybrid)")]

    def as_dict(self) -> dict[str, Any]:
        """Return the name of the finding."""
        return {"requirement": "hybrid records"}


@dataclass(frozen=True, slots=True)
class HybridRecords:
    """What stands beside k in a plan for hybrid records, as k is not promised."""

    def judge(self, evidence: Evidence) -> NotPromised:  # noqa: ARG002
        """Return the same of every table."""
        return NotPromised()


@dataclass(frozen=True, slots=True)
class MovedMoments:
    """How far means and covariances moved, in standard deviations and products of two.

    The largest of any group, and of the whole table; `kept` says whether rounding explains those of
    the groups.
    """

    mean: float
    covariance: float
    table_mean: float
    table_covariance: float
    kept: bool

    @classmethod
    def together(cls, each: Iterable["MovedMoments"]) -> "MovedMoments":
        """Return those of all blocks of columns."""
        found = list(each)
        return cls(
            max(own.mean for own in found),
            max(own.covariance for own in found),
            max(own.table_mean for own in found),
            max(own.table_covariance for own in found),
            kept=all(own.kept for own in found),
        )


def moved_moments(
    before: Sequence[NDArray[Any]], after: Sequence[NDArray[Any]], labels: Labels
) -> MovedMoments:
    """Compare the means and covariances of groups before and after, column by column.

    If every number is within e of one for which a group's mean and covariance are exact, the mean
    is within e, and the covariance of two columns with the standard deviations s and t, rounded by
    e and f, within e t + f s + e f: e is 1/2 for whole numbers.
    """
    columns = [_Column.of(*both) for both in zip(before, after, strict=True)]
    everyone = np.zeros(len(labels), dtype=np.intp)
    mean, covariance, kept = _moved(columns, labels)
    table_mean, table_covariance, _ = _moved(columns, everyone)
    return MovedMoments(mean, covariance, table_mean, table_covariance, kept=kept)


@dataclass(frozen=True, eq=False)
class _Column:
    """A column before and after, in standard deviations of the original; `step` is its rounding."""

    before: Floats
    after: Floats
    step: float

    @classmethod
    def of(cls, before: NDArray[Any], after: NDArray[Any]) -> "_Column":
        is_whole = before.dtype.kind in "iu"
        own, new = before.astype(np.float64), after.astype(np.float64)
        largest = max(np.abs(own).max(), np.abs(new).max())
        power = -int(np.frexp(largest)[1])
        own, new = np.ldexp(own, power), np.ldexp(new, power)
        mean = own[0] + (own - own[0]).mean()
        unit = float(own.std(ddof=1)) if len(own) > 1 else 0.0
        if (own == own[0]).all() or unit == 0.0:
            unit = 1.0
        step = np.ldexp(0.5, power) if is_whole else _TOLERANCE[before.dtype]
        return cls((own - mean) / unit, (new - mean) / unit, float(step) / unit + 1e-12)


def _moved(columns: Sequence[_Column], labels: Labels) -> tuple[float, float, bool]:
    """Return how far means and covariances moved at most, and whether rounding explains it."""
    sizes = np.bincount(labels)
    first, second = zip(
        *((_centred(c.before, labels, sizes), _centred(c.after, labels, sizes)) for c in columns),
        strict=True,
    )
    deviations = [_covariances(own, own, labels, sizes) ** 0.5 for _, own in first]
    mean, covariance, kept = 0.0, 0.0, True
    for i, column in enumerate(columns):
        moved = np.abs(second[i][0] - first[i][0])
        mean = max(mean, float(moved.max()))
        kept &= bool((moved <= column.step).all())
        for j in range(i + 1):
            moved = np.abs(
                _covariances(second[i][1], second[j][1], labels, sizes)
                - _covariances(first[i][1], first[j][1], labels, sizes)
            )
            e, f = column.step, columns[j].step
            allowed = e * deviations[j] + f * deviations[i] + e * f
            covariance = max(covariance, float(moved.max()))
            # A sum over all records is divided by one less.
            kept &= bool((moved <= 2.0 * allowed + 1e-12).all())
    return mean, covariance, kept


def _centred(numbers: Floats, labels: Labels, sizes: Rows) -> tuple[Floats, Floats]:
    """Return the mean of every group, and how far each record is from it."""
    means = np.bincount(labels, weights=numbers) / sizes
    apart = numbers - means[labels]
    rest = np.bincount(labels, weights=apart) / sizes
    return means + rest, apart - rest[labels]


def _covariances(one: Floats, other: Floats, labels: Labels, sizes: Rows) -> Floats:
    """Return the covariance in every group of numbers that are centred there."""
    totals: Floats = np.bincount(labels, weights=one * other) / np.maximum(sizes - 1, 1)
    return totals
