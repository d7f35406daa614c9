"""Second stage: records to group, with roles assigned, columns checked and the matrix scaled."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.choices import Missing
from microagg.core.arrays import Floats, Rows
from microagg.core.errors import DataError, ParameterError
from microagg.core.registry import find
from microagg.core.validation import check_k
from microagg.core.words import did_you_mean
from microagg.plans.plan import Plan
from microagg.release.source import Source
from microagg.requirements.base import Distribution
from microagg.tables.columns import Coded, Column, ColumnOptions, ColumnType
from microagg.tables.decimals import digits_of, is_decimal
from microagg.tables.encoding import Encoding
from microagg.tables.frames import Frame, index_names
from microagg.tables.judging import Judgement, judge_type
from microagg.tables.resolving import resolve
from microagg.tables.roles import Roles
from microagg.tables.strata import Strata, find_strata
from microagg.tables.typed import code_strata, open_column
from microagg.tables.units import codes_of_units, n_shared
from microagg.tables.weighting import record_weights


@dataclass(frozen=True, eq=False)
class Block:
    """Columns that are grouped together; `X` is their encoding for comparisons."""

    names: tuple[str, ...]
    encoding: Encoding
    X: Floats


@dataclass(frozen=True, eq=False)
class Records:
    """An opened table; `columns` are its quasi-identifiers, in one block or more.

    `weights` are in units of `weight_unit`, a power of two, so that none is above 1. `units` are
    those of the records as codes, -1 for none, if a column says whom records are about. If these
    are part of a dataset, `overall` has what all of its records together would release of columns
    with missing values, and `distributions` those of columns that groups are compared with.
    """

    source: Source
    roles: Roles
    columns: dict[str, Column]
    blocks: tuple[Block, ...]
    scale: str
    missing: Missing = Missing.ERROR
    weights: Floats | None = None
    weight_unit: float = 1.0
    strata: Strata | None = None
    strata_columns: dict[str, Coded] = field(default_factory=dict)
    units: Rows | None = None
    judged: dict[str, Judgement] = field(default_factory=dict)
    named_identifiers: tuple[str, ...] = ()  # whether they were read or not
    overall: Mapping[str, float] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)

    @property
    def frame(self) -> Frame:
        """The table as given."""
        return self.source.frame

    @property
    def X(self) -> Floats:  # noqa: N802
        """The matrix of all quasi-identifiers, if they are in one block."""
        (block,) = self.blocks
        return block.X

    @property
    def table_weights(self) -> Floats | None:
        """The weights of the records as in the table, if they have any."""
        return None if self.weights is None else self.weights * self.weight_unit

    @property
    def n_missing(self) -> dict[str, int]:
        """Missing values of each quasi-identifier that has any."""
        counts = {name: column.values.n_missing for name, column in self.columns.items()}
        return {name: count for name, count in counts.items() if count}

    def stratified_for(self, k: int, small: str) -> Self:
        """Return the records in strata of at least k, with small ones merged if asked for.

        If records have units, these are counted.
        """
        if not self.strata_columns:
            return self
        X = np.hstack([block.X for block in self.blocks])
        strata = find_strata(self.strata_columns, k, small=small, X=X, units=self.units)
        return replace(self, strata=strata)

    def rows_of_strata(self) -> list[Rows]:
        """Return the records of every stratum, or all of them."""
        return [np.arange(len(self.frame))] if self.strata is None else self.strata.rows()


def open_records(source: Source, plan: Plan, *, largest_k: int | None = None) -> Records:
    """Open a table if every column has a role and there are enough records for k.

    A study of several k gives the `largest_k`, and divides the records into strata for each k.
    """
    source = source.without(plan.na, plan.unchanged)
    frame = source.frame
    named, roles = _roles(source, plan)
    if roles.unit is None and not plan.counts_rows:
        _check_identifiers(frame, roles.identifiers)
    k = check_k(largest_k or plan.k, n_records=len(frame))
    judged = judge_types(frame, roles.quasi_identifiers, plan, source.types)
    columns = _columns(frame, plan, judged)
    weights, unit = (None, 1.0) if roles.weights is None else _weights(frame, roles.weights)
    blocks = []
    for names in _blocks(plan.blocks, roles.quasi_identifiers):
        own = [columns[name] for name in names]
        encoding = Encoding.fit(own, scale=plan.scale, missing=plan.missing, weights=weights)
        blocks.append(Block(names, encoding, encoding.apply(own)))
    units = None if roles.unit is None else _units(frame, roles.unit)
    coded = {name: code_strata(frame, name) for name in roles.strata}
    records = Records(
        source,
        roles,
        columns,
        tuple(blocks),
        plan.scale,
        plan.missing,
        weights,
        unit,
        strata_columns=coded,
        units=units,
        judged=judged,
        named_identifiers=named.identifiers,
    )
    return records if largest_k else records.stratified_for(k, plan.small_strata)


def _roles(source: Source, plan: Plan) -> tuple[Roles, Roles]:
    """Return the roles of all columns, and of those that were read."""
    frame, not_read = source.frame, set(source.not_read)
    read = [name for name in (*frame.columns, *index_names(frame)) if name not in not_read]
    roles = resolve(frame, plan.roles_in((*source.not_read, *read)))
    return roles, replace(
        roles,
        identifiers=tuple(name for name in roles.identifiers if name not in not_read),
        left_out=tuple(name for name in roles.left_out if name not in not_read),
    )


def _columns(frame: Frame, plan: Plan, judged: Mapping[str, Judgement]) -> dict[str, Column]:
    """Return the quasi-identifiers, each as what it was judged to be."""
    said = plan.column_options
    columns = {
        name: open_column(
            frame,
            name,
            replace(said.get(name, ColumnOptions()), type=own.type, dates=plan.dates),
        )
        for name, own in judged.items()
    }
    check_values(columns.values(), plan.missing, hybrid=plan.hybrid)
    if plan.hybrid:  # its records are made of floats, which keep means and covariances
        return columns
    return _with_digits(columns, plan)


def _with_digits(columns: Mapping[str, Column], plan: Plan) -> dict[str, Column]:
    """Return the columns with the decimals that they are released with."""
    asked = {name: options.digits for name, options in plan.column_options.items()}
    return {
        name: replace(column, digits=digits_of(column, asked.get(name), plan.digits))
        for name, column in columns.items()
    }


def judge_types(
    frame: Frame,
    quasi_identifiers: Iterable[str],
    plan: Plan,
    labels: Mapping[str, ColumnType],
    judge: Callable[..., Judgement] = judge_type,
) -> dict[str, Judgement]:
    """Return the type of every quasi-identifier: as the plan says, or as it is judged.

    If the frame is only a part of a table, `judge` knows all of it.
    """
    amounts, method = plan.amounts, find(plan.method)
    # Who chooses these says that all columns are amounts.
    takes_amounts = method.draws or method.single_column or plan.hybrid
    takes_amounts |= plan.method_options.get("integer") is True
    options = plan.column_options
    found = {}
    for name in quasi_identifiers:
        said = options.get(name, ColumnOptions())
        stated = said.stated_type
        if stated is None and said.digits is not None and is_decimal(frame, name, said.digits):
            stated = ColumnType.CONTINUOUS  # whole numbers that are to be released with decimals
        found[name] = (
            judge(
                frame,
                name,
                label=labels.get(name),
                is_amount=takes_amounts or name in amounts,
                dates=plan.dates,
            )
            if stated is None
            else Judgement(stated)
        )
    return found


def _units(frame: Frame, name: str) -> Rows:
    """Return the unit of every record, if any has one."""
    codes = codes_of_units(frame, name)
    if codes.max() < 0:
        raise no_units_error(name)
    return codes


def no_units_error(unit: str) -> DataError:
    """Return the error that no record has a unit."""
    return DataError(
        f"no record has a value in the unit {unit!r}, so nobody could be counted. Name "
        "another column or, if every record is about a different person, say so (--unit rows, or "
        "unit='rows' in Python)."
    )


def _check_identifiers(frame: Frame, identifiers: Sequence[str]) -> None:
    """Refuse identifiers that several records share, if nothing says whom records are about."""
    refuse_shared({name: count for name in identifiers if (count := n_shared(frame, name))})


def refuse_shared(shared: Mapping[str, int]) -> None:
    """Refuse identifiers that repeat, by how many of their values are in several records."""
    if not shared:
        return
    name, count = next(iter(shared.items()))
    values = "1 value of it is" if count == 1 else f"{count:,} of its values are"
    more = list(shared)[1:]
    so_do = "so does" if len(more) == 1 else "so do"
    others = f" (and {so_do} {', '.join(map(repr, more))})" if more else ""
    option = quote(name)
    raise DataError(
        f"identifier {name!r} repeats{others}: {values} in several records, so k records may "
        f"be fewer than k people. Name whom k should count (--unit {option}, or unit={name!r} in "
        "Python) or, if every record is about a different person, say so (--unit rows, or "
        "unit='rows'). "
        f"If the column names nobody, leave it out with --drop {option} (drop=[{name!r}])."
    )


def check_values(columns: Iterable[Column], missing: Missing, *, hybrid: bool = False) -> None:
    """Refuse what cannot be aggregated: infinite numbers, and missing ones unless asked for."""
    infinite, absent, empty = {}, {}, []
    for column in columns:
        numbers = column.values.numbers
        if count := n_infinite(numbers):
            infinite[column.name] = count
        if column.values.n_missing:
            absent[column.name] = column.values.n_missing
        if column.values.n_missing == len(numbers):
            empty.append(column.name)
    refuse_values(infinite, absent, empty, missing, hybrid=hybrid)


def n_infinite(numbers: NDArray[Any]) -> int:
    """Return how many numbers are infinite."""
    return int(np.count_nonzero(np.isinf(numbers))) if numbers.dtype.kind == "f" else 0


def refuse_values(
    infinite: Mapping[str, int],
    absent: Mapping[str, int],
    empty: Sequence[str],
    missing: Missing,
    *,
    hybrid: bool = False,
) -> None:
    """Refuse infinite and missing numbers, by how many each column has, and empty columns."""
    if infinite:
        raise DataError(
            "quasi-identifiers must be finite numbers; values are infinite in "
            f"{_counted(infinite)}. Remove or replace them first."
        )
    if absent and hybrid:
        raise DataError(
            f"values of quasi-identifiers are missing in {_counted(absent)} (records in brackets), "
            "and hybrid records (--hybrid) need all of them. Fill them in or remove those records "
            "first, or leave hybrid out."
        )
    if absent and missing is Missing.ERROR:
        raise DataError(
            f"values of quasi-identifiers are missing in {_counted(absent)} (records in brackets). "
            "Choose what happens to missing values (NaN or null): --missing value keeps them, as a "
            "value of their own, and --missing impute fills them in with the aggregate of their "
            "group (missing='value' or 'impute' in Python)."
        )
    if empty and missing is Missing.IMPUTE:
        raise DataError(
            f"there is nothing to impute from in {', '.join(map(repr, empty))}: every value is "
            "missing. Drop the column (--drop, or drop=[...] in Python)."
        )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} ({count})" for name, count in counts.items())


def _weights(frame: Frame, name: str) -> tuple[Floats, float]:
    """Return the weights in a unit, and the unit: a power of two keeps whole numbers exact."""
    weights = record_weights(frame, name)
    exponent = int(np.frexp(weights.max())[1])
    return np.ldexp(weights, -exponent), float(np.ldexp(1.0, exponent))


def _blocks(
    asked: Sequence[Sequence[str]], quasi_identifiers: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the blocks in the order of the table; the remaining columns are one more."""
    taken: set[str] = set()
    blocks = []
    for names in asked:
        for name in names:
            if name not in quasi_identifiers:
                raise ParameterError(
                    f"blocks consist of quasi-identifiers; {name!r} is not one."
                    f"{did_you_mean(name, quasi_identifiers) or ' Remove it from the block.'}"
                )
            taken.add(name)
        if names:
            blocks.append(tuple(c for c in quasi_identifiers if c in names))
    if rest := tuple(c for c in quasi_identifiers if c not in taken):
        blocks.append(rest)
    return blocks
