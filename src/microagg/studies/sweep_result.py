"""The result of a sweep: a row for each k, printed as a table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, overload

import narwhals as nw
import polars as pl
from narwhals.typing import IntoDType

from microagg.core.arrays import Labels
from microagg.core.tabulate import html_table, text_table, text_width
from microagg.core.words import decimals_for, differ, grouping_note, short_seconds, spread
from microagg.studies.setting import StudySetting
from microagg.tables.frames import Frame, new_table, open_frame
from microagg.tables.roles import Roles

_LONGEST_BAR, _SHORTEST_BAR = 20, 8
_LOSS = "loss: of the released values"
_GAP = "gap: grouping is at most this far above the least possible"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepRow:
    """The best groups found for one k, and how much better others could be.

    `information_loss` is that of the released values in per cent; of a matrix, these are the means
    of groups. `grouping_loss` is that of the groups about their means, to which the bound, `sse`
    and what satisfying constraints adds belong. `gap` is by how many per cent it is above the least
    possible, at most, or None if that is unknown. `seconds` are those of the search
    and the bound at this k, without the neighbours that all ks share, added up over strata and
    blocks: as these run side by side, it can be more than the whole run takes.
    """

    k: int
    information_loss: float | None
    grouping_loss: float
    lower_bound: float | None
    gap: float | None
    sse: float
    n_groups: int
    min_group: int
    max_group: int
    seconds: float
    labels: Labels = field(repr=False)
    added_by_constraints: float | None = None

    def figures(self) -> dict[str, Any]:
        """Return everything except the labels."""
        return {name: getattr(self, name) for name in SCHEMA}


_COUNTS = ("k", "n_groups", "min_group", "max_group")
SCHEMA: dict[str, IntoDType] = {
    part.name: nw.Int64 if part.name in _COUNTS else nw.Float64
    for part in fields(SweepRow)
    if part.name != "labels"
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sweep(Sequence[SweepRow]):
    """The rows of a sweep, in ascending order of k; `seconds` are those of the whole run.

    `seed`, `effort` and `bound` are those that were used; `why_no_bound` says why there is none,
    unless nobody asked for one. `setting` says how a table was described,
    and `like` is that table; both are None for a matrix.
    """

    rows: tuple[SweepRow, ...]
    seconds: float
    seed: int
    effort: str
    bound: str
    why_no_bound: str = ""
    setting: StudySetting | None = None
    like: Frame | None = None

    @property
    def n_records(self) -> int:
        """How many records were grouped."""
        return len(self.rows[0].labels)

    @property
    def roles(self) -> Roles | None:
        """The columns of a table by role."""
        return None if self.setting is None else self.setting.roles

    @property
    def table(self) -> Any:
        """The rows as a DataFrame of the same kind as the input, of polars for a matrix.

        Without the labels.
        """
        like = open_frame(pl.DataFrame()) if self.like is None else self.like
        return new_table(
            like, {name: [getattr(row, name) for row in self] for name in SCHEMA}, SCHEMA
        )

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as plain values, without the labels, ready for json.dumps."""
        return [row.figures() for row in self]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> SweepRow: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[SweepRow, ...]: ...
    def __getitem__(self, at: int | slice) -> SweepRow | tuple[SweepRow, ...]:
        return self.rows[at]

    def __str__(self) -> str:
        text = text_table(*self._cells(longest_bar=0))
        room = text_width() - max(map(len, text.splitlines())) - 2
        if room >= _SHORTEST_BAR:
            text = text_table(*self._cells(longest_bar=min(_LONGEST_BAR, room)))
        elif room < -2:
            text = text_table(*self._cells(longest_bar=0, with_seconds=False))
        return "\n".join((text, *(["", *self._notes()] if self._notes() else [])))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"{html_table(*self._cells(longest_bar=0))}{notes}"

    def _notes(self) -> list[str]:
        own = [] if self.setting is None else [_LOSS]
        if self.setting is not None and self._groups_lose_something_else:
            own.append(grouping_note(self.setting.scale))
        own += [_GAP] if any(row.gap is not None for row in self) else []
        own += [f"no bound: {self.why_no_bound}"] if self.why_no_bound else []
        return own if self.setting is None else [*own, *self.setting.notes()]

    @property
    def _groups_lose_something_else(self) -> bool:
        """Whether the two losses differ in any row by more than rounding errors."""
        both = [(row.information_loss, row.grouping_loss) for row in self]
        return any(one is not None and differ(one, two) for one, two in both)

    def _cells(
        self, *, longest_bar: int, with_seconds: bool = True
    ) -> tuple[list[str], list[list[str]]]:
        """Return a header and a line for each k, with a bar of its loss unless that has no room."""
        bounded = any(row.lower_bound is not None for row in self)
        shown = {
            "k": True,
            "loss %": True,
            "grouping %": self._groups_lose_something_else,
            "at least %": bounded,
            "gap %": bounded,
            "groups": True,
            "sizes": True,
            "seconds": with_seconds,
            "": longest_bar > 0,
        }
        losses = [row.information_loss or 0.0 for row in self]
        decimals, most = decimals_for(losses), max(losses)
        kept = [place for place, is_shown in enumerate(shown.values()) if is_shown]
        shares = [loss / most if most else 0.0 for loss in losses]
        lines = []
        for row, share in zip(self, shares, strict=True):
            cells = (*_line(row, decimals), "#" * round(longest_bar * share))
            lines.append([cells[place] for place in kept])
        return [list(shown)[place] for place in kept], lines


def _line(row: SweepRow, decimals: int) -> tuple[str, ...]:
    return (
        f"{row.k:,}",
        "" if row.information_loss is None else f"{row.information_loss:.{decimals}f}",
        f"{row.grouping_loss:.{decimals}f}",
        # Rounded to the safe side: lower limits down, upper limits up.
        "" if row.lower_bound is None else _rounded(row.lower_bound, decimals, math.floor),
        "" if row.gap is None else _rounded(row.gap, 1, math.ceil),
        f"{row.n_groups:,}",
        spread(row.min_group, row.max_group),
        short_seconds(row.seconds),
    )


def _rounded(value: float, decimals: int, to_whole: Callable[[float], int]) -> str:
    """Write a number rounded by `math.floor` or `math.ceil`.

    >>> _rounded(1.28, 1, math.floor), _rounded(1.22, 1, math.ceil)
    ('1.2', '1.3')
    """
    return f"{to_whole(value * 10**decimals) / 10**decimals:.{decimals}f}"
