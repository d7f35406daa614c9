"""A table -> the records that a method groups: roles given, columns checked, matrix scaled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.released import Missing
from microagg.core.errors import DataError, ParameterError
from microagg.core.validation import check_k
from microagg.tables.columns import Coded, Column
from microagg.tables.encoding import encode
from microagg.tables.frames import Frame, dtype_of, index_names, open_frame
from microagg.tables.roles import Names, Roles, check_named, resolve
from microagg.tables.strata import Strata, find_strata
from microagg.tables.typed import ColumnOptions, code_numbers, code_strata, is_number, open_column

Floats = NDArray[np.float64]

# Between the largest and the smallest weight of a record.
_LARGEST_RATIO = 1e9


@dataclass(frozen=True, eq=False)
class Block:
    """Columns by which records are grouped together; `X` is what they are compared by."""

    names: tuple[str, ...]
    X: Floats


@dataclass(frozen=True, eq=False)
class Records:
    """An opened table; `columns` are its quasi-identifiers, in one block or more."""

    frame: Frame
    roles: Roles
    columns: dict[str, Column]
    blocks: tuple[Block, ...]
    missing: Missing = Missing.ERROR
    weights: Floats | None = None
    strata: Strata | None = None
    strata_columns: dict[str, Coded] = field(default_factory=dict)

    @property
    def X(self) -> Floats:  # noqa: N802
        """The matrix of all quasi-identifiers, where they are in one block."""
        (block,) = self.blocks
        return block.X

    @property
    def n_missing(self) -> dict[str, int]:
        """How many values are missing in the quasi-identifiers where some are."""
        counts = {name: column.values.n_missing for name, column in self.columns.items()}
        return {name: count for name, count in counts.items() if count}


def open_records(
    table: object,
    ks: Iterable[int],
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    strata: Names = (),
    weights: str | None = None,
    column_options: Mapping[str, ColumnOptions] | None = None,
    scale: str,
    missing: Missing = Missing.ERROR,
    blocks: Sequence[Sequence[str]] = (),
    small_strata: str = "error",
) -> Records:
    """Open a table if every column has a role and groups of each k of `ks` can be made of it."""
    frame = open_frame(table)
    column_options = column_options or {}
    named = check_named(
        (*frame.columns, *index_names(frame)),
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        strata=strata,
        weights=weights,
        typed=column_options,
    )
    if not len(frame):
        raise DataError("the table has no records.")
    roles = resolve(frame, named)
    largest = max(check_k(k, n_records=len(frame)) for k in ks)
    columns = {
        name: open_column(frame, name, column_options.get(name, ColumnOptions()))
        for name in roles.quasi_identifiers
    }
    check_values(columns.values(), missing)
    each = None if roles.weights is None else _weights(frame, roles.weights)
    parts = tuple(
        Block(
            names,
            encode([columns[c] for c in names], scale=scale, missing=missing, weights=each),
        )
        for names in _blocks(blocks, roles.quasi_identifiers)
    )
    found, coded = None, {}
    if roles.strata:
        coded = {name: code_strata(frame, name) for name in roles.strata}
        X = np.hstack([part.X for part in parts])
        found = find_strata(coded, largest, small=small_strata, X=X)
    return Records(frame, roles, columns, parts, missing, each, found, coded)


def check_values(columns: Iterable[Column], missing: Missing) -> None:
    """Refuse what cannot be aggregated: infinite numbers, and missing ones unless asked for."""
    infinite, absent, empty = {}, {}, []
    for column in columns:
        numbers = column.values.numbers
        if numbers.dtype.kind == "f" and (count := int(np.count_nonzero(np.isinf(numbers)))):
            infinite[column.name] = count
        if column.values.n_missing:
            absent[column.name] = column.values.n_missing
        if column.values.n_missing == len(numbers):
            empty.append(column.name)
    if infinite:
        raise DataError(
            "quasi-identifiers must hold finite numbers; values are infinite in "
            f"{_counted(infinite)}. Remove or replace them first."
        )
    if absent and missing is Missing.ERROR:
        raise DataError(
            f"values of quasi-identifiers are missing in {_counted(absent)} (records in brackets). "
            "Choose what becomes of them: --missing value keeps a missing value as a value, so "
            "that whole groups release it or none, --missing impute replaces it by its group's "
            "aggregate (missing='value' or 'impute' in Python)."
        )
    if empty and missing is Missing.IMPUTE:
        raise DataError(
            f"there is nothing to impute from in {', '.join(map(repr, empty))}: every value is "
            "missing. Drop the column as an identifier."
        )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} ({count})" for name, count in counts.items())


def _weights(frame: Frame, name: str) -> Floats:
    if not is_number(frame, name):
        raise DataError(f"the weights in {name!r} must be numbers; got {dtype_of(frame, name)}.")
    values = code_numbers(frame, name)
    weights = values.numbers.astype(np.float64)
    usable = np.isfinite(weights) & (weights > 0.0)  # a missing one is 0
    if bad := int(np.count_nonzero(~usable)):
        raise DataError(
            f"the weights in {name!r} must be finite numbers above 0; {bad} of {len(weights)} are "
            "not, or are missing. Repair or remove those records first."
        )
    if weights.min() * _LARGEST_RATIO < weights.max():
        raise DataError(
            f"the weights in {name!r} differ by a factor of more than {_LARGEST_RATIO:g}, so that "
            "sums would lose the small ones. Repair them first."
        )
    # Only their ratios count. A power of two keeps every sum of whole numbers exact.
    return np.ldexp(weights, -int(np.frexp(weights.max())[1]))


def _blocks(
    asked: Sequence[Sequence[str]], quasi_identifiers: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the blocks in the order of the table; what none of them names is one more."""
    taken: set[str] = set()
    blocks = []
    for names in asked:
        for name in names:
            if name not in quasi_identifiers:
                raise ParameterError(
                    f"a block holds quasi-identifiers; {name!r} is none. Remove it from the block."
                )
            if name in taken:
                raise ParameterError(
                    f"column {name!r} can be in one block only; it is named twice. Remove one."
                )
            taken.add(name)
        if names:
            blocks.append(tuple(c for c in quasi_identifiers if c in names))
    if rest := tuple(c for c in quasi_identifiers if c not in taken):
        blocks.append(rest)
    return blocks
