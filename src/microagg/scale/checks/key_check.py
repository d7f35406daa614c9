"""Whether the finished files hold each key from 1 to n once, and not in order."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from microagg.core.arrays import Wholes
from microagg.core.errors import GuaranteeError
from microagg.requirements.keys import FEW, Keys
from microagg.scale.sources.listing import Listing
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import DatasetSetting
from microagg.tables.polars_columns import as_polars

KEYS = "keys"
_NO_KEY = -1


class KeyOrder(NamedTuple):
    """The first and the last key of a part, and whether those between ascend or descend."""

    first: int
    last: int
    ascends: bool
    descends: bool


def keep_keys(work: WorkFolder, part: int, column: Any) -> KeyOrder | None:
    """Write the keys of a part, sorted, and return what they say of their order."""
    series = as_polars(column)
    if series.dtype == pl.String:
        series = series.cast(pl.Int64, strict=False)
    whole = series.dtype.is_integer()
    numbers = series.cast(pl.Int64).fill_null(_NO_KEY).to_numpy() if whole else _none(len(series))

    def write(path: object) -> None:
        with open(path, "wb") as stream:  # type: ignore[call-overload]
            np.save(stream, np.sort(numbers))

    work.write(work.place(KEYS, part, "npy"), write)
    if not len(numbers):
        return None
    steps = np.diff(numbers)
    return KeyOrder(
        int(numbers[0]), int(numbers[-1]), bool((steps > 0).all()), bool((steps < 0).all())
    )


def _none(n: int) -> Wholes:
    return np.full(n, _NO_KEY, dtype=np.int64)


def has_all_keys(work: WorkFolder, bucket: int) -> bool:
    """Task: say whether each number of a range is a key in the finished files, once."""
    setting = DatasetSetting.of(work)
    return holds_all_keys(work, setting.listing, bucket, setting.name_buckets)


def holds_all_keys(work: WorkFolder, listing: Listing, bucket: int, n_buckets: int) -> bool:
    """Say whether each number of a range is a key that was kept of these files, once."""
    first, stop = (1 + listing.n_rows * at // n_buckets for at in (bucket, bucket + 1))
    own = []
    for part in range(len(listing.parts)):
        numbers = np.load(work.place(KEYS, part, "npy"), mmap_mode="r")
        start, end = np.searchsorted(numbers, (first, stop))
        own.append(np.array(numbers[start:end]))
    return bool(np.array_equal(np.sort(np.concatenate(own)), np.arange(first, stop)))


def keys_found(
    column: str, n: int, complete: Iterable[bool], orders: Sequence[KeyOrder | None]
) -> Keys:
    """Return whether keys are each number once, and their order, from all parts."""
    is_complete = all(complete)
    order = _order([own for own in orders if own is not None]) if n > FEW and is_complete else ""
    return Keys(column, n, is_complete, order)


def refuse_keys(
    setting: DatasetSetting, complete: Iterable[bool], orders: Sequence[KeyOrder | None]
) -> None:
    """Refuse files whose keys are not each number once, or are in order."""
    assert setting.key is not None
    found = keys_found(setting.key, setting.listing.n_rows, complete, orders)
    if not found.satisfied:
        raise GuaranteeError(
            f"{found.complaint}; nothing was released. This is a bug in microagg: please report it."
        )


def _order(parts: Sequence[KeyOrder]) -> str:
    if all(own.ascends for own in parts) and all(a.last < b.first for a, b in pairwise(parts)):
        return "ascending"
    if all(own.descends for own in parts) and all(a.last > b.first for a, b in pairwise(parts)):
        return "descending"
    return ""
