"""Probabilistic record linkage: agreement of columns, weighted by how informative it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from microagg.aggregates.values import Values
from microagg.core.arrays import Counts, Floats, Mask, Places, Ranks, Rows
from microagg.core.parallel import as_completed
from microagg.core.progress import report
from microagg.core.validation import check_choice, check_count, check_jobs
from microagg.kernels.attacks.agreement import MOST_COLUMNS, count_better, tally_patterns
from microagg.measures.sampling import affordable, sampled_rows, standard_error
from microagg.tables.pairs import Pair, PairedColumn

WITHIN = (1, 2, 5, 10)
SIZE, NOTHING, MATCHES = "size", "nothing", "matches"
KNOWLEDGE = (SIZE, NOTHING, MATCHES)

# Pairs in a block: a fraction of a second.
_BLOCK_PAIRS = 2**24
# Probabilities stay this far from 0 and 1, so that no single column is decisive.
_MARGIN = 1e-6
_START_M = 0.9
_TOLERANCE = 1e-8
_MOST_ITERATIONS = 1000


@dataclass(frozen=True)
class ColumnWeight:
    """How often a column agrees among matches (m) and other pairs (u), and the weights in bits."""

    m: float
    u: float
    agreement: float
    disagreement: float


@dataclass(frozen=True)
class ProbabilisticLinkage:
    """Shares of records that are linked correctly by the agreement of columns.

    `linked[j]` is the share of records whose own released record is among the j best, ties broken
    at random; `guessed[j]` is the share reached by guessing. Above 100,000 records, `n_sampled`
    were linked to `n_pool` released ones, and `standard_errors` are those of the shares.
    """

    linked: dict[int, float]
    guessed: dict[int, float]
    standard_errors: dict[int, float]
    n_records: int
    n_sampled: int
    n_pool: int
    share_of_matches: float
    n_iterations: int
    columns: dict[str, ColumnWeight]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Estimates:
    """Estimates by EM: m and u of every column, and the share of pairs that are matches."""

    m: Floats
    u: Floats
    share: float
    n_iterations: int


def probabilistic(
    pair: Pair,
    *,
    knowing: str = SIZE,
    n_classes: int = 8,
    most: int | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
) -> ProbabilisticLinkage:
    """Link every original record to the released one that agrees with it best.

    Two values agree if they are the same category, or fall into the same of `n_classes` classes
    with about equal numbers of original records; two missing values agree, a missing and a present
    one do not. With m the share of matches and u the share of other pairs that agree on a column,
    agreement has the weight log2(m / u) and disagreement log2((1 - m) / (1 - u)); the weights of
    the columns add up. EM estimates m and u from all pairs, assuming independent columns.

    Time O(q r) for q distinct original and r distinct released rows of classes, memory
    O(n d + 2^d). Of more than 16 columns, those least likely to agree by chance are used.
    Source: [1]_.

    Parameters
    ----------
    pair : the table before and after
    knowing : what the intruder knows besides the values. "size": every record has one match, so
        the share of matches is 1/n; "nothing": EM also estimates that share; "matches": m and u of
        the true matches, which no intruder knows: usually the best such weights can do
    n_classes : classes of a column of numbers, dates or ordered categories
    most : how many original records to link; None means all up to 100,000 records, and above that
        as many as make 10^10 pairs
    seed : seed of the sample, if not all are linked
    n_jobs : threads; the result does not depend on them

    References
    ----------
    .. [1] I. P. Fellegi and A. B. Sunter, "A theory for record linkage", Journal of the American
       Statistical Association 64(328), 1969.

    Examples
    --------
    >>> import polars as pl
    >>> from microagg.tables.matching import open_pair
    >>> table = pl.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"]})
    >>> probabilistic(open_pair(table, table)).linked[1]
    1.0
    >>> probabilistic(open_pair(table, table.with_columns(age=35, sex=pl.lit("f")))).linked[1]
    0.25
    """
    check_choice("knowing", knowing, KNOWLEDGE)
    check_count("n_classes", n_classes, at_least=2, at_most=2**16)
    _, first = np.unique(pair.classes, return_index=True)
    sizes = pair.class_sizes
    n, n_pool = pair.n_records, int(sizes.sum())
    before, after, names = _coded(pair, n_classes)
    asked = affordable(n_pool) if most is None else check_count("most", most)
    rows = sampled_rows(n, asked, seed)
    pairs = _Pairs(before[rows], (after[first], sizes), after[rows], check_jobs(n_jobs))
    counts = pairs.tally()
    if knowing == MATCHES:
        found = _of_true_matches(before == after, counts)
    else:
        found = estimate(counts, n_pool, known_share=knowing == SIZE)
    m, u = found.m, found.u
    agreement, disagreement = np.log2(m / u), np.log2((1 - m) / (1 - u))
    better, equal = pairs.compare(_ranks(agreement, disagreement))
    linked, errors = {}, {}
    for j in WITHIN:
        chances = np.clip((j - better) / equal, 0.0, 1.0)
        linked[j] = float(chances.mean())
        errors[j] = standard_error(chances, pair.n_in_all)
    return ProbabilisticLinkage(
        linked=linked,
        guessed={j: min(j / n_pool, 1.0) for j in WITHIN},
        standard_errors=errors,
        n_records=pair.n_in_all,
        n_sampled=len(rows),
        n_pool=n_pool,
        share_of_matches=found.share,
        n_iterations=found.n_iterations,
        columns={
            name: ColumnWeight(*map(float, (m[j], u[j], agreement[j], disagreement[j])))
            for j, name in enumerate(names)
        },
        left_out=tuple(name for name in pair.columns if name not in names),
    )


def _coded(pair: Pair, n_classes: int) -> tuple[Places, Places, list[str]]:
    """Return both sides as codes, equal where values agree, and the columns that are used."""
    sides = [_codes(column, n_classes) for column in pair.columns.values()]
    names = list(pair.columns)
    if len(names) > MOST_COLUMNS:
        by_chance = [_agreement_by_chance(*codes) for codes in sides]
        used = sorted(np.argsort(by_chance, kind="stable")[:MOST_COLUMNS].tolist())
        sides, names = [sides[j] for j in used], [names[j] for j in used]
    before, after = (np.column_stack(columns) for columns in zip(*sides, strict=True))
    return before, after, names


def _codes(column: PairedColumn, n_classes: int) -> tuple[Places, Places]:
    """Return the classes of a column before and after, from 1; 0 is missing."""
    before, after = column.before, column.after
    if column.is_scaled:
        edges = class_edges(before.present.astype(np.float64), n_classes)
        return _classes(before, edges), _classes(after, edges)
    both = np.concatenate([before.numbers, after.numbers])
    codes = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int32) + np.int32(1)
    halves = codes[: len(before.numbers)], codes[len(before.numbers) :]
    return _with_missing(before, halves[0]), _with_missing(after, halves[1])


def class_edges(numbers: Floats, n_classes: int) -> Floats:
    """Return the edges of at most `n_classes` classes with about equal numbers of values.

    Edges lie halfway between neighbouring distinct values. So equal values stay together, and where
    there are few distinct ones, other values fall into the class of the nearest.

    >>> class_edges(np.array([1.0, 1.0, 1.0, 2.0, 4.0, 8.0]), 2).tolist()
    [1.5]
    >>> class_edges(np.array([1.0, 1.0, 1.0, 2.0, 4.0, 8.0]), 9).tolist()
    [1.5, 3.0, 6.0]
    """
    values, counts = np.unique(numbers, return_counts=True)
    halfway = values[:-1] / 2 + values[1:] / 2
    if len(values) <= n_classes:
        return halfway
    middles = (np.cumsum(counts) - counts / 2) / len(numbers)
    return halfway[np.diff(np.floor(middles * n_classes)) > 0]


def _classes(values: Values, edges: Floats) -> Places:
    classes = np.searchsorted(edges, values.numbers, side="right").astype(np.int32)
    return _with_missing(values, classes + np.int32(1))


def _with_missing(values: Values, codes: Places) -> Places:
    return codes if values.missing is None else np.where(values.missing, np.int32(0), codes)


def _agreement_by_chance(before: Places, after: Places) -> float:
    """Return the share of all pairs that agree on a column."""
    n_codes = int(max(before.max(), after.max())) + 1
    first, second = (np.bincount(codes, minlength=n_codes) for codes in (before, after))
    return float(first / len(before) @ (second / len(after)))


class _Pairs:
    """All pairs of an original and a released record; equal rows of codes are compared once."""

    def __init__(
        self, queries: Places, pool: tuple[Places, Counts], own: Places, n_jobs: int
    ) -> None:
        released, sizes = pool
        n_columns = released.shape[1]
        patterns = (queries == own) @ (1 << np.arange(n_columns))
        narrow = np.min_scalar_type(int(max(queries.max(), released.max())))
        queries, released = (np.ascontiguousarray(side.T, narrow) for side in (queries, released))
        # Original records with equal codes and equal own patterns are one query.
        first, self.query_of, self.query_counts = _distinct([*queries, patterns])
        self.queries, self.own = queries[:, first], patterns[first]
        first, of, _ = _distinct([*released])
        self.released_counts = np.bincount(of, weights=sizes).astype(np.int64)
        self.released = np.ascontiguousarray(released[:, first])
        self.n_patterns = 2**n_columns
        self.n_jobs = n_jobs

    def tally(self) -> Counts:
        """Return how many pairs have each pattern."""
        total = np.zeros(self.n_patterns, dtype=np.int64)
        for _, counts in self._in_blocks(self._tally, "tallying agreement"):
            total += counts  # sums of whole numbers are the same in any order
        return total

    def _tally(self, some: slice) -> Counts:
        counts = np.zeros(self.n_patterns, dtype=np.int64)
        tally_patterns(
            self.queries[:, some],
            self.query_counts[some],
            *(self.released, self.released_counts),
            counts,
        )
        return counts

    def compare(self, ranks: Ranks) -> tuple[Counts, Counts]:
        """Count the released records that rank above each record's own, and those that tie."""
        found = dict(self._in_blocks(partial(self._compare, ranks), "linking records"))
        better, equal = np.hstack([found[place] for place in range(len(found))])
        return better[self.query_of], equal[self.query_of]

    def _compare(self, ranks: Ranks, some: slice) -> Counts:
        own = ranks[self.own[some]]
        counts = np.empty((2, len(own)), dtype=np.int64)
        count_better(
            self.queries[:, some], own, self.released, self.released_counts, ranks, *counts
        )
        return counts

    def _in_blocks(
        self, work: Callable[[slice], Counts], task: str
    ) -> Iterator[tuple[int, Counts]]:
        n, size = len(self.own), max(1, _BLOCK_PAIRS // self.released.shape[1])
        blocks = [slice(at, min(at + size, n)) for at in range(0, n, size)]
        return as_completed(work, blocks, n_jobs=self.n_jobs, task=task)


def _distinct(keys: list[NDArray[Any]]) -> tuple[Rows, Rows, Counts]:
    """Return the first record of each distinct row of keys, the row of every record, the counts."""
    order = np.lexsort(keys)
    is_new = np.zeros(len(order), dtype=np.bool_)
    is_new[0] = True
    for key in keys:
        in_order = key[order]
        is_new[1:] |= in_order[1:] != in_order[:-1]
    places = np.cumsum(is_new) - 1
    which = np.empty_like(order)
    which[order] = places
    return order[is_new], which, np.bincount(places).astype(np.int64)


def estimate(counts: Counts, n_records: int, *, known_share: bool) -> Estimates:
    """Return the m, u and share of matches that best explain the counts of the patterns.

    EM for a mixture of matches and other pairs, in each of which columns agree independently. It
    starts from m = 0.9, u the share of all pairs that agree, and one match per record, and stops
    when no estimate changes by more than 1e-8, or after 1,000 iterations. With `known_share`, the
    share of matches is kept at its start.
    """
    bits, weights = _observed(counts)
    m = np.full(bits.shape[1], _START_M)
    u = _inside(weights @ bits)
    share = float(_inside(1.0 / n_records))
    n_iterations = 0
    for _ in range(_MOST_ITERATIONS):
        n_iterations += 1
        report("estimating weights", n_iterations, _MOST_ITERATIONS)
        odds = bits @ np.log(m / u) + (1 - bits) @ np.log((1 - m) / (1 - u))
        is_match = weights * expit(odds + np.log(share / (1 - share)))
        matched = max(float(is_match.sum()), np.finfo(np.float64).tiny)
        old = m, u, share
        m = _inside(is_match @ bits / matched)
        u = _inside((weights - is_match) @ bits / max(1.0 - matched, _MARGIN))
        if not known_share:
            share = float(np.clip(matched, _MARGIN / n_records, 1 - _MARGIN))
        changes = np.abs(np.concatenate([m - old[0], u - old[1], [share - old[2]]]))
        if changes.max() <= _TOLERANCE:
            break
    return Estimates(m, u, share, n_iterations)


def _observed(counts: Counts) -> tuple[Floats, Floats]:
    """Return the patterns that occur, as rows of zeros and ones, and their shares."""
    patterns = np.flatnonzero(counts)
    n_columns = len(counts).bit_length() - 1
    bits = (patterns[:, None] >> np.arange(n_columns)) & 1
    return bits.astype(np.float64), counts[patterns] / counts.sum()


def _of_true_matches(agrees: Mask, counts: Counts) -> Estimates:
    bits, weights = _observed(counts)
    n = len(agrees)
    m = agrees.mean(axis=0)
    u = (weights @ bits - m / n) / max(1.0 - 1.0 / n, _MARGIN)
    return Estimates(_inside(m), _inside(u), float(_inside(1.0 / n)), 0)


def _inside(shares: Floats | float) -> Floats:
    return np.clip(shares, _MARGIN, 1.0 - _MARGIN)


def _ranks(agreement: Floats, disagreement: Floats) -> Ranks:
    """Return the rank of every pattern by its weight; equal weights have equal ranks."""
    weights = np.zeros(1)
    for yes, no in zip(agreement, disagreement, strict=True):
        weights = np.concatenate([weights + no, weights + yes])
    # Weights that differ only by the order of summation are equal.
    ranks = np.unique(weights.round(9), return_inverse=True)[1]
    return ranks.reshape(-1).astype(np.int32)
