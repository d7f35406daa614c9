"""What the plan requires of groups beside k: as rules for the methods, if it can be met at all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from microagg.core.arrays import Floats, Rows
from microagg.core.errors import DataError, ParameterError
from microagg.core.words import counted, joined
from microagg.plans.columns import VALUES, keywords_about
from microagg.plans.plan import Plan
from microagg.release.records import Records
from microagg.release.source import Source
from microagg.requirements.base import About, Evidence, GroupRequirement
from microagg.requirements.found import GroupFinding
from microagg.requirements.units import KUnits
from microagg.tables.columns import Column, ColumnOptions, ColumnType
from microagg.tables.frames import Frame, index_names, polars_column
from microagg.tables.markers import without_entries
from microagg.tables.numerals import as_numbers
from microagg.tables.typed import open_column, order_of, types_of
from microagg.tables.units import naming_column

if TYPE_CHECKING:  # a table without requirements needs none of the kernels for rules
    from microagg.requirements.coded import GroupRule

_STRATUM = "stratum"
_ABOUT_VALUES = joined(keywords_about(*VALUES))
# Powers of two between the smallest and the largest amount that can be compared.
_MOST_EXPONENTS = 996
_ABOUT_CONTRIBUTIONS = joined(keywords_about(About.CONTRIBUTIONS))


def with_types_of_values(plan: Plan, source: Source) -> Plan:
    """Return the plan with the types and orders of columns whose requirements depend on them.

    So the finished table is judged by what was said or found, however its values are stored.
    """
    columns = dict(plan.columns)
    for name, said in plan.columns.items():
        if not said.required_about(About.ORDERED_VALUES) or name not in source.frame.columns:
            continue
        column = _open(source, name, plan)
        if said.type is None and said.order is None:
            order = None
            if column.type is ColumnType.ORDINAL:
                order = _used(order_of(source.frame, name) or (), source.frame, name)
            columns[name] = said.model_copy(update={"type": column.type, "order": order})
    return plan if columns == dict(plan.columns) else plan.replace(columns=columns)


def _used(order: Sequence[Any], frame: Frame, name: str) -> tuple[Any, ...]:
    """Return the categories that some record has: the manifest must not list any others."""
    held = {str(value) for value in polars_column(frame[name]).drop_nulls().unique()}
    return tuple(value for value in order if str(value) in held)


def rules_for(plan: Plan, records: Records) -> "tuple[GroupRule, ...]":
    """Return the rules that groups must meet, if the records of every stratum do so together."""
    asked = _on_groups(plan)
    if not asked:
        return ()
    facts = _Facts(plan, records)
    check_required(plan, records)
    if (found := unmet(plan, records)) is not None:
        raise ParameterError(_infeasible(found))
    rules = (requirement.rule(facts) for requirement in asked)
    return tuple(rule for rule in rules if rule is not None)


def check_required(plan: Plan, records: Records) -> None:
    """Refuse requirements on columns whose values they are not for."""
    _Facts(plan, records).check_columns()


def _on_groups(plan: Plan) -> list[GroupRequirement]:
    return [own for own in plan.requirements if isinstance(own, GroupRequirement)]


def unmet(plan: Plan, records: Records) -> GroupFinding | None:
    """Return a requirement that a stratum, as one group, does not meet; None if there is none."""
    asked = _on_groups(plan)
    evidence = _Facts(plan, records).evidence() if asked else None
    for requirement in asked:
        found = requirement.judge(evidence)  # type: ignore[arg-type]
        if not found.satisfied:
            return found
    return None


def _infeasible(found: GroupFinding) -> str:
    together, coarser = "all records together", ""
    if found.n_combinations > 1:
        those = f"{found.n_failing:,} of the {found.n_combinations:,} strata"
        together, coarser = f"{those}, each taken as one group", ", or use coarser strata"
    ask = f"Ask for {found.nearest}"
    if found.wording.name == KUnits.name:
        ask = f"Use k = {found.nearest}"
    elif not found.worst:
        ask = "Leave it out"
    return f"no groups can meet a requirement: {found.wording.broken} {together}. {ask}{coarser}."


@dataclass(frozen=True, eq=False)
class _Facts:
    """What rules are made from: the columns of opened records."""

    plan: Plan
    records: Records

    def check_columns(self) -> None:
        """Refuse requirements on columns whose values they are not for."""
        for name, said in self.plan.columns.items():
            if said.is_about_contributions:
                self.amounts(name)
            if said.is_about_values:
                self._column(name)

    def units(self) -> Rows:
        """Return the unit of every record."""
        assert self.records.units is not None
        return self.records.units

    def codes(self, column: str) -> tuple[Rows, bool]:
        """Return the values of a sensitive column, and whether they are in order."""
        opened = self._column(column)
        return _codes(opened)[: len(self.records.frame)], _is_ordered(opened)

    def overall(self, column: str) -> Rows:
        """Return how often each code is in the whole table, or in the dataset."""
        codes, whole = _codes(self._column(column)), self.records.distributions.get(column)
        if whole is None:
            return np.bincount(codes)
        of_whole = codes[len(self.records.frame) :]
        return np.bincount(of_whole, weights=whole.counts).astype(np.intp)

    def amounts(self, column: str) -> Floats:
        """Return the numbers of a quasi-identifier."""
        opened = self.records.columns[column]
        if not opened.type.is_number or opened.aggregate != "mean":
            now = f"type {str(opened.type)!r} and aggregate {str(opened.aggregate)!r}"
            raise ParameterError(
                f"{_ABOUT_CONTRIBUTIONS} are for numbers that are released as means; {column!r} "
                f"has the {now}. Leave them out."
            )
        self._check_attributed(column)
        numbers = opened.values.numbers.astype(np.float64)
        missing, weights = opened.values.missing, self.records.weights
        amounts = numbers if missing is None else np.where(missing, 0.0, numbers)
        _check_comparable(amounts, column)
        if weights is None:
            return amounts
        # Products with weights must not vanish: amounts are taken in units of a power of two.
        exponent = int(np.frexp(np.abs(amounts).max(initial=0.0))[1])
        return np.asarray(np.ldexp(amounts, -exponent) * weights)

    def _check_attributed(self, column: str) -> None:
        """Refuse amounts without a contributor: they may be of the largest one."""
        units = self.records.units
        if units is not None and (count := int(np.count_nonzero(units < 0))):
            raise DataError(
                f"{_ABOUT_CONTRIBUTIONS} count what each {self.records.roles.unit!r} contributes "
                f"to {column!r}, and {counted(count, 'record')} {'has' if count == 1 else 'have'} "
                "none. Fill them in or remove those records first."
            )

    def evidence(self) -> Evidence:
        """Return the original records for a judge, with strata in place of combinations."""
        frame, strata = self.records.frame, self.records.strata
        stratum = np.zeros(len(frame), dtype=np.intp) if strata is None else strata.of_record
        needed = self.plan.judged_columns
        name = _STRATUM
        while name in needed:
            name += "_"
        table = {column: _published(frame, column) for column in needed}
        return Evidence(
            pl.DataFrame({**table, name: stratum}),
            (name,),
            unpublished_for(self.plan, self.records),
            decimal_of(self.records.source),
            self.plan.na,
            self.records.distributions,
        )

    def _column(self, name: str) -> Column:
        """Open a column; that of a part of a dataset is followed by the values of the whole."""
        source, whole = self.records.source, self.records.distributions.get(name)
        if whole is not None:
            both = pl.concat([_published(source.frame, name), whole.values]).alias(name)
            source = replace(source, frame=nw.from_native(both.to_frame(), eager_only=True))
        return _open(source, name, self.plan)


def decimal_of(source: Source) -> str:
    """Return the decimal mark of the numbers in columns of text."""
    return "." if source.dialect is None else source.dialect.decimal or "."


def unpublished_for(plan: Plan, records: Records) -> pl.DataFrame:
    """Return the unit of every record, and the numbers that its contributions are counted in."""
    columns: dict[str, pl.Series] = {}
    if records.roles.unit is not None:
        columns[records.roles.unit] = naming_column(records.frame, records.roles.unit)
    for name, said in plan.columns.items():
        if said.is_about_contributions:
            columns[name] = polars_column(records.frame[name])
    return pl.DataFrame(columns)


def _published(frame: Frame, name: str) -> pl.Series:
    _refuse_index(frame, name)
    return polars_column(frame[name])


def _refuse_index(frame: Frame, name: str) -> None:
    if name in index_names(frame):
        raise DataError(
            f"{name!r} is the table's index; requirements are on columns. Call reset_index() first."
        )


def _open(source: Source, name: str, plan: Plan) -> Column:
    """Open a sensitive column. Text may hold numbers; they have an order if it is of a file."""
    _refuse_index(source.frame, name)
    frame, _ = without_entries(source.frame, [name], plan.na)
    check_suited(frame, name)
    options = plan.columns[name].options or ColumnOptions()
    is_category = frame[name].dtype in (nw.Categorical, nw.Enum)
    is_nominal = options.stated_type in (ColumnType.NOMINAL, ColumnType.BOOLEAN)
    is_nominal |= options.stated_type is None and order_of(frame, name) is None
    if is_category and is_nominal:
        text = polars_column(frame[name]).cast(pl.String).alias(name)
        frame = nw.from_native(text.to_frame(), eager_only=True)
        options = replace(options, type=ColumnType.NOMINAL)
    if frame[name].dtype == nw.String:
        if options.stated_type in (ColumnType.DATE, ColumnType.DATETIME):
            raise DataError(
                f"{plan.columns[name].required_about(About.ORDERED_VALUES)[0]} needs the dates in "
                f"{name!r} as dates, not as text. Convert them, or use the type nominal."
            )
        if options.order is None:
            found = _numbers_or_text(polars_column(frame[name]), decimal_of(source))
            frame = nw.from_native(found.alias(name).to_frame(), eager_only=True)
            frame, _ = without_entries(frame, [name], plan.na)
            if source.dialect is None and options.type is None:
                options = replace(options, type=ColumnType.NOMINAL)
    return open_column(frame, name, options)


def check_suited(frame: Frame, name: str) -> None:
    """Refuse a requirement on a column of lists and the like."""
    if not types_of(frame, name):
        raise DataError(
            f"{_ABOUT_VALUES} are for numbers, text, categories and dates; {name!r} "
            "holds something else. Convert it first, or leave them out."
        )


def _numbers_or_text(column: pl.Series, decimal: str) -> pl.Series:
    """Return text without the spaces around it, as numbers if all of it is; blanks are missing."""
    bare = column.alias("").str.strip_chars()  # a name may look like a pattern
    return as_numbers(bare.set(bare == "", None), decimal)


def _codes(column: Column) -> Rows:
    """Return the values as numbers from 0, in their order; a missing value comes last."""
    numbers, missing = column.values.numbers, column.values.missing
    if missing is None:
        return _ranks(numbers)
    codes = np.empty(len(numbers), dtype=np.intp)
    present = _ranks(numbers[~missing])
    codes[~missing] = present
    codes[missing] = present.max(initial=-1) + 1
    return codes


def _ranks(numbers: Floats) -> Rows:
    return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.intp)


def _is_ordered(column: Column) -> bool:
    return column.type not in (ColumnType.NOMINAL, ColumnType.BOOLEAN)


def _check_comparable(amounts: Floats, column: str) -> None:
    """Refuse amounts that would vanish beside the largest one, in whose units methods see them."""
    exponents = np.frexp(amounts[amounts != 0.0])[1]
    if len(exponents) and int(exponents.max()) - int(exponents.min()) > _MOST_EXPONENTS:
        raise DataError(
            f"{_ABOUT_CONTRIBUTIONS} compare amounts, and the smallest in {column!r} is more than "
            "1e300 times smaller than the largest. Round it to zero, or leave them out."
        )
