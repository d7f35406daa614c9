"""What nobody must be able to repeat: random keys, and a random order of the records."""

import secrets
from typing import Any

import narwhals as nw
import numpy as np

from microagg.core.arrays import Order
from microagg.tables.frames import Frame


def random_order(n: int) -> Order:
    """Return the numbers from 0 to n - 1 in random order.

    It comes from the operating system, not from a seed: whoever knew the seed could undo it. Nor
    does a generator draw it whose next numbers follow from some that are known: whoever knows where
    a few records went learns nothing about the others.
    """
    drawn = np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64)
    return np.argsort(drawn, kind="stable")


def random_keys(frame: Frame, name: str) -> Any:
    """Return a native column with the numbers from 1 to n in random order."""
    keys = random_order(len(frame)) + 1
    if frame.implementation.is_pandas_like():
        native = frame.to_native()
        return type(native.iloc[:, 0])(keys, index=native.index)
    return nw.new_series(name, keys, nw.Int64, backend=frame.implementation).to_native()
