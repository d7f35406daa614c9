"""Which column has which role: quasi-identifier, identifier, sensitive, stratum, unit and so on."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from microagg.core.errors import ParameterError
from microagg.core.words import did_you_mean, short_name

QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE = "quasi-identifier", "identifier", "sensitive"
STRATUM, WEIGHT, UNIT, PUBLISH, DROP = "stratum", "weight", "unit", "publish", "drop"
ROLES = (QUASI_IDENTIFIER, IDENTIFIER, SENSITIVE, PUBLISH, STRATUM, WEIGHT, UNIT, DROP)
_ROLE_WORDS = {
    "quasi_identifiers": "a quasi-identifier",
    "identifiers": "an identifier",
    "sensitive": "sensitive",
    "strata": "a stratum",
    "weights": "a weight",
    QUASI_IDENTIFIER: "a quasi-identifier",
    IDENTIFIER: "an identifier",
    STRATUM: "a stratum",
    WEIGHT: "a weight",
    UNIT: "the unit",
    PUBLISH: "to be published",
    DROP: "to be dropped",
}

Names = Iterable[str] | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Columns by role, in the order of the table.

    `quasi_identifiers` are released as group aggregates; `assumed` are those of them that nobody
    named. `identifiers` are dropped; `sensitive` columns, which an intruder wants to know, are
    published unchanged, and so are `published` ones, which are not sensitive. Records are grouped
    within `strata`, whose values are published; `weights` is the column that says how many
    records of a population a record stands for, published unchanged. `unit` says whom a record is
    about, and is dropped like an identifier; `left_out` are columns to drop that name nobody.
    """

    quasi_identifiers: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    weights: str | None = None
    unit: str | None = None
    left_out: tuple[str, ...] = ()

    @property
    def unpublished(self) -> tuple[str, ...]:
        """Columns that are dropped."""
        return (*self.naming, *self.left_out)

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that name whom a record is about: identifiers, and the unit."""
        return self.identifiers if self.unit is None else (*self.identifiers, self.unit)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Columns that are published unchanged."""
        return (*self.sensitive, *self.published, *self._weights)

    @property
    def worth_knowing(self) -> tuple[str, ...]:
        """Columns that are published unchanged and that an intruder may want to know."""
        return (*self.sensitive, *self._weights)

    @property
    def _weights(self) -> tuple[str, ...]:
        return () if self.weights is None else (self.weights,)

    @property
    def shown(self) -> tuple[str, ...]:
        """Columns by which a record could be found in the published table."""
        return (*self.quasi_identifiers, *self.strata)


def check_named(
    columns: Sequence[str],
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = None,
    sensitive: Names = None,
    strata: Names = None,
    weights: str | None = None,
    typed: Iterable[str] = (),
) -> Roles:
    """Return the roles that were given if every name is a column with only one role.

    Columns in `typed`, which were described further, are quasi-identifiers if they have no role.
    """
    given = {
        "quasi_identifiers": as_names("quasi_identifiers", quasi_identifiers),
        "identifiers": as_names("identifiers", identifiers),
        "sensitive": as_names("sensitive", sensitive),
        "strata": as_names("strata", strata),
        "weights": as_names("weights", weights),
    }
    others = {name for names in given.values() for name in names}
    given["quasi_identifiers"] += tuple(name for name in typed if name not in others)
    for names in given.values():
        for name in names:
            if name not in columns:
                raise no_such_column(name, columns, names)
    taken: dict[str, str] = {}
    for role, names in given.items():
        for name in names:
            if taken.setdefault(name, role) != role:
                raise two_roles(name, taken[name], role)
    in_order = {role: tuple(c for c in columns if c in names) for role, names in given.items()}
    weight = in_order.pop("weights")
    return Roles(**in_order, weights=weight[0] if weight else None)  # type: ignore[arg-type]


def two_roles(name: str, role: str, other: str) -> ParameterError:
    """Return the error of a column that was given two roles, or that two options name."""
    return ParameterError(
        f"column {name!r} can have one role only; it is named as {_ROLE_WORDS.get(role, role)} "
        f"and as {_ROLE_WORDS.get(other, other)}. Remove one of them."
    )


def as_names(role: str, names: Names) -> tuple[str, ...]:
    """Return names that were given as a list, as a single one, or not at all."""
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    listed: tuple[Any, ...] = tuple(names) if isinstance(names, Iterable) else (None,)
    if all(isinstance(name, str) for name in listed):
        return listed
    raise ParameterError(f"{role} must be column names (text); got {type(names).__name__}.")


def no_such_column(
    name: str, columns: Sequence[str], given: Collection[str] = ()
) -> ParameterError:
    """Return the error for a name that none of the columns has, one of those that were given."""
    hint = _torn_apart(name, columns, given) or _nearest(name, columns)
    return ParameterError(f"the table has no column {short_name(name)!r}.{hint}")


def _torn_apart(name: str, columns: Sequence[str], given: Collection[str]) -> str:
    """Return what helps if the names given are the pieces of a column with a comma in its name."""
    for column in columns:
        pieces = [piece.strip() for piece in column.split(",")]
        if len(pieces) > 1 and name in pieces and all(piece in given for piece in pieces):
            listed = f'"{column}"'
            return (
                f" On the command line, put a name with a comma in double quotes: "
                f"--quasi-identifier {listed!r}."
            )
    return ""


def _nearest(name: str, columns: Sequence[str]) -> str:
    if may_be_record(columns):
        return f" {IS_IT_A_HEADER}"
    if hint := did_you_mean(name, columns):
        return hint
    shown = ", ".join(repr(column) for column in columns[:12])
    more = f" and {len(columns) - 12} more" if len(columns) > 12 else ""
    return f" Its columns are {shown}{more}."


IS_IT_A_HEADER = "Some of its columns have numbers for names: is the first line a header?"


def may_be_record(columns: Sequence[str]) -> bool:
    """Whether names may be the values of a record, in a file without a header: do not quote them.

    >>> may_be_record(["Ann", "48200"]), may_be_record(["name", "income"])
    (True, False)
    """
    return any(map(is_numeral, columns))


def shown_column(name: str, columns: Sequence[str]) -> str:
    """Return a column by its name, or by its place if its name may be somebody's value.

    >>> shown_column("Ann", ["Ann", "48200"]), shown_column("income", ["name", "income"])
    ('column 1', "'income'")
    """
    return f"column {columns.index(name) + 1}" if may_be_record(columns) else repr(name)


def is_numeral(name: str) -> bool:
    """Whether a name is a number, with a decimal point or comma.

    >>> is_numeral("1,5"), is_numeral("nan")
    (True, False)
    """
    try:
        return math.isfinite(float(name.replace(",", ".")))
    except ValueError:
        return False
