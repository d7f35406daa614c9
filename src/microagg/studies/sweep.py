"""sweep(): what a table loses at every k of a range, and must lose at least, in one run."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import Any, overload

import numpy as np

from microagg.bounds import gap
from microagg.constraints.system import System
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import ParameterError
from microagg.core.progress import ProgressCallback, reporting_to
from microagg.core.tabulate import html_table, text_table, text_width
from microagg.core.validation import (
    SeedLike,
    check_choice,
    check_jobs,
    check_k,
    check_ks,
    check_matrix,
    check_seed,
)
from microagg.core.words import decimals_for, short_seconds, spread
from microagg.kernels.basics.group_sums import summarise
from microagg.measures.utility.information_loss import Errors, squared_errors
from microagg.partitions.auto import EFFORTS
from microagg.partitions.search.improving import Effort
from microagg.plans.arguments import plan_of
from microagg.plans.plan import Plan
from microagg.release.constrained import constrained_values, systems_of
from microagg.release.records import Records, open_records
from microagg.release.source import Source
from microagg.studies.chains import MatrixSweep, compile_search
from microagg.tables.roles import Names, Roles

BOUNDS = ("fast", "none")
_LARGEST_BY_DEFAULT = 20
_LONGEST_BAR = 20
_NOTE = "gap: the loss is at most this much above the least possible"
# Options of a table that a matrix has as well.
_OF_MATRIX = {"k", "random_state"}
_NOT_OF_A_PLAN = ("table", "ks", "effort", "bound", "plan", "n_jobs", "progress")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepRow:
    """The best groups found for one k, and how much better others could be.

    Loss and bound are in per cent of the spread of X. `gap` is by how many per cent the loss is
    above the least possible, at most, or None if that is unknown. `seconds` are those of the search
    and the bound at this k, without the neighbours that all ks share.
    """

    k: int
    information_loss: float
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
        names = (part.name for part in fields(self) if part.name != "labels")
        return {name: getattr(self, name) for name in names}


class Sweep(Sequence[SweepRow]):
    """The rows of a sweep, in ascending order of k; `seconds` are those of the whole run.

    `seed` is the one that was used; `roles` are those of the columns of a table.
    """

    def __init__(
        self,
        rows: Sequence[SweepRow],
        seconds: float,
        seed: int | None = None,
        roles: Roles | None = None,
        n_records: int | None = None,
    ) -> None:
        self._rows = tuple(rows)
        self.seconds = seconds
        self.seed = seed
        self.roles = roles
        self.n_records = len(self._rows[0].labels) if n_records is None else n_records

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> SweepRow: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[SweepRow, ...]: ...
    def __getitem__(self, at: int | slice) -> SweepRow | tuple[SweepRow, ...]:
        return self._rows[at]

    def __str__(self) -> str:
        text = text_table(*self._cells(with_bars=False))
        if max(map(len, text.splitlines())) + _LONGEST_BAR + 2 <= text_width():
            text = text_table(*self._cells(with_bars=True))
        return f"{text}{self._note()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{html_table(*self._cells(with_bars=False))}<p>{self._note().strip()}</p>"

    def _note(self) -> str:
        return f"\n\n{_NOTE}" if any(row.gap is not None for row in self) else ""

    def _cells(self, *, with_bars: bool) -> tuple[list[str], list[list[str]]]:
        """Return a header and a line for each k, with a bar of its loss if asked for."""
        bounded = any(row.lower_bound is not None for row in self)
        added = any(row.added_by_constraints is not None for row in self)
        shown = {
            "k": True,
            "loss %": True,
            "added %": added,
            "at least %": bounded,
            "gap %": bounded,
            "groups": True,
            "sizes": True,
            "seconds": True,
            "": with_bars,
        }
        decimals = decimals_for([row.information_loss for row in self])
        most = max(row.information_loss for row in self)
        kept = [place for place, is_shown in enumerate(shown.values()) if is_shown]
        lines = [[_line(row, decimals, most)[place] for place in kept] for row in self]
        return [list(shown)[place] for place in kept], lines


def _line(row: SweepRow, decimals: int, most: float) -> tuple[str, ...]:
    return (
        f"{row.k:,}",
        f"{row.information_loss:.{decimals}f}",
        "" if row.added_by_constraints is None else f"{row.added_by_constraints:.{decimals}f}",
        # Rounded to the safe side: lower limits down, upper limits up.
        "" if row.lower_bound is None else _rounded(row.lower_bound, decimals, math.floor),
        "" if row.gap is None else _rounded(row.gap, 1, math.ceil),
        f"{row.n_groups:,}",
        spread(row.min_group, row.max_group),
        short_seconds(row.seconds),
        "#" * round(_LONGEST_BAR * row.information_loss / most) if most else "",
    )


def _rounded(value: float, decimals: int, to_whole: Callable[[float], int]) -> str:
    """Write a number rounded by `math.floor` or `math.ceil`.

    >>> _rounded(1.28, 1, math.floor), _rounded(1.22, 1, math.ceil)
    ('1.2', '1.3')
    """
    return f"{to_whole(value * 10**decimals) / 10**decimals:.{decimals}f}"


def sweep(
    table: Any,
    ks: int | Iterable[int] | None = None,
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    columns: Mapping[str, Any] | None = None,
    constraints: Iterable[str] | str | None = None,
    scale: str = "standardise",
    missing: str = "error",
    strata: Names = None,
    weights: str | None = None,
    blocks: Iterable[Iterable[str]] = (),
    effort: str = "fast",
    bound: str = "fast",
    random_state: SeedLike = None,
    plan: Plan | str | PathLike[str] | None = None,
    n_jobs: int | None = -1,
    progress: bool | ProgressCallback = False,
) -> Sweep:
    """Return the loss at every k of a range, a bound below it, and the groups, in one run.

    The loss never falls from one k to the next: groups of k + 1 or more are groups of k or more.
    So larger ks come first, and each smaller one starts with the groups of the one before, those
    of 2k or more split, or with the initial groups of `Auto`, whichever are better. From there it
    searches like `Auto`, but less. The bound never falls either: what bounds all groups of k or
    more bounds those of k + 1 or more. Neighbours are found once, for all searches and bounds.

    One column is grouped optimally at every k. The work is fixed by `effort`, n and the ks, so that
    the rows of a seed are the same on any number of threads. Memory O(n (d + k)) for the largest k,
    and the labels of every k.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow, treated as by `protect`; or a matrix of records
        by columns, which is used as it is
    ks : each k to group by; repetitions count once. By default 2 to 20, or to the number of records
        if there are fewer.
    quasi_identifiers, identifiers, sensitive, columns, constraints, scale, missing, strata, \
