"""The audit of a release whose records were shuffled: where each of them went."""

from os import PathLike

import numpy as np
import polars as pl

from microagg.core.arrays import Order
from microagg.core.errors import DataError, ParameterError
from microagg.files.formats import open_table

# Columns of an audit: the number of a record, and that of its row in a shuffled release, from 1.
RECORD, RELEASED_ROW = "record", "released_row"


def order_of(
    audit: str | PathLike[str] | None, n_records: int, *, is_shuffled: bool
) -> Order | None:
    """Return the original row of every released record, if they were shuffled.

    The audit says where each record went; without it, records cannot be matched by their order.
    """
    if audit is None:
        if is_shuffled:
            raise ParameterError(
                "the records of this release were shuffled, so they are not in the order of the "
                "original. Give the audit of the release (--audit, or audit= in Python), which "
                "says which record is where."
            )
        return None
    file = open_table(str(audit))
    if RELEASED_ROW not in file.columns or RECORD not in file.columns:
        raise ParameterError(
            f"the audit of a release whose records were shuffled has the columns {RECORD!r} and "
            f"{RELEASED_ROW!r}; {str(audit)!r} does not. Leave it out if they were not shuffled, "
            "or give the right one."
        )
    table = file.table(columns={RECORD, RELEASED_ROW})
    records, rows = (_row_numbers(table.get_column(n), n_records) for n in (RECORD, RELEASED_ROW))
    order = np.empty(n_records, dtype=np.intp)
    order[rows] = records
    return order


def refuse_shuffled(*, is_shuffled: bool) -> None:
    """Refuse to match the records of datasets by their order, if they were shuffled."""
    if is_shuffled:
        raise ParameterError(
            "the records of this release were shuffled, and those of datasets are matched by their "
            "order. Leave out --memory and --work-dir (memory=, work_dir=), and give the audit."
        )


def _row_numbers(column: pl.Series, n_records: int) -> Order:
    """Return a column that has every number from 1 to n once, from 0."""
    found = column.cast(pl.Int64, strict=False)
    numbers: Order = found.drop_nulls().to_numpy().astype(np.intp) - 1
    if found.null_count() or not np.array_equal(np.sort(numbers), np.arange(n_records)):
        raise DataError(
            f"the audit must have each number from 1 to {n_records:,} (the number of records) once "
            f"in {column.name!r}; it does not. Give the audit of this release."
        )
    return numbers
