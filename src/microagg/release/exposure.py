"""What a table gives away about records and units although no identifier is published."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.core.errors import DataError
from microagg.plans.plan import Plan
from microagg.release.grouping import Groups
from microagg.release.records import Records
from microagg.tables.columns import ColumnType
from microagg.tables.frames import has_column, polars_column
from microagg.tables.judging import are_days, counts_records
from microagg.tables.units import codes_of_units

# Of the pairs of neighbouring records, this share must be of one unit, and this many times what
# chance makes of it, for the order to link records.
_MANY, _TIMES = 0.05, 5.0
# Of the records or units, this share must each have a value of its own for a column to name them.
NEARLY_ALL = 0.95


def order_links_units(records: Records) -> bool:
    """Whether records of one unit follow each other, so that their order links them."""
    units = records.units
    if units is None or len(units) < 2:
        return False
    known = units[units >= 0]
    if not len(known):
        return False
    shares = np.bincount(known) / len(units)
    by_chance = float(np.square(shares).sum())
    found = float(np.mean((units[1:] == units[:-1]) & (units[1:] >= 0)))
    return is_order_telling(found, by_chance)


def is_order_telling(found: float, by_chance: float) -> bool:
    """Whether neighbouring records are of one unit far more often than by chance."""
    return found > _MANY and found > _TIMES * by_chance


def coarser_identifiers(records: Records) -> Iterator[str]:
    """Return identifiers of which a value is in records of several units: who may be the same."""
    if records.units is None:
        return
    for name in records.roles.identifiers:
        owners = codes_of_units(records.frame, name)
        known = (owners >= 0) & (records.units >= 0)
        pairs = np.unique(np.stack((owners[known], records.units[known])), axis=1)
        if len(pairs[0]) and np.bincount(pairs[0]).max() > 1:
            yield name


def n_groups_of_one_weight(records: Records, groups: Groups) -> int:
    """Return in how many groups one record has more than half of the weight.

    What such a group releases is mostly that record's values. One of two records has more than
    half unless both are equal, so it counts from three quarters on.
    """
    weights = records.weights
    if weights is None:
        return 0
    found = 0
    for labels in groups.labels:
        largest = np.zeros(labels.max() + 1)
        np.maximum.at(largest, labels, weights)
        most = np.maximum(0.5, 1.5 / np.bincount(labels)) * np.bincount(labels, weights)
        found += int(np.count_nonzero(largest > most))
    return found


def columns_that_name_records(records: Records) -> Iterator[str]:
    """Return published columns, of any type, in which nearly every record has its own value.

    If records are about units, it is these that such a column must not name.
    """
    n = len(records.frame)
    if records.units is not None or n < 2:
        return
    for name, values in _published(records):
        if int(values.is_unique().filter(values.is_not_null()).sum()) >= NEARLY_ALL * n:
            yield name


def assumed_serial_numbers(records: Records) -> Iterator[str]:
    """Return quasi-identifiers that nobody named and that seem to number the records."""
    least = NEARLY_ALL * len(records.frame)
    for name, numbers in _whole_numbers(records, records.roles.assumed):
        if counts_records(numbers) and pl.Series(numbers).n_unique() >= least:
            yield name


def days_as_numbers(plan: Plan, records: Records) -> Iterator[str]:
    """Return quasi-identifiers whose numbers seem to be dates and that the plan does not type."""
    for name, numbers in _whole_numbers(records, records.roles.quasi_identifiers):
        named = plan.columns.get(name)
        if (named is None or named.type is None) and are_days(numbers):
            yield name


def _whole_numbers(records: Records, names: Iterable[str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return those of the columns that are protected as whole numbers, without missing values."""
    for name in names:
        column = records.columns[name]
        if column.type is ColumnType.INTEGER:
            yield name, column.values.present


def _published(records: Records) -> Iterator[tuple[str, pl.Series]]:
    """Return the columns that are published unchanged."""
    for name in records.roles.unchanged:
        if not has_column(records.frame, name):
            continue
        try:
            values = polars_column(records.frame[name])
        except DataError:  # a type that polars does not have, such as complex numbers
            values = _as_text(records.frame[name].to_list())
        if values.dtype == pl.Object:
            values = _as_text(values.to_list())
        yield name, values


def _as_text(values: Iterable[Any]) -> pl.Series:
    """Return values of any type as text, by which they can be compared."""
    return pl.Series([None if value is None else repr(value) for value in values], dtype=pl.String)


def columns_that_name_units(records: Records) -> Iterator[str]:
    """Return published columns in which nearly every unit has a value that no other unit has."""
    units = records.units
    if units is None or units.max(initial=-1) < 1:
        return
    n_units = len(np.unique(units[units >= 0]))
    for name, values in _published(records):
        pairs = pl.DataFrame({"unit": units, "value": values}).filter(pl.col("unit") >= 0)
        own = (
            pairs.drop_nulls("value")
            .group_by("value")
            .agg(pl.col("unit").n_unique().alias("n"), pl.col("unit").first())
            .filter(pl.col("n") == 1)
        )
        if own.get_column("unit").n_unique() >= NEARLY_ALL * n_units:
            yield name
