"""Totals among columns of numbers: which of them add up to others, in all or nearly all records.

Columns that add up are linearly dependent. So dependent columns are found on small samples of
records, of which some are free of errors, and every sum of columns that turns up there is counted
on all records. This takes no search through subsets of columns: totals of many parts are found as
easily as those of two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.constraints.exact import echelon
from microagg.constraints.violations import TOLERANCE
from microagg.core.arrays import Floats, Mask, Rows, Wholes

# A total may fail in this share of the records, as parts are often rounded, and must hold in this
# share of those in which a column of it is not zero: columns of zeros add up to anything.
_MOST_FAILING, _LEAST_HOLDING = 0.1, 0.8
# Two columns that are equal now and then are not copies of each other.
_MOST_FAILING_PAIRS = 0.005
_LEAST_RECORDS = 5
_N_SAMPLES = 24
_SPARE_RECORDS = 20
# What is left of a dependent column, and how far a coefficient may be from a whole number: in turn
# for records that add up, but for errors of floats, and for those whose parts are rounded.
_ERRORS = ((1e-7, 1e-4), (1e-3, 0.1))


@dataclass(frozen=True)
class Total:
    """Columns times 1 or -1 that add up to `bound`, but in `failing` of `n_records` records.

    Records in which one of the columns is missing do not count.
    """

    signs: Mapping[str, int]
    bound: float
    failing: int
    n_records: int


def find_totals(columns: Mapping[str, NDArray[Any]], missing: Mapping[str, Mask]) -> list[Total]:
    """Return sums and differences of columns that are constant in nearly all records.

    None follows from others. `missing` says where values of a column are missing, if any are.

    >>> net, tax = np.array([70, 80, 65, 90, 50, 60]), np.array([30, 25, 36, 40, 17, 24])
    >>> (total,) = find_totals({"net": net, "tax": tax, "gross": net + tax}, {})
    >>> total.signs, total.bound, total.failing
    ({'net': -1, 'tax': -1, 'gross': 1}, 0.0, 0)
    """
    used, complete = _enough_records(columns, missing)
    if len(used) < 2 or len(complete) < max(_LEAST_RECORDS, len(used) + 3):
        return []
    rng = np.random.default_rng(0)
    candidates: dict[tuple[int, ...], None] = {}
    for trial in range(_N_SAMPLES):
        rows = _sample(used, columns, complete, rng)
        X = np.column_stack([columns[name][rows].astype(np.float64) for name in used])
        candidates |= dict.fromkeys(_sparse(_dependences(X, *_ERRORS[trial % 2])))
    found = []
    for signs in candidates:
        own = {name: sign for name, sign in zip(used, signs, strict=True) if sign}
        total = _confirmed(own, columns, missing)
        if total is not None:
            found.append(total)
    return _independent(found, used)


def _enough_records(
    columns: Mapping[str, NDArray[Any]], missing: Mapping[str, Mask]
) -> tuple[list[str], Rows]:
    """Return columns, and the records in which all have a value; the emptiest are left out."""
    used = sorted(columns, key=lambda name: np.count_nonzero(missing.get(name, ())))
    n = len(next(iter(columns.values()), ()))
    there = np.ones(n, dtype=np.bool_)
    kept: list[str] = []
    for name in used:
        both = there if name not in missing else there & ~missing[name]
        if np.count_nonzero(both) >= min(n, len(columns) + _SPARE_RECORDS):
            there = both
            kept.append(name)
    # Parts before their totals: what is left over is then a sum of parts.
    size = {name: np.abs(columns[name][there].astype(np.float64)).mean() for name in kept}
    return sorted(kept, key=lambda name: size[name]), np.flatnonzero(there)


def _sample(
    used: Sequence[str],
    columns: Mapping[str, NDArray[Any]],
    complete: Rows,
    rng: np.random.Generator,
) -> Rows:
    """Return some records; for every column, two of them are not zero if there are any."""
    n = min(len(complete), len(used) + _SPARE_RECORDS)
    rows = [rng.choice(complete, n, replace=False)]
    for name in used:
        own = columns[name]
        drawn = rng.choice(complete, min(len(complete), 4 * _SPARE_RECORDS), replace=False)
        nonzero = drawn[own[drawn] != 0]
        if len(nonzero) < 2:
            nonzero = complete[own[complete] != 0]
        if len(nonzero):
            rows.append(rng.choice(nonzero, min(2, len(nonzero)), replace=False))
    return np.unique(np.concatenate(rows))


def _dependences(X: Floats, nothing: float, nearly_whole: float) -> list[Wholes]:
    """Return whole numbers c with X c constant, for each column that depends on those before."""
    centred = X - X.mean(axis=0)
    sizes = np.sqrt(np.square(centred).sum(axis=0))
    every = np.empty((X.shape[1], len(X)))
    # Each free column is a sum of the basis: `factors` are those of one column, in a row.
    factors = np.zeros((X.shape[1], X.shape[1]))
    free: list[int] = []
    relations = []
    for j in np.flatnonzero(sizes):
        own = centred[:, j] / sizes[j]
        basis = every[: len(free)]
        along = basis @ own
        rest = own - basis.T @ along
        again = basis @ rest  # what rounding left
        rest, along = rest - basis.T @ again, along + again
        left = float(np.sqrt(np.square(rest).sum()))
        if left > nothing:
            at = len(free)
            factors[at, :at], factors[at, at] = along, left
            every[at] = rest / left
            free.append(int(j))
            continue
        weights = _substituted(factors[: len(free), : len(free)], along)
        coefficients = np.zeros(X.shape[1])
        coefficients[free] = -weights * sizes[j] / sizes[free]
        coefficients[j] = 1.0
        relations.append(coefficients)
    return _whole(relations, nearly_whole)


def _whole(relations: list[Floats], nearly_whole: float) -> list[Wholes]:
    """Return the relations of small whole numbers, and sums and differences that are.

    Where all pay the same rate, net and gross are both multiples of the tax, and their difference
    is the tax itself.
    """
    found, others = [], []
    for own in relations:
        whole = _small_whole(own, nearly_whole)
        if whole is None:
            others.append(own)
        else:
            found.append(whole)
    for at, own in enumerate(others):
        for earlier in others[:at]:
            for combined in (own - earlier, own + earlier):
                whole = _small_whole(combined, nearly_whole)
                if whole is not None:
                    found.append(whole)
    return found


def _small_whole(coefficients: Floats, nearly_whole: float) -> Wholes | None:
    whole = np.rint(coefficients)
    is_whole = (np.abs(coefficients - whole) < nearly_whole).all()
    return whole.astype(np.int64) if is_whole and np.abs(whole).max() <= 3 else None


def _substituted(factors: Floats, along: Floats) -> Floats:
    """Return by which weights rows of a triangular matrix add up to `along`, last one first."""
    left, weights = along.copy(), np.zeros(len(along))
    for at in range(len(along) - 1, -1, -1):
        weights[at] = left[at] / factors[at, at]
        left -= weights[at] * factors[at]
    return weights


def _sparse(relations: list[Wholes]) -> list[tuple[int, ...]]:
    """Return relations of few columns that say the same, as far as all coefficients are 1 or -1."""
    relations = list(relations)
    is_changed = True
    while is_changed:
        is_changed = False
        for i, own in enumerate(relations):
            for j, other in enumerate(relations):
                if i == j or not (own != 0)[other != 0].any():
                    continue
                for combined in (own + other, own - other):
                    if np.count_nonzero(combined) < np.count_nonzero(own):
                        relations[i], own, is_changed = combined, combined, True  # noqa: PLW2901
    return [
        tuple(own.tolist())
        for own in relations
        if np.abs(own).max(initial=0) == 1 and np.count_nonzero(own) > 1
    ]


def _confirmed(
    signs: Mapping[str, int], columns: Mapping[str, NDArray[Any]], missing: Mapping[str, Mask]
) -> Total | None:
    """Return a total with the number of records in which it fails, if these are few."""
    masks = [missing[name] for name in signs if name in missing]
    there = ~np.logical_or.reduce(masks) if masks else slice(None)
    own = {name: columns[name][there] for name in signs}
    is_whole = all(values.dtype.kind in "iu" for values in own.values())
    kind = np.int64 if is_whole else np.float64
    sums = np.add.reduce([sign * own[name].astype(kind) for name, sign in signs.items()])
    sizes = np.add.reduce([np.abs(values.astype(np.float64)) for values in own.values()])
    allowed = 0.0 if is_whole else TOLERANCE * sizes
    bound = float(np.median(sums))
    if np.abs(bound) <= TOLERANCE * float(np.median(sizes)):
        bound = 0.0
    bound = float(f"{bound:.12g}")
    holds: Mask = np.abs(sums - bound) <= allowed
    failing = len(holds) - int(np.count_nonzero(holds))
    most = _MOST_FAILING if len(signs) > 2 else _MOST_FAILING_PAIRS
    if failing > most * len(holds) or len(holds) < _LEAST_RECORDS:
        return None
    for values in own.values():
        at = values != (0 if bound == 0.0 else np.median(values))
        if np.count_nonzero(holds & at) < max(
            _LEAST_RECORDS, _LEAST_HOLDING * np.count_nonzero(at)
        ):
            return None
    in_order = {name: signs[name] for name in columns if name in signs}
    return Total(in_order, bound, failing, len(holds))


def _independent(found: list[Total], used: Sequence[str]) -> list[Total]:
    """Return the totals of fewest columns, without those that follow from them.

    Nor is one kept that holds less often than another with one column in place of a similar one.
    """
    kept: list[Total] = []
    rows: list[list[Fraction]] = []
    for total in sorted(found, key=lambda own: (len(own.signs), own.failing)):
        row = [Fraction(total.signs.get(name, 0)) for name in used]
        is_new = len(echelon([*rows, row], len(used))) > len(rows)
        if is_new and not any(_swaps_one_column(total, better) for better in kept):
            kept.append(total)
            rows.append(row)
    return kept


def _swaps_one_column(total: Total, better: Total) -> bool:
    if better.failing >= total.failing:
        return False
    names = {*total.signs, *better.signs}
    return any(
        sum(total.signs.get(n, 0) != sign * better.signs.get(n, 0) for n in names) == 2
        for sign in (1, -1)
    )
