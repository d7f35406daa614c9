"""Sensitive values that all records behind a combination share: k records, and no doubt."""

from collections.abc import Iterable
from dataclasses import dataclass

from microagg.requirements.base import Evidence


@dataclass(frozen=True, slots=True)
class SharedValues:
    """In how many of the released combinations all records have one value of a column."""

    column: str
    shared: int
    combinations: int


def shared_values(evidence: Evidence, columns: Iterable[str]) -> list[SharedValues]:
    """Count combinations in which all records share one value of a column, for each column.

    A missing value is a value. Columns of one value in the whole table are left out, as are those
    that polars cannot hold or compare.
    """
    import polars as pl

    from microagg.requirements.observed import classes_of

    known = set(evidence.table.columns)
    columns = [name for name in columns if name in known]
    if not columns:
        return []
    labels, sizes = classes_of(evidence)  # once, as there may be thousands of columns
    found = []
    for name in columns:
        values = evidence.table.get_column(name)
        if values.dtype.is_nested() or values.dtype == pl.Object or values.n_unique() < 2:
            continue
        is_first = pl.col("value").eq_missing(pl.col("value").first())
        each = pl.DataFrame({"of": labels, "value": values}).group_by("of").agg(is_first.all())
        found.append(SharedValues(name, int(each.get_column("value").sum()), len(sizes)))
    return found
