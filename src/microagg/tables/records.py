"""A table -> the records that a method groups: roles given, columns checked, matrix scaled."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.tables.encoding import encode, numeric_columns
from microagg.tables.frames import Frame, index_names, open_frame
from microagg.tables.roles import Names, Roles, check_named, resolve
from microagg.validation import check_k


class Records(NamedTuple):
    """An opened table; `columns` are its quasi-identifiers, `X` is what records are compared by."""

    frame: Frame
    roles: Roles
    columns: dict[str, NDArray[Any]]
    X: NDArray[np.float64]


def open_records(
    table: object,
    ks: Iterable[int],
    *,
    quasi_identifiers: Names,
    identifiers: Names,
    sensitive: Names,
    scale: str,
) -> Records:
    """Open a table if every column has a role and groups of each k of `ks` can be made of it."""
    frame = open_frame(table)
    named = check_named(
        (*frame.columns, *index_names(frame)),
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
    )
    if not len(frame):
        raise DataError("the table has no records.")
    roles = resolve(frame, named)
    for k in ks:
        check_k(k, n_records=len(frame))
    columns = numeric_columns(frame, roles.quasi_identifiers)
    return Records(frame, roles, columns, encode(columns, scale=scale))
