"""An intruder who knows the method: which released values are possible, column by column."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Counts, Mask, Places, Rows
from microagg.core.errors import ParameterError
from microagg.core.parallel import side_by_side
from microagg.core.validation import check_count, check_jobs
from microagg.core.words import did_you_mean
from microagg.kernels.attacks.ranges import count_rows_in_ranges
from microagg.measures.sampling import affordable, sampled_rows, standard_error
from microagg.tables.pairs import Pair, PairedColumn
from microagg.tables.roles import Names, as_names

# A value this close to a centre, relative to the largest, equals it up to rounding.
_ON_CENTRE = 1e-14
# Rows compared in a block, at most: a fraction of a second.
_BLOCK_ROWS = 2**23


@dataclass(frozen=True)
class ColumnRuns:
    """How well a column fits groups that are runs of its sorted values.

    `n_centres` is the number of distinct released values; `consistent` is the share of records
    whose released value is possible if groups are runs, and 1 if they are; `possible` is the mean
    number of candidates left by this column alone.
    """

    n_centres: int
    consistent: float
    possible: float


@dataclass(frozen=True)
class InformedLinkage:
    """Records linked by an intruder who knows that groups are runs of sorted values.

    The candidates of a record are the released records that could be its own. `consistent` is the
    share of records that are among their own candidates, `linked` the share linked correctly if a
    candidate is picked at random, `guessed` that without any knowledge, `single` the share whose
    only candidate is their own. `columns` were used; `left_out` were not, and `drawn` rule nothing
    out. Above 100,000 records, `n_sampled` were linked to `n_pool` released ones.
    """

    linked: float
    standard_error: float
    guessed: float
    consistent: float
    single: float
    mean_candidates: float
    least_candidates: int
    n_records: int
    n_sampled: int
    n_pool: int
    columns: dict[str, ColumnRuns]
    left_out: tuple[str, ...]
    drawn: tuple[str, ...]


class _Runs(NamedTuple):
    """Centres of a column: the code of every released record, and those possible for a query."""

    codes: Places
    lows: Places
    highs: Places


class _Pool(NamedTuple):
    """The released records: the first of each class in the pair, and how many there are."""

    first: Rows
    sizes: Counts

    @property
    def size(self) -> int:
        return int(self.sizes.sum())


def informed(
    pair: Pair,
    *,
    drawn: Names = (),
    reach: int = 0,
    most: int | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
) -> InformedLinkage:
    """Link records by ruling out, column by column, the released values they cannot have.

    Where groups are runs of the sorted values, a value strictly between two neighbouring centres
    belongs to one of the two, and a value beyond the last centre to that one. A value equal to a
    centre belongs to it or, if a group consists of copies of that value only, to a centre next to
    it. This holds for means, medians, and anything else between the ends of a group. Candidates are
    the released records that fit in every column.

    Numbers, dates and ordered categories without missing values are used, each as if it were
    grouped by itself; `columns[...].consistent` says whether that is plausible. Time O(n d) plus,
    for every record, the rows that fit in the most selective column; memory O(n d).
    Source: [1]_, [2]_.

    Parameters
    ----------
    pair : the table before and after
    drawn : columns whose records drew their centre at random (`fcm`, `efcm`): every released value
        is possible, so they rule nothing out
    reach : how many further centres on either side count as possible: an intruder who allows for
        rounding, noise or a draw
    most : how many original records to link; None means all up to 100,000 records, and above that
        as many as make 10^10 pairs
    seed : seed of the sample, if not all are linked
    n_jobs : threads; the result does not depend on them

    References
    ----------
    .. [1] W. E. Winkler, "Single-ranking micro-aggregation and re-identification", Statistical
       Research Division report RR 2002-08, US Bureau of the Census, 2002.
    .. [2] J. Nin, J. Herranz and V. Torra, "On the disclosure risk of multivariate
       microaggregation", Data & Knowledge Engineering 67(3), 2008.

    Examples
    --------
    >>> import polars as pl
    >>> from microagg.tables.matching import open_pair
    >>> before = pl.DataFrame({"x": [1, 2, 3, 4, 5, 6], "y": [6, 1, 5, 2, 4, 3]})
    >>> after = pl.DataFrame({"x": [2, 2, 2, 5, 5, 5], "y": [5, 2, 5, 2, 5, 2]})
    >>> found = informed(open_pair(before, after))
    >>> found.consistent, found.least_candidates, round(found.linked, 2)
    (1.0, 2, 0.28)
    >>> informed(open_pair(before, after), drawn=["x", "y"]).linked == found.guessed
    True
    """
    check_count("reach", reach, at_least=0)
    no_runs = _check_drawn(pair, drawn)
    _, first = np.unique(pair.classes, return_index=True)
    pool = _Pool(first, pair.class_sizes)
    asked = affordable(pool.size) if most is None else check_count("most", most)
    rows = sampled_rows(pair.n_records, asked, seed)
    runs = {
        name: _runs(column, rows, reach)
        for name, column in pair.columns.items()
        if name not in no_runs and _takes_part(column)
    }
    columns, own = {}, np.ones(len(rows), dtype=np.bool_)
    for name, column in runs.items():
        fits = _fits(column, rows)
        n_centres = int(column.codes.max()) + 1
        columns[name] = ColumnRuns(n_centres, float(fits.mean()), _possible(column, pool))
        own &= fits
    candidates = _candidates(list(runs.values()), pool, len(rows), check_jobs(n_jobs))
    chances = np.where(own, 1.0 / np.maximum(candidates, 1), 0.0)
    return InformedLinkage(
        linked=float(chances.mean()),
        standard_error=standard_error(chances, pair.n_in_all),
        guessed=1.0 / pool.size,
        consistent=float(own.mean()),
        single=float(np.mean(own & (candidates == 1))),
        mean_candidates=float(candidates.mean()),
        least_candidates=int(candidates.min()),
        n_records=pair.n_in_all,
        n_sampled=len(rows),
        n_pool=pool.size,
        columns=columns,
        left_out=tuple(c for c in pair.columns if c not in runs and c not in no_runs),
        drawn=no_runs,
    )


def _check_drawn(pair: Pair, drawn: Names) -> tuple[str, ...]:
    names = as_names("drawn", drawn)
    for name in names:
        if name not in pair.columns:
            raise ParameterError(
                f"drawn must name quasi-identifiers; {name!r} is not one."
                f"{did_you_mean(name, pair.columns)}"
            )
    return tuple(name for name in pair.columns if name in names)


def _takes_part(column: PairedColumn) -> bool:
    return column.is_scaled and not column.before.n_missing and not column.after.n_missing


def _runs(column: PairedColumn, rows: Rows, reach: int) -> _Runs:
    """Return the centres that are possible for these records."""
    centres, codes = np.unique(column.after.numbers.astype(np.float64), return_inverse=True)
    values = column.before.numbers[rows].astype(np.float64)
    margin = _ON_CENTRE * max(np.abs(centres).max(), np.abs(values).max())
    lows = np.searchsorted(centres, values - margin, side="left") - 1 - reach
    highs = np.searchsorted(centres, values + margin, side="right") + reach
    last = len(centres) - 1
    bounds = (np.clip(ends, 0, last).astype(np.int32) for ends in (lows, highs))
    return _Runs(codes.reshape(-1).astype(np.int32), *bounds)


def _fits(column: _Runs, rows: Rows) -> Mask:
    own = column.codes[rows]
    return (column.lows <= own) & (own <= column.highs)


def _possible(column: _Runs, pool: _Pool) -> float:
    """Return the mean number of released records that fit in this column."""
    begins = _begins(column.codes[pool.first], pool.sizes)
    return float((begins[column.highs + 1] - begins[column.lows]).mean())


def _begins(codes: Places, sizes: Counts | None = None) -> Counts:
    """Return how many records have a lower code, for every code and one more."""
    return np.concatenate([[0], np.cumsum(np.bincount(codes, weights=sizes))]).astype(np.int64)


def _candidates(runs: list[_Runs], pool: _Pool, n_queries: int, n_jobs: int) -> Counts:
    """Return the number of released records that fit in every column, for each linked record."""
    if not runs:
        return np.full(n_queries, pool.size, dtype=np.int64)
    # The most selective column is checked first.
    runs = sorted(runs, key=lambda column: _possible(column, pool))
    codes, of = np.unique(
        np.column_stack([column.codes[pool.first] for column in runs]), axis=0, return_inverse=True
    )
    counts = np.bincount(of.reshape(-1), weights=pool.sizes).astype(np.int64)
    ranges, which = np.unique(
        np.column_stack([ends for column in runs for ends in (column.lows, column.highs)]),
        axis=0,
        return_inverse=True,
    )
    lows, highs = np.ascontiguousarray(ranges[:, ::2]), np.ascontiguousarray(ranges[:, 1::2])
    listed = np.ascontiguousarray(np.argsort(codes, axis=0, kind="stable").T, dtype=np.int32)
    begins = np.full((len(runs), int(codes.max()) + 2), len(codes), dtype=np.int32)
    for j, column in enumerate(codes.T):
        own = _begins(column)
        begins[j, : len(own)] = own
    count = partial(_count_in_ranges, lows, highs, codes, counts, listed, begins)
    size = max(1, _BLOCK_ROWS // len(codes))
    blocks = [slice(at, at + size) for at in range(0, len(ranges), size)]
    found = side_by_side(count, blocks, n_jobs=n_jobs, task="ruling out records")
    return np.concatenate(found)[which.reshape(-1)]


def _count_in_ranges(
    lows: Places,
    highs: Places,
    codes: Places,
    counts: Counts,
    listed: Places,
    begins: Places,
    some: slice,
) -> Counts:
    """Return how many released records fit each of some ranges of codes."""
    found = np.empty(len(lows[some]), dtype=np.int64)
    count_rows_in_ranges(lows[some], highs[some], codes, counts, listed, begins, found)
    return found
