"""All records of a dataset and a sample of them: measures, each from the one it takes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microagg.core.arrays import Floats
from microagg.measures.measure import Risk, Utility, from_sample, measure_risk, measure_utility
from microagg.measures.risk.attributes import AttributeDisclosure
from microagg.measures.risk.units import UnitRisk
from microagg.measures.utility.column_loss import weighted_loss
from microagg.measures.utility.correlations import NO_PAIRS, change_of
from microagg.measures.utility.distributions import Distributions, distributions, largest_of
from microagg.measures.utility.eigenvalues import Eigenvalues, eigenvalues_of
from microagg.measures.utility.il1s import IL1s
from microagg.measures.utility.moments import Moments, SideStatistics, column_moments, moments
from microagg.measures.utility.unit_loss import UnitLoss
from microagg.measures.wording import Sample
from microagg.report.summaries import FLOOR, least_of, least_of_units
from microagg.scale.measures.bases import Bases
from microagg.scale.measures.class_facts import ClassFacts, find_classes
from microagg.scale.measures.class_sorting import ValueOrder
from microagg.scale.measures.linking import link
from microagg.scale.measures.pairing import Paired
from microagg.scale.measures.sums import Sums, sum_up
from microagg.scale.tasks.passes import Passes
from microagg.tables.columns import ColumnType
from microagg.tables.pairs import Pair, PairedColumn, Whole


@dataclass(frozen=True, eq=False)
class WholeRecords:
    """What was added up over all records, and a sample of them."""

    passes: Passes
    paired: Paired
    pair: Pair
    bases: Bases
    sums: Sums
    classes: ClassFacts
    least: int = 0

    @classmethod
    def of(
        cls, passes: Passes, paired: Paired, pair: Pair, *, k: int | None = None
    ) -> "WholeRecords":
        """Add up what a sample cannot tell; for a report with this k, also what is rare.

        `least` is the least number of records behind every figure of it.
        """
        bases = Bases.of(pair, paired.known.column_options)
        n_largest = 0 if k is None else max(k, FLOOR) - 1
        sensitive = {name: _order_of(column) for name, column in pair.sensitive.items()}
        found = find_classes(passes, paired, tuple(pair.columns), sensitive, n_largest)
        least = 0
        if k is not None:
            least = least_of(k)
            if paired.unit is not None:
                least = least_of_units(k, found.largest_units, found.records_without)
        sums = sum_up(passes, paired, bases, least)
        sizes = np.zeros(int(pair.classes.max()) + 1, dtype=np.int64)
        sizes[pair.classes] = found.of_sampled
        whole = replace(pair, whole=Whole(paired.n_records, sizes))
        return cls(passes, paired, whole, bases, sums, found, least)

    @property
    def sample(self) -> Sample:
        """How many records the sample has, and of how many."""
        return Sample(self.pair.n_records, self.paired.n_records)

    def risk(self, pair: Pair, *, seed: int, is_drawn: bool = False) -> Risk:
        """Try every attack on the sample, among all released records where that is possible.

        The values before may be others than those of the sample.
        """
        missing = frozenset(name for name, own in self.sums.missing.items() if any(own))
        known: dict[str, Any] = {
            "classes": self.classes.classes,
            "linkage": link(self.passes, self.paired, pair, self.bases, missing),
            "attributes": AttributeDisclosure(self.classes.attributes),
            "individual": self.classes.individual,
            "units": self._unit_risk(),
        }
        of_all = dict(known)
        if not all(self.classes.are_exact.values()):  # a sensitive column has too many values
            del of_all["attributes"]
        sample = self.sample._replace(fields=from_sample(Risk, of_all))
        return measure_risk(pair, seed=seed, is_drawn=is_drawn, known=known, sample=sample)

    def _unit_risk(self) -> UnitRisk | None:
        if self.classes.units is None or self.paired.unit is None:
            return None
        found = self.classes
        units = found.units
        assert units is not None
        return UnitRisk(self.paired.unit, found.n_units, found.records_without, units, None)

    def utility(self, *, target: str | None, seed: int) -> Utility:
        """Measure every loss: from sums of all records, or from the sample."""
        of_all: dict[str, Any] = {
            "loss": self.sums.loss({n: c.weight for n, c in self.pair.columns.items()}),
            "il1s": self._il1s(),
            "eigenvalues": self._eigenvalues(),
            "moments": self._moments(),
        }
        in_part = {"distributions": self._distributions(), "units": self._unit_loss()}
        known = of_all | in_part
        sample = self.sample._replace(fields=from_sample(Utility, of_all))
        return measure_utility(self.pair, target=target, seed=seed, known=known, sample=sample)

    def _plain_deviation(self, name: str) -> float:
        """Return the deviation before, every record counted once, in that of the sample."""
        own = self.sums.scaled[name]
        if own.is_constant:
            return 0.0
        squares = own.plain_two - own.plain_one**2 / own.n_before
        return float(np.sqrt(max(0.0, squares) / (own.n_before - 1)))

    def _il1s(self) -> IL1s:
        totals, counts = {}, {}
        for name, own in self.sums.scaled.items():
            if deviation := self._plain_deviation(name):
                totals[name] = own.absolute / (np.sqrt(2.0) * deviation)
                counts[name] = int(own.n_both)
        total, n_cells = float(sum(totals.values())), sum(counts.values())
        return IL1s(
            total=total,
            mean=total / n_cells if n_cells else None,
            columns={n: float(own / counts[n]) if counts[n] else None for n, own in totals.items()},
            n_cells=n_cells,
            n_missing=self.paired.n_records * len(totals) - n_cells,
            constant=tuple(name for name in self.sums.scaled if name not in totals),
        )

    def _eigenvalues(self) -> Eigenvalues:
        names = list(self.sums.scaled)
        varies = np.array([not own.is_constant for own in self.sums.scaled.values()], dtype=bool)
        constant = tuple(name for name, own in zip(names, varies, strict=True) if not own)
        if self.sums.plain is None or not varies.any():
            return Eigenvalues(None, (), (), 0, 0.0, constant)
        at = np.ix_(varies, varies)
        before, after = (
            replace(
                own,
                counts=own.counts[at],
                values=own.values[at],
                squares=own.squares[at],
                products=own.products[at],
            )
            for own in self.sums.plain
        )
        return eigenvalues_of(before, after, constant)

    def _moments(self) -> Moments:
        sampled = moments(self.pair)
        pearson = NO_PAIRS
        if self.sums.weighted is not None and len(self.sums.scaled) > 1:
            before, after = self.sums.weighted
            names = list(self.sums.scaled)
            pearson = change_of(names, before.correlations(), after.correlations())
        columns = {}
        for name, own in self.sums.scaled.items():
            base, column = self.bases.columns[name], self.pair.columns[name]
            sides = [
                SideStatistics(n, _in_steps(mean, column), _in_steps(sd, column))
                for n, mean, sd in (own.statistics(side, base) for side in ("before", "after"))
            ]
            columns[name] = column_moments(column, sides[0], sides[1], self.pair.weights)
        return replace(sampled, columns=columns, pearson=pearson)

    def _distributions(self) -> Distributions:
        sampled, n = distributions(self.pair), self.paired.n_records
        columns = {}
        for name, own in sampled.columns.items():
            missing = self.sums.missing[name]
            varied = own.total_variation
            if varied is not None and self.sums.counted[name].is_complete:
                varied = self.sums.counted[name].total_variation
            columns[name] = replace(
                own,
                missing_before=missing[0] / n,
                missing_after=missing[1] / n,
                total_variation=varied,
            )
        return largest_of(columns, is_weighted=self.pair.weights is not None)

    def _unit_loss(self) -> UnitLoss | None:
        """Return the loss with every unit counted once, however many of its records are sampled."""
        sizes = self.classes.unit_sizes
        if sizes is None:
            return None
        weights: Floats = np.where(sizes > 0, 1.0 / np.maximum(sizes, 1), 0.0)
        return UnitLoss(**weighted_loss(self.pair, weights)) if weights.any() else None


def _in_steps(number: float | None, column: PairedColumn) -> float | None:
    """Return dates in the steps in which the sample counts them."""
    return None if number is None else number / column.step


def _order_of(column: PairedColumn) -> ValueOrder:
    """Return the order of the values of a sensitive column, empty for numbers, None without one."""
    if not column.is_scaled:
        return None
    return tuple(column.categories) if column.type is ColumnType.ORDINAL else ()
