"""verify(): whether a table satisfies k and other requirements, whatever tool made it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack
from warnings import catch_warnings, simplefilter

import narwhals as nw
import polars as pl

from microagg.constraints.grammar import Constraint
from microagg.core.errors import (
    DataError,
    GuaranteeError,
    ManifestWarning,
    MicroaggError,
    ParameterError,
    warn,
)
from microagg.core.validation import check_choice, check_count
from microagg.files.dialect import Dialect
from microagg.files.formats import dialect_for
from microagg.plans.arguments import plan_of
from microagg.plans.beside import existing_manifest, manifest_beside, open_released
from microagg.plans.checks import parse_constraints
from microagg.plans.columns import NEED_ORIGINAL, RequirementOptions
from microagg.plans.manifest import FileFacts, Manifest
from microagg.plans.plan import Plan
from microagg.plans.signatures import with_options
from microagg.release.findings import Verification
from microagg.release.originals import original_columns
from microagg.release.release import PathName, Release
from microagg.release.verification import evidence_on
from microagg.requirements.base import Evidence, Finding, Requirement
from microagg.requirements.constraints import Constrained, Violations
from microagg.requirements.identifiers import NoIdentifiers
from microagg.requirements.keys import RandomKeys
from microagg.tables.columns import DATE_ORDERS
from microagg.tables.dates import ambiguous, writing_of
from microagg.tables.frames import Frame, dtype_of, open_frame
from microagg.tables.resolving import require_numbers_or_dates
from microagg.tables.roles import (
    STRATUM,
    Names,
    as_names,
    no_such_column,
)


@dataclass(frozen=True)
class _Asked:
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
    plan: Plan | None = None
    manifest: str | None = None
    source: FileFacts = field(default_factory=FileFacts)  # of the original, in the manifest

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What every combination must satisfy: that of the plan, with the k given."""
        k = self.k or 1
        return (Plan.of(k=k) if self.plan is None else self.plan.replace(k=k)).requirements

    @classmethod
    def by_plan(cls, plan: Plan, columns: Sequence[str]) -> "_Asked":
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
        )

    @classmethod
    def by_manifest(cls, found: Manifest, path: str) -> "_Asked":
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
        )


@with_options
def verify(
    table: Any,
    k: int | None = None,
    *,
    quasi_identifiers: Names = None,
    sensitive: Names = None,
    unit: str | None = None,
    constraints: Iterable[str] | str | None = None,
    dates: str | None = None,
    original: Any = None,
    plan: Plan | PathName | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | str | None = None,
    **required: Unpack[RequirementOptions],
) -> Verification:
    """Return whether every combination in a table stands for at least k records, and what else.

    A combination is a record's values in all checked columns; a missing value is a value. None of
    the code that groups records is used here. Units and contributions are not published: without
    the original, requirements on them cannot be checked, and the answer says so, not yes.
    Requirements are given by column, as in `protect`.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow, or the path of a file. A CSV file is compared
        as it is written. Unless columns or a plan are given, the manifest beside a released
        file defines the columns to check, the blocks, k, the constraints and the requirements.
    k : Least number of records behind a released combination.
    quasi_identifiers : columns to check; by default all that are not sensitive
    sensitive : columns to leave out
    unit : column of the original that says whom a record is about; k then counts units as well
    **required : what the records of every combination must satisfy, by column, as in `protect`
    constraints : what every record must satisfy, such as "net + tax = gross", in addition to what
        a manifest says
    dates : order of day and month in dates such as 01/02/2024 in constraints: "us" (month first) or
        "eu" (day first)
    original : the table before it was protected, or its file, with the same records in the same
        order
    plan : a `Plan`, or the path of a plan file, that defines the columns to leave out, the blocks,
        k, the constraints and the requirements
    delimiter, decimal, encoding : how a CSV file is written; detected where not given
    sheet : the sheet of an Excel workbook, or the data frame in an R file; by default the only one
    max_expanded : what a compressed file of any format may expand to, in bytes or as in "8GB"; by
        default 4 GB

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [35, 35, 62], "sex": ["f", "f", "m"]})
    >>> found = verify(people, k=2)
    >>> found.satisfied, found.largest_k, found.classes.below
    (False, 1, {1: 1})
    """
    if isinstance(table, Release):
        raise ParameterError(
            "table must be a DataFrame or the path of a file; got a Release. Give its table and "
            "its plan, microagg.verify(release.table, plan=release.manifest.plan), or the file it "
            "was saved to."
        )
    if dates is not None:
        check_choice("dates", dates, DATE_ORDERS)
    dialect = Dialect(delimiter, decimal, encoding, sheet=sheet, max_expanded=max_expanded)
    opened = _Opened(table, dialect_for(table, dialect, original))
    given = _Asked(
        None if k is None else check_count("k", k),
        as_names("quasi_identifiers", quasi_identifiers),
        as_names("sensitive", sensitive),
        constraints=parse_constraints(constraints),
        plan=_required({"unit": unit, **required}, sensitive),
    )
    asked = _complete(given, plan, opened)
    if asked.k is None:
        raise _nothing_to_check(opened, given)
    columns = _checked(asked, opened.columns)
    blocks = _blocks(asked, columns)
    own = dialect_for(original, dialect, table)
    evidence = _evidence(opened, asked, blocks or (columns,), original, own)
    findings = [[judge.judge(own) for judge in asked.requirements] for own in evidence]
    on_table: list[Finding] = []
    if asked.dropped:
        on_table.append(NoIdentifiers(asked.dropped).judge(opened.names))
    if asked.key is not None:
        on_table.append(RandomKeys(asked.key).judge(evidence[0]))
    if asked.constraints:
        order = dates or (None if asked.plan is None else asked.plan.dates)
        on_table.append(_violations(opened, asked.constraints, asked.plan, order))
    return Verification(
        tuple(map(tuple, findings)), columns, blocks, tuple(on_table), asked.manifest
    )


