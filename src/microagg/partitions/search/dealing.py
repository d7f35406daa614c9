"""Records dealt out by a sensitive value, so that every group resembles the whole table."""

from itertools import pairwise

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.requirements.coded import GroupRule

# Records of a part that is dealt out by itself, and blocks of codes for each record of a group.
_DEALT, _BLOCKS = 1_000, 4


def deal_out(X: Floats, rule: GroupRule, k: int) -> Labels:
    """Return groups of records from all parts of a sensitive distribution (t-closeness first).

    The records, sorted by their codes, are cut into as many parts as a group needs records for a
    distance of at most t, at least k; the surplus is in the middle part. The record farthest from
    the mean of what is left takes the nearest one from every part, then the record farthest from
    that one does, and so on; while there is a surplus, a group takes two from the middle part.
    Codes that are all different end within t, ties may exceed it. Time O(n^2 d / size of a group).
    Source: Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, algorithm 3.
    """
    n = len(X)
    size = group_size(n, k, rule.limit)
    length = n // size
    surplus = n - size * length
    middle = (size - 1) // 2
    lengths = np.full(size, length)
    lengths[middle] += surplus
    order = np.argsort(rule.codes, kind="stable")
    parts = [np.sort(part) for part in np.split(order, lengths.cumsum()[:-1])]
    labels, made = np.empty(n, dtype=np.intp), 0
    seed = -1
    while len(parts[0]):
        left = np.concatenate(parts)
        target = X[seed] if made % 2 else X[np.sort(left)].mean(axis=0)
        left.sort()
        seed = left[np.argmax(((X[left] - target) ** 2).sum(axis=1))]
        for place in range(size):
            takes = 2 if place == middle and made < surplus else 1
            part = parts[place]
            near = np.argsort(((X[part] - X[seed]) ** 2).sum(axis=1), kind="stable")[:takes]
            labels[part[near]] = made
            parts[place] = np.delete(part, near)
        made += 1
        report("dealing out records", made, length)
    return labels


def group_size(n: int, k: int, t: float) -> int:
    """Return how many records of a group, one from each part, keep it within a distance of t.

    >>> [group_size(1080, 2, t) for t in (0.05, 0.09, 0.25)]
    [10, 6, 2]
    """
    size = max(k, int(np.ceil(n / (2 * (n - 1) * t + 1))))
    return size + (n % size) // (n // size)


def deal_out_parts(X: Floats, rule: GroupRule, k: int, rng: np.random.Generator) -> Labels:
    """Return groups of records dealt out within parts of a table, in nearly linear time.

    The parts resemble the whole in their codes: records are sorted by them and cut into blocks, and
    each half of the table gets the near half of every block, along the axis on which records vary
    most.
    """
    labels, made = np.empty(len(X), dtype=np.intp), 0
    n_blocks = _BLOCKS * group_size(len(X), k, rule.limit)
    order = rng.permutation(len(X))  # equal codes are in no order
    pending = [order[np.argsort(rule.codes[order], kind="stable")]]
    while pending:
        rows = pending.pop()
        if len(rows) <= max(_DEALT, 4 * n_blocks):
            found = deal_out(X[rows], rule.within(rows), k)
            labels[rows] = made + found
            made += int(found.max()) + 1
        else:
            pending += _halves(X, rows, n_blocks)
    return labels


def _halves(X: Floats, rows: Labels, n_blocks: int) -> list[Labels]:
    """Cut records, sorted by their codes, in two that have about the same codes."""
    axis = int(np.argmax(X[rows].var(axis=0)))
    is_near = np.empty(len(rows), dtype=np.bool_)
    ends = len(rows) * np.arange(n_blocks + 1) // n_blocks
    for at, (start, stop) in enumerate(pairwise(ends.tolist())):
        ranks = np.argsort(np.argsort(X[rows[start:stop], axis], kind="stable"))
        is_near[start:stop] = 2 * ranks + at % 2 < stop - start  # odd ones by turns
    return [rows[~is_near], rows[is_near]]
