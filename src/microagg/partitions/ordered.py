"""Methods that order the records and cut the sequence optimally, and the cut itself."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.core.arrays import Floats, Labels, Order, Rows
from microagg.core.validation import (
    check_count,
    check_flag,
    check_group_sums,
    check_k,
    check_matrix,
    check_order,
)
from microagg.kernels.basics.group_sums import summarise
from microagg.orderings.projections import pca, zscore
from microagg.orderings.tsp import short_tours
from microagg.orderings.walks import by_groups, npn
from microagg.partitions.base import Partitioner
from microagg.partitions.fixed_size import CBFS, MD
from microagg.partitions.mdav import MDAV
from microagg.partitions.path_cut import cut_sequence


def cut_path(
    X: ArrayLike, order: ArrayLike, k: int, integer: bool = False, tour: bool = False
) -> Labels:
    """Return the labels of the optimal cut along a sequence of records.

    Among all ways to cut the sequence X[order] into runs of at least k records, the one with the
    least squared error about the groups' means; its runs have k to 2k-1 records. Time O(n k d),
    memory O(n). X need not be the matrix that was ordered.

    Parameters
    ----------
    X : matrix of records by columns, taken as it is
    order : every row number once
    k : least number of records in a group
    integer : measure the error about means rounded to whole numbers; X must contain whole numbers
    tour : close the sequence to a ring, so that a group may cross its ends; takes O(n k (d + k))
        time and O(n + k^2) memory

    Examples
    --------
    >>> cut_path([[0.0], [1.0], [10.0], [11.0], [12.0]], [0, 1, 2, 3, 4], k=2).tolist()
    [0, 0, 1, 1, 1]
    >>> cut_path([[12.0], [0.0], [1.0], [10.0], [11.0]], [0, 1, 2, 3, 4], k=2, tour=True).tolist()
    [0, 1, 1, 0, 0]
    """
    matrix = check_matrix(X, integer=check_flag("integer", integer))
    checked_order = check_order(order, n_records=len(matrix))
    checked_k = check_k(k, n_records=len(matrix))
    ring = check_flag("tour", tour)
    labels = cut_sequence(matrix, checked_order, checked_k, tour=ring)
    check_group_sums(matrix, labels)
    return summarise(matrix, labels).labels


class OrderedPartitioner(Partitioner):
    """Order the records, then cut the sequence optimally: groups of k to 2k-1 records.

    Parameters
    ----------
    k : least number of records in a group
    integer : release whole numbers and measure the error about them; X must contain whole numbers
    tour : close the sequence to a ring before it is cut
    """

    def __init__(self, k: int = 3, *, integer: bool = False, tour: bool = False) -> None:
        self.k = k
        self.integer = integer
        self.tour = tour

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        tour = check_flag("tour", self.tour)
        orders = self._orders(X.astype(np.float64, copy=False), k)
        return _best_cut(X, orders, k, tour=tour)

    @abstractmethod
    def _orders(self, X: Floats, k: int) -> Iterable[Order]:
        """Return the sequences to cut; the best cut is kept."""


def _best_cut(X: NDArray[Any], orders: Iterable[Order], k: int, *, tour: bool = False) -> Labels:
    cuts = (cut_sequence(X, order, k, tour=tour) for order in orders)
    return min(cuts, key=lambda labels: summarise(X, labels).sse)


class NPNMHM(OrderedPartitioner):
    """Groups of k to 2k-1 records along the walk to the nearest unvisited record.

    Good on data with well separated clusters. Time O(n^2 d) at worst for the walk and O(n k d) for
    the cut, memory O(n d). Source: [1]_.

    References
    ----------
    .. [1] J. Domingo-Ferrer, A. Martinez-Balleste, J. M. Mateo-Sanz and F. Sebe, "Efficient
       multivariate data-oriented microaggregation", The VLDB Journal 15(4), 2006.

    Examples
    --------
    >>> NPNMHM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def _orders(self, X: Floats, k: int) -> Iterable[Order]:  # noqa: ARG002
        return [npn(X)]


