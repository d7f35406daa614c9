"""Microaggregation: tables safe to publish, with the least possible information loss.

The public names load on first use, so that `import microagg` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microagg import errors, orderings, partitions
    from microagg.bounds import lower_bound
    from microagg.comparison import compare, risk_utility_map
    from microagg.measuring import Measures, measure
    from microagg.partitions.ordered import cut_path
    from microagg.registry import methods
    from microagg.release import Release, protect, protect_as_planned
    from microagg.sweeping import sweep
    from microagg.tables.plan import Plan
    from microagg.utility.information_loss import information_loss

__version__ = "0.1.0"

_HOMES = {
    "Measures": "microagg.measuring",
    "Plan": "microagg.tables.plan",
    "Release": "microagg.release",
    "compare": "microagg.comparison",
    "cut_path": "microagg.partitions.ordered",
    "information_loss": "microagg.utility.information_loss",
    "lower_bound": "microagg.bounds",
    "measure": "microagg.measuring",
    "methods": "microagg.registry",
    "protect": "microagg.release",
    "protect_as_planned": "microagg.release",
    "risk_utility_map": "microagg.comparison",
    "sweep": "microagg.sweeping",
}
_ROOMS = ("errors", "orderings", "partitions")

__all__ = [
    "Measures",
    "Plan",
    "Release",
    "__version__",
    "compare",
    "cut_path",
    "errors",
    "information_loss",
    "lower_bound",
    "measure",
    "methods",
    "orderings",
    "partitions",
    "protect",
    "protect_as_planned",
    "risk_utility_map",
    "sweep",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = import_module(f"microagg.{name}")
    else:
        raise AttributeError(f"module 'microagg' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
