"""Risk of units, where several records are about the same person, household or firm."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Counts, Labels, Rows
from microagg.core.parallel import as_completed
from microagg.core.progress import paced, report
from microagg.core.validation import check_jobs
from microagg.kernels.attacks.distance_linkage import BoxTree, make_box_tree
from microagg.kernels.attacks.nearest_units import count_nearest
from microagg.measures.risk.classes import THRESHOLDS
from microagg.measures.sampling import MOST_RECORDS, sampled_rows, standard_error
from microagg.tables.pairs import Pair, classes_of
from microagg.tables.units import Units

TASK = "linking units"

# Records that a thread takes at a time.
_PER_ITEM = 2000


@dataclass(frozen=True)
class UnitClasses:
    """How many units are behind the released combinations.

    `fewest` is the least number behind one, and `largest_share` the largest share of a
    combination's records that are of one unit. `units_below` are the shares of units with a record
    in a class of fewer units than a threshold, `unique_before` and `unique_after` those of units
    with a record whose combination no other unit shows.
    """

    fewest: int
    largest_share: float
    units_below: dict[int, float]
    unique_before: float
    unique_after: float


@dataclass(frozen=True)
class UnitLinkage:
    """Shares linked to the right unit by distance, of all units and of all their records.

    `guessed` are the shares reached by guessing; the standard errors are those of the shares if
    only the records of `n_sampled` units were linked, and 0 if all were.
    """

    linked: float
    guessed: float
    standard_error: float
    linked_records: float
    guessed_records: float
    standard_error_records: float
    n_units: int
    n_sampled: int


@dataclass(frozen=True)
class UnitRisk:
    """Risk of the units that `column` names; records without a unit are not counted.

    `linkage` is None for a dataset of more than 100,000 records: it takes all records of a unit.
    """

    column: str
    n_units: int
    records_without: int
    classes: UnitClasses
    linkage: UnitLinkage | None


def unit_risk(pair: Pair, *, seed: int = 0) -> UnitRisk | None:
    """Return the risk of units; None if nothing says whom records are about."""
    units = pair.units
    if units is None:
        return None
    return UnitRisk(
        units.column,
        units.count,
        units.n_without,
        unit_classes(pair),
        unit_linkage(pair, seed=seed),
    )


class _Behind(NamedTuple):
    """The units behind every class, sorted: those of class c are `first[c]` to `first[c + 1]`."""

    first: Rows
    units: Rows
    counts: Counts

    @property
    def n_units(self) -> Counts:
        """How many units are behind every class."""
        return np.diff(self.first).astype(np.int64)


def _behind(classes: Labels, units: Units) -> _Behind:
    known = units.is_known
    keys, counts = np.unique(
        classes[known] * units.count + units.of_record[known], return_counts=True
    )
    n_classes = int(classes.max()) + 1
    first = np.searchsorted(keys, np.arange(n_classes + 1) * units.count)
    return _Behind(first.astype(np.intp), (keys % units.count).astype(np.intp), counts)


def unit_classes(pair: Pair) -> UnitClasses:
    """Count the units behind every combination, of the released table and of the original.

    A class is as in `class_sizes`; a record without a unit counts for none. Time O(n log n).
    """
    assert pair.units is not None
    found = _behind(pair.classes, pair.units)
    sizes = np.bincount(pair.classes)
    shares = found.counts / np.repeat(sizes, found.n_units)
    before = _behind(classes_of([c.before for c in pair.columns.values()]), pair.units)
    n = pair.units.count
    return UnitClasses(
        fewest=int(found.n_units.min()),
        largest_share=float(shares.max()),
        units_below={k: _share_below(found, k, n) for k in THRESHOLDS},
        unique_before=_share_below(before, 2, n),
        unique_after=_share_below(found, 2, n),
    )


def _share_below(found: _Behind, k: int, n_units: int) -> float:
    """Return the share of units with a record in a class of fewer than k units."""
    is_rare = np.repeat(found.n_units < k, found.n_units)
    return len(np.unique(found.units[is_rare])) / n_units


def unit_linkage(
    pair: Pair, *, most: int = MOST_RECORDS, seed: int = 0, n_jobs: int | None = -1
) -> UnitLinkage:
    """Return the expected share of units that an intruder finds by distance.

    As in `distance_linkage`, the intruder picks the nearest released record for every record, and
    one of the nearest at random if several are as near. With `equal` nearest records, `own` of
    which are of the same unit, it is the right unit with probability p = own / equal. A unit is
    found if this is so for one of its records or more:

        1 - product over its records of (1 - p)

    Records without a unit are not linked, but are among those released. If there are more than
    `most` records, units with about as many are drawn. Time and memory as in `distance_linkage`.
    """
    units = pair.units
    assert units is not None
    n_wanted = units.count
    if pair.n_records > most:
        n_wanted = max(1, int(units.count * (most / pair.n_records)))
    drawn = np.zeros(units.count + 1, dtype=np.bool_)  # the last is for records without a unit
    drawn[sampled_rows(units.count, n_wanted, seed)] = True
    rows = np.flatnonzero(drawn[units.of_record])
    equal, own = _nearest(pair, units, rows, n_jobs=n_jobs)
    chances = own / np.maximum(equal, 1)
    outcomes = np.ones(units.count)
    np.multiply.at(outcomes, units.of_record[rows], 1.0 - chances)
    outcomes = 1.0 - outcomes[drawn[:-1]]
    expected = np.bincount(units.of_record[rows], weights=chances, minlength=units.count)
    sizes = units.sizes[drawn[:-1]]
    share = float(chances.mean())
    residuals = expected[drawn[:-1]] - share * sizes
    by_chance = units.sizes / pair.n_records
    return UnitLinkage(
        linked=float(outcomes.mean()),
        guessed=float((1.0 - (1.0 - by_chance) ** units.sizes).mean()),
        standard_error=standard_error(outcomes, units.count),
        linked_records=share,
        guessed_records=float(units.sizes @ by_chance / units.sizes.sum()),
        standard_error_records=standard_error(residuals, units.count) / float(sizes.mean()),
        n_units=units.count,
        n_sampled=len(outcomes),
    )


def _nearest(pair: Pair, units: Units, rows: Rows, *, n_jobs: int | None) -> tuple[Rows, Rows]:
    """Count, for each row, the nearest released records and those of its unit among them."""
    classes = pair.classes
    _, places, sizes = np.unique(classes, return_index=True, return_counts=True)
    tree = make_box_tree(pair.points_after(places), sizes, pair.code_distances)
    # Records that are close together find the same leaves of the tree in the cache.
    order = np.argsort(tree.places[classes[rows]], kind="stable")
    items = [order[at : at + _PER_ITEM] for at in range(0, len(order), _PER_ITEM)]
    equal, own = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    link = partial(_link, tree, pair, units, _behind(classes, units))
    linked = as_completed(
        link, [rows[item] for item in items], n_jobs=check_jobs(n_jobs), task=TASK
    )
    for place, found in linked:
        equal[items[place]], own[items[place]] = found
    return equal, own


def _link(
    tree: BoxTree, pair: Pair, units: Units, behind: _Behind, rows: Rows
) -> tuple[Rows, Rows]:
    """Count for some records; only they are held as points."""
    points, unit = pair.points_before(rows), units.of_record[rows]
    at_place = np.zeros(tree.counts.size, dtype=np.intp)
    at_place[tree.places] = np.arange(len(tree.places))
    equal, own = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    done = 0
    for part in paced(np.arange(len(rows))):
        count_nearest(tree, at_place, *behind, points, unit, part, equal, own)
        done += len(part)
        report(TASK, done, len(rows))
    return equal, own
