"""The options of a release, each declared once: name, type, default, check, flag and help."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from microagg.aggregates.choices import Missing
from microagg.bounds.choices import AUTO, BOUNDS, NONE
from microagg.core.read_only import ReadOnly
from microagg.core.registry import DEFAULT, find, methods
from microagg.core.validation import (
    check_count,
    check_flag,
    check_mapping,
    check_number,
    check_seed,
)
from microagg.plans.checks import (
    AtLeastOne,
    Constraints,
    NotNegative,
    as_blocks,
    as_markers,
    checked,
    one_of,
    optional,
    plain_value,
)
from microagg.plans.columns import ColumnPlan, Model, as_columns
from microagg.plans.digits import DigitsOfColumn, only_all
from microagg.plans.options import Kind, OnDatasets, OnlyIf, Section, option
from microagg.plans.units import UnitOfRecords
from microagg.tables.columns import DATE_ORDERS
from microagg.tables.roles import STRATUM
from microagg.tables.scaling import SCALES
from microagg.tables.strata import SMALL_STRATA

DEFAULT_EFFORT = "balanced"


class PlanFields(Model):
    """The fields of a `Plan`; `OnlyIf` says when one has a meaning.

    Datasets beyond memory refuse those without `OnDatasets`.
    """

    k: Annotated[int, checked(check_count, AtLeastOne), OnDatasets()] = option(
        ..., "-k", "K", Section.PROTECTION, "Least number of records behind a released combination."
    )
    method: Annotated[
        str,
        BeforeValidator(
            lambda value: find(value).name, json_schema_input_type=Literal[tuple(methods())]
        ),
        OnDatasets(
            lambda method: find(method).draws,
            "method {value!r}, whose records draw their values,",
        ),
    ] = option(
        DEFAULT, "--method", "M", Section.METHOD, "How records are grouped; see 'microagg methods'."
    )
    method_options: Annotated[
        dict[str, Any],
        checked(check_mapping, dict[str, Any] | None),
        AfterValidator(ReadOnly),
        PlainSerializer(lambda options: {n: plain_value(value) for n, value in options.items()}),
        OnDatasets(
            lambda options: (
                not all(isinstance(own, (bool, int, float, str)) for own in options.values())
            ),
            "an option of the method with a value for every record",
        ),
    ] = option({}, "--option", "NAME=VALUE", Section.METHOD, "Options of the method.")
    random_state: Annotated[
        int | None,
        BeforeValidator(
            lambda v: None if v is None else check_seed(v),
            json_schema_input_type=Annotated[int, Field(ge=0)] | None,
        ),
        OnDatasets(),
    ] = option(
        None,
        "--seed",
        "N",
        Section.METHOD,
        "Seed of a method that uses randomness, and of hybrid records.",
        studies=("compare", "sweep"),
    )
    effort: Annotated[
        str,
        one_of(("fast", "balanced", "best")),
        OnlyIf(
            lambda plan: "effort" in find(plan.method).options,
            "is for 'auto'; how much work {method!r} does depends on its options. Leave it out.",
        ),
        OnDatasets(),
    ] = option(
        DEFAULT_EFFORT,
        "--effort",
        "E",
        Section.METHOD,
        "How hard auto searches: fast, balanced, best.",
        studies=("compare",),
    )
    time_budget: Annotated[
        float | None,
        optional(check_number, NotNegative, low=0.0),
        OnlyIf(
            lambda plan: "time_budget" in find(plan.method).options or plan.bound == "tight",
            "is for the methods 'auto', 'icsm' and 'reporder' and for a tight bound; {method!r} "
            "runs to its end. Leave it out.",
        ),
    ] = option(
        None,
        "--time-budget",
        "S",
        Section.METHOD,
        "Seconds for the search of auto, icsm and reporder, and for a tight bound.",
    )
    bound: Annotated[
        str,
        one_of(BOUNDS),
        OnDatasets(lambda bound: bound not in (AUTO, NONE), "a bound (--bound)"),
    ] = option(
        AUTO,
        "--bound",
        "B",
        Section.METHOD,
        "Proof of how close to optimal the groups are: fast, tight (takes minutes), none, or auto.",
    )
    scale: Annotated[str, one_of(SCALES), OnDatasets()] = option(
        "standardise",
        "--scale",
        "S",
        Section.METHOD,
        "How numbers are compared: standardise, robust, rank, log or none.",
        studies=("compare", "sweep"),
    )
    missing: Annotated[Missing, one_of(Missing), OnDatasets()] = option(
        Missing.ERROR,
        "--missing",
        "M",
        Section.COLUMNS,
        "Missing values: error refuses them, value keeps them as a value, impute fills them in.",
        studies=("compare", "sweep"),
    )
    na: Annotated[
        tuple[str, ...],
        BeforeValidator(as_markers, json_schema_input_type=list[str | float] | str | float),
        OnDatasets(),
    ] = option(
        (),
        "--na",
        "TEXT,...",
        Section.COLUMNS,
        "Texts and numbers that mean a missing value. Among numbers and dates, NA and the like "
        "always do.",
        studies=("compare", "sweep"),
    )
    digits: Annotated[
        str | None,
        BeforeValidator(
            only_all, json_schema_input_type=Literal["all"] | dict[str, DigitsOfColumn] | None
        ),
        OnDatasets(),
    ] = option(
        None,
        "--digits",
        "C=N",
        Section.COLUMNS,
        "Decimals of a column's released numbers, -3 for thousands, or all for every digit. "
        "Without it, as many as the column has.",
        kind=Kind.BY_COLUMN,
    )
    dates: Annotated[str | None, one_of(DATE_ORDERS, or_none=True), OnDatasets()] = option(
        None,
        "--dates",
        "us|eu",
        Section.COLUMNS,
        "Order of day and month in dates such as 01/02/2024: us (month first) or eu (day first).",
        studies=("compare", "sweep"),
    )
    constraints: Annotated[Constraints, OnDatasets()] = option(
        (),
        "--constraint",
        "TEXT",
        Section.PROTECTION,
        'What every released record satisfies, such as "net + tax = gross".',
        studies=("compare", "sweep"),
    )
    strict_k: Annotated[
        bool,
        checked(check_flag, bool),
        OnlyIf(
            lambda plan: find(plan.method).draws,
            "is for methods whose records draw their values, such as 'fcm'; {method!r} guarantees "
            "k anyway. Leave it out.",
        ),
    ] = option(
        False,
        "--strict-k",
        "",
        Section.PROTECTION,
        "Merge drawn groups until each holds k records (fcm, efcm).",
    )
    small_strata: Annotated[
        str,
        one_of(SMALL_STRATA),
        OnlyIf(
            lambda plan: bool(plan.columns_as(STRATUM)),
            "is for strata, and there are none. Leave it out.",
        ),
        OnDatasets(),
    ] = option(
        "error",
        "--small-strata",
        "S",
        Section.COLUMNS,
        "Strata of fewer than k records: error refuses them, merge joins them with others.",
        studies=("compare", "sweep"),
    )
    blocks: Annotated[tuple[tuple[str, ...], ...], BeforeValidator(as_blocks)] = option(
        (),
        "--block",
        "C,...",
        Section.COLUMNS,
        "Columns to group on their own; k then holds within each block only.",
        studies=("compare", "sweep"),
    )
    valid_combinations: Annotated[bool, checked(check_flag, bool), OnDatasets()] = option(
        True,
        "--valid-combinations",
        "",
        Section.PROTECTION,
        "Release in each group the categories of one of its records: no new combinations.",
        studies=("compare", "sweep"),
    )
    keep_margins: Annotated[bool, checked(check_flag, bool)] = option(
        False,
        "--keep-margins",
        "",
        Section.PROTECTION,
        "Choose categories so that their totals stay nearly as they were, at little extra loss.",
        studies=("compare", "sweep"),
    )
    hybrid: Annotated[bool, checked(check_flag, bool)] = option(
        False,
        "--hybrid",
        "",
        Section.PROTECTION,
        "Release synthetic records with the means and covariances of groups. Not k-anonymous.",
    )
    keep_key: Annotated[
        bool,
        checked(check_flag, bool),
        OnlyIf(
            lambda plan: bool(plan.identifiers),
            "has no identifier to replace by a random key. Name one, or leave it out.",
        ),
        OnDatasets(),
    ] = option(
        False,
        "--keep-key",
        "",
        Section.COLUMNS,
        "Replace the table's first identifier by a random key instead of dropping it.",
    )
    shuffle: Annotated[bool, checked(check_flag, bool)] = option(
        False,
        "--shuffle",
        "",
        Section.PROTECTION,
        "Release the records in random order.",
    )
    unit: Annotated[UnitOfRecords, OnDatasets()] = option(
        None,
        "--unit",
        "C",
        Section.COLUMNS,
        "Column that says whom a record is about. It is dropped, and k counts units. 'rows': every "
        "record is about a different person.",
        studies=("compare", "sweep"),
        kind=Kind.NAME,
    )
    columns: Annotated[
        dict[str, ColumnPlan], BeforeValidator(as_columns), AfterValidator(ReadOnly)
    ] = Field(default_factory=ReadOnly, description="What each column is, by name.")
