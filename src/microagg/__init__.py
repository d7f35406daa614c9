"""Microaggregation: tables safe to publish, with the least possible information loss.

The public names load on first use, so that `import microagg` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microagg import orderings, partitions
    from microagg.bounds import lower_bound
    from microagg.core import errors
    from microagg.core.registry import methods
    from microagg.measures.measure import Measures, measure
    from microagg.measures.utility.information_loss import information_loss
    from microagg.partitions.ordered import cut_path
    from microagg.plans.plan import Plan
    from microagg.release.protect import Release, protect, protect_as_planned
    from microagg.studies.compare import compare, risk_utility_map
    from microagg.studies.sweep import sweep

__version__ = "0.1.0"

_HOMES = {
    "Measures": "microagg.measures.measure",
    "Plan": "microagg.plans.plan",
    "Release": "microagg.release.protect",
    "compare": "microagg.studies.compare",
    "cut_path": "microagg.partitions.ordered",
    "information_loss": "microagg.measures.utility.information_loss",
    "lower_bound": "microagg.bounds",
    "measure": "microagg.measures.measure",
    "methods": "microagg.core.registry",
    "protect": "microagg.release.protect",
    "protect_as_planned": "microagg.release.protect",
    "risk_utility_map": "microagg.studies.compare",
    "sweep": "microagg.studies.sweep",
}
_MODULES = {
    "errors": "microagg.core.errors",
    "orderings": "microagg.orderings",
    "partitions": "microagg.partitions",
}

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
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'microagg' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
