"""The draw of a centre for every record."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.fuzzy.blocks import in_blocks
from microagg.fuzzy.fuzziness import Fuzziness
from microagg.kernels.fuzzy.memberships import draw_rows


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
    """A centre for every record, the expected class sizes, and the mean uncertainty in bits."""

    labels: Rows
    expected_sizes: Floats
    doubt: float


@dataclass(frozen=True)
class Urn:
    """Centres, how many coinciding ones each represents, and the fuzziness of memberships."""

    centers: Floats
    copies: Rows
    fuzziness: Fuzziness

    def memberships(self, Z: Floats) -> Floats:
        """Return the memberships of the records: a matrix of records by centres."""
        weights = self.fuzziness.weights(Z, np.ascontiguousarray(self.centers.T)).values
        weights *= self.copies
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def draw(self, Z: Floats, rng: np.random.Generator, *, n_jobs: int) -> Drawn:
        """Draw a centre for every record, with its memberships as probabilities."""
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
