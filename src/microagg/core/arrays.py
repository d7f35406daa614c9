"""Array types, one for each meaning, so that a signature says what it takes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Real numbers: a matrix of records by columns, one column, distances, weights.
Floats = NDArray[np.float64]
# Real numbers of double or single precision.
Reals = NDArray[np.floating[Any]]
# Whole numbers, as values of records or coefficients.
Wholes = NDArray[np.int64]
# How often each occurs.
Counts = NDArray[np.int64]
# Row numbers of records, or numbers of groups.
Rows = NDArray[np.intp]
# The group of every record.
Labels = NDArray[np.intp]
# Every row number once: a permutation of the records.
Order = NDArray[np.intp]
# Positions in sorted lists, in half the memory of row numbers.
Places = NDArray[np.int32]
# Sizes of groups, in half the memory of counts.
Sizes = NDArray[np.int32]
# The rank of each among all, in half the memory of row numbers.
Ranks = NDArray[np.int32]
# The category of every value, as a number.
Categories = NDArray[np.int64]
# Numbers that are the same where values are: unsigned, the narrower the faster.
Codes = NDArray[Any]
# One of a few states, for each entry.
States = NDArray[np.int8]
# A bit for each column that agrees.
Patterns = NDArray[np.uint16]
# Whole numbers in the order of what is to be sorted.
SortKeys = NDArray[np.uint64]
# Hashes of values.
Hashes = NDArray[np.uint64]
# The state of a generator of random numbers.
RandomState = NDArray[np.uint64]
# Whether something holds, for each entry.
Mask = NDArray[np.bool_]
