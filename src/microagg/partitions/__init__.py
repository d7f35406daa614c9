"""Records -> groups: one estimator per method.

The class of every registered method can be imported from here; it is loaded on first use.

>>> from microagg.partitions import MDAV
>>> groups = MDAV(k=2).fit([[0.0], [9.0], [1.0], [8.0]])
>>> groups.labels_.tolist(), groups.sse_
([0, 1, 0, 1], 1.0)
"""

from typing import Any

from microagg.core.estimator import Estimator
from microagg.core.registry import METHODS, find

_CLASSES = {method.class_name: method for method in METHODS.values()}
_OTHERS = {
    "Partitioner": "microagg.partitions.base",
    "cut_path": "microagg.partitions.ordered",
}


def get(name: str) -> type[Estimator]:
    """Return the class of a registered method.

    >>> import microagg
    >>> microagg.partitions.get("mdav")(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0]]).tolist()
    [0, 1, 0, 1]
    """
    return find(name).cls


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return _CLASSES[name].cls
    if name in _OTHERS:
        from importlib import import_module

        return getattr(import_module(_OTHERS[name]), name)
    raise AttributeError(f"module 'microagg.partitions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_CLASSES, *_OTHERS, "get"])
