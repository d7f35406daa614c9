"""What a release warns of: requests and tables that leave somebody unprotected."""

from microagg.core.errors import (
    SEARCH_INTERRUPTED,
    ColumnWarning,
    InterruptedSearchWarning,
    PrivacyWarning,
    warn,
)
from microagg.core.words import counted
from microagg.plans.manifest_facts import Promise
from microagg.plans.plan import Plan
from microagg.release.exposure import (
    assumed_serial_numbers,
    coarser_identifiers,
    columns_that_name_records,
    columns_that_name_units,
    days_as_numbers,
    n_groups_of_one_weight,
    order_links_units,
)
from microagg.release.grouping import Groups, n_expecting_fewer
from microagg.release.records import Records


def warn_of_k(plan: Plan) -> None:
    """Warn of a k that protects nobody."""
    if plan.k == 1:
        warn(
            "k = 1 protects nobody: any record may keep its own values; use k = 2 or more.",
            PrivacyWarning,
        )


def warn_of_order(unit: str | None, remedy: str) -> None:
    """Warn of records whose order shows which of them are of one unit."""
    warn(
        f"records of the same {unit!r} follow each other, and the released table keeps their "
        f"order: it shows which records belong together. {remedy}",
        PrivacyWarning,
    )


def warn_of_unique_values(name: str, *, is_weight: bool) -> None:
    """Warn of a published column in which nearly every record has a value of its own."""
    what = "the weight" if is_weight else "column"
    warn(
        f"{what} {name!r} is published unchanged, and nearly every record has a value of its own "
        "there: anyone who knows it finds the record. Drop, coarsen or round it unless you mean to "
        "publish it.",
        PrivacyWarning,
    )


def warn_of_serial_numbers(name: str) -> None:
    """Warn of a column that nobody named and that seems to number the records."""
    warn(
        f"column {name!r} has no role and looks like a serial number, which would make the "
        "groups worse. Drop it, or name it as an identifier; if it is not one, name it as a "
        "quasi-identifier.",
        ColumnWarning,
    )


def warn_of_days(name: str) -> None:
    """Warn of dates that are written as whole numbers."""
    warn(
        f"the whole numbers in column {name!r} look like dates such as 20240131, and are "
        "protected as numbers, whose means are not dates. Write them as 2024-01-31.",
        ColumnWarning,
    )


def warn_of_values_of_units(name: str, unit: str | None) -> None:
    """Warn of a published column in which nearly every unit has a value of its own."""
    warn(
        f"column {name!r} is published unchanged, and nearly every {unit!r} has a value of its "
        "own there: anyone who knows it finds all their records. Drop or coarsen it unless you "
        "mean to publish it.",
        PrivacyWarning,
    )


def warn_of_coarser_identifier(name: str, unit: str | None) -> None:
    """Warn of an identifier whose values are in records of several units."""
    warn(
        f"values of the identifier {name!r} are in records of several {unit!r}: k of these may "
        f"be fewer than k people. If {name!r} says whom records are about, name it as the "
        "unit.",
        PrivacyWarning,
    )


def warn_of_heavy_records(n_groups: int, weights: str | None) -> None:
    """Warn of groups in which one record has most of the weight."""
    warn(
        f"in {counted(n_groups, 'group')} one record has more than half of the weight in "
        f"{weights!r}: what is released there is mostly its own values. Cap the weights, or ask "
        "for dominance (--dominance, or dominance={...} in Python).",
        PrivacyWarning,
    )


def warn_beforehand(plan: Plan, records: Records) -> None:
    """Warn of what the request and the table leave unprotected."""
    warn_of_k(plan)
    for name in columns_that_name_records(records):
        warn_of_unique_values(name, is_weight=name == records.roles.weights)
    for name in assumed_serial_numbers(records):
        warn_of_serial_numbers(name)
    for name in days_as_numbers(plan, records):
        warn_of_days(name)
    unit = records.roles.unit
    for name in columns_that_name_units(records):
        warn_of_values_of_units(name, unit)
    for name in coarser_identifiers(records):
        warn_of_coarser_identifier(name, unit)
    if not plan.shuffle and order_links_units(records):
        warn_of_order(unit, "Shuffle them (--shuffle, or shuffle=True in Python).")
    if plan.hybrid:
        warn(
            "hybrid records keep the means and covariances of groups, not k-anonymity: each has "
            "values of its own. microagg measure (release.risk() in Python) shows how many can "
            "still be linked.",
            PrivacyWarning,
        )
    elif len(records.blocks) > 1:
        warn(
            f"the quasi-identifiers are grouped in {len(records.blocks)} blocks: k = {plan.k} "
            "holds within each of them, not for all together. Anyone who knows values from "
            "several blocks can distinguish records.",
            PrivacyWarning,
        )


def warn_afterwards(plan: Plan, records: Records, groups: Groups) -> None:
    """Warn of what the groups leave unprotected."""
    if groups.interrupted:
        warn(SEARCH_INTERRUPTED, InterruptedSearchWarning)
    if plan.k > 1 and (count := n_groups_of_one_weight(records, groups)):
        warn_of_heavy_records(count, records.roles.weights)
    if groups.promise is Promise.NOTHING and plan.k > 1:
        warn(
            f"{plan.method!r} draws values at random and does not guarantee k: "
            f"{n_expecting_fewer(groups.estimator)} of its centres expect fewer than {plan.k} "
            "records; use strict_k (--strict-k) for groups of k or more.",
            PrivacyWarning,
        )
