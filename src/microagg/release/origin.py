"""What a release keeps of its input: for its files, for measuring, and for whoever made it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from microagg.core.arrays import Order
from microagg.files.annotations import Annotations
from microagg.files.dialect import Dialect
from microagg.tables.pairs import Pair


@dataclass(frozen=True, eq=False)
class Origin:
    """What a release keeps of the input, for its files and for measuring.

    `open_pair` opens the records before and after; that happens when somebody measures, and once.
    """

    open_pair: Callable[[], Pair]
    identifiers: tuple[pl.Series, ...]
    dialect: Dialect | None
    annotations: Annotations | None
    sheet: str | None = None
    order: Order | None = None  # the original rows of the released records, if shuffled

    @cached_property
    def pair(self) -> Pair:
        """The records before and after, with whatever measures have computed of them."""
        return self.open_pair()

    def __reduce__(self) -> tuple[Any, ...]:
        # How columns are decoded are functions, which cannot be pickled; a pair has values only.
        of_file = (self.dialect, self.annotations, self.sheet)
        return Origin, (_Opened(self.pair), self.identifiers, *of_file, self.order)


@dataclass(frozen=True, eq=False)
class _Opened:
    """A pair that was opened before, as a function."""

    pair: Pair

    def __call__(self) -> Pair:
        return self.pair
