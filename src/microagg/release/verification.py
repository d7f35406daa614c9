"""Check a finished table, apart from the code that made it: how many records share what they show.

Nothing here knows of groups or labels: a class is the set of records that show the same values in
the given columns. A missing value is a value like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from microagg.core.errors import GuaranteeError
from microagg.tables.frames import Frame, polars_column


@dataclass(frozen=True, slots=True)
class Classes:
    """How the records fall into classes: their number, the smallest, and who is below k."""

    smallest: int
    count: int
    records_below: int


def count_classes(frame: Frame, columns: Sequence[str], *, k: int) -> Classes:
    """Count the classes of the records over `columns`."""
    values = [polars_column(frame[name]).alias(str(i)) for i, name in enumerate(columns)]
    shown = pl.DataFrame(values)
    sizes = shown.group_by(shown.columns).len(name="size").get_column("size").to_numpy()
    return Classes(
        smallest=int(sizes.min()),
        count=len(sizes),
        records_below=int(sizes[sizes < k].sum()),
    )


def require_k(frame: Frame, columns: Sequence[str], *, k: int) -> Classes:
    """Return the classes if each holds at least k records; otherwise nothing may be released."""
    classes = count_classes(frame, columns, k=k)
    if classes.smallest < k:
        raise GuaranteeError(
            f"{classes.records_below} records of the finished table share their quasi-identifiers "
            f"with fewer than k={k} records; nothing was released. This is a defect of the "
            "method: please report it."
        )
    return classes
