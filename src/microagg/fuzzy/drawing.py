"""Every record draws its centre; small classes, where they are not wanted, draw again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.fuzzy.blocks import in_blocks
from microagg.fuzzy.fuzziness import Fuzziness
from microagg.kernels.memberships import draw_rows
from microagg.progress import report

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


def doubt(memberships: Floats) -> Floats:
    """Return the entropy of each row, in bits: 1 is a choice between two equally likely centres.

    >>> doubt(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.0, 1.0]
    """
    logs = np.log2(memberships, out=np.zeros_like(memberships), where=memberships > 0.0)
    logs *= memberships
    bits: Floats = np.abs(logs.sum(axis=1))
    return bits


@dataclass(frozen=True)
class Drawn:
    """A centre for every record, the size each class expects, and the mean doubt in bits."""

    labels: Rows
    expected_sizes: Floats
    doubt: float


@dataclass(frozen=True)
class Urn:
    """Centres, how many coinciding ones each stands for, and the rule for memberships."""

    centers: Floats
    copies: Rows
    fuzziness: Fuzziness

    def memberships(self, Z: Floats, among: Rows | None = None) -> Floats:
        """Return the memberships of the records, n x c; with `among`, in these centres alone."""
        columns, copies = self.centers.T, self.copies
        if among is not None:
            columns, copies = columns[:, among], copies[among]
        weights = self.fuzziness.weights(Z, np.ascontiguousarray(columns)).values
        weights *= copies
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def draw(self, Z: Floats, rng: np.random.Generator, *, n_jobs: int) -> Drawn:
        """Let every record draw its centre by its memberships."""
        uniforms = rng.random(len(Z))
        labels = np.empty(len(Z), dtype=np.intp)

        def work(rows: slice) -> tuple[Floats, float]:
            shares = self.memberships(Z[rows])
            draw_rows(shares, uniforms[rows], labels[rows])
            return shares.sum(axis=0), float(doubt(shares).sum())

        expected, bits = np.zeros(len(self.centers)), 0.0
        blocks = in_blocks(work, len(Z), len(expected), n_jobs=n_jobs, task="drawing")
        for _, (sizes, more) in blocks:
            expected += sizes
            bits += more
        return Drawn(labels, expected, bits / len(Z))

    def dissolve(self, Z: Floats, labels: Rows, k: int, rng: np.random.Generator) -> Rows:
        """Return labels of which every class has k records or more.

        As long as there is a smaller one, the smallest (the first of equals) loses its centre and
        its records draw again among the centres that are left.
        """
        labels = labels.copy()
        sizes = np.bincount(labels, minlength=len(self.centers))
        left = np.flatnonzero(sizes)
        members = [rows.tolist() for rows in _rows_by_class(labels, sizes)]
        n_classes = len(left)
        while sizes[left].min() < k:
            at = int(sizes[left].argmin())
            rows = members[left[at]]
            left = np.delete(left, at)
            again = np.empty(len(rows), dtype=np.intp)
            draw_rows(self.memberships(Z[rows], left), rng.random(len(rows)), again)
            for row, label in zip(rows, left[again].tolist(), strict=True):
                labels[row] = label
                members[label].append(row)
                sizes[label] += 1
            report("dissolving small classes", n_classes - len(left), n_classes)
        return labels


def _rows_by_class(labels: Rows, sizes: Rows) -> list[Rows]:
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
