"""protect(): from a table to a table that is safe to publish. Release: what came out."""

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import __version__
from microagg.bounds.choice import AUTO, Bound, find_bound
from microagg.constraints.grammar import Constraint
from microagg.constraints.system import System, check_exact
from microagg.errors import InterruptedSearchWarning, ParameterError, PrivacyWarning
from microagg.manifest import (
    bound_facts,
    constraint_facts,
    draw_facts,
    group_facts,
    request_facts,
)
from microagg.outcome import (
    K_ANONYMITY,
    NOTHING,
    Outcome,
    group_and_aggregate,
    n_expecting_fewer,
)
from microagg.progress import ProgressCallback, heard_by
from microagg.registry import DEFAULT, Method, find
from microagg.request import (
    EFFORT,
    SeedLike,
    check_constraints,
    check_request,
    check_single_column,
)
from microagg.tables.files import STANDARD, write_table
from microagg.tables.frames import open_frame, to_polars, with_released
from microagg.tables.records import Records, open_records
from microagg.tables.roles import Names
from microagg.tables.verification import count_classes, require_k

Labels = NDArray[np.intp]


@dataclass(frozen=True, repr=False, eq=False)
class Release:
    """A table safe to publish, with what it cost.

    Attributes
    ----------
    table : the released table: the same kind of DataFrame as came in, the same row order, column
        order and column types; identifiers are gone, sensitive columns as they were
    labels : group of every record, numbered in the order of the groups' first records (read-only)
    information_loss : 100 * SSE / SST in per cent, of the groups in the scaled space in which
        records were compared; the rounding of integer columns on release is not part of it
    lower_bound : a proven lower bound of the information loss of any grouping, in per cent; None
        where none was computed
    manifest : what was done, ready for json.dumps; it holds no record's values
    """

    table: Any
    labels: Labels
    information_loss: float
    lower_bound: float | None
    manifest: dict[str, Any]

    def save(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the table to a .csv, .csv.gz or .parquet file, whole or not at all.

        An existing file is replaced only with `force`. Of a pandas index only levels with a name
        are written. Returns the path.
        """
        target = _file_name(path)
        write_table(to_polars(self.table), target, force=force)
        return Path(target)

    def __repr__(self) -> str:
        facts = self.manifest
        sizes = spread(facts["min_group"], facts["max_group"])
        promise = f"promises {facts['promise']}, " if facts["draw"] else ""
        return (
            f"<Release of {facts['n_records']} records in {facts['n_groups']} groups of {sizes}: "
            f"k = {facts['k']}, {facts['method']}, {promise}information loss "
            f"{self.information_loss:.4g} %>"
        )


def spread(low: int, high: int) -> str:
    """Word a range of sizes.

    >>> spread(3, 5), spread(3000, 3000)
    ('3 to 5', '3,000')
    """
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _file_name(path: object) -> str:
    if isinstance(path, (str, PathLike)):
        name = fspath(path)
        if isinstance(name, str) and name != STANDARD and "\0" not in name:
            return name
    raise ParameterError(f"path must be the name of a file; got {path!r}.")


def protect(
    table: Any,
    k: int,
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    method: str = DEFAULT,
    method_options: Mapping[str, Any] | None = None,
    constraints: Iterable[str] | str | None = None,
    strict_k: bool = False,
    scale: str = "standardise",
    random_state: SeedLike = None,
    effort: str = EFFORT,
    time_budget: float | None = None,
    bound: str = AUTO,
    progress: bool | ProgressCallback = False,
) -> Release:
    """Release a table in which each combination of quasi-identifiers stands for k records or more.

    Records are grouped by their quasi-identifiers, at least k to a group, and every record gets
    its group's mean; whole numbers stay whole, rounded half away from zero. The finished table is
    checked before it is handed out. `table` itself is not changed. Only the methods "fcm" and
    "efcm", whose records draw what they get, promise less, unless `strict_k` is given.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow
    k : the least number of records that may share a released combination; 1 protects nobody, and
        a `PrivacyWarning` says so
    quasi_identifiers : columns that could tell who a record is, whole numbers or floats; columns
        of numbers without any role count as well, and the manifest lists them as assumed
    identifiers : columns to drop, such as names and numbers of persons
    sensitive : columns to publish unchanged
    method : a registered name, see `microagg.methods()`; "auto" loses least
    method_options : parameters of the method that are no arguments here
    constraints : texts such as "net + tax = gross", "part <= total" or "age >= 0" that every
        released record satisfies: each group gets the nearest values that do, integers stay
        integers, and the manifest says how many records violated which
    strict_k : for methods whose records draw what they get ("fcm", "efcm"): merge small classes
        until at least k records share every released combination
    scale : "standardise" compares columns in units of their standard deviation, "none" as they are
    random_state : the seed of a method with chance in it, a whole number below 2**32; the same
        seed gives the same groups. None draws one. The manifest records it; methods without chance
        give the same groups for any seed, and their manifest says None.
    effort : how much work "auto" does: "fast" takes about a second for a thousand records,
        "balanced" ten times as long, "best" eight times as long again
    time_budget : seconds after which "auto" and "icsm" end with the best groups so far, and as many
        again for a tight bound, which has 600 otherwise; the groups then depend on the machine
    bound : how to prove how far from the best possible the groups can be: "fast", "tight" (for
        some thousand records and small k; minutes), "none", or "auto": fast where that takes less
        time than grouping: up to 50,000 records with "auto", 10,000 with other methods or a
        time_budget, and any number in one column
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

    An interrupt from the keyboard while "auto" searches ends the search only: the release holds the
    best groups so far, its manifest says "interrupted", and an `InterruptedSearchWarning` says so.
    One while a bound is sought ends that: a tight bound is the best so far then, a fast one is
    missing, and a warning says so. A later one ends `protect`.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> release = protect(people, k=2)
    >>> release.table["age"].to_list()
    [35, 35, 62, 62]
    >>> release.information_loss < 10
    True
    """
    began = time.perf_counter()
    estimator = check_request(
        method,
        k,
        method_options=method_options,
        scale=scale,
        random_state=random_state,
        strict_k=strict_k,
        effort=effort,
        time_budget=time_budget,
        bound=bound,
    )
    asked = check_constraints(constraints)
    listener = heard_by(progress)
    records = open_records(
        table,
        [k],
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        scale=scale,
    )
    found = find(method)
    check_single_column(found, records.roles)
    system = _system(asked, records) if asked else None
    if k == 1:
        warnings.warn(
            "k = 1 protects nobody: every record may stand alone with its own values; use k = 2 "
            "or more.",
            PrivacyWarning,
            stacklevel=2,
        )
    with listener:
        outcome = group_and_aggregate(found, estimator, records, system, scale=scale)
        proof = _proof(bound, found, records, outcome, k=k, time_budget=time_budget)
    if outcome.interrupted:
        warnings.warn(
            "interrupted: these are the best groups so far, not those of the whole search.",
            InterruptedSearchWarning,
            stacklevel=2,
        )
    if outcome.promise == NOTHING and k > 1:
        warnings.warn(
            f"{method!r} draws and keeps no k: {n_expecting_fewer(estimator)} of its centres "
            f"expect fewer than {k} records; use strict_k (--strict-k) for groups of k or more.",
            PrivacyWarning,
            stacklevel=2,
        )
    return _finished(found, estimator, records, outcome, proof, scale=scale, began=began)


def _proof(
    bound: str,
    method: Method,
    records: Records,
    outcome: Outcome,
    *,
    k: int,
    time_budget: float | None,
) -> Bound:
    """Return what no groups of k lose less than, if that is asked for and not interrupted."""
    if outcome.promise != K_ANONYMITY:
        return Bound()  # groups of fewer than k may lose less than any of k
    try:
        return find_bound(
            bound,
            records.X,
            outcome.labels,
            k,
            searched=method.name == DEFAULT,
            time_budget=time_budget,
        )
    except KeyboardInterrupt:
        warnings.warn(
            "interrupted while a bound was sought: the groups are complete, and there is no bound.",
            InterruptedSearchWarning,
            stacklevel=3,
        )
        return Bound()


def _finished(
    method: Method,
    estimator: Any,
    records: Records,
    outcome: Outcome,
    bound: Bound,
    *,
    scale: str,
    began: float,
) -> Release:
    """Put the released values into the table, check it, and say what was done."""
    roles = records.roles
    finished = with_released(records.frame, outcome.released.columns, dropped=roles.identifiers)
    checked = require_k if outcome.promise == K_ANONYMITY else count_classes
    classes = checked(open_frame(finished), roles.quasi_identifiers, k=estimator.k)
    manifest = {
        "microagg_version": __version__,
        **request_facts(method, estimator, scale, roles, n_records=len(records.X)),
        "promise": outcome.promise,
        "interrupted": outcome.interrupted,
        "timed_out": outcome.timed_out,
        **group_facts(outcome.labels, outcome.errors, classes),
        **bound_facts(bound, outcome.errors),
        "constraints": constraint_facts(outcome),
        "draw": draw_facts(estimator) if method.draws else None,
        "seconds": time.perf_counter() - began,
    }
    outcome.labels.flags.writeable = False
    loss = outcome.errors.information_loss
    return Release(finished, outcome.labels, loss, manifest["lower_bound"], manifest)


def _system(constraints: Sequence[Constraint], records: Records) -> System:
    roles = records.roles
    limits = {
        name: (int(np.iinfo(values.dtype).min), int(np.iinfo(values.dtype).max))
        for name, values in records.columns.items()
        if values.dtype.kind in "iu"
    }
    others = dict.fromkeys(roles.identifiers, "an identifier")
    others |= dict.fromkeys(roles.sensitive, "sensitive")
    for name in limits:
        if any(name in constraint.coefficients for constraint in constraints):
            check_exact(name, records.columns[name])
    return System.of(constraints, roles.quasi_identifiers, integers=limits, other_columns=others)