def _required(asked: Mapping[str, Any], sensitive: Names) -> Plan | None:
    """Return a plan of the requirements that were given one by one, if there are any."""
    given = {name: value for name, value in asked.items() if value}
    return plan_of({"k": 1, "sensitive": sensitive, **given}) if given else None


class _Opened:
    """A table in memory or in a file, opened once."""

    def __init__(self, table: Any, dialect: Dialect) -> None:
        self.path = str(table) if isinstance(table, (str, PathLike)) else None
        self._file = None if self.path is None else open_released(self.path, dialect)
        self._frame = open_frame(table) if self._file is None else None
        self._looked = False
        self._manifest: Manifest | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple((self._file or self._frame).columns)  # type: ignore[union-attr]

    @property
    def decimal(self) -> str:
        """The decimal mark of the fields as they are written."""
        dialect = None if self._file is None else self._file.dialect
        return (None if dialect is None else dialect.decimal) or "."

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, and the levels of a pandas index."""
        index = getattr(None if self._frame is None else self._frame.to_native(), "index", None)
        return (*self.columns, *getattr(index, "names", ()))

    def manifest(self, *, warns: bool = True) -> Manifest | None:
        """Return the manifest beside the file, if there is one and it belongs to it."""
        if self.path is not None and not self._looked:
            self._looked = True
            with nullcontext() if warns else catch_warnings():
                if not warns:
                    simplefilter("ignore", ManifestWarning)
                self._manifest = manifest_beside(self.path, self._file)
        return self._manifest

    @property
    def manifest_path(self) -> Path | None:
        """The manifest beside the file, whether it belongs to it or not; None if there is none."""
        return None if self.path is None else existing_manifest(self.path)

    def warn_of_manifest(self) -> None:
        """Say that the manifest beside the file, if there is one, does not count."""
        if (place := self.manifest_path) is not None:
            warn(
                f"the manifest {place.name!r} is not used, because columns are named.",
                ManifestWarning,
            )

    def as_written(self) -> Frame:
        """Return the table; of a text file, the fields as written."""
        if self._file is None:
            return self._frame  # type: ignore[return-value]
        return open_frame(self._file.table(as_text=self.columns))

    def numbers(self, columns: Sequence[str]) -> Frame:
        """Return the table with these columns as numbers, if they are numeric.

        Totals of 32-bit floats are only as accurate as that, which a text file does not show: the
        manifest beside it does.
        """
        if self._file is None:
            return self._frame  # type: ignore[return-value]
        table = self._file.table(columns=columns)
        if self._file.dialect is not None:
            beside = self.manifest()
            known = {} if beside is None else beside.columns
            narrow = [name for name in columns if name in known and known[name].stored == "Float32"]
            table = table.with_columns(table.get_column(name).cast(pl.Float32) for name in narrow)
        return open_frame(table)


def _nothing_to_check(opened: _Opened, given: _Asked) -> MicroaggError:
    """Return the error that k is missing, or that the manifest is not that of the file."""
    place = opened.manifest_path
    if place is not None and not given.checked and not given.left_out:
        return GuaranteeError(
            f"{opened.path!r} is not the file that {place.name!r} describes: it has changed since "
            "it was released, or the manifest is damaged or of another file. Give k (-k) to check "
            "the file as it is."
        )
    return ParameterError(
        "k, the least number of records behind a combination, is missing. Give k (-k), or a plan."
    )


def _complete(given: _Asked, plan: Plan | PathName | None, opened: _Opened) -> _Asked:
    """Return what to check: as given, or as a plan says, or the manifest beside a file."""
    names_columns = bool(given.checked or given.left_out or given.plan)
    if plan is not None:
        if names_columns or given.constraints:
            raise ParameterError(
                "columns, requirements or constraints are given in addition to a plan. Put them in "
                "the plan, or leave the plan out."
            )
        base = _Asked.by_plan(plan if isinstance(plan, Plan) else Plan.read(plan), opened.columns)
        return replace(base, k=given.k or base.k)
    if names_columns:
        opened.warn_of_manifest()
        found = opened.manifest(warns=False)  # it names the original, whatever is asked
        return given if found is None else replace(given, source=found.input)
    found = opened.manifest(warns=given.k is not None)
    if found is None:
        return given
    base = _Asked.by_manifest(found, str(opened.manifest_path))
    both = {own.meaning: own for own in (*given.constraints, *base.constraints)}
    return replace(base, k=given.k or base.k, constraints=tuple(both.values()))


def _checked(asked: _Asked, columns: Sequence[str]) -> tuple[str, ...]:
    in_blocks = (name for block in asked.blocks for name in block)
    for name in (*asked.checked, *asked.left_out, *asked.present, *asked.strata, *in_blocks):
        if name not in columns:
            raise no_such_column(name, columns)
    if twice := [name for name in asked.checked if name in asked.left_out]:
        raise ParameterError(
            f"column {twice[0]!r} can have one role only; it is named as a quasi-identifier and as "
            "sensitive. Remove one of them."
        )
    not_checked = (*asked.left_out, *asked.dropped)
    wanted = asked.checked or [name for name in columns if name not in not_checked]
    if not wanted:
        raise ParameterError("there is no column to check: all are sensitive. Leave one out.")
    return tuple(name for name in columns if name in wanted)


def _blocks(asked: _Asked, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the columns to check together, with the strata; what no block names is one more."""
    if not asked.blocks:
        return ()
    in_blocks = {name for block in asked.blocks for name in block}
    rest = tuple(name for name in columns if name not in in_blocks and name not in asked.strata)
    blocks = (*asked.blocks, rest) if rest else asked.blocks
    return tuple((*block, *asked.strata) for block in blocks)


