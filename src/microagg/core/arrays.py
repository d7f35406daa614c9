"""Array types, one for each meaning, so that a signature says what it takes."""

import numpy as np
from numpy.typing import NDArray

# Real numbers: a matrix of records by columns, one column, distances, weights.
Floats = NDArray[np.float64]
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
# Whether something holds, for each entry.
Mask = NDArray[np.bool_]
