"""protect(): from a table to a table that is safe to publish. Release: what came out."""

import inspect
import time
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import __version__
from microagg.aggregates.mean import released_means
from microagg.errors import DataError, ParameterError, PrivacyWarning
from microagg.progress import ProgressCallback, listening, terminal_bar
from microagg.registry import Method, find
from microagg.tables.encoding import SCALES, encode, numeric_columns
from microagg.tables.files import STANDARD, write_table
from microagg.tables.frames import index_names, open_frame, to_polars, with_released
from microagg.tables.roles import Names, Roles, check_named, resolve
from microagg.tables.verification import Classes, require_k
from microagg.utility.information_loss import Errors, squared_errors
from microagg.validation import check_choice, check_count, check_k, did_you_mean

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
        return (
            f"<Release of {facts['n_records']} records in {facts['n_groups']} groups of {sizes}: "
            f"k = {facts['k']}, {facts['method']}, information loss {self.information_loss:.4g} %>"
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
    method: str = "mdav",
    method_options: Mapping[str, Any] | None = None,
    scale: str = "standardise",
    progress: bool | ProgressCallback = False,
) -> Release:
    """Release a table in which each combination of quasi-identifiers stands for k records or more.

    Records are grouped by their quasi-identifiers, at least k to a group, and every record gets
    its group's mean; whole numbers stay whole, rounded half away from zero. The finished table is
    checked before it is handed out. `table` itself is not changed.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow
    k : the least number of records that may share a released combination; 1 protects nobody, and
        a `PrivacyWarning` says so
    quasi_identifiers : columns that could tell who a record is, whole numbers or floats; columns
        of numbers without any role count as well, and the manifest lists them as assumed
    identifiers : columns to drop, such as names and numbers of persons
    sensitive : columns to publish unchanged
    method : a registered name, see `microagg.methods()`
    method_options : parameters of the method other than k
    scale : "standardise" compares columns in units of their standard deviation, "none" as they are
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

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
    estimator = check_request(method, k, method_options=method_options, scale=scale)
    listener = _listener(progress)
    frame = open_frame(table)
    named = check_named(
        (*frame.columns, *index_names(frame)),
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
    )
    if not len(frame):
        raise DataError("the table has no records.")
    roles = resolve(frame, named)
    check_k(k, n_records=len(frame))
    _check_single_column(find(method), roles)
    columns = numeric_columns(frame, roles.quasi_identifiers)
    X = encode(columns, scale=scale)
    if k == 1:
        warnings.warn(
            "k = 1 protects nobody: every record may stand alone with its own values; use k = 2 "
            "or more.",
            PrivacyWarning,
            stacklevel=2,
        )
    with listener:
        labels: Labels = estimator.fit(X).labels_
    finished = with_released(frame, _aggregated(columns, labels), dropped=roles.identifiers)
    classes = require_k(open_frame(finished), roles.quasi_identifiers, k=k)
    errors = squared_errors(X, labels)
    manifest = {
        "microagg_version": __version__,
        **_request_facts(find(method), estimator, scale, roles),
        **_group_facts(labels, errors, classes),
        "seconds": time.perf_counter() - began,
    }
    labels.flags.writeable = False
    return Release(finished, labels, errors.information_loss, None, manifest)


def check_request(
    method: str, k: object, *, method_options: Mapping[str, Any] | None = None, scale: str
) -> Any:
    """Return the partitioner that was asked for, if the request makes sense without its data."""
    found = find(method)
    k = check_count("k", k)
    check_choice("scale", scale, SCALES)
    options = _check_options(found, method_options)
    if options.get("integer") is True and scale != "none":
        raise ParameterError(
            "the option integer compares whole numbers; it needs the scale 'none' (--scale none, "
            "or scale='none' in Python)."
        )
    return found.cls(k=k, **options)


def _check_options(method: Method, options: Mapping[str, Any] | None) -> dict[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ParameterError(
            f"method_options must be a mapping of names to values; got {type(options).__name__}."
        )
    known = [name for name in inspect.signature(method.cls).parameters if name != "k"]
    for name in options:
        if name not in known:
            listing = ", ".join(repr(option) for option in known) or "none"
            raise ParameterError(
                f"method {method.name!r} has no option {name!r}; its options are {listing}."
                f"{did_you_mean(name, known)}"
            )
    return dict(options)


def _check_single_column(method: Method, roles: Roles) -> None:
    if method.single_column and len(roles.quasi_identifiers) > 1:
        listing = ", ".join(repr(name) for name in roles.quasi_identifiers)
        raise ParameterError(
            f"method {method.name!r} takes exactly one quasi-identifier; got "
            f"{len(roles.quasi_identifiers)}: {listing}. Give the others another role, or use a "
            "method for several columns such as 'mdav'."
        )


def _listener(progress: object) -> AbstractContextManager[None]:
    if progress is False:
        return nullcontext()
    if progress is True:
        return terminal_bar()
    if callable(progress):
        return listening(progress)
    raise ParameterError(
        "progress must be True, False or a function of (task, done, total); got "
        f"{type(progress).__name__}."
    )


def _aggregated(columns: Mapping[str, NDArray[Any]], labels: Labels) -> dict[str, NDArray[Any]]:
    return {name: released_means(v, labels, name=name) for name, v in columns.items()}


def _request_facts(method: Method, estimator: Any, scale: str, roles: Roles) -> dict[str, Any]:
    options = {name: _plain(v) for name, v in estimator.get_params().items() if name != "k"}
    return {
        "method": method.name,
        "guarantee": method.guarantee.value,
        "options": options,
        "k": int(estimator.k),
        "scale": scale,
        "quasi_identifiers": list(roles.quasi_identifiers),
        "assumed_quasi_identifiers": list(roles.assumed),
        "identifiers": list(roles.identifiers),
        "sensitive": list(roles.sensitive),
    }


def _group_facts(labels: Labels, errors: Errors, classes: Classes) -> dict[str, Any]:
    sizes = np.bincount(labels)
    histogram = np.bincount(sizes)
    return {
        "n_records": len(labels),
        "n_groups": len(sizes),
        "min_group": int(sizes.min()),
        "max_group": int(sizes.max()),
        "group_sizes": {str(size): int(histogram[size]) for size in np.flatnonzero(histogram)},
        "smallest_class": classes.smallest,
        "n_classes": classes.count,
        "information_loss": errors.information_loss,
        "sse": errors.sse,
        "sst": errors.sst,
        "lower_bound": None,
    }


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (bool, int, float, str)) or value is None else repr(value)
