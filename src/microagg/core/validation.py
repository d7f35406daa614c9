"""Checks of parameters; every error says what was expected, what was given and what to do."""

import math
import numbers
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.core.arrays import Floats, Labels, Order, Wholes
from microagg.core.errors import DataError, ParameterError
from microagg.core.words import did_you_mean

SeedLike = int | np.random.Generator | np.random.RandomState | None

# Squares of larger numbers, summed over a large table, overflow; those of smaller ones underflow.
_LARGEST, _SMALLEST = 1e140, 1e-140
# Numbers are clipped to this, so that sums of their squares do not overflow.
FARTHEST = 1e150
# Longer values are cut in messages.
_LONGEST_QUOTE = 60


def quoted(value: object) -> str:
    """Return a value as written in Python, for a message; a long one is cut.

    >>> quoted("mdaw"), quoted(10**400)
    ("'mdaw'", '1000000000000000000000000000000000000000...')
    """
    try:
        text = repr(value)
    except ValueError:  # Python does not write a number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 20]}..."


def check_choice(parameter: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    listing = ", ".join(repr(choice) for choice in known)
    one_of = "one of " if len(known) > 1 else ""
    raise ParameterError(
        f"{parameter} must be {one_of}{listing}; got {quoted(value)}.{did_you_mean(value, known)}"
    )


def check_flag(parameter: str, value: object) -> bool:
    """Return `value` if it is True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ParameterError(f"{parameter} must be True or False; got {quoted(value)}.")


def check_mapping(parameter: str, value: object) -> dict[str, Any]:
    """Return a mapping of names to values as a dictionary; None is an empty one."""
    if value is None or isinstance(value, Mapping):
        return dict(value or {})
    raise ParameterError(
        f"{parameter} must be a mapping of names to values; got {type(value).__name__}."
    )


def check_count(
    parameter: str, value: object, *, at_least: int = 1, at_most: int | None = None
) -> int:
    """Return `value` as an int if it is a whole number within the limits."""
    if _is_whole(value) and value >= at_least:  # type: ignore[operator]
        if at_most is None or value <= at_most:  # type: ignore[operator]
            return int(value)  # type: ignore[call-overload, no-any-return]
        raise ParameterError(
            f"{parameter} must be a whole number from {at_least} to {at_most}; got {quoted(value)}."
        )
    raise ParameterError(
        f"{parameter} must be a whole number of at least {at_least}; got {quoted(value)}."
    )


def check_ks(ks: object) -> list[int]:
    """Return each k once."""
    listed = list(ks) if isinstance(ks, Iterable) and not isinstance(ks, str) else [ks]
    if not listed:
        raise ParameterError("ks must contain at least one k; got none.")
    return list(dict.fromkeys(check_count("k", k) for k in listed))


def check_number(
    parameter: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    otherwise: str = "",
) -> float:
    """Return `value` as a float if it is a finite number from `low` to `high`.

    `otherwise` names what else is allowed, for the message.
    """
    number = _as_float(value)
    if math.isfinite(number) and low <= number <= high:
        return number
    span = {
        (False, False): "",
        (True, False): f" of at least {low:g}",
        (False, True): f" of at most {high:g}",
        (True, True): f" from {low:g} to {high:g}",
    }[math.isfinite(low), math.isfinite(high)]
    instead = f"{otherwise} or " if otherwise else ""
    raise ParameterError(
        f"{parameter} must be {instead}a finite number{span}; got {quoted(value)}."
    )


def _as_float(value: object) -> float:
    """Return a number as a float; infinity if it is too large, NaN for anything else."""
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_rng(random_state: object) -> np.random.Generator:
    """Return the generator for `random_state`; None draws a new seed.

    A whole number gives the same draws every time. A generator is used as it is and advances.
    """
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if _is_whole(random_state) and 0 <= random_state < 2**32:  # type: ignore[operator]
        return np.random.default_rng(int(random_state))  # type: ignore[call-overload]
    raise ParameterError(
        "random_state must be None, a whole number from 0 to 4294967295, or a NumPy generator; "
        f"got {quoted(random_state)}."
    )


def check_seed(random_state: object) -> int:
    """Return a seed below 2**32 for `random_state`.

    A whole number is its own seed; a generator draws one and advances; None draws a new one.
    """
    generator = check_rng(random_state)
    if _is_whole(random_state):
        return int(random_state)  # type: ignore[call-overload, no-any-return]
    return int(generator.integers(2**32))


# No machine has more cores, and a pool cannot count beyond what the machine can.
_MOST_THREADS = 1 << 16


def check_jobs(n_jobs: object) -> int:
    """Return the number of threads: -1 is all cores, None is one."""
    if n_jobs is None:
        return 1
    if _is_whole(n_jobs) and (n_jobs == -1 or n_jobs >= 1):  # type: ignore[operator]
        threads = int(n_jobs) if n_jobs != -1 else _usable_cores()  # type: ignore[call-overload]
        return min(threads, _MOST_THREADS)
    raise ParameterError(
        "n_jobs must be a whole number of at least 1, -1 for all cores, or None for one; got "
        f"{quoted(n_jobs)}."
    )


def _usable_cores() -> int:
    """Cores that this process may run on, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_k(k: object, *, n_records: int) -> int:
    """Return k as an int if there are enough records for a group of k."""
    if _is_whole(k) and 1 <= k <= n_records:  # type: ignore[operator]
        return int(k)  # type: ignore[call-overload, no-any-return]
    too_large = _is_whole(k) and k >= 1  # type: ignore[operator]
    advice = " Lower k or supply more records." if too_large else ""
    # For a single record, scikit-learn's checks expect its own word.
    records = "the number of records" if n_records > 1 else "as there is 1 sample"
    raise ParameterError(
        f"k must be a whole number from 1 to {n_records}, {records}; got {quoted(k)}.{advice}"
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


def check_matrix(
    X: ArrayLike, *, estimator: Any = None, integer: bool = False, single_column: bool = False
) -> NDArray[Any]:
    """Return X as a C-ordered matrix of finite numbers: float64, or int64 with `integer`.

    An `estimator` gets the number and names of the columns, as scikit-learn expects. With
    `single_column`, a one-dimensional X is one column, and more columns are refused.
    """
    array = _as_numbers(X, integer=integer)
    if single_column and array.ndim == 1:
        array = array.reshape(-1, 1)
    check_shape(array)
    if estimator is not None:
        _remember_columns(estimator, X, array.shape[1])
    if array.dtype == np.float64:
        _refuse_extremes(array)
    if single_column and array.shape[1] != 1:
        raise DataError(
            f"one column is expected; got {array.shape[1]}. Give one column, or use a method "
            "for several columns such as 'mdav'."
        )
    # Kernels are compiled for one layout; a read-only array would need another.
    matrix = np.require(array, requirements=["C", "W"])
    return _as_whole_numbers(matrix) if integer else matrix


def _remember_columns(estimator: Any, X: ArrayLike, n_columns: int) -> None:
    """Store the number of columns and their names, if they have any, as scikit-learn does."""
    if hasattr(X, "columns"):
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, skip_check_array=True)
        return
    estimator.n_features_in_ = n_columns
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def as_dense(X: Any) -> NDArray[Any]:
    """Return X as an array, unless it is sparse or ragged."""
    if hasattr(X, "toarray"):
        raise DataError("X must be a dense matrix; got a sparse one. Pass X.toarray() instead.")
    try:
        array = np.asarray(X)
    except ValueError:
        raise DataError(
            "X must be a matrix of records by columns; got rows of different lengths."
        ) from None
    return array


def _as_numbers(X: ArrayLike, *, integer: bool) -> NDArray[Any]:
    """Return X as float64, or, with `integer`, as int64 if that is exact.

    Libraries would quote values they cannot convert; messages must not contain a record's values.
    """
    array = as_dense(X)
    kind = array.dtype.kind
    if kind in "US" or (kind == "O" and any(isinstance(value, str) for value in array.flat)):
        raise DataError(
            "X must contain numbers only; got text. Drop or encode the text columns first."
        )
    if kind == "c":
        raise DataError("Complex data not supported: X must contain real numbers.")
    if kind in "mM":
        raise DataError("X must contain numbers only; got dates or times. Convert them first.")
    if integer and kind in "biuO":
        with suppress(OverflowError, TypeError, ValueError):
            whole = array.astype(np.int64)
            if (whole == array).all():
                return whole
    return array.astype(np.float64, copy=False)


def check_shape(array: NDArray[Any]) -> None:
    """Refuse all but a matrix of at least one record and one column, in scikit-learn's words."""
    if array.ndim != 2:
        raise DataError(
            f"X must be a matrix of records by columns; got an array of {array.ndim} dimension(s). "
            "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one record."
        )
    for count, what in zip(array.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise DataError(
                f"X must not be empty; got 0 {what}(s) (shape={array.shape}) while a minimum of 1 "
                "is required."
            )


def _refuse_extremes(matrix: Floats) -> None:
    largest = np.abs(matrix).max()
    if _SMALLEST <= largest <= _LARGEST or largest == 0:
        return
    bad = int(np.count_nonzero(~np.isfinite(matrix).all(axis=1)))
    if bad:
        raise DataError(
            f"X must contain finite numbers only; {bad} of {len(matrix)} records contain NaN or "
            "infinity. Remove or impute them first."
        )
    raise DataError(
        f"the largest number in X must be from {_SMALLEST:g} to {_LARGEST:g} in absolute "
        "value, so that squared distances do not overflow or underflow. Rescale the columns first."
    )


def _as_whole_numbers(matrix: NDArray[Any]) -> Wholes:
    if matrix.dtype == np.int64:
        return matrix
    if not (np.rint(matrix) == matrix).all():
        raise DataError(
            "integer=True needs whole numbers; X has fractions. Round or rescale X first, or use "
            "integer=False."
        )
    if np.abs(matrix).max(initial=0.0) >= 2.0**63:
        raise DataError(
            "integer=True needs numbers that fit 64-bit integers; X has larger ones. Rescale X, "
            "or use integer=False."
        )
    return matrix.astype(np.int64)


def check_labels(
    labels: ArrayLike, *, n_records: int, parameter: str = "labels", at_least: int = 1
) -> Labels:
    """Return labels as numbers 0..g-1, one per record, with `at_least` records per group."""
    array = _as_array(parameter, labels)
    if array.ndim != 1 or len(array) != n_records:
        raise ParameterError(
            f"{parameter} must be one number for each of the {n_records} records; got an array of "
            f"shape {array.shape}."
        )
    if array.dtype.kind not in "iu":
        raise ParameterError(
            f"{parameter} must be whole numbers; got an array of type {array.dtype}."
        )
    _, compact = np.unique(array, return_inverse=True)
    sizes = np.bincount(compact.reshape(-1))
    if small := int(np.count_nonzero(sizes < at_least)):
        raise ParameterError(
            f"{parameter} must put at least k = {at_least} records into every group; "
            f"{small} of {len(sizes)} groups have fewer. Start from groups of at least k."
        )
    return compact.reshape(-1)


def _as_array(parameter: str, value: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        raise ParameterError(
            f"{parameter} must be one number for each record; got sequences of different lengths."
        ) from None


def check_order(order: ArrayLike, *, n_records: int) -> Order:
    """Return `order` if it visits every record exactly once."""
    array = _as_array("order", order)
    complete = (
        array.ndim == 1
        and len(array) == n_records
        and array.dtype.kind in "iu"
        and array.min(initial=0) >= 0
        and array.max(initial=0) < max(n_records, 1)
        and bool((np.bincount(array.astype(np.intp), minlength=n_records) == 1).all())
    )
    if not complete:
        raise ParameterError(
            f"order must contain each row number from 0 to {n_records - 1} exactly once; "
            f"got {len(array) if array.ndim else 0} entries that are not such a permutation."
        )
    return np.ascontiguousarray(array, dtype=np.intp)


def check_group_sums(X: NDArray[Any], labels: Labels) -> None:
    """Refuse whole numbers whose sum over a group could exceed 64-bit integers."""
    if X.dtype != np.int64:
        return
    spread = X.max(axis=0).astype(np.float64) - X.min(axis=0).astype(np.float64)
    if float(spread.max()) * int(np.bincount(labels).max()) >= 2.0**62:
        raise DataError(
            "the sum of a group could exceed 64-bit integers. Divide the whole numbers by a common "
            "factor, or pass them as floats."
        )
