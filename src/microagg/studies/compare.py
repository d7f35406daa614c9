"""compare(): what each method would lose on a table, and how long it takes; nothing is released."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.typing import IntoDType
from numpy.typing import NDArray

from microagg.core.errors import GuaranteeError, MicroaggError, ParameterError
from microagg.core.parallel import side_by_side
from microagg.core.progress import ProgressCallback, heard_by, listening, report
from microagg.core.registry import ALL, Method, find_all, method_names
from microagg.core.validation import SeedLike, check_choice, check_jobs, check_ks, check_seed
from microagg.kernels.blocks import ONE_BLOCK
from microagg.measures.risk.linkage import DistanceLinkage, distance_linkage
from microagg.plans.plan import as_records
from microagg.release.records import Records, open_records
from microagg.release.released import errors_of, unconstrained_values
from microagg.release.request import (
    EFFORT,
    check_drawable,
    check_request,
    check_single_column,
)
from microagg.tables.frames import new_table, open_frame
from microagg.tables.pairs import released_pair
from microagg.tables.roles import Names, Roles
from microagg.tables.scaling import SCALES

# What is compiled depends on the types of the data, not on their number; only that more records
# than fit one block are first sorted into boxes.
_FEW, _MANY = 50, ONE_BLOCK + 100
_WARM_UP_K, _WARM_UP_STARTS = 3, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one method came to at one k; `error` says why it failed, and the rest is None then."""

    method: str
    k: int
    information_loss: float | None = None
    sse: float | None = None
    linkage: float | None = None
    linkage_error: float | None = None
    efficient: bool | None = None
    n_groups: int | None = None
    min_group: int | None = None
    max_group: int | None = None
    seconds: float | None = None
    seed: int | None = None
    error: str | None = None


