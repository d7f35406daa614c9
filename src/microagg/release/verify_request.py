"""What verify() is to check: by its arguments, a plan, or the manifest beside the release."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

from microagg.constraints.grammar import Constraint
from microagg.core.errors import (
    GuaranteeError,
    ManifestWarning,
    MicroaggError,
    ParameterError,
    warn,
)
from microagg.core.validation import check_count, check_mapping
from microagg.plans.arguments import plan_of
from microagg.plans.checks import parse_constraints
from microagg.plans.columns import NEED_ORIGINAL, as_columns
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import FileFacts
from microagg.plans.plan import Plan
from microagg.plans.units import ROWS
from microagg.release.release import PathName
from microagg.requirements.base import Requirement
from microagg.tables.roles import (
    DROP,
    QUASI_IDENTIFIER,
    SENSITIVE,
    STRATUM,
    UNIT,
    Names,
    as_names,
    no_such_column,
    two_roles,
)

# The fields of a plan that judges read; the others say how records are grouped.
_FOR_JUDGES = {"k", "unit", "constraints", "hybrid", "dates", "digits", "na"}


@dataclass(frozen=True)
class Checks:
    """What to check: k, the columns to leave out, or those to check, blocks and constraints.

    The table must have all columns in `present`.
    """

    k: int | None = None
    checked: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()
    strata: tuple[str, ...] = ()  # checked together with every block
    constraints: tuple[Constraint, ...] = ()
    key: str | None = None  # a column of random keys
    dropped: tuple[str, ...] = ()  # identifiers that must not be there
    present: tuple[str, ...] = ()
    required: Mapping[str, Any] = field(default_factory=dict)  # as given: unit, l_diversity...
    plan: Plan | None = None
    manifest: str | None = None
    source: FileFacts = field(default_factory=FileFacts)  # of the original, in the manifest
    is_shuffled: bool = False  # records are not in the order of the original

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What every combination must satisfy: that of the plan, with the k given."""
        k = self.k or 1
        return (Plan.of(k=k) if self.plan is None else self.plan.replace(k=k)).requirements

    @classmethod
    def given(
        cls,
        k: int | None,
        quasi_identifiers: Names,
        sensitive: Names,
        constraints: Iterable[str] | str | None,
        required: Mapping[str, Any],
    ) -> "Checks":
        """Return what arguments ask for; `required` are the unit and requirements by column."""
        return cls(
            None if k is None else check_count("k", k),
            as_names("quasi_identifiers", quasi_identifiers),
            as_names("sensitive", sensitive),
            constraints=parse_constraints(constraints),
            required={name: value for name, value in required.items() if value},
        )

    @classmethod
    def by_plan(cls, plan: Plan, columns: Sequence[str]) -> "Checks":
        """Return what a plan asks of a table with these columns."""
        # Of the identifiers, a release has only the one that became a key.
        present = (name for name in columns if name in plan.identifiers)
        key = next(iter((*present, *plan.identifiers)), None) if plan.keep_key else None
        kept = () if key is None else (key,)
        return cls(
            plan.k,
            left_out=(*kept, *plan.unchanged),
            blocks=plan.blocks,
            strata=plan.columns_as(STRATUM),
            constraints=plan.constraints,
            key=key,
            dropped=tuple(name for name in plan.not_published if name != key),
            present=tuple(name for name in plan.columns if name not in plan.not_published),
            plan=plan,
            is_shuffled=plan.shuffle,
        )

    @classmethod
    def by_manifest(cls, found: Manifest, path: str) -> "Checks":
        """Return what the manifest of a release says."""
        return cls(
            found.k,
            (*found.quasi_identifiers, *found.strata),
            blocks=found.blocks if len(found.blocks) > 1 else (),
            strata=found.strata,
            constraints=found.plan.constraints,
            key=found.key,
            dropped=found.dropped,
            present=found.unchanged,
            plan=found.plan,
            manifest=path,
            source=found.input,
            is_shuffled=found.plan.shuffle,
        )


