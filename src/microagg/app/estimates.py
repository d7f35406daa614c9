"""How long a run may take, and how much memory: rough figures, from runs that were measured."""

import math
from dataclasses import dataclass
from itertools import pairwise

from microagg.app.words import SIZES, TIMES, in_words
from microagg.tables.nominal import MOST_AXES

# Seconds of CPU to group these numbers of skewed records of 10 columns with k = 5, on one core.
_MEASURED: dict[str, tuple[tuple[int, float], ...]] = {
    "auto, fast": ((2_000, 0.9), (16_000, 2.3), (100_000, 45.0), (1_000_000, 125.0)),
    "auto, balanced": ((2_000, 9.5), (16_000, 21.0), (100_000, 113.0), (1_000_000, 347.0)),
    "auto, best": ((2_000, 50.0), (16_000, 110.0), (100_000, 452.0), (1_000_000, 1400.0)),
    "mdav": ((2_000, 0.003), (16_000, 0.05), (1_000_000, 145.0)),
    "md": ((2_000, 0.02), (16_000, 0.79)),
    "cbfs": ((2_000, 0.003), (16_000, 0.05)),
    "v-mdav": ((2_000, 0.02), (16_000, 0.43)),
    "tfrp": ((2_000, 0.01), (16_000, 0.12)),
    "igd": ((2_000, 0.02), (16_000, 0.5)),
    "mst": ((2_000, 0.02), (16_000, 1.39)),
    "dba": ((2_000, 0.02), (16_000, 0.38)),
    "gsms": ((2_000, 0.02), (16_000, 0.45)),
    "mu-approx": ((2_000, 0.01), (16_000, 0.14)),
    "hac": ((2_000, 0.06), (16_000, 1.43)),
    "kmeans": ((2_000, 0.14), (16_000, 1.91)),
    "npn-mhm": ((2_000, 0.01), (16_000, 0.08)),
    "pca-mhm": ((2_000, 0.001), (16_000, 0.005)),
    "zscore-mhm": ((2_000, 0.001), (16_000, 0.005)),
    "tsp-mhm": ((2_000, 0.06), (16_000, 0.94)),
    "mdav-mhm": ((2_000, 0.005), (16_000, 0.08)),
    "md-mhm": ((2_000, 0.02), (16_000, 0.84)),
    "cbfs-mhm": ((2_000, 0.005), (16_000, 0.08)),
    "reporder": ((2_000, 9.2), (4_000, 27.8)),
    "icsm": ((2_000, 0.66), (16_000, 8.6)),
    "fcm": ((2_000, 1.5), (16_000, 93.0)),
}
_AXES, _POWER = 10, 0.7  # more axes cost less than in proportion
_WITH_UNITS = 2.0  # as k counts units, groups are searched for more than once
# Measuring a release: for each record, and with many columns for each pair of the records compared.
_MEASURING, _PAIR, _MANY_COLUMNS, _MOST_COMPARED = 1.1e-4, 2.2e-9, 16, 100_000
_STARTING = 2.0  # seconds to start a process and load what was compiled
_FIXED_BYTES, _BYTES_PER_VALUE = 400e6, 140.0


@dataclass(frozen=True)
class Estimate:
    """Seconds of CPU and bytes of a run; without seconds if the method was not measured."""

    seconds: float | None
    n_bytes: float

    @property
    def words(self) -> str:
        """The estimate for people, as rough as it is.

        >>> Estimate(3.0, 4.01e8).words, Estimate(200.0, 4e8).words
        ('a few seconds, about 400 MB of memory', '1.7 min to 6.7 min, about 400 MB of memory')
        """
        memory = f"about {in_words(float(f'{self.n_bytes:.2g}'), SIZES)} of memory"
        if self.seconds is None:
            return memory
        if self.seconds < 5.0:
            return f"a few seconds, {memory}"
        low, high = in_words(self.seconds / 2, TIMES), in_words(self.seconds * 2, TIMES)
        return f"{low} to {high}, {memory}"


def axes_of(n_categories: int) -> int:
    """Return how many axes a nominal column takes where records are compared.

    >>> axes_of(2), axes_of(5), axes_of(200)
    (1, 5, 64)
    """
    return 1 if n_categories <= 2 else min(n_categories, MOST_AXES)


def estimate(
    method: str,
    effort: str,
    n_records: int,
    n_columns: int,
    time_budget: float | None = None,
    *,
    n_axes: int | None = None,
    has_units: bool = False,
) -> Estimate:
    """Return what grouping and measuring this many records may take.

    Numbers take one axis each, nominal columns several (`axes_of`).
    """
    n, d = max(n_records, 1), max(n_columns, 1)
    axes = max(n_axes or d, d)
    n_bytes = _FIXED_BYTES + _BYTES_PER_VALUE * n * axes
    points = _MEASURED.get(f"{method}, {effort}" if method == "auto" else method)
    if points is None:
        return Estimate(None, n_bytes)
    grouping = _between(points, n) * (axes / _AXES) ** _POWER * (_WITH_UNITS if has_units else 1)
    if time_budget is not None:
        grouping = min(grouping, time_budget)
    measuring = _MEASURING * n * d / _AXES
    if d >= _MANY_COLUMNS:
        measuring += _PAIR * d * min(n, _MOST_COMPARED) * n
    return Estimate(_STARTING + grouping + measuring, n_bytes)


def _between(points: tuple[tuple[int, float], ...], n: int) -> float:
    """Return seconds for n records, on lines between the points of a plot with two log axes.

    >>> round(_between(((1_000, 1.0), (10_000, 100.0)), 100_000))
    10000
    """
    pairs = list(pairwise(points))
    (low, low_seconds), (high, high_seconds) = next(
        ((left, right) for left, right in pairs if n <= right[0]), pairs[-1]
    )
    power = math.log(high_seconds / low_seconds) / math.log(high / low)
    return float(low_seconds * (n / low) ** power)
