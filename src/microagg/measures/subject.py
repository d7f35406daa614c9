"""What is measured: two tables, and what is known about their columns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from microagg.core.arrays import Order
from microagg.core.errors import ParameterError
from microagg.files.dialect import Dialect
from microagg.files.formats import dialect_for
from microagg.measures.required import check_columns_of, constraints_on, required_of
from microagg.plans.audits import order_of
from microagg.plans.beside import existing_manifest, manifest_beside, open_released
from microagg.plans.columns import ColumnPlan, columns_by_name
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import ColumnFacts
from microagg.plans.plan import Plan
from microagg.plans.units import ROWS, refuse_ambiguous_rows
from microagg.requirements.constraints import Violations
from microagg.requirements.found import GroupFinding
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.frames import Frame, index_names, open_frame
from microagg.tables.markers import without_entries
from microagg.tables.matching import open_pair
from microagg.tables.pairs import Pair
from microagg.tables.roles import (
    PUBLISH,
    QUASI_IDENTIFIER,
    SENSITIVE,
    STRATUM,
    UNIT,
    WEIGHT,
    Names,
    as_names,
    no_such_column,
    two_roles,
)

# What can be said of a single column; the rest of its options are for releases.
_MEASURED = ("type", "order", "weight")

# Strata are known to everybody, and do not count in the information loss.
_STRATUM = ColumnOptions(weight=0.0)


@dataclass(frozen=True)
class KnownColumns:
    """Which columns an intruder may know, which are left out, and what their values are.

    Columns that are published and not sensitive are left out, as dropped ones are. `weights` is
    published unchanged, like sensitive columns, and measured like them. `read_from` is
    the manifest that said so, if one did; `is_drawn` says that records drew their values (`fcm`,
    `efcm`). `plan` says what was asked for, `blocks` the columns whose values together are a
    combination, with the `strata` in each, and `released` what the manifest says of columns.
    """

    quasi_identifiers: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    weights: str | None = None
    column_options: Mapping[str, ColumnOptions] = field(default_factory=dict)
    is_drawn: bool = False
    read_from: str | None = None
    plan: Plan | None = None
    blocks: tuple[tuple[str, ...], ...] = ()
    strata: tuple[str, ...] = ()
    released: Mapping[str, ColumnFacts] = field(default_factory=dict)

    @property
    def says_nothing(self) -> bool:
        """Whether no column is named."""
        return not (
            self.quasi_identifiers or self.left_out or self.sensitive or self.column_options
        )

    @classmethod
    def given(
        cls,
        quasi_identifiers: Names,
        identifiers: Names,
        sensitive: Names,
        columns: Mapping[str, Any] | None,
    ) -> "KnownColumns":
        """Return what arguments say."""
        said = columns_by_name(columns)
        for key in (key for options in said.values() for key in options):
            if key == "role":
                raise ParameterError(
                    "columns takes types, orders and weights; roles are given as "
                    "quasi_identifiers, identifiers and sensitive. Remove the role."
                )
            if key in ColumnPlan.model_fields and key not in _MEASURED:
                raise ParameterError(
                    "columns takes types, orders and weights; other options are for releases, and "
                    f"no figure depends on them. Remove the {key}."
                )
        return cls(
            as_names("quasi_identifiers", quasi_identifiers),
            as_names("identifiers", identifiers),
            as_names("sensitive", sensitive),
            column_options=Plan.of(k=1, columns=said).column_options,
        )

    @classmethod
    def by_plan(cls, plan: Plan, columns: tuple[str, ...]) -> "KnownColumns":
        """Return what a plan says of the columns of a protected table; the others are protected."""
        left_out = (*plan.not_published, *plan.columns_as(PUBLISH))
        sensitive = tuple(name for name in plan.columns_as(SENSITIVE) if name in columns)
        weights = tuple(name for name in plan.columns_as(WEIGHT) if name in columns)
        shown = tuple(name for name in columns if name not in (*left_out, *sensitive, *weights))
        strata = tuple(name for name in shown if name in plan.columns_as(STRATUM))
        named = {name for block in plan.blocks for name in block}
        rest = tuple(name for name in shown if name not in named and name not in strata)
        blocks = (*plan.blocks, rest) if rest else plan.blocks
        return cls(
            shown,
            left_out,
            sensitive,
            next(iter(weights), None),
            _orders_of_dates(plan, shown)
            | _said_of_columns(plan)
            | dict.fromkeys(strata, _STRATUM),
            plan.draws_values,
            plan=plan,
            blocks=tuple((*block, *strata) for block in blocks),
            strata=strata,
        )

    @classmethod
    def by_manifest(cls, found: Manifest, path: str) -> "KnownColumns":
        """Return what the manifest of a release says."""
        return cls(
            (*found.quasi_identifiers, *found.strata),
            tuple(
                dict.fromkeys((*found.identifiers, *found.dropped, *found.plan.columns_as(PUBLISH)))
            ),
            found.sensitive,
            found.weights,
            _found_of_columns(found) | dict.fromkeys(found.strata, _STRATUM),
            found.plan.draws_values,
            path,
            found.plan,
            tuple((*block, *found.strata) for block in found.blocks),
            found.strata,
            found.columns,
        )

    def within(self, columns: tuple[str, ...]) -> "KnownColumns":
        """Return what concerns these columns: those of either table."""
        kept = tuple(name for name in self.left_out if name in columns)
        said = {name: own for name, own in self.column_options.items() if name in columns}
        return replace(self, left_out=kept, column_options=said)


def _found_of_columns(found: Manifest) -> dict[str, ColumnOptions]:
    """Return the types and weights of the columns; an order is in the plan, or in the table."""
    types = {
        name: ColumnOptions(
            type=None if column.type is ColumnType.ORDINAL else column.type,
            weight=column.weight,
            dates=found.plan.dates,
        )
        for name, column in found.columns.items()
    }
    stated = _said_of_columns(found.plan).items()
    return types | {name: own for name, own in stated if own.stated_type is not None}


def _orders_of_dates(plan: Plan, columns: Iterable[str]) -> dict[str, ColumnOptions]:
    """Return which of day and month comes first in columns of dates, if the plan says so."""
    return {} if plan.dates is None else {n: ColumnOptions(dates=plan.dates) for n in columns}


def _said_of_columns(plan: Plan) -> dict[str, ColumnOptions]:
    """Return what a plan says of the types, orders and weights of columns."""
    return {
        name: ColumnOptions(own.type, own.order, weight=own.weight, dates=plan.dates)
        for name, own in plan.column_options.items()
    }


class Opened(NamedTuple):
    """The records before and after, what is known of their columns, and what was required.

    `required` are the findings on what a plan or manifest asks of every combination, `violations`
    those of its constraints, if it has any.
    """

    pair: Pair
    known: KnownColumns
    required: tuple[GroupFinding, ...]
    violations: Violations | None


def open_subject(
    original: Any,
    protected: Any,
    roles: KnownColumns,
    plan: Plan | str | PathLike[str] | None,
    dialect: Dialect,
    key: str | None,
    unit: str | None = None,
    weights: str | None = None,
    audit: str | PathLike[str] | None = None,
) -> Opened:
    """Pair two tables, each a DataFrame or a file, and return what is known about their columns.

    Where neither arguments nor a plan say anything, the manifest beside the protected file does.
    """
    if key is not None and audit is not None:
        raise ParameterError(
            "records are matched by a key (--key, key=) or by the audit of a shuffled release "
            "(--audit, audit=); got both. Leave one of them out."
        )
    _check_two_files(original, protected)
    own = dialect_for(original, dialect, protected)
    sides = [_Side(original, own), _Side(protected, dialect_for(protected, dialect, original))]
    shown = sides[1].columns
    known = tuple(dict.fromkeys((*sides[0].columns, *shown)))
    is_file = _is_path(protected)
    beside = partial(_beside, str(protected)) if is_file else lambda: None
    roles = roles_of(roles, plan, shown, beside).within(known)
    roles, unit = with_weights_and_unit(roles, weights, unit, sides[0].columns, sides[0].names)
    if roles.plan is not None and roles.plan.na:
        sides[0] = sides[0].without(roles.plan, own)
    before = sides[0].frame(as_text=() if unit is None or unit == key else (unit,))
    after = sides[1].frame()
    is_shuffled = key is None and _is_shuffled(roles.plan, str(protected) if is_file else None)
    order = order_of(audit, len(after), is_shuffled=is_shuffled)
    pair = pair_of(before, after, roles, unit, shown, key, order)
    required = required_of(roles.plan, before, after, roles.blocks, pair.matches)
    return Opened(pair, roles, required, _violations(roles, after))


def _violations(known: KnownColumns, protected: Frame) -> Violations | None:
    if known.plan is None or not known.plan.constraints:
        return None
    plan = known.plan
    check_columns_of(plan.constraints, protected.columns)
    return constraints_on(protected, plan.constraints, known.released, plan, plan.dates)


def _beside(path: str) -> tuple[Manifest, str] | None:
    """Return the manifest beside a protected file, if it belongs to it, and where it is."""
    found = manifest_beside(path)
    return None if found is None else (found, str(existing_manifest(path)))


def _is_shuffled(plan: Plan | None, path: str | None) -> bool:
    """Whether the plan, or the manifest beside the file, says that records were shuffled."""
    if plan is not None and plan.shuffle:
        return True
    found = None if path is None else manifest_beside(path)
    return found is not None and found.plan.shuffle


def roles_of(
    given: KnownColumns,
    plan: Plan | str | PathLike[str] | None,
    shown: tuple[str, ...],
    beside: Callable[[], tuple[Manifest, str] | None],
) -> KnownColumns:
    """Return what is known of columns: as given, or as a plan or the manifest `beside` says."""
    if plan is not None:
        if not given.says_nothing:
            raise ParameterError(
                "columns are given beside a plan. Put them into the plan, or leave the plan out."
            )
        return KnownColumns.by_plan(plan if isinstance(plan, Plan) else Plan.read(plan), shown)
    if given.says_nothing and (found := beside()) is not None:
        return KnownColumns.by_manifest(*found)
    return given


def with_weights_and_unit(
    roles: KnownColumns,
    weights: str | None,
    unit: str | None,
    columns: Sequence[str],
    names: Sequence[str],
) -> tuple[KnownColumns, str | None]:
    """Return the roles with weights that are given, and the column of units, if there is one."""
    if weights is not None:
        roles = _weighted(columns, roles, weights)
    return roles, _unit(names, roles, unit)


def pair_of(
    before: Frame,
    after: Frame,
    roles: KnownColumns,
    unit: str | None,
    shown: Sequence[str],
    key: str | None = None,
    order: Order | None = None,
) -> Pair:
    """Pair the records of two tables, of whose columns this is known."""
    return open_pair(
        before.to_native(),
        after.to_native(),
        key=key,
        quasi_identifiers=[name for name in roles.quasi_identifiers if name != key],
        identifiers=[name for name in roles.left_out if name != key],
        sensitive=(*roles.sensitive, *_published_weights(roles, shown)),
        column_options=roles.column_options,
        unit=unit,
        weights=roles.weights,
        order=order,
    )


def _weighted(named: Sequence[str], roles: KnownColumns, given: str) -> KnownColumns:
    """Return the roles with these weights; those of a plan or manifest are sensitive instead."""
    if given not in named:
        raise no_such_column(given, named)
    for role, names in (
        (QUASI_IDENTIFIER, roles.quasi_identifiers),
        (SENSITIVE, roles.sensitive),
    ):
        if given in names and given != roles.weights:
            raise two_roles(given, role, WEIGHT)
    before = () if roles.weights in (None, given) else (str(roles.weights),)
    return replace(roles, sensitive=(*roles.sensitive, *before), weights=given)


def _published_weights(roles: KnownColumns, shown: Sequence[str]) -> tuple[str, ...]:
    """Return the weights if they are in the protected table, where they may single out records."""
    name = roles.weights
    return () if name is None or name not in shown or name in roles.left_out else (name,)


def _unit(named: Sequence[str], roles: KnownColumns, given: str | None) -> str | None:
    """Return the column that says whom a record is about: as given, or as a plan says."""
    if given is None:
        asked = None if roles.plan is None else roles.plan.unit_column
        return asked if asked in named else None
    if given == ROWS:
        refuse_ambiguous_rows(named)
        return None
    if given not in named:
        raise no_such_column(given, named)
    for role, names in (
        (QUASI_IDENTIFIER, roles.quasi_identifiers),
        (SENSITIVE, (*roles.sensitive, roles.weights)),
    ):
        if given in names:
            raise two_roles(given, role, UNIT)
    return given


def _is_path(table: object) -> bool:
    return isinstance(table, (str, PathLike))


class _Side:
    """One of the tables: a DataFrame, or a file that is read once it is known how."""

    def __init__(self, table: Any, dialect: Dialect, plan: Plan | None = None) -> None:
        self._table, self._plan = table, plan
        self._file = open_released(str(table), dialect) if _is_path(table) else None
        self._frame = open_frame(table) if self._file is None else None

    def without(self, plan: Plan, dialect: Dialect) -> "_Side":
        """Return the table with missing values for what means one in a plan."""
        return _Side(self._table, replace(dialect, na=plan.na), plan)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple((self._file or self._frame).columns)  # type: ignore[union-attr]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, and the levels of a pandas index."""
        return (*self.columns, *(() if self._frame is None else index_names(self._frame)))

    def frame(self, as_text: Sequence[str] = ()) -> Frame:
        """Return the table; these columns of a text file as they are written."""
        if self._frame is None:
            assert self._file is not None
            self._frame = open_frame(self._file.table(as_text=as_text))
        if self._plan is None:
            return self._frame
        names = [name for name in self.columns if name not in self._plan.unchanged]
        return without_entries(self._frame, names, self._plan.na)[0]


def _check_two_files(original: object, protected: object) -> None:
    if not (_is_path(original) and _is_path(protected)):
        return
    first, second = Path(str(original)), Path(str(protected))
    is_same = first.exists() and second.exists() and first.samefile(second)
    if str(original) == str(protected) or is_same:
        raise ParameterError(
            "the original and the protected table must be two files; both are the same one."
        )