COLUMNS: dict[str, IntoDType] = {
    "method": nw.String,
    "k": nw.Int64,
    "information_loss": nw.Float64,
    "sse": nw.Float64,
    "linkage": nw.Float64,
    "linkage_error": nw.Float64,
    "efficient": nw.Boolean,
    "n_groups": nw.Int64,
    "min_group": nw.Int64,
    "max_group": nw.Int64,
    "seconds": nw.Float64,
    "seed": nw.Int64,
    "error": nw.String,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All rows in the order asked for, and what they are about.

    `exit_code` is 0 if any run succeeded, and otherwise that of the first failure. `seed` is None
    where no method has chance in it. `left_out` are the methods that "all" does not run, because
    they take one column only, or, these are also in `drawn`, because their records draw what they
    get, which promises less.
    """

    rows: tuple[Row, ...]
    roles: Roles
    n_records: int
    seed: int | None
    left_out: tuple[str, ...]
    drawn: tuple[str, ...]
    exit_code: int


def compare(
    table: Any,
    ks: int | Iterable[int],
    methods: str | Iterable[str] = ALL,
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    columns: Mapping[str, Any] | None = None,
    missing: str = "error",
    scale: str = "standardise",
    random_state: SeedLike = None,
    effort: str = EFFORT,
    n_jobs: int | None = -1,
    progress: bool | ProgressCallback = False,
) -> Any:
    """Return a table of what each method would lose at each k, and of the time it takes.

    Nothing is released. Methods run side by side; one that fails says why in its row, and the
    others go on. Roles, scale and information loss are those of `protect`.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow
    ks : one k or several; repetitions count once
    methods : registered names in a list or separated by commas, see `microagg.methods()`, or "all":
        every method that can serve the table, which leaves out those for one column where there
        are several, and those whose records draw what they get
    quasi_identifiers, identifiers, sensitive, columns, missing, scale : as in `protect`
    random_state : the seed of all methods with chance in them; None draws one
    effort : how much work "auto" does: "fast", "balanced" or "best"
    n_jobs : how many runs are side by side; -1 for as many as there are cores, 1 for times that no
        other run disturbs
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

    Returns
    -------
    A DataFrame of the kind that came in, one row for each method and k, in the order asked for:
    method, k, information_loss (per cent), sse, linkage, linkage_error, efficient, n_groups,
    min_group, max_group, seconds, seed and error. `linkage` is the risk: of a hundred people whose
    quasi-identifiers an intruder knows, so many are linked to their own record by taking the most
    similar one; of more than 100,000 records a sample of so many is linked, and `linkage_error` is
    its standard error. `efficient` says that no other row that keeps k has less of both loss and
    linkage. The seed is missing where a method has no chance in it, and the error
    where all went well. Compiling and linking are not part of the seconds.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> found = compare(people, [2, 4], ["mdav", "cbfs"])
    >>> found.select("method", "k", "n_groups").rows()
    [('mdav', 2, 2), ('mdav', 4, 1), ('cbfs', 2, 2), ('cbfs', 4, 1)]
    """
    done = run_comparison(
        table,
        ks,
        methods,
        of_columns=as_records(
            columns,
            missing,
            quasi_identifiers=quasi_identifiers,
            identifiers=identifiers,
            sensitive=sensitive,
        ),
        scale=scale,
        random_state=random_state,
        effort=effort,
        n_jobs=n_jobs,
        progress=progress,
    )
    return rows_as_table(done.rows, like=table)


def rows_as_table(rows: Sequence[Row], *, like: Any) -> Any:
    """Return the rows as a DataFrame of the kind of `like`."""
    values = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    return new_table(open_frame(like), values, COLUMNS)


def risk_utility_map(comparison: Any) -> str:
    """Return what `compare` found as a figure in SVG: records linked against information lost.

    Every method has a mark for each k. Those that no other beats on both are filled, named and
    joined by a line; failures are left out.

    Parameters
    ----------
    comparison : the table that `compare` returned

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> risk_utility_map(compare(people, 2, ["mdav", "cbfs"])).startswith("<svg")
    True
    """
    from microagg.report.plots import Choice, risk_utility_map

    frame = open_frame(comparison)
    wanted = ("method", "k", "information_loss", "linkage", "efficient")
    if absent := [name for name in wanted if name not in frame.columns]:
        raise ParameterError(
            f"the table must be one that compare() returned; it has no {absent[0]!r}."
        )
    rows = [row for row in frame.select(*wanted).rows() if row[2] is not None and row[2] == row[2]]
    if not rows:
        raise ParameterError("there is nothing to draw: every method failed.")
    choices = [
        Choice(method, int(k), float(loss), float(linkage), bool(efficient))
        for method, k, loss, linkage, efficient in rows
    ]
    return risk_utility_map(choices, "Records that can be linked against information lost")


def run_comparison(
    table: Any,
    ks: int | Iterable[int],
    methods: str | Iterable[str],
    *,
    of_columns: Mapping[str, Any],
    scale: str,
    random_state: SeedLike = None,
    effort: str = EFFORT,
    n_jobs: int | None = -1,
    progress: bool | ProgressCallback = False,
) -> Comparison:
    """Do what `compare` promises, and return all there is to know of it."""
    names = method_names(methods)
    wanted, each_k = find_all(names), check_ks(ks)
    check_choice("scale", scale, SCALES)
    _check_effort(effort, wanted)
    seed, jobs = check_seed(random_state), check_jobs(n_jobs)
    listener = heard_by(progress)
    records = open_records(table, each_k, scale=scale, **of_columns)
    unfit = [m for m in wanted if m.draws or (m.single_column and records.X.shape[1] > 1)]
    left_out = [method for method in unfit if method.name not in names]
    served = [method for method in wanted if method not in left_out]
    runs = [(method, k) for method in served for k in each_k]
    workers = min(jobs, len(runs))
    # Runs that are side by side take one core each.
    n_jobs = 1 if workers > 1 else jobs
    trial = _Trial(records, records.X, scale, seed, n_jobs, effort=effort)
    with listener:
        costs = _warm_up(trial, served)
        results = _run_all(trial, runs, workers, costs)
    failures = [code for _, code in results if code]
    return Comparison(
        rows=tuple(_marked([row for row, _ in results])),
        roles=records.roles,
        n_records=len(records.X),
        seed=seed if any(trial.estimator(method, k).has_chance() for method, k in runs) else None,
        left_out=tuple(method.name for method in left_out),
        drawn=tuple(method.name for method in left_out if method.draws),
        exit_code=failures[0] if len(failures) == len(results) else 0,
    )


def _check_effort(effort: str, methods: Sequence[Method]) -> None:
    """Refuse an effort that is none, or that no method would make."""
    from microagg.partitions.auto import EFFORTS

    check_choice("effort", effort, EFFORTS)
    if effort != EFFORT and not any("effort" in method.options for method in methods):
        raise ParameterError(
            "effort (--effort) is for 'auto', which is not among the methods. Leave it out."
        )


@dataclass(frozen=True, slots=True)
class _Trial:
    """What all runs have in common."""

    records: Records
    X: NDArray[np.float64]  # of all records, or of a few
    scale: str
    seed: int
    n_jobs: int
    n_starts: int | None = None  # as many as each method makes
    effort: str = EFFORT

    def estimator(self, method: Method, k: int) -> Any:
        """Return the partitioner of one run."""
        own = {"n_jobs": self.n_jobs, "n_starts": self.n_starts}
        options = {name: v for name, v in own.items() if v is not None and name in method.options}
        return check_request(
            method.name,
            k,
            method_options=options,
            scale=self.scale,
            random_state=self.seed,
            effort=self.effort if "effort" in method.options else EFFORT,
        )

    def run(self, method: Method, k: int) -> Row:
        """Group the records and measure the groups."""
        check_single_column(method, self.records)
        check_drawable(method, self.records, scale=self.scale)
        estimator = self.estimator(method, k)
        began = time.perf_counter()
        labels = estimator.fit(self.X).labels_
        seconds = time.perf_counter() - began
        if getattr(estimator, "interrupted_", False):
            raise KeyboardInterrupt  # meant for all, not for one search among many
        sizes = np.bincount(labels)
        if not method.draws and (small := int(np.count_nonzero(sizes < k))):
            raise GuaranteeError(
                f"{small} of {len(sizes)} groups hold fewer than k records. This is a defect of "
                "the method: please report it."
            )
        errors = errors_of(method, estimator, self.X)
        found = self.linkage(method, estimator) if len(self.X) == len(self.records.X) else None
        return Row(
            method=method.name,
            k=k,
            information_loss=errors.information_loss,
            sse=errors.sse,
            linkage=None if found is None else 100.0 * found.linked[1],
            linkage_error=None if found is None else 100.0 * found.standard_errors[1],
            n_groups=len(sizes),
            min_group=int(sizes.min()),
            max_group=int(sizes.max()),
            seconds=seconds,
            seed=self.seed if estimator.has_chance() else None,
        )

    def linkage(self, method: Method, estimator: Any) -> DistanceLinkage:
        """Return how many records an intruder links by distance."""
        released = unconstrained_values(method, estimator, self.records, self.scale)
        pair = released_pair(self.records.frame, self.records.columns, released)
        return distance_linkage(pair, candidates=(1,), seed=self.seed, n_jobs=self.n_jobs)


def _marked(rows: Sequence[Row]) -> list[Row]:
    """Say of every row whether no other loses less without being easier to link, or conversely.

    Rows that do not keep k are no match for those that do.
    """
    points = {point for row in rows if (point := _point(row)) is not None}
    return [
        row if row.error is not None else replace(row, efficient=_is_efficient(_point(row), points))
        for row in rows
    ]


def _point(row: Row) -> tuple[float, float] | None:
    if row.information_loss is None or row.linkage is None or row.min_group is None:
        return None
    return (row.information_loss, row.linkage) if row.min_group >= row.k else None


def _is_efficient(own: tuple[float, float] | None, points: Iterable[tuple[float, float]]) -> bool:
    return own is not None and not any(
        other != own and other[0] <= own[0] and other[1] <= own[1] for other in points
    )


def _warm_up(trial: _Trial, methods: Sequence[Method]) -> dict[str, float]:
    """Let every method compile, so that no time includes it; return what each cost, in seconds.

    Here rather than beside the runs: only one thread can compile at a time, and compiling makes no
    reports at which it could be stopped.
    """
    n = len(trial.X)
    size = _FEW if n <= ONE_BLOCK else _MANY
    spread_out = np.ascontiguousarray(trial.X[:: max(1, n // size)][:size])
    small_trial = replace(trial, X=spread_out, n_starts=_WARM_UP_STARTS, effort="fast")
    costs: dict[str, float] = {}
    for done, method in enumerate(methods):
        report("preparing", done, len(methods))
        began = time.perf_counter()
        with listening(None), suppress(Exception):  # its own run will say what is wrong
            small_trial.run(method, min(_WARM_UP_K, len(spread_out)))
        n_starts = getattr(method.cls(), "n_starts", _WARM_UP_STARTS)
        costs[method.name] = (time.perf_counter() - began) * n_starts / _WARM_UP_STARTS
    report("preparing", len(methods), len(methods))
    return costs


def _run_all(
    trial: _Trial, runs: Sequence[tuple[Method, int]], n_jobs: int, costs: Mapping[str, float]
) -> list[tuple[Row, int]]:
    """Return the row and exit code of every run, in order; the costliest methods start first."""
    costliest_first = sorted(range(len(runs)), key=lambda i: -costs[runs[i][0].name])
    report("comparing", 0, len(runs))
    results = side_by_side(
        partial(_attempt, trial),
        [runs[place] for place in costliest_first],
        n_jobs=n_jobs,
        task="comparing",
        needs_threads=True,  # the records know how to decode columns: functions are not sent
    )
    in_order = dict(zip(costliest_first, results, strict=True))
    return [in_order[place] for place in range(len(runs))]


def _attempt(trial: _Trial, run: tuple[Method, int]) -> tuple[Row, int]:
    """Return the row of one run and the exit code it deserves; a failure is a row as well."""
    method, k = run
    try:
        return trial.run(method, k), 0
    except MicroaggError as error:
        reason, code = str(error), error.exit_code
    except MemoryError:
        reason, code = "there is not enough memory for this method.", MicroaggError.exit_code
    except Exception as error:  # its message may quote values
        kind = type(error).__name__
        reason = f"unexpected {kind}. This is a defect of the method: please report it."
        code = MicroaggError.exit_code
    return Row(method=method.name, k=k, error=reason), code
