"""protect(): from a table to a table that is safe to publish. Release: what came out."""

import inspect
import time
import warnings
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import __version__
from microagg.aggregates.mean import released_means
from microagg.errors import ParameterError, PrivacyWarning
from microagg.progress import ProgressCallback, heard_by
from microagg.registry import Method, find
from microagg.tables.encoding import SCALES
from microagg.tables.files import STANDARD, write_table
from microagg.tables.frames import open_frame, to_polars, with_released
from microagg.tables.records import open_records
from microagg.tables.roles import Names, Roles
from microagg.tables.verification import Classes, require_k
from microagg.utility.information_loss import Errors, squared_errors
from microagg.validation import check_choice, check_count, check_seed, did_you_mean

Labels = NDArray[np.intp]
SeedLike = int | np.random.Generator | np.random.RandomState | None


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
    random_state: SeedLike = None,
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
    random_state : the seed of a method with chance in it, a whole number below 2**32; the same
        seed gives the same groups. None draws one. The manifest records it; methods without chance
        give the same groups for any seed, and their manifest says None.
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
    estimator = check_request(
        method, k, method_options=method_options, scale=scale, random_state=random_state
    )
    listener = heard_by(progress)
    frame, roles, columns, X = open_records(
        table,
        [k],
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        scale=scale,
    )
    check_single_column(find(method), roles)
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
        **_request_facts(find(method), estimator, scale, roles, n_records=len(X)),
        **_group_facts(labels, errors, classes),
        "seconds": time.perf_counter() - began,
    }
    labels.flags.writeable = False
    return Release(finished, labels, errors.information_loss, None, manifest)


def check_request(
    method: str,
    k: object,
    *,
    method_options: Mapping[str, Any] | None = None,
    scale: str,
    random_state: SeedLike = None,
) -> Any:
    """Return the partitioner that was asked for, if the request makes sense without its data.

    If the method takes a seed, it gets a whole number.
    """
    found = find(method)
    k = check_count("k", k)
    check_choice("scale", scale, SCALES)
    options = _check_options(found, method_options)
    if options.get("integer") is True and scale != "none":
        raise ParameterError(
            "the option integer compares whole numbers; it needs the scale 'none' (--scale none, "
            "or scale='none' in Python)."
        )
    seed = check_seed(random_state)
    if "random_state" in found.options:
        options["random_state"] = _one_seed(seed, random_state, options.get("random_state"))
    return found.cls(k=k, **options)


def _one_seed(seed: int, random_state: object, option: object) -> int:
    if option is None:
        return seed
    if random_state is not None:
        raise ParameterError(
            "the seed is given twice: as --seed (random_state in Python) and as the option "
            "random_state of the method. Remove one of them."
        )
    return check_seed(option)


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
            listing = ", ".join(repr(option) for option in known)
            those = f"its options are {listing}" if known else "it takes no options"
            raise ParameterError(
                f"method {method.name!r} has no option {name!r}; {those}."
                f"{did_you_mean(name, known)}"
            )
    return dict(options)


def check_single_column(method: Method, roles: Roles) -> None:
    """Refuse a method for one column where there are several quasi-identifiers."""
    if method.single_column and len(roles.quasi_identifiers) > 1:
        listing = ", ".join(repr(name) for name in roles.quasi_identifiers)
        raise ParameterError(
            f"method {method.name!r} takes exactly one quasi-identifier; got "
            f"{len(roles.quasi_identifiers)}: {listing}. Give the others another role, or use a "
            "method for several columns such as 'mdav'."
        )


def _aggregated(columns: Mapping[str, NDArray[Any]], labels: Labels) -> dict[str, NDArray[Any]]:
    return {name: released_means(v, labels, name=name) for name, v in columns.items()}


def _request_facts(
    method: Method, estimator: Any, scale: str, roles: Roles, *, n_records: int
) -> dict[str, Any]:
    options = estimator.get_params()
    del options["k"]
    seed = options.pop("random_state", None)
    return {
        "method": method.name,
        "guarantee": method.guarantee.value,
        "options": {name: _plain(value, n_records) for name, value in options.items()},
        "random_state": seed if estimator.has_chance() else None,
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


def _plain(value: object, n_records: int) -> object:
    """Return what JSON can hold; of arrays and other objects, only what kind they are."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if not isinstance(value, Sized) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return type(value).__name__
    if len(value) == n_records:
        return f"labels of {n_records:,} records"
    if isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
        return list(value)
    return f"{len(value):,} values"
