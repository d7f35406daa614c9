"""What a dataset cannot have that a table can, refused before any data are read."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from microagg.core.errors import DataError, ParameterError
from microagg.plans.options import options_of
from microagg.plans.plan import Plan
from microagg.scale.sources.listing import Listing
from microagg.tables.roles import PUBLISH, STRATUM


def check_plan(plan: Plan) -> None:
    """Refuse a plan that asks for something that is not there for datasets."""
    for what in _not_there(plan):
        raise ParameterError(
            f"{what} is not available for datasets beyond memory. Leave it out, or protect a table "
            "that fits in memory (microagg.protect, or microagg protect FILE without --memory)."
        )


def _not_there(plan: Plan) -> Iterator[str]:
    for option in options_of(Plan):
        value, acts = getattr(plan, option.keyword), option.on_datasets
        if acts is None and value != option.default:
            yield f"{option.keyword} ({option.flag.name})"
        elif acts is not None and acts.refuses is not None and acts.refuses(value):
            yield acts.words.format(value=value)


def check_types(listing: Listing, needed: Iterable[str]) -> None:
    """Refuse types that only Arrow files have: unions, and categories to work with but of text."""
    schema = listing.files[0].schema
    if unions := [field.name for field in schema if pa.types.is_union(field.type)]:
        raise DataError(
            f"column {unions[0]!r} is a union of several types, which datasets cannot hold. Store "
            "its types in columns of their own."
        )
    for name in needed:
        kind = schema.field(name).type if name in schema.names else None
        if kind is not None and pa.types.is_dictionary(kind) and not _is_text(kind.value_type):
            raise DataError(
                f"column {name!r} holds categories that are not text ({kind.value_type}), which "
                "datasets cannot protect. Store it as plain values, or as text."
            )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def check_folders(plan: Plan, listing: Listing) -> None:
    """Refuse folders named by values of a column that is not published."""
    for name in listing.in_folders:
        role = plan.columns[name].role if name in plan.columns else None
        if role not in (STRATUM, PUBLISH):
            raise ParameterError(
                f"the folders are named by values of {name!r}, and the output has the same names. "
                f"Make it a stratum (--strata {name}, or strata=[{name!r}] in Python) or publish "
                f"it (--publish {name}, or publish=[{name!r}]); otherwise rename the folders."
            )
        if role == STRATUM and plan.small_strata == "merge":
            raise ParameterError(
                f"the folders are named by values of {name!r}, so its strata cannot be merged "
                "(--small-strata merge). Leave it out, or use coarser strata."
            )
