"""The smallest few of many numbers: in a heap, or in a short list that stays sorted."""

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import inner_kernel


@inner_kernel
def comes_before(distance: float, row: int, other_distance: float, other_row: int) -> bool:
    """Whether a record comes before another: the nearer one does, the lower row in a tie."""
    return distance < other_distance or (distance == other_distance and row < other_row)


@inner_kernel
def heap_push(distances: Floats, rows: Rows, size: int, distance: float, row: int) -> None:
    """Add to a heap whose root is the last in order."""
    at = size
    while at > 0:
        parent = (at - 1) // 2
        if not comes_before(distances[parent], rows[parent], distance, row):
            break
        distances[at], rows[at] = distances[parent], rows[parent]
        at = parent
    distances[at], rows[at] = distance, row


@inner_kernel
def heap_sink(distances: Floats, rows: Rows, size: int, distance: float, row: int) -> None:
    """Replace the root of a heap of `size` entries."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and comes_before(
            distances[child], rows[child], distances[child + 1], rows[child + 1]
        ):
            child += 1
        if not comes_before(distance, row, distances[child], rows[child]):
            break
        distances[at], rows[at] = distances[child], rows[child]
        at = child
    distances[at], rows[at] = distance, row


@inner_kernel
def sort_heap(distances: Floats, rows: Rows, size: int) -> None:
    """Sort a heap of `size` entries, the first in order first."""
    for last in range(size - 1, 0, -1):
        distance, row = distances[last], rows[last]
        distances[last], rows[last] = distances[0], rows[0]
        heap_sink(distances, rows, last, distance, row)


@inner_kernel
def keep_smallest(
    value: float, place: int, count: int, out_values: Floats, out_places: Rows
) -> int:
    """Insert into a short ascending list, dropping the last if it is full; return the new count."""
    if count == out_values.shape[0]:
        if not value < out_values[count - 1]:
            return count
        count -= 1
    at = count
    while at > 0 and out_values[at - 1] > value:
        out_values[at] = out_values[at - 1]
        out_places[at] = out_places[at - 1]
        at -= 1
    out_values[at] = value
    out_places[at] = place
    return count + 1