weights, blocks : as in `protect`, for DataFrames only. With weights there is no bound.
    effort : "fast", "balanced" or "best", as for `Auto`
    bound : "fast" for the fast bound of `lower_bound` at every k, "none" for none
    random_state : seed of the search
    plan : a `Plan` that describes the table; of its options, only `effort` and `bound` may be given
        with it
    n_jobs : threads to use; -1 for all cores
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

    Examples
    --------
    >>> X = [[0.0, 0.0], [9.0, 1.0], [1.0, 0.0], [8.0, 1.0], [5.0, 1.0], [6.0, 1.0]]
    >>> for row in sweep(X, [2, 3], random_state=0):
    ...     print(row.k, row.n_groups, round(row.information_loss, 2), row.labels.tolist())
    2 3 2.2 [0, 1, 0, 1, 2, 2]
    3 2 28.36 [0, 1, 0, 1, 0, 1]
    """
    arguments = {name: value for name, value in locals().items() if name not in _NOT_OF_A_PLAN}
    work = Work.of(effort, bound, n_jobs)
    asked = None if ks is None else check_ks(ks)
    if _is_table(table):
        chosen = plan_of({**arguments, "k": None if plan else 1}, plan)
        with reporting_to(progress):
            return sweep_source(Source.of(table), asked, chosen, work)
    chosen = plan_of({**arguments, "k": 1})
    unfit = (
        ["the plan"] if plan is not None else [n for n in chosen.as_dict() if n not in _OF_MATRIX]
    )
    if unfit:
        raise ParameterError(
            "roles, types and other options of tables are for DataFrames; a matrix is taken as it "
            f"is. Leave {unfit[0]} out."
        )
    matrix = check_matrix(table)
    wanted = _checked_ks(asked, len(matrix))
    seed = check_seed(chosen.random_state)
    with reporting_to(progress):
        return _sweep_parts([_Part(matrix)], wanted, work, seed)


@dataclass(frozen=True)
class Work:
    """How much work to do, and on how many threads."""

    effort: Effort
    with_bounds: bool
    n_jobs: int

    @classmethod
    def of(cls, effort: str, bound: str, n_jobs: int | None) -> "Work":
        """Return the work that these options ask for."""
        check_choice("bound", bound, BOUNDS)
        chosen = EFFORTS[check_choice("effort", effort, EFFORTS)]
        return cls(chosen, bound != "none", check_jobs(n_jobs))


@dataclass(frozen=True, eq=False)
class _Part:
    """Records that are grouped separately, by the columns of one block."""

    X: Floats
    rows: Labels | None = None  # all of them
    block: int = 0


def _is_table(table: object) -> bool:
    return hasattr(table, "columns") or hasattr(table, "column_names")


def _checked_ks(asked: Sequence[int] | None, n_records: int) -> list[int]:
    ks = asked or range(2, max(3, min(_LARGEST_BY_DEFAULT, n_records) + 1))
    return sorted(check_k(k, n_records=n_records) for k in ks)


def sweep_source(source: Source, ks: Sequence[int] | None, plan: Plan, work: Work) -> Sweep:
    """Sweep over a table as a plan describes it."""
    if plan.small_strata != "error":
        raise ParameterError(
            "which strata are merged depends on k, so a sweep cannot merge them. Use compare, "
            "or leave out small_strata."
        )
    wanted = _checked_ks(ks, len(source.frame))
    records = open_records(source, plan.with_types(source.types), largest_k=wanted[-1])
    systems = systems_of(plan.constraints, records)
    seed = check_seed(plan.random_state)
    strata = [None] if records.strata is None else records.strata.rows()
    parts = [
        _Part(block.X if rows is None else np.ascontiguousarray(block.X[rows]), rows, at)
        for at, block in enumerate(records.blocks)
        for rows in strata
    ]
    found = _sweep_parts(parts, wanted, work, seed, weights=records.weights)
    rows = [_with_constraints(row, records, systems) for row in found]
    return Sweep(rows, found.seconds, seed, records.roles, len(source.frame))


def _sweep_parts(
    parts: Sequence[_Part],
    ks: Sequence[int],
    work: Work,
    seed: int,
    *,
    weights: Floats | None = None,
) -> Sweep:
    """Sweep over every part, and combine the parts at every k."""
    with_bounds = work.with_bounds and weights is None
    compile_search(parts[0].X, work.effort, with_bounds=with_bounds)
    began = time.perf_counter()
    rng = np.random.default_rng(seed)
    swept = []
    for part in parts:
        one = MatrixSweep(part.X, ks, work.effort, rng, work.n_jobs)
        one.find_groups()
        if with_bounds:
            one.find_bounds()
        swept.append(one)
    if len(parts) == 1 and weights is None:
        rows = _rows_of(swept[0])
    else:
        rows = [_joined_row(k, parts, swept, weights) for k in ks]
    return Sweep(rows, time.perf_counter() - began, seed)


def _rows_of(one: MatrixSweep) -> list[SweepRow]:
    """Return a row for every k of a single part."""
    sst = squared_errors(one.X, np.zeros(len(one.X), dtype=np.intp)).sst
    rows = []
    for k in one.ks:
        groups, bound = one.found[k], one.bounds.get(k)
        errors = Errors(groups.sse, sst)
        rows.append(_row(k, errors, bound, groups.sizes, one.seconds[k], groups.labels))
    return rows


def _joined_row(
    k: int, parts: Sequence[_Part], swept: Sequence[MatrixSweep], weights: Floats | None
) -> SweepRow:
    """Combine the groups of all parts at one k."""
    labels, errors = [], []
    for block in dict.fromkeys(part.block for part in parts):
        own = [(p, s) for p, s in zip(parts, swept, strict=True) if p.block == block]
        n = sum(len(part.X) for part, _ in own)
        joined, X, first = np.empty(n, dtype=np.intp), np.empty((n, own[0][0].X.shape[1])), 0
        for part, one in own:
            rows = np.arange(n) if part.rows is None else part.rows
            joined[rows], X[rows] = one.found[k].labels + first, part.X
            first += len(one.found[k].sizes)
        labels.append(summarise(np.zeros((n, 1)), joined).labels)
        errors.append(squared_errors(X, labels[-1], weights=weights))
    total = Errors(sum(e.sse for e in errors), sum(e.sst for e in errors))
    bounds = [one.bounds.get(k) for one in swept]
    # Sums round; a bound must not be rounded up.
    bound = None if None in bounds else sum(bounds) * (1.0 - 1e-12)  # type: ignore[arg-type]
    return _row(
        k,
        total,
        bound,
        np.concatenate([np.bincount(own) for own in labels]),
        sum(one.seconds[k] for one in swept),
        labels[0] if len(labels) == 1 else np.column_stack(labels),
    )


def _row(
    k: int, errors: Errors, bound: float | None, sizes: Labels, seconds: float, labels: Labels
) -> SweepRow:
    return SweepRow(
        k=k,
        information_loss=errors.information_loss,
        lower_bound=None if bound is None else Errors(bound, errors.sst).information_loss,
        gap=None if bound is None else gap(errors.sse, bound),
        sse=errors.sse,
        n_groups=len(sizes),
        min_group=int(sizes.min()),
        max_group=int(sizes.max()),
        seconds=seconds,
        labels=labels,
    )


def _with_constraints(
    row: SweepRow, records: Records, systems: Sequence[System | None]
) -> SweepRow:
    """Return the row with what satisfying the constraints adds to its loss."""
    if not any(systems):
        return row
    columns = row.labels.reshape(len(row.labels), -1).T
    added = sum(
        constrained_values(system, block, np.ascontiguousarray(labels), records, {})[1].added
        for system, block, labels in zip(systems, records.blocks, columns, strict=True)
        if system is not None
    )
    everyone = np.zeros(len(row.labels), dtype=np.intp)
    sst = sum(
        squared_errors(block.X, everyone, weights=records.weights).sst for block in records.blocks
    )
    return replace(row, added_by_constraints=Errors(added, sst).information_loss)