class VerifySubject(ABC):
    """What is verified: a table, a file or a dataset, and the manifest beside it."""

    what = "file"

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._looked = False
        self._manifest: Manifest | None = None

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns, in their order."""

    @property
    @abstractmethod
    def manifest_path(self) -> Path | None:
        """The manifest beside it, whether it belongs to it or not; None if there is none."""

    @abstractmethod
    def _own_manifest(self) -> Manifest | None:
        """Return the manifest beside it if it belongs to it, and warn if it does not."""

    def manifest(self, *, warns: bool = True) -> Manifest | None:
        """Return the manifest beside it, if there is one and it belongs to it."""
        if self.path is not None and not self._looked:
            self._looked = True
            with nullcontext() if warns else catch_warnings():
                if not warns:
                    simplefilter("ignore", ManifestWarning)
                self._manifest = self._own_manifest()
        return self._manifest

    def warn_of_manifest(self) -> None:
        """Say that the manifest, if there is one, does not count."""
        if (place := self.manifest_path) is not None:
            warn(
                f"the manifest {place.name!r} is not used, because columns are named.",
                ManifestWarning,
            )


def _as_given(given: Checks) -> Checks:
    """Return what to check where no manifest says what the columns are."""
    if not given.required:
        return given
    return replace(given, plan=plan_of({"k": 1, "sensitive": given.left_out, **given.required}))


def _required_too(required: Mapping[str, Any], plan: Plan) -> Plan:
    """Return the plan of a release with these requirements as well, or in place of its own.

    It is for judging only: how records were grouped, which may exclude requirements, is left out.
    """
    columns = as_columns(plan.columns)
    judged = {name: getattr(plan, name) for name in plan.model_fields_set & _FOR_JUDGES}
    if (unit := required.get("unit")) is not None:
        judged["unit"] = unit
        before = () if unit == ROWS else plan.columns_as(UNIT)
        columns |= {name: {**columns[name], "role": DROP} for name in before}
        if unit in plan.not_published:
            columns[unit] = {**columns[unit], "role": UNIT}
    for keyword in (name for name in required if name != "unit"):
        for name, value in check_mapping(keyword, required[keyword]).items():
            columns[name] = {**columns.get(name, {}), keyword: value}
    return Plan.of(**{**judged, "columns": columns})


def _nothing_to_check(opened: VerifySubject, given: Checks) -> MicroaggError:
    """Return the error that k is missing, or that the manifest is not that of the file."""
    place = opened.manifest_path
    if place is not None and not given.checked and not given.left_out:
        return GuaranteeError(
            f"{opened.path!r} is not the {opened.what} that {place.name!r} describes: it has "
            f"changed since it was released, or the manifest is damaged or belongs to another "
            f"{opened.what}. Give k (-k) to check the {opened.what} as it is."
        )
    return ParameterError(
        "k, the least number of records behind a combination, is missing. Give k (-k), or a plan."
    )


def _complete(given: Checks, plan: Plan | PathName | None, opened: VerifySubject) -> Checks:
    """Return what to check: as given, or as a plan says, or the manifest beside a file."""
    names_columns = bool(given.checked or given.left_out)
    if plan is not None:
        if names_columns or given.required or given.constraints:
            raise ParameterError(
                "columns, requirements or constraints are given in addition to a plan. Put them in "
                "the plan, or leave the plan out."
            )
        base = Checks.by_plan(plan if isinstance(plan, Plan) else Plan.read(plan), opened.columns)
        return replace(base, k=given.k or base.k)
    if names_columns:
        opened.warn_of_manifest()
        found = opened.manifest(warns=False)  # it names the original, whatever is asked
        if found is None:
            return _as_given(given)
        return replace(_as_given(given), source=found.input, is_shuffled=found.plan.shuffle)
    found = opened.manifest(warns=given.k is not None)
    if found is None:
        return _as_given(given)
    base = Checks.by_manifest(found, str(opened.manifest_path))
    if given.required:
        base = replace(base, plan=_required_too(given.required, found.plan))
    both = {own.meaning: own for own in (*given.constraints, *base.constraints)}
    return replace(base, k=given.k or base.k, constraints=tuple(both.values()))


def _checked_columns(asked: Checks, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose values together are a combination."""
    in_blocks = [name for block in asked.blocks for name in block]
    keys = () if asked.key is None else (asked.key,)
    needed = (*asked.checked, *asked.left_out, *asked.present, *asked.strata, *in_blocks, *keys)
    for name in needed:
        if name not in columns:
            raise no_such_column(name, columns)
    if twice := [name for name in asked.checked if name in asked.left_out]:
        raise two_roles(twice[0], QUASI_IDENTIFIER, SENSITIVE)
    not_checked = (*asked.left_out, *asked.dropped)
    wanted = asked.checked or [name for name in columns if name not in not_checked]
    if not wanted:
        raise ParameterError("there is no column to check: all are sensitive. Leave one out.")
    return tuple(name for name in columns if name in wanted)


def _checked_blocks(asked: Checks, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the columns to check together, with the strata; what no block names is one more."""
    if not asked.blocks:
        return ()
    in_blocks = {name for block in asked.blocks for name in block}
    rest = tuple(name for name in columns if name not in in_blocks and name not in asked.strata)
    blocks = (*asked.blocks, rest) if rest else asked.blocks
    return tuple((*block, *asked.strata) for block in blocks)


class Request(NamedTuple):
    """What to check, the columns to check, and the blocks they are checked in, if there are any."""

    asked: Checks
    columns: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...]

    @property
    def combinations(self) -> tuple[tuple[str, ...], ...]:
        """The columns whose values together are a combination, once for each block."""
        return self.blocks or (self.columns,)


def requested(given: Checks, plan: Plan | PathName | None, opened: VerifySubject) -> Request:
    """Return what to check; it must be possible with these columns."""
    asked = _complete(given, plan, opened)
    if asked.k is None:
        raise _nothing_to_check(opened, given)
    columns = _checked_columns(asked, opened.columns)
    needed = () if asked.plan is None else asked.plan.judged_columns
    for name in needed:
        if name not in opened.columns:
            raise no_such_column(name, opened.columns)
    return Request(asked, columns, _checked_blocks(asked, columns))


def check_original_is_needed(asked: Checks) -> None:
    """Refuse an original if nothing is asked that takes it."""
    if asked.plan is None or not asked.plan.needs_original:
        raise ParameterError(
            f"the original is needed to check {NEED_ORIGINAL}, and none of them is "
            "asked for. Leave it out, or ask for one."
        )
