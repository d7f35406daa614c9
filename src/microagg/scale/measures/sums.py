"""Sums of a dataset before and after: what losses, means and correlations are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Hashes, Mask
from microagg.measures.utility.column_loss import ColumnLoss, combined
from microagg.measures.utility.correlations import PairwiseSums, pairwise_sums
from microagg.measures.utility.information_loss import Errors
from microagg.scale.measures.bases import Base, Bases, comparable
from microagg.scale.measures.pairing import PAIRED, Paired
from microagg.scale.steps.types import merged
from microagg.scale.storage.hashing import hashed
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import part_bytes
from microagg.scale.tasks.passes import Passes
from microagg.tables.frames import Frame
from microagg.tables.pairs import MISSING_DISTANCE, PairedColumn
from microagg.tables.weighting import record_weights

SUMS = "sums"
# So many categories of a column are counted, and so many values are looked at for rare ones.
MOST_CATEGORIES, SKETCH = 2**16, 4096


class ScaledSums(NamedTuple):
    """Sums over the records of a scaled column; names that begin with w_ count weights.

    `one` and `two` are the sums of values and of their squares: before, after, of values that are
    gone and of those that came; `plain` ones are not weighted.
    """

    n_before: float = 0.0
    w_before: float = 0.0
    one_before: float = 0.0
    two_before: float = 0.0
    n_after: float = 0.0
    w_after: float = 0.0
    one_after: float = 0.0
    two_after: float = 0.0
    plain_one: float = 0.0
    plain_two: float = 0.0
    n_both: float = 0.0
    absolute: float = 0.0
    squares: float = 0.0
    w_gone: float = 0.0
    one_gone: float = 0.0
    two_gone: float = 0.0
    w_came: float = 0.0
    one_came: float = 0.0
    two_came: float = 0.0
    w_changed: float = 0.0

    @classmethod
    def of(cls, column: PairedColumn, base: Base, weights: Floats) -> "ScaledSums":
        """Return the sums of a part."""
        there, still = column.before.is_present, column.after.is_present
        x, z = (base.scaled(side, column.step) for side in (column.before, column.after))
        both, gone, came = there & still, there & ~still, still & ~there
        apart = (x - z)[both]
        return cls(
            *_side(x, there, weights),
            *_side(z, still, weights),
            float(x[there].sum()),
            float(np.square(x[there]).sum()),
            float(np.count_nonzero(both)),
            float(np.abs(apart).sum()),
            float(weights[both] @ np.square(apart)),
            *_side(x, gone, weights)[1:],
            *_side(z, came, weights)[1:],
            float(weights @ column.changed),
        )

    def plus(self, other: "ScaledSums") -> "ScaledSums":
        """Return the sums of both sets of records."""
        return ScaledSums(*(own + more for own, more in zip(self, other, strict=True)))

    @property
    def is_constant(self) -> bool:
        """Whether the values before do not differ."""
        return self.n_before < 2 or self.sst <= 1e-24 * max(1.0, self.two_before)

    @property
    def sst(self) -> float:
        """The weighted sum of squared differences from the mean before."""
        return _about_mean(self.w_before, self.one_before, self.two_before)

    def statistics(self, side: str, base: Base) -> tuple[int, float | None, float | None]:
        """Return count, mean and standard deviation of one side, in the units of the table."""
        n, total, one, two = self[:4] if side == "before" else self[4:8]
        if not n:
            return 0, None, None
        mean = base.mean + base.deviation * one / total
        if n < 2:
            return int(n), mean, None
        variance = _about_mean(total, one, two) / total * n / (n - 1)
        return int(n), mean, base.deviation * float(np.sqrt(max(0.0, variance)))

    def errors(self, total: float) -> Errors | None:
        """Return the errors of the released values; None where they vary in the release only."""
        sst = 0.0 if self.is_constant else self.sst
        sse = self.squares
        absent = total - self.w_before
        if self.n_before < self.n_after or absent or self.w_gone or self.w_came:
            variance = 1.0
            if sst > 0.0:
                variance = sst / self.w_before * self.n_before / (self.n_before - 1)
            apart = MISSING_DISTANCE**2 * variance
            center = self.one_before / self.w_before if self.w_before else 0.0
            for w, one, two in (self[13:16], self[16:19]):
                sse += two - 2 * center * one + center * center * w + apart * w
            sst += apart * absent * (1.0 - absent / total)
        return None if sst == 0.0 and self.w_changed else Errors(max(0.0, sse), sst)


def _side(numbers: Floats, there: Mask, weights: Floats) -> tuple[float, float, float, float]:
    own, values = weights[there], numbers[there]
    return (
        float(len(own)),
        float(own.sum()),
        float(own @ values),
        float(own @ np.square(values)),
    )


def _about_mean(total: float, one: float, two: float) -> float:
    return max(0.0, two - one * one / total) if total else 0.0


class Counted(NamedTuple):
    """Records and weight of every category before and after, by name; None for missing ones."""

    before: dict[str | None, tuple[int, float]]
    after: dict[str | None, tuple[int, float]]
    w_changed: float

    @classmethod
    def of(cls, column: PairedColumn, weights: Floats) -> "Counted":
        """Return the counts of a part."""
        names = [*map(str, column.categories), None]
        sides = []
        for side in (column.before, column.after):
            codes = np.where(side.codes < 0, len(names) - 1, side.codes)
            n = np.bincount(codes, minlength=len(names))
            w = np.bincount(codes, weights=weights, minlength=len(names))
            used = np.flatnonzero(n)
            sides.append({names[at]: (int(n[at]), float(w[at])) for at in used})
        return cls(sides[0], sides[1], float(weights @ column.changed))

    def plus(self, other: "Counted") -> "Counted":
        """Return the counts of both sets of records."""
        sides = []
        for own, more in zip(self[:2], other[:2], strict=True):
            joined = dict(own)
            for name, (n, w) in more.items():
                known = joined.get(name, (0, 0.0))
                joined[name] = (known[0] + n, known[1] + w)
            sides.append(joined)
        return Counted(sides[0], sides[1], self.w_changed + other.w_changed)

    @property
    def is_complete(self) -> bool:
        """Whether there are few enough categories to count them."""
        return max(len(self.before), len(self.after)) <= MOST_CATEGORIES

    def errors(self, total: float) -> Errors | None:
        """Return the errors of the released categories; None where only these vary."""
        shares = np.array([w for _, w in self.before.values()]) / total
        varies = np.count_nonzero(shares) > 1
        sst = total * float(1.0 - np.square(shares).sum()) if varies else 0.0
        return None if sst == 0.0 and self.w_changed else Errors(2.0 * self.w_changed, sst)

    @property
    def total_variation(self) -> float:
        """Half of the sum of the changes of all shares, by weight."""
        total = sum(w for _, w in self.before.values())
        names = {*self.before, *self.after}
        apart = (self.before.get(n, (0, 0.0))[1] - self.after.get(n, (0, 0.0))[1] for n in names)
        return sum(map(abs, apart)) / (2.0 * total)


@dataclass(frozen=True, eq=False)
class Sketch:
    """How many records have each of the values with the lowest hashes, at most so many.

    All parts keep those of the whole that they have, so that these are counted in full. `values`
    are those of a scaled column, NaN for missing ones.
    """

    hashes: Hashes
    counts: Floats
    values: Floats
    is_complete: bool

    @classmethod
    def of(cls, found: Hashes, values: Floats) -> "Sketch":
        """Return the sketch of a part."""
        return cls._lowest(found, np.ones(len(found)), values, is_complete=True)

    @classmethod
    def _lowest(cls, found: Hashes, each: Floats, values: Floats, *, is_complete: bool) -> "Sketch":
        hashes, first, places = np.unique(found, return_index=True, return_inverse=True)
        counts = np.bincount(places.reshape(-1), weights=each, minlength=len(hashes)).astype(
            np.float64
        )
        own = values[first[:SKETCH]]
        return cls(hashes[:SKETCH], counts[:SKETCH], own, is_complete and len(hashes) <= SKETCH)

    def merge(self, other: "Sketch") -> "Sketch":
        """Return the sketch of both sets of records."""
        hashes = np.concatenate((self.hashes, other.hashes))
        counts = np.concatenate((self.counts, other.counts))
        values = np.concatenate((self.values, other.values))
        complete = self.is_complete and other.is_complete
        return self._lowest(hashes, counts, values, is_complete=complete)

    def n_rare(self, least: int) -> int:
        """Return how many values fewer than `least` records have, of those that are counted."""
        return int(np.count_nonzero(self.counts < least))


@dataclass(frozen=True, eq=False)
class Sums:
    """All sums of a set of records, by column; the ends are the lowest and highest values before.

    Pairs of scaled columns have `weighted` sums before and after, and `plain` ones.
    """

    total: float
    n_weighty: int
    scaled: dict[str, ScaledSums]
    counted: dict[str, Counted]
    weighted: tuple[PairwiseSums, PairwiseSums] | None
    plain: tuple[PairwiseSums, PairwiseSums] | None
    sketches: dict[str, Sketch]
    ends: dict[str, Floats]
    missing: dict[str, tuple[int, int]]
    n_ends: int

    def merge(self, other: "Sums") -> "Sums":
        """Return the sums of both sets of records."""
        ends = {}
        for name, own in self.ends.items():
            every = np.sort(np.concatenate((own, other.ends[name])))
            few = len(every) <= 2 * self.n_ends
            ends[name] = (
                every if few else np.concatenate((every[: self.n_ends], every[-self.n_ends :]))
            )
        return Sums(
            self.total + other.total,
            self.n_weighty + other.n_weighty,
            {name: own.plus(other.scaled[name]) for name, own in self.scaled.items()},
            {name: own.plus(other.counted[name]) for name, own in self.counted.items()},
            _plus(self.weighted, other.weighted),
            _plus(self.plain, other.plain),
            {name: own.merge(other.sketches[name]) for name, own in self.sketches.items()},
            ends,
            {
                name: (own[0] + other.missing[name][0], own[1] + other.missing[name][1])
                for name, own in self.missing.items()
            },
            self.n_ends,
        )

    def loss(self, weights: Mapping[str, float]) -> ColumnLoss:
        """Return the information loss of the released values, by the weights of the columns."""
        errors = {
            name: self.scaled[name].errors(self.total)
            if name in self.scaled
            else self.counted[name].errors(self.total)
            for name in weights
        }
        n = self.n_weighty
        return ColumnLoss(**combined(errors, weights, self.total * (n - 1) / n))


def _plus(
    own: tuple[PairwiseSums, PairwiseSums] | None, other: tuple[PairwiseSums, PairwiseSums] | None
) -> tuple[PairwiseSums, PairwiseSums] | None:
    if own is None or other is None:
        return None
    return own[0].plus(other[0]), own[1].plus(other[1])


class Summing(NamedTuple):
    """What is summed up: the columns by their bases, with so many of the lowest and highest."""

    bases: Bases
    n_ends: int


def sum_up(passes: Passes, paired: Paired, bases: Bases, n_ends: int = 0) -> Sums:
    """Sum up all records; `n_ends` if values at the ends, and rare ones, matter."""
    passes.work.keep(SUMS, Summing(bases, n_ends))
    n_files = len(paired.after.files)
    each = part_bytes(paired.after, sum(map(len, paired.columns)))
    passes.run(SUMS, partial(_sum_file), n_files, bytes_each=2 * each)
    found: Sums = merged(own for own in passes.results(SUMS, n_files) if own is not None)
    return found


def _sum_file(work: WorkFolder, number: int) -> Sums | None:
    paired: Paired = work.facts(PAIRED)
    summing: Summing = work.facts(SUMS)
    parts = (
        _of_part(paired, summing, before, after) for _, _, before, after in paired.frames(number)
    )
    found: Sums | None = merged(parts)
    return found


def _of_part(paired: Paired, summing: Summing, before: Frame, after: Frame) -> Sums:
    bases, n_ends = summing.bases.columns, summing.n_ends
    columns = summing.bases.paired(before, after)
    name = paired.known.weights
    own = None if name is None else record_weights(before, name)
    weights = np.ones(len(after)) if own is None else own
    scaled = [column for column in columns.values() if column.is_scaled]
    x = [bases[c.name].scaled(c.before, c.step) for c in scaled]
    z = [bases[c.name].scaled(c.after, c.step) for c in scaled]
    there = [c.before.is_present for c in scaled], [c.after.is_present for c in scaled]
    zeros = np.zeros(len(scaled))
    plain = weighted = None
    if scaled:
        plain = (
            pairwise_sums(x, there[0], middles=zeros),
            pairwise_sums(z, there[1], middles=zeros),
        )
        weighted = plain
        if own is not None:
            weighted = (
                pairwise_sums(x, there[0], own, middles=zeros),
                pairwise_sums(z, there[1], own, middles=zeros),
            )
    ends, sketches = {}, {}
    if n_ends:
        for column, numbers in zip(scaled, x, strict=True):
            ordered = np.sort(numbers[column.before.is_present])
            ends[column.name] = np.concatenate((ordered[:n_ends], ordered[n_ends:][-n_ends:]))
        known = {
            column.name: np.where(column.before.is_present, numbers, np.nan)
            for column, numbers in zip(scaled, x, strict=True)
        }
        nothing = np.full(len(after), np.nan)
        sketches = {
            n: Sketch.of(hashed(comparable(before, n)), known.get(n, nothing)) for n in columns
        }
    return Sums(
        float(weights.sum()),
        int(np.count_nonzero(weights)),
        {c.name: ScaledSums.of(c, bases[c.name], weights) for c in scaled},
        {c.name: Counted.of(c, weights) for c in columns.values() if c.type.is_categorical},
        weighted,
        plain,
        sketches,
        ends,
        {c.name: (c.before.n_missing, c.after.n_missing) for c in columns.values()},
        n_ends,
    )
