"""The default fuzziness: a given uncertainty about the centre of a record."""

import math
from collections.abc import Callable

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.core.progress import report
from microagg.fuzzy.drawing import Urn, doubt
from microagg.fuzzy.fuzziness import Exponential, Fuzziness

# Default uncertainty about a record's centre: a choice between two equally likely ones.
_BITS = 1.0
# With few centres, this share of the largest possible uncertainty.
_OF_ALL = 0.25
# Limits on the sample: entries of its membership matrix, and records.
_ENTRIES, _RECORDS = 2**19, 1000
# Smaller squared distances are rounding errors: a typical distance to the mean is 1.
_ROUNDING = 1e-28
_PRECISION = 1e-3


def default_fuzziness(
    rule: Callable[[float], Fuzziness],
    between: tuple[float, float],
    Z: Floats,
    centers: Floats,
    copies: Rows,
) -> Fuzziness:
    """Return the fuzziness that leaves one bit of uncertainty about a record's centre on average.

    `rule` turns a sharpness into a fuzziness; the larger it is, the less uncertainty. It is found
    by bisection on a sample of records; records on a centre do not count. With fewer than 16
    centres, the uncertainty is a quarter of the largest possible.
    """
    size = min(_RECORDS, max(1, _ENTRIES // len(centers)))
    # Always the same rows: the seed is for the starts and the draw.
    sample = Z[np.random.default_rng(0).permutation(len(Z))[:size]]
    nearest = Exponential(1.0).weights(sample, np.ascontiguousarray(centers.T)).nearest
    sample = sample[nearest > _ROUNDING]
    wanted = min(_BITS, _OF_ALL * math.log2(len(centers)))
    low, high = between
    steps = math.ceil(math.log2(math.log(high / low) / _PRECISION))
    for step in range(steps if len(sample) else 0):
        middle = math.sqrt(low * high)
        left = doubt(Urn(centers, copies, rule(middle)).memberships(sample)).mean()
        low, high = (middle, high) if left > wanted else (low, middle)
        report("choosing the fuzziness", step + 1, steps)
    return rule(math.sqrt(low * high))
