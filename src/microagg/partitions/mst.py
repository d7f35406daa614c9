"""MST: the minimum spanning tree, cut wherever both sides keep k records."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.core.validation import check_choice
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.construction.spanning_tree import cut_tree, grow_tree, label_parts
from microagg.kernels.neighbours.blocks import ONE_BLOCK, make_blocks
from microagg.partitions.base import Partitioner
from microagg.partitions.fixed_size import CBFS, MD
from microagg.partitions.mdav import MDAV
from microagg.partitions.splitting import split_large

SPLITS: dict[str, type[Partitioner]] = {"mdav": MDAV, "md": MD, "cbfs": CBFS}

# Values that a loop reads before it returns to report progress: a fraction of a second.
_WORK_PER_CALL = 50_000_000


class MST(Partitioner):
    """Groups of k to 2k-1 records: parts of the minimum spanning tree, the large ones split.

    The edges of the tree are cut from the longest down, wherever both sides keep k records. Parts
    of 2k or more records are split by a fixed-size method. Among equal edges the lower rows come
    first.

    Time O(n^2 d) at worst, memory O(n d). Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    split : "mdav", "md" or "cbfs", the method that splits parts of 2k or more

    References
    ----------
    .. [1] M. Laszlo and S. Mukherjee, "Minimum spanning tree partitioning algorithm for
       microaggregation", IEEE TKDE 17(7), 2005.

    Examples
    --------
    >>> MST(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [2.0]]).tolist()
    [0, 1, 0, 1, 0]
    """

    def __init__(self, k: int = 3, *, split: str = "md") -> None:
        self.k = k
        self.split = split

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        method = SPLITS[check_choice("split", self.split, SPLITS)]
        X = without_offset(X)
        order, parents, lengths = minimum_spanning_tree(X)
        return split_large(X, tree_parts(order, parents, lengths, k), k, method)


def minimum_spanning_tree(X: Floats) -> tuple[Labels, Labels, Floats]:
    """Return the tree grown from row 0: the rows in order, their parents, the squared lengths.

    Row 0 has parent -1 and infinite length.
    """
    n, d = X.shape
    order = np.zeros(n, dtype=np.intp)
    parents = np.full(n, -1, dtype=np.intp)
    lengths = np.full(n, np.inf)
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    done = 1
    while done < n:
        blocks = make_blocks(X, np.flatnonzero(outside))
        # Blocks empty unevenly: lay them out again at each halving, as long as that pays off.
        left = n - done
        relayout_at = n - (left // 2 if left > ONE_BLOCK else 0)
        while done < relayout_at:
            stop = min(relayout_at, done + max(1, _WORK_PER_CALL // (left * d)))
            grow_tree(X, blocks, order, done, stop, parents, lengths)
            outside[order[done:stop]] = False
            done = stop
            report("growing the tree", done, n)
    return order, parents, lengths


def tree_parts(order: Labels, parents: Labels, lengths: Floats, k: int) -> Labels:
    """Return the parts of the tree with its longest edges cut, each of k records or more."""
    n = len(order)
    rows = order[1:]
    ends = parents[rows]
    low, high = np.minimum(rows, ends), np.maximum(rows, ends)
    longest_first = rows[np.lexsort((high, low, -lengths[rows]))]
    tails, heads = np.concatenate((rows, ends)), np.concatenate((ends, rows))
    starts = np.zeros(n + 1, dtype=np.intp)
    starts[1:] = np.bincount(tails, minlength=n).cumsum()
    cut = np.zeros(n, dtype=np.intp)
    cut_tree(parents, longest_first, starts, heads[np.argsort(tails, kind="stable")], k, cut)
    labels = np.empty(n, dtype=np.intp)
    label_parts(order, parents, cut, labels)
    return labels