def _evidence(
    opened: _Opened,
    asked: _Asked,
    blocks: Iterable[Sequence[str]],
    original: Any,
    dialect: Dialect,
) -> list[Evidence]:
    frame = opened.as_written()
    if not len(frame):
        raise DataError("the table has no records.")
    needed = () if asked.plan is None else asked.plan.judged_columns
    for name in needed:
        if name not in frame.columns:
            raise no_such_column(name, frame.columns)
    na = () if asked.plan is None else asked.plan.na
    published = evidence_on(frame, blocks, needed=needed, decimal=opened.decimal, na=na)
    if original is None:
        return published
    if asked.plan is None or not asked.plan.needs_original:
        raise ParameterError(
            f"the original is needed to check {NEED_ORIGINAL}, and none of them is "
            "asked for. Leave it out, or ask for one."
        )
    known = original_columns(original, asked.plan, published, asked.source, dialect)
    return [replace(own, unpublished=known) for own in published]


def _forms(
    opened: _Opened, frame: Frame, columns: Sequence[str], dates: str | None
) -> dict[str, str]:
    """Return how dates are written in columns of text: as the manifest says, or as it looks."""
    beside = opened.manifest(warns=False)
    known = {} if beside is None else beside.columns
    forms = {}
    for name in columns:
        if dtype_of(frame, name) != nw.String:
            continue
        if name in known and known[name].written:
            forms[name] = known[name].written
        elif found := writing_of(frame[name].alias(""), dates):
            if found.is_ambiguous:
                raise ambiguous(name)
            forms[name] = found.form
    return forms


def _violations(
    opened: _Opened, constraints: Sequence[Constraint], plan: Plan | None, dates: str | None
) -> Violations:
    """Count the records that violate each constraint."""
    required = Constrained(tuple(constraints))
    for constraint in constraints:
        for name in constraint.coefficients:
            if name not in opened.columns:
                missing = no_such_column(name, opened.columns)
                raise ParameterError(f"constraint {constraint.text!r}: {missing}")
    frame = opened.numbers(required.columns)
    forms = _forms(opened, frame, required.columns, dates)
    require_numbers_or_dates(frame, required.columns, forms)
    resolutions = {} if plan is None else plan.resolutions
    required = replace(required, forms=forms, resolutions=resolutions)
    (evidence,) = evidence_on(frame, [required.columns])
    return required.judge(evidence)
