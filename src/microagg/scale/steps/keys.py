"""Random keys of a dataset's rows: the numbers from 1 to n in an order that nobody can work out.

Every task finds the keys of its own rows, in any order and without those of the others.
"""

import hashlib
import secrets
from collections.abc import Iterator
from math import isqrt

import numpy as np

from microagg.core.arrays import Wholes

_SECRET_BYTES = 32
# With few rounds, the order of the keys would still have a pattern.
_ROUNDS = 12


def new_secret() -> bytes:
    """Return what the keys of one run depend on.

    It comes from the operating system and stays in the work folder: like a seed, it would let
    anyone who knew it undo the keys.
    """
    return secrets.token_bytes(_SECRET_BYTES)


def keys_of(positions: Wholes, n_rows: int, secret: bytes) -> Wholes:
    """Return the keys of rows by their positions, from 0, among all rows of the dataset.

    A Feistel network permutes the cells of a rectangle, hardly larger than the number of rows; its
    round functions are tables of random numbers, as short as the rectangle's sides. Whoever leaves
    the rows goes on until back among them (Black and Rogaway, 2002).

    >>> sorted(keys_of(np.arange(10), 10, b"secret").tolist())
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    height = isqrt(n_rows - 1) + 1
    width = -(-n_rows // height)
    tables = [*_tables(height, width, secret)]
    found = np.asarray(positions, dtype=np.int64).copy()
    outside = np.arange(len(found))
    while len(outside):
        found[outside] = _permuted(found[outside], height, width, tables)
        outside = outside[found[outside] >= n_rows]
    return found + 1


def _permuted(cells: Wholes, height: int, width: int, tables: list[Wholes]) -> Wholes:
    row, column = np.divmod(cells, width)
    for at, table in enumerate(tables):
        if at % 2:
            column = (column + table[row]) % width
        else:
            row = (row + table[column]) % height
    return row * width + column


def _tables(height: int, width: int, secret: bytes) -> Iterator[Wholes]:
    """Return the round functions: for every row how far it is shifted, or for every column."""
    for at in range(_ROUNDS):
        n_entries, n_values = (height, width) if at % 2 else (width, height)
        drawn = hashlib.shake_256(at.to_bytes(4, "big") + secret).digest(8 * n_entries)
        yield (np.frombuffer(drawn, ">u8") % np.uint64(n_values)).astype(np.int64)
