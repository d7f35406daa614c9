"""Records -> a permutation in which neighbours are similar, for the optimal cut.

`ORDERINGS` has all of them by name.

>>> import microagg
>>> X = [[0.0], [9.0], [1.0], [8.0]]
>>> order = microagg.orderings.get("pca")(X)
>>> microagg.cut_path(X, order, k=2).tolist()
[0, 1, 0, 1]
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from microagg.core.arrays import Order
from microagg.core.validation import check_choice
from microagg.orderings.projections import pca, zscore
from microagg.orderings.tsp import tsp
from microagg.orderings.walks import by_groups, npn

__all__ = ["ORDERINGS", "by_groups", "get", "npn", "pca", "tsp", "zscore"]

ORDERINGS: Mapping[str, Callable[..., Order]] = MappingProxyType(
    {"npn": npn, "pca": pca, "zscore": zscore, "tsp": tsp, "by_groups": by_groups}
)


def get(name: str) -> Callable[..., Order]:
    """Return an ordering by name: a function of X that returns a permutation of its rows.

    `by_groups` also takes the labels of a partition.

    >>> import microagg
    >>> microagg.orderings.get("npn")([[0.0], [5.0], [1.0], [9.0]]).tolist()
    [3, 1, 2, 0]
    """
    return ORDERINGS[check_choice("ordering", name, ORDERINGS)]
