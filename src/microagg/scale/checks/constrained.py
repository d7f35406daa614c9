"""How many rows of a dataset violate constraints, counted in parts."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import polars as pl
import pyarrow as pa

from microagg.core.errors import DataError, ParameterError
from microagg.plans.manifest import Manifest
from microagg.release.verify_request import Checks
from microagg.requirements.base import Evidence
from microagg.requirements.constraints import ConstrainedColumns, Violations
from microagg.scale.sources.delimited import as_judged
from microagg.scale.sources.listing import Listing
from microagg.scale.steps.types import DatasetColumn, merged
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import OpenedDataset, part_bytes, read_together
from microagg.tables.dates import ambiguous
from microagg.tables.frames import open_frame
from microagg.tables.polars_columns import as_polars
from microagg.tables.roles import no_such_column

_SIZES, _VIOLATED = "sizes", "violated"


@dataclass(frozen=True, eq=False)
class _Asked:
    """The rows, the constraints, how numbers are written, and columns stored as 32-bit floats.

    Text may be numbers in the files of a dataset, if it is one of CSV files.
    """

    listing: Listing
    constrained: ConstrainedColumns
    decimal: str
    narrow: frozenset[str]
    is_text: bool

    def columns(self, table: pa.Table) -> Iterable[pl.Series]:
        """Return the columns that occur in constraints, as numbers where they are."""
        for name in self.constrained.columns:
            column = as_polars(table[name])
            if self.is_text and not self.constrained.forms.get(name):
                column = as_judged(table[name], self.decimal)
                if column.dtype == pl.String and column.null_count() == len(column):
                    column = column.cast(pl.Float64)
            yield (column.cast(pl.Float32) if name in self.narrow else column).alias(name)


class _Sizes(dict[str, DatasetColumn]):
    """What each column holds: its largest number, or how its dates are written."""

    def merge(self, other: "_Sizes") -> "_Sizes":
        return _Sizes({name: own.merge(other[name]) for name, own in self.items()})


def violations_in(
    dataset: OpenedDataset, asked: Checks, manifest: Manifest | None, dates: str | None
) -> Violations:
    """Count the rows of a dataset that violate each constraint."""
    listing, passes = dataset.listing, dataset.passes
    for own in asked.constraints:
        for name in own.coefficients:
            if name not in listing.columns:
                missing = no_such_column(name, listing.columns)
                raise ParameterError(f"constraint {own.text!r}: {missing}")
    known = {} if manifest is None else manifest.columns
    written = {name: own.written for name, own in known.items() if own.written}
    is_text = dataset.dialect is not None
    narrow = {name for name, own in known.items() if is_text and own.stored == "Float32"}
    resolutions = {} if asked.plan is None else asked.plan.resolutions
    constrained = ConstrainedColumns(asked.constraints, written, resolutions)
    first = _Asked(listing, constrained, dataset.decimal, frozenset(narrow), is_text)
    n_files, each = len(listing.files), part_bytes(listing, len(constrained.columns))
    passes.work.keep(_SIZES, first)
    passes.run(_SIZES, _find_sizes, n_files, bytes_each=each)
    sizes: _Sizes = merged(own for own in passes.results(_SIZES, n_files) if own is not None)
    forms = dict(written)
    for name, found in sizes.items():
        if name not in forms and (form := _form(name, found, dates)):
            forms[name] = form
    largest = {name: found.largest for name, found in sizes.items()}
    last = ConstrainedColumns(asked.constraints, forms, resolutions, largest)
    passes.work.keep(_VIOLATED, _Asked(listing, last, dataset.decimal, frozenset(narrow), is_text))
    passes.run(_VIOLATED, partial(_count), n_files, bytes_each=each)
    counts = {own.text: 0 for own in asked.constraints}
    for own in passes.results(_VIOLATED, n_files):
        counts = {text: n + own.get(text, 0) for text, n in counts.items()}
    return Violations(counts)


def _form(name: str, found: DatasetColumn, dates: str | None) -> str:
    """Return how dates are written in a column of text; refuse what is neither number nor date."""
    if found.numbers is not None or found.stored.startswith(("Date", "Datetime")):
        return ""
    writing = found.writing(dates)
    if writing is None:
        raise DataError(
            f"constraints can only use columns of integers, floats and dates; got {name!r}. "
            "Convert it to numbers, or remove the constraint."
        )
    if writing.is_ambiguous:
        raise ambiguous(name)
    return writing.form


def _find_sizes(work: WorkFolder, number: int) -> _Sizes | None:
    asked: _Asked = work.facts(_SIZES)
    read = read_together(asked.listing, asked.constrained.columns, None, (), number)
    found: _Sizes | None = merged(_sizes(asked, table) for _, table, _ in read)
    return found


def _sizes(asked: _Asked, table: pa.Table) -> _Sizes:
    frame = open_frame(pl.DataFrame(list(asked.columns(table))))
    return _Sizes({name: DatasetColumn.of(frame, name) for name in asked.constrained.columns})


def _count(work: WorkFolder, number: int) -> dict[str, int]:
    asked: _Asked = work.facts(_VIOLATED)
    columns = asked.constrained.columns
    counts: dict[str, int] = {}
    for _, table, _ in read_together(asked.listing, columns, None, (), number):
        evidence = Evidence(pl.DataFrame(list(asked.columns(table))), columns)
        for text, n in asked.constrained.judge(evidence).counts.items():
            counts[text] = counts.get(text, 0) + n
    return counts
