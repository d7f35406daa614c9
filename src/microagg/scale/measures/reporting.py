"""Reports of a protected dataset: what is known of all records, and a sample of them."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from microagg.measures.sampling import MOST_RECORDS
from microagg.measures.subject import KnownColumns
from microagg.plans.manifest import Manifest
from microagg.report.bars import MISSING
from microagg.report.pages import pages
from microagg.report.rare import MOST_MERGED
from microagg.report.whole import (
    CategoryCounts,
    Spread,
    WholeColumn,
    WholeTable,
    counted_spread,
    dominated,
)
from microagg.scale.checks.checking import CHECKING
from microagg.scale.measures.bases import Base
from microagg.scale.measures.pairing import Paired, open_sample
from microagg.scale.measures.sums import Counted, Sketch
from microagg.scale.measures.whole import WholeRecords
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import DatasetSetting
from microagg.tables.pairs import PairedColumn

_SIDES = ("before", "after")


def report_pages(
    passes: Passes, setting: DatasetSetting, manifest: Manifest, wanted: Mapping[Path, bool]
) -> dict[Path, str]:
    """Return the text of each wanted report of a finished run; the values say which are public."""
    finished = passes.work.facts(CHECKING).finished
    columns = tuple(dict.fromkeys((*setting.listing.columns, *finished.columns)))
    known = KnownColumns.by_manifest(manifest, "").within(columns)
    is_text = setting.dialect is not None
    paired = Paired.of(
        setting.listing,
        finished,
        known,
        setting.roles.unit,
        (is_text, is_text),
        (setting.decimal, setting.decimal),
        MOST_RECORDS,
    )
    paired, pair = open_sample(passes, paired)
    whole = None
    if paired.is_sample:
        records = WholeRecords.of(passes, paired, pair, k=manifest.k)
        pair, whole = records.pair, _whole_table(records, manifest)
    return pages(pair, manifest, wanted, title=None, target=None, seed=0, whole=whole)


def _whole_table(records: WholeRecords, manifest: Manifest) -> WholeTable:
    least = records.least
    return WholeTable(
        records.sample,
        least,
        {
            name: _column(records, column, least, manifest)
            for name, column in records.pair.columns.items()
        },
        partial(records.risk, seed=0, is_drawn=manifest.plan.draws_values),
    )


def _column(
    records: WholeRecords, column: PairedColumn, least: int, manifest: Manifest
) -> WholeColumn:
    """Return what is known of a column in all records."""
    name, sums = column.name, records.sums
    is_uncountable = sums.sketches[name].n_rare(least) > MOST_MERGED
    before = after = None
    is_dominated = False
    if name in sums.scaled:
        base, own = records.bases.columns[name], sums.scaled[name]
        median = float(np.median(base.scaled(column.before, column.step)[column.before.is_present]))
        squares = own.plain_two - 2.0 * median * own.plain_one + median**2 * own.n_before
        is_dominated = dominated(sums.ends[name], median, squares, least)
        before, after = (_spread(own.statistics(side, base), column) for side in _SIDES)
        if not is_uncountable:
            before = _counted(sums.sketches[name], base, column, least)
        elif is_dominated:
            before = None
        if manifest.weights is not None:
            # A few weights may dominate a mean; in the sample they are looked at one by one.
            before = None
    counted = sums.counted.get(name)
    return WholeColumn(
        sums.missing[name],
        is_uncountable,
        is_dominated,
        before,
        after,
        None if counted is None or not counted.is_complete else _categories(counted, column),
    )


def _counted(sketch: Sketch, base: Base, column: PairedColumn, least: int) -> Spread | None:
    """Return mean and deviation of few different numbers, without rare ones, if all are counted."""
    if not sketch.is_complete:
        return None
    order = np.argsort(sketch.values)
    values, counts = sketch.values[order], sketch.counts[order].astype(np.int64)
    missing = np.isnan(values)
    n_missing = int(counts[missing].sum())
    found = counted_spread(values[~missing], counts[~missing], n_missing, least)
    if found is None:
        return None
    mean, deviation = found
    return _spread((0, base.mean + base.deviation * mean, base.deviation * deviation), column)


def _spread(found: tuple[int, float | None, float | None], column: PairedColumn) -> Spread:
    """Return mean and deviation in the steps in which the sample counts."""
    _, mean, deviation = found
    return (
        None if mean is None else mean / column.step,
        None if deviation is None else deviation / column.step,
    )


def _categories(counted: Counted, column: PairedColumn) -> CategoryCounts:
    """Return the counts of categories, in the order of the column, and others by name."""
    known = [str(own) for own in column.categories]
    others = sorted(
        name
        for name in {*counted.before, *counted.after}
        if name is not None and name not in set(known)
    )
    names = [*known, *others]
    if not column.is_scaled:
        names = sorted(names)
    every: list[str | None] = [*names, None]
    sides = (counted.before, counted.after)
    return CategoryCounts(
        (*names, MISSING),
        np.array([[own.get(name, (0, 0.0))[0] for name in every] for own in sides], dtype=np.intp),
        np.array([[own.get(name, (0, 0.0))[1] for name in every] for own in sides]),
    )
