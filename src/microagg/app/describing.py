"""A file as the first steps show it: its columns, what they are taken for, and proposed roles."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import narwhals as nw
import polars as pl

from microagg.app.answers import (
    Categories,
    CategoriesRequest,
    Column,
    Described,
    DescribeRequest,
    Proposal,
    SourceAnswer,
)
from microagg.core.errors import DataError
from microagg.core.progress import report
from microagg.files.dialect import Dialect
from microagg.files.formats import format_of, open_table
from microagg.files.reading import Reader
from microagg.plans.drafting import Guess, guess_columns, propose
from microagg.release.saving import check_source
from microagg.report.summaries import FLOOR
from microagg.tables.frames import Frame, dtype_of, open_frame, polars_column
from microagg.tables.judging import judge_type
from microagg.tables.markers import without_entries
from microagg.tables.roles import IDENTIFIER
from microagg.tables.typed import types_of
from microagg.tables.units import naming_column

# More categories than this are not put in order by hand.
_MOST_CATEGORIES = 50
_STEPS = 4


def described(asked: DescribeRequest) -> Described:
    """Read a file and judge its columns."""
    path = asked.source.path
    file, frame = _opened(asked.source, asked.na)
    if not len(frame):
        raise DataError(f"{Path(path).name!r} has no records.")
    report("judging columns", 1, _STEPS)
    guesses = guess_columns(frame, file.annotations, dates=asked.dates)
    report("looking for constraints", 2, _STEPS)
    proposals = propose(frame, guesses, asked.dates)
    report("counting values", 3, _STEPS)
    people = _people(frame, guesses)
    return Described(
        name=Path(path).name,
        format=format_of(path).name,
        n_bytes=Path(path).stat().st_size,
        n_records=len(frame),
        columns=tuple(
            _column(frame, name, guess, [*people.values()]) for name, guess in guesses.items()
        ),
        proposals=tuple(Proposal(text=own.text, comment=own.comment) for own in proposals),
        dialect=_detected(file),
        labelled=() if file.annotations is None else file.annotations.labelled,
        people=tuple(people),
    )


def shared_categories(asked: CategoriesRequest) -> Categories:
    """Return the categories of columns that enough units share, as the listed ones must be."""
    _, frame = _opened(asked.source, asked.na)
    units = naming_column(frame, asked.unit)
    columns = {name: polars_column(frame[name]) for name in asked.columns}
    return Categories(
        shared={name: tuple(_categories(own, [units])[0]) for name, own in columns.items()}
    )


def _opened(source: SourceAnswer, na: tuple[str, ...]) -> tuple[Reader, Frame]:
    """Read a file, with missing values for what means one."""
    check_source(source.path)
    report("reading", 0, _STEPS)
    file = open_table(source.path, dialect=Dialect(**source.dialect, na=na))
    frame = open_frame(file.table())
    return file, without_entries(frame, frame.columns, na)[0]


def _detected(file: Reader) -> dict[str, str]:
    """Return how a text file is written, as far as it was given or detected."""
    found = {
        name: getattr(file.dialect, name, None) for name in ("delimiter", "decimal", "encoding")
    }
    found["sheet"] = getattr(file, "sheet", None)
    return {name: str(value) for name, value in found.items() if value is not None}


def _people(frame: Frame, guesses: Mapping[str, Guess]) -> dict[str, pl.Series]:
    """Return the identifiers that repeat: several records may be of one person."""
    named = [name for name, guess in guesses.items() if guess.role == IDENTIFIER]
    found = {name: polars_column(frame[name]) for name in named}
    return {name: own for name, own in found.items() if own.n_unique() < len(own)}


def _column(frame: Frame, name: str, guess: Guess, people: Sequence[pl.Series]) -> Column:
    values = polars_column(frame[name])
    present = values.drop_nulls()
    distinct = present.n_unique() if len(present) else 0
    may_be_listed = guess.role != IDENTIFIER and 0 < distinct <= _MOST_CATEGORIES
    kept, n_rare = _categories(values, people) if may_be_listed else ([], 0)
    judged = judge_type(frame, name) if types_of(frame, name) and len(present) else None
    return Column(
        name=name,
        type=None if guess.type is None else str(guess.type),
        why="" if judged is None else judged.why,
        missing=len(values) - len(present),
        distinct=distinct,
        is_text=dtype_of(frame, name) == nw.String,
        role=guess.role,
        reason=guess.why,
        categories=tuple(kept),
        n_rare=n_rare,
    )


def _categories(
    values: pl.Series, people: Sequence[pl.Series]
) -> tuple[list[str | int | float | bool], int]:
    """Return the values that enough people share, in order, and how many others there are."""
    if values.dtype.is_temporal() or values.dtype.is_nested():
        return [], 0
    who = [own.alias(f"who {at}") for at, own in enumerate(people)]
    sharing = pl.min_horizontal(pl.len(), *(pl.col(own.name).n_unique() for own in who))
    table = pl.DataFrame([values.alias("value"), *who]).drop_nulls("value")
    counts = table.group_by("value").agg(sharing.alias("n")).sort("value")
    common = counts.filter(pl.col("n") >= FLOOR)["value"]
    plain = (
        common
        if common.dtype.is_numeric() or common.dtype == pl.Boolean
        else common.cast(pl.String)
    )
    return plain.to_list(), len(counts) - len(common)