class PCAMHM(OrderedPartitioner):
    """Groups of k to 2k-1 records along the first principal component.

    For very large tables of few dimensions: time O(n d (d + k)), memory O(n d). Source: [1]_.

    References
    ----------
    .. [1] J. Nin, J. Herranz and V. Torra, "On the disclosure risk of multivariate
       microaggregation", Data & Knowledge Engineering 67(3), 2008.

    Examples
    --------
    >>> PCAMHM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def _orders(self, X: Floats, k: int) -> Iterable[Order]:  # noqa: ARG002
        return [pca(X)]


class ZScoreMHM(OrderedPartitioner):
    """Groups of k to 2k-1 records along the sum of the standardised columns.

    Time O(n d k), memory O(n d). Source: J. Nin, J. Herranz and V. Torra 2008, as `PCAMHM`.

    Examples
    --------
    >>> ZScoreMHM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def _orders(self, X: Floats, k: int) -> Iterable[Order]:  # noqa: ARG002
        return [zscore(X)]


class TSPMHM(OrderedPartitioner):
    """Groups of k to 2k-1 records along a short tour; the best cut of a few tours is kept.

    The tours start from different records: the one farthest from the mean, the one farthest from
    that, and so on, each the farthest from all before it. Each tour is opened at the record
    farthest from the mean, in both directions; with `tour=True` it stays closed, which pays off if
    there are a few outliers. Time O(n^2 d) at worst for a tour, memory O(n d). Source: [1]_, [2]_.

    Parameters
    ----------
    k : least number of records in a group
    integer : release whole numbers and measure the error about them; X must contain whole numbers
    tour : close the sequence to a ring before it is cut
    n_starts : tours to try

    References
    ----------
    .. [1] B. Heaton and S. Mukherjee, "Record ordering heuristics for disclosure control through
       microaggregation", Proc. ICACSIT, 2011.
    .. [2] R. Mortazavi and S. Jalili, "Fast data-oriented microaggregation algorithm for large
       numerical datasets", Knowledge-Based Systems 67, 2014.

    Examples
    --------
    >>> TSPMHM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(
        self, k: int = 3, *, integer: bool = False, tour: bool = False, n_starts: int = 3
    ) -> None:
        super().__init__(k, integer=integer, tour=tour)
        self.n_starts = n_starts

    def _orders(self, X: Floats, k: int) -> Iterable[Order]:  # noqa: ARG002
        tours = short_tours(X, check_count("n_starts", self.n_starts))
        return tours if self.tour else _both_ways(tours)


def cut_short_tours(X: Floats, k: int, neighbours: Rows) -> Labels:
    """Return the groups of `TSPMHM(k)`, given `TOUR_NEIGHBOURS` neighbours of every record."""
    orders = _both_ways(short_tours(X, TSPMHM().n_starts, neighbours))
    return _best_cut(X, orders, k)


def _both_ways(tours: Iterable[Order]) -> Iterable[Order]:
    for tour in tours:
        yield tour
        yield np.concatenate((tour[:1], tour[:0:-1]))


class GroupOrderedPartitioner(OrderedPartitioner):
    """Visit the groups of another method one after another, then cut the sequence optimally."""

    grouping: type[Partitioner]

    def _orders(self, X: Floats, k: int) -> Iterable[Order]:
        return [by_groups(X, self.grouping(k=k).fit_predict(X))]


class MDAVMHM(GroupOrderedPartitioner):
    """Groups of k to 2k-1 records along the groups of MDAV.

    Never worse than MDAV itself, often better if the data are clustered. Time O(n^2 d / k) at
    worst, memory O(n d). Source: J. Domingo-Ferrer et al. 2006, as `NPNMHM`.

    Examples
    --------
    >>> MDAVMHM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    grouping = MDAV


class MDMHM(GroupOrderedPartitioner):
    """Groups of k to 2k-1 records along the groups of MD.

    Time and memory as `MD`. Source: J. Domingo-Ferrer et al. 2006, as `NPNMHM`.

    Examples
    --------
    >>> MDMHM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    grouping = MD


class CBFSMHM(GroupOrderedPartitioner):
    """Groups of k to 2k-1 records along the groups of CBFS.

    Time O(n^2 d / k) at worst, memory O(n d). Source: J. Domingo-Ferrer et al. 2006, as `NPNMHM`.

    Examples
    --------
    >>> CBFSMHM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    grouping = CBFS
