"""Shares and distances, rounded up to steps of `least` records.

One record is 1 / n of a share of n records, and up to as much of a distance between the
distributions before and after: with enough digits, either tells a number of records. Rounded up to
multiples of `least` / n, or of the next 1, 2 or 5 times a power of ten, numbers below `least` look
the same. Figures that follow from the released table stay as they are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from microagg.measures.measure import Risk, Utility
from microagg.measures.risk.classes import ClassSizes
from microagg.measures.risk.individual import GlobalRisk
from microagg.measures.risk.units import UnitRisk
from microagg.measures.utility.distributions import Distributions
from microagg.measures.utility.models import ModelScore
from microagg.measures.utility.moments import Moments
from microagg.measures.utility.propensity import Propensity
from microagg.report.rounding import round_step

_NOTHING = 1e-9  # smaller figures are rounding error
_LARGEST_PMSE = 0.25
_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Steps:
    """Multiples of `size` that figures are rounded up to.

    >>> steps = Steps.of(5, 442)
    >>> steps.size, steps.up(0.195), steps.up(0.0), steps.share(0.0), steps.down(0.195)
    (0.02, 0.2, 0.0, 0.02, 0.18)
    """

    size: float

    @classmethod
    def of(cls, least: int, n_records: int, scale: float = 1.0) -> "Steps":
        """Return steps of `least` of this many records, on a scale from 0 to `scale`."""
        return cls(round_step(scale * least / max(1, n_records)))

    def up(self, value: float) -> float:
        """Round a figure up, or down to the number below zero; rounding errors are 0."""
        if abs(value) <= _NOTHING:
            return 0.0
        return math.copysign(self._multiple(math.ceil(abs(value) / self.size * (1 - 1e-12))), value)

    def known(self, value: float | None, most: float = math.inf) -> float | None:
        """Round a figure up if there is one, not above `most`, the limit of it."""
        return None if value is None else min(self.up(value), most)

    def share(self, value: float, most: float = 1.0) -> float:
        """Round a share of records up, 0 as well; not above `most`, if it is the limit of it."""
        limit = most if value <= most * (1 + 1e-9) else 1.0
        return min(max(self.up(value), self._multiple(1)), limit)

    def down(self, value: float) -> float:
        """Round a figure down."""
        return self._multiple(math.floor(value / self.size * (1 + 1e-12)))

    def nearest(self, value: float) -> float:
        """Round a figure to the nearest multiple."""
        return self._multiple(round(value / self.size))

    def _multiple(self, count: int) -> float:
        # Multiples of 0.1 and 0.02 with the digits that people write.
        return round(count * self.size, max(0, 1 - math.floor(math.log10(self.size))))


def coarse_risk(risk: Risk, least: int, least_units: int) -> Risk:
    """Return the risk with all shares that depend on the true values rounded up.

    Steps are those of the sample, if it is one.
    """
    n = risk.linkage.n_records if risk.sample is None else risk.sample.n_sampled
    steps = Steps.of(least, n)
    informed = replace(
        risk.informed,
        linked=steps.share(risk.informed.linked),
        single=steps.share(risk.informed.single),
    )
    intervals = replace(
        risk.intervals,
        every_by_deviation=_shares(risk.intervals.every_by_deviation, steps),
        every_by_rank=_shares(risk.intervals.every_by_rank, steps),
    )
    individual = risk.individual
    if individual is not None:
        n_records = individual.n_records
        before = _coarse_global(individual.before, steps, n_records)
        individual = replace(individual, before=before)
    return replace(
        risk,
        classes=replace(risk.classes, unique_before=steps.share(risk.classes.unique_before)),
        linkage=replace(risk.linkage, linked=_linked(risk.linkage.linked, risk.classes, steps)),
        probabilistic=replace(
            risk.probabilistic, linked=_linked(risk.probabilistic.linked, risk.classes, steps)
        ),
        informed=informed,
        intervals=intervals,
        drisk=replace(risk.drisk, share=_shares(risk.drisk.share, steps)),
        units=None if risk.units is None else _coarse_units(risk.units, steps, least_units),
        individual=individual,
    )


def _linked(shares: Mapping[int, float], classes: ClassSizes, steps: Steps) -> dict[int, float]:
    """Round linkage up, but not above the limit that groups of equal records set."""
    return {
        within: steps.share(share, min(1.0, within / classes.smallest))
        for within, share in shares.items()
    }


def _shares(shares: Mapping[_Key, float], steps: Steps) -> dict[_Key, float]:
    return {key: steps.share(share) for key, share in shares.items()}


def _coarse_global(found: GlobalRisk, steps: Steps, n_records: int) -> GlobalRisk:
    share = steps.share(found.share)
    return replace(found, share=share, expected=share * n_records)


def _coarse_units(found: UnitRisk, steps: Steps, least: int) -> UnitRisk:
    of_units = Steps.of(least, found.n_units)
    classes, linkage = found.classes, found.linkage
    return replace(
        found,
        classes=replace(classes, unique_before=of_units.share(classes.unique_before)),
        linkage=None
        if linkage is None
        else replace(
            linkage,
            linked=of_units.share(linkage.linked),
            linked_records=steps.share(linkage.linked_records),
        ),
    )


def coarse_utility(utility: Utility, least: int, n_records: int) -> Utility:
    """Return the utility with all distances rounded up; its losses are for others to round."""
    steps = Steps.of(least, n_records)
    cells = utility.il1s
    if cells.mean is not None:
        in_total = Steps(round_step(steps.size * cells.n_cells))
        cells = replace(cells, mean=steps.up(cells.mean), total=in_total.up(cells.total))
    model = utility.model
    if model is not None:
        scores = {name: _coarse_score(score, steps) for name, score in model.models.items()}
        model = replace(model, models=scores)
    return replace(
        utility,
        il1s=cells,
        eigenvalues=replace(utility.eigenvalues, change=steps.known(utility.eigenvalues.change)),
        moments=_coarse_moments(utility.moments, steps),
        distributions=_coarse_distributions(utility.distributions, steps),
        propensity=_coarse_propensity(
            utility.propensity, Steps.of(least, n_records, _LARGEST_PMSE)
        ),
        model=model,
    )


def _coarse_moments(found: Moments, steps: Steps) -> Moments:
    columns = {
        name: replace(
            column,
            mean_change=steps.known(column.mean_change),
            variance_relative_change=steps.known(column.variance_relative_change),
        )
        for name, column in found.columns.items()
    }
    return replace(found, columns=columns)


def _coarse_distributions(found: Distributions, steps: Steps) -> Distributions:
    return replace(
        found,
        largest_kolmogorov_smirnov=steps.known(found.largest_kolmogorov_smirnov, 1.0),
        largest_wasserstein=steps.known(found.largest_wasserstein),
        largest_total_variation=steps.known(found.largest_total_variation, 1.0),
    )


def _coarse_propensity(found: Propensity, steps: Steps) -> Propensity:
    return replace(found, pmse=steps.known(found.pmse, _LARGEST_PMSE), ratio=None)


def _coarse_score(found: ModelScore, steps: Steps) -> ModelScore:
    if found.before is None or found.after is None:
        return found
    before, after = steps.nearest(found.before), steps.nearest(found.after)
    return replace(found, before=before, after=after, difference=after - before)
