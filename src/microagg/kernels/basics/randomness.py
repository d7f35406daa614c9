"""Random numbers for kernels: splitmix64, whose state is one number."""

import numpy as np

from microagg.core.arrays import RandomState
from microagg.kernels.compile import inner_kernel

# One number: the state.


@inner_kernel
def draw_below(state: RandomState, below: int) -> int:
    """A random whole number from 0 to below - 1."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = (z ^ (z >> np.uint64(31))) >> np.uint64(32)
    number: int = np.intp((z * np.uint64(below)) >> np.uint64(32))  # type: ignore[assignment]
    return number


@inner_kernel
def draw_between_0_and_1(state: RandomState) -> float:
    """A random number above 0 and below 1."""
    return (draw_below(state, 1 << 31) + 0.5) / (1 << 31)
