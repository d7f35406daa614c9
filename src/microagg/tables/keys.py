"""Random keys that replace an identifier."""

import secrets
from typing import Any

import narwhals as nw
import numpy as np

from microagg.tables.frames import Frame


def random_keys(frame: Frame, name: str) -> Any:
    """Return a native column with the numbers from 1 to n in random order.

    They come from the operating system, not from a seed: whoever knew the seed could undo them.
    """
    rng = np.random.default_rng(secrets.randbits(128))
    keys = rng.permutation(len(frame)) + 1
    if frame.implementation.is_pandas_like():
        native = frame.to_native()
        return type(native.iloc[:, 0])(keys, index=native.index)
    return nw.new_series(name, keys, nw.Int64, backend=frame.implementation).to_native()
