"""The result of a comparison: a row for each method and k, and which rows no other beats."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from textwrap import wrap
from typing import Any, overload

import narwhals as nw
from narwhals.typing import IntoDType

from microagg.core.errors import ParameterError
from microagg.core.tabulate import html_table, text_tables, text_width
from microagg.core.words import decimals_for, differ, grouping_note, short_seconds, spread
from microagg.studies.setting import StudySetting
from microagg.tables.frames import Frame, new_table
from microagg.tables.roles import Roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one method did at one k; if it failed, `error` says why, and the rest is None.

    `information_loss` is that of the released values, in per cent. `grouping_loss` is that of the
    groups about their means; `sse` belongs to it, and what satisfying constraints adds. `linkage`
    is the risk: the share, in per cent, of records that an intruder who knows all true
    quasi-identifiers links correctly by picking the most similar released record; above 100,000
    records it is estimated from a sample, and `linkage_error` is its standard error. `efficient`
    says that no other row that guarantees k has a lower information loss or linkage
    without more of the other. `guarantees_k` is False if records drew their values, even if all
    groups happen to hold k records.
    `seconds` leave out compiling and linking. `seed` is None for methods that use no randomness.
    """

    method: str
    k: int
    information_loss: float | None = None
    grouping_loss: float | None = None
    sse: float | None = None
    added_by_constraints: float | None = None
    linkage: float | None = None
    linkage_error: float | None = None
    efficient: bool | None = None
    guarantees_k: bool | None = None
    n_groups: int | None = None
    min_group: int | None = None
    max_group: int | None = None
    seconds: float | None = None
    seed: int | None = None
    error: str | None = None


_WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_TEXTS, _COUNTS = ("method", "error"), ("k", "n_groups", "min_group", "max_group", "seed")
_FLAGS = ("efficient", "guarantees_k")
SCHEMA: dict[str, IntoDType] = {
    field.name: nw.String
    if field.name in _TEXTS
    else nw.Int64
    if field.name in _COUNTS
    else nw.Boolean
    if field.name in _FLAGS
    else nw.Float64
    for field in fields(Row)
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Sequence[Row]):
    """The rows of a comparison in the order asked for, with their context.

    `setting` says how the table was described. `exit_code` is 0 if any run succeeded, and otherwise
    that of the first failure. `seed` is None if no method uses randomness. `left_out` are the
    methods that "all" does not run, because they take one column only, because they need an option
    that was not given, or because their records draw their values, which guarantees less; the
    latter are also in `drawn`.

    Examples
    --------
    >>> import microagg
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [171, 175, 162, 160]})
    >>> found = microagg.compare(people, 2, ["mdav", "pca-mhm"])
    >>> [(row.method, row.n_groups) for row in found]
    [('mdav', 2), ('pca-mhm', 2)]
    >>> found.table["method"].to_list()
    ['mdav', 'pca-mhm']
    """

    rows: tuple[Row, ...]
    like: Frame
    setting: StudySetting
    seed: int | None
    left_out: tuple[str, ...]
    drawn: tuple[str, ...]
    exit_code: int

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[at]

    @property
    def n_records(self) -> int:
        """How many records were grouped."""
        return len(self.like)

    @property
    def roles(self) -> Roles:
        """The columns of the table by role."""
        return self.setting.roles

    @property
    def table(self) -> Any:
        """The rows as a DataFrame of the same kind as the input."""
        values = {name: [getattr(row, name) for row in self.rows] for name in SCHEMA}
        return new_table(self.like, values, SCHEMA)

    def failures(self) -> Iterator[str]:
        """Return a line for every failure, with all methods and ks that it stopped."""
        every = dict.fromkeys(row.method for row in self.rows)
        found: dict[str, dict[str, list[str]]] = {}
        for row in self.rows:
            if row.error is not None:
                found.setdefault(row.error, {}).setdefault(row.method, []).append(f"{row.k:,}")
        for error, stopped in found.items():
            together: dict[str, list[str]] = {}
            for method, ks in stopped.items():
                together.setdefault(", ".join(ks), []).append(method)
            for at, methods in together.items():
                is_every = len(methods) == len(every) > 1
                who = "every method" if is_every else ", ".join(methods)
                yield f"{who} failed at k = {at}: {error}"

    def __str__(self) -> str:
        parts = [*text_tables(list(self._blocks())), "\n".join(self._legend())]
        # In lines as wide as the tables; no name is broken.
        parts += ["\n".join(wrap(line, text_width(), **_WHOLE)) for line in self.failures()]
        return "\n\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        blocks = (html_table(header, rows) for header, rows in self._blocks())
        notes = "".join(f"<p>{escape(line)}</p>" for line in (*self._legend(), *self.failures()))
        return "".join((*blocks, notes))

    def _blocks(self) -> Iterator[tuple[list[str], list[list[str]]]]:
        """Return a header and the cells of the rows of each k."""
        decimals = decimals_for([row.information_loss or 0.0 for row in self.rows])
        for k in dict.fromkeys(row.k for row in self.rows):
            own = [row for row in self.rows if row.k == k]
            kept = [point[0] for row in own if (point := _point(row)) is not None]
            least = min(kept, default=None)
            header = [f"k = {k:,}", "loss %", "linked %", "groups", "sizes", "seconds", ""]
            if self._groups_lose_something_else:
                header.insert(2, "grouping %")
            yield header, [self._cells(row, least, decimals) for row in own]

    @property
    def _groups_lose_something_else(self) -> bool:
        """Whether the two losses differ in any row by more than rounding errors."""
        both = [(row.information_loss, row.grouping_loss) for row in self.rows]
        return any(one is not None and two is not None and differ(one, two) for one, two in both)

    def _legend(self) -> Iterator[str]:
        yield "* least information loss at this k"
        several = len({row.k for row in self.rows}) > 1
        yield f"+ not dominated in loss and linkage by another row{', at any k' if several else ''}"
        if any(row.guarantees_k is False for row in self.rows):
            yield "! k is not guaranteed: records drew their values"
        yield "loss: of the released values"
        if self._groups_lose_something_else:
            yield grouping_note(self.setting.scale)
        yield from self.setting.notes()

    def _cells(self, row: Row, least: float | None, decimals: int) -> list[str]:
        with_groups = self._groups_lose_something_else
        if row.error is not None:
            return [row.method, *[""] * (5 + with_groups), "failed"]
        loss = row.information_loss
        marks = "!" if not row.guarantees_k else "*" if loss is not None and loss == least else ""
        return [
            row.method,
            "" if loss is None else f"{loss:.{decimals}f}",
            *([f"{row.grouping_loss or 0.0:.{decimals}f}"] if with_groups else []),
            f"{row.linkage:.2f}",
            f"{row.n_groups:,}",
            spread(row.min_group or 0, row.max_group or 0),
            short_seconds(row.seconds or 0.0),
            f"{marks}{'+' if row.efficient else ''}",
        ]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as plain values, ready for json.dumps."""
        return [asdict(row) for row in self.rows]


def marked(rows: Sequence[Row]) -> list[Row]:
    """Mark each row that no other beats on both loss and linkage.

    Rows that do not guarantee k do not count against those that do.
    """
    points = {point for row in rows if (point := _point(row)) is not None}
    return [
        row if row.error is not None else replace(row, efficient=_is_efficient(_point(row), points))
        for row in rows
    ]


def _point(row: Row) -> tuple[float, float] | None:
    if row.information_loss is None or row.linkage is None or not row.guarantees_k:
        return None
    return row.information_loss, row.linkage


def _is_efficient(own: tuple[float, float] | None, points: Iterable[tuple[float, float]]) -> bool:
    return own is not None and not any(
        other != own and other[0] <= own[0] and other[1] <= own[1] for other in points
    )


def risk_utility_map(comparison: Comparison) -> str:
    """Return a comparison as a figure in SVG: records linked against information lost.

    Every method has a mark for each k. Those that no other beats on both are filled, named and
    joined by a line; failures are left out.

    Parameters
    ----------
    comparison : what `compare` returned

    Examples
    --------
    >>> import polars as pl
    >>> from microagg import compare
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> risk_utility_map(compare(people, 2, ["mdav", "cbfs"])).startswith("<svg")
    True
    """
    from microagg.report.plots import Choice
    from microagg.report.plots import risk_utility_map as drawn

    if not isinstance(comparison, Comparison):
        raise ParameterError(
            f"comparison must be what compare() returned; got {type(comparison).__name__}."
        )
    choices = [
        Choice(row.method, row.k, row.information_loss, row.linkage, bool(row.efficient))
        for row in comparison
        if row.information_loss is not None and row.linkage is not None
    ]
    if not choices:
        raise ParameterError("there is nothing to draw: every method failed.")
    return drawn(choices, "Records that can be linked against information lost")
