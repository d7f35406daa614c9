"""Tables in the work folder, sorted by where their rows go next, so that any part is read alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.core.arrays import Rows, Wholes
from microagg.scale.storage.work import WorkFolder

# Names of columns in the work folder begin like this where they are none of the dataset.
OURS = "\x01"
ROW = f"{OURS}row"


class Slices(NamedTuple):
    """How many rows of a file go to each destination that gets any, in its batch of that place."""

    destinations: Rows
    counts: Rows


def write_sorted(work: WorkFolder, path: Path, table: pa.Table, destinations: Rows) -> Slices:
    """Write a batch for every destination; rows that go to the same one stay in their order."""
    order = np.argsort(destinations, kind="stable")
    found, counts = np.unique(destinations, return_counts=True)
    ordered = table.take(pa.array(order)).combine_chunks()
    work.write(path, lambda beside: _write(ordered, counts, beside))
    return Slices(found, counts)


def _write(table: pa.Table, counts: Rows, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        begin = 0
        for count in counts.tolist():
            writer.write_table(table.slice(begin, count))
            begin += count


class Sources(NamedTuple):
    """For every destination, the batches of files that go there."""

    files: tuple[str, ...]  # in the work folder
    begins: Rows  # of each destination among the entries, and where the last one ends
    producers: Rows  # which of the files
    batches: Rows  # which batch there
    counts: Rows  # how many rows it has

    @classmethod
    def of(cls, producers: Sequence[tuple[str, Slices]], n_destinations: int) -> "Sources":
        """Return what goes where, by the slices of every file."""
        each = [np.zeros((0, 4), dtype=np.intp)]
        for number, (_, own) in enumerate(producers):
            batches = np.arange(len(own.counts))
            numbers = np.full(len(batches), number)
            each.append(np.column_stack((own.destinations, numbers, batches, own.counts)))
        rows = np.concatenate(each)
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        counts = np.bincount(rows[:, 0], minlength=n_destinations)
        begins = np.concatenate(([0], counts.cumsum()))
        files = tuple(name for name, _ in producers)
        return cls(files, begins, rows[:, 1].copy(), rows[:, 2].copy(), rows[:, 3].copy())

    @property
    def sizes(self) -> Rows:
        """How many rows each destination gets."""
        ends = np.concatenate(([0], self.counts.cumsum()))
        sizes: Rows = ends[self.begins[1:]] - ends[self.begins[:-1]]
        return sizes

    def read(self, work: WorkFolder, destinations: Sequence[int]) -> pa.Table | None:
        """Return the rows that go to these destinations, in the order of their numbers.

        None if there are none. Only these rows are read: files that were mapped into memory would
        count as memory of this process, and there may be thousands of them.
        """
        parts = []
        for destination in destinations:
            for at in range(self.begins[destination], self.begins[destination + 1]):
                path = work.path / self.files[self.producers[at]]
                with pa.OSFile(str(path)) as source:
                    batch = pa.ipc.open_file(source).get_batch(int(self.batches[at]))
                parts.append(pa.Table.from_batches([batch]))
        if not parts:
            return None
        joined = pa.concat_tables(parts).combine_chunks()
        order = np.argsort(row_numbers(joined), kind="stable")
        return joined.take(pa.array(order)).combine_chunks()


def row_numbers(table: pa.Table) -> Wholes:
    """Return the number that every row has in the dataset."""
    numbers: NDArray[Any] = table.column(ROW).to_numpy()
    return numbers.astype(np.int64, copy=False)
