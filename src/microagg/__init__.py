"""Microaggregation: tables safe to publish, with the least possible information loss.

The public names load on first use, so that `import microagg` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microagg import errors, orderings, partitions
    from microagg.bounds import lower_bound
    from microagg.core.registry import methods
    from microagg.doors.measure import measure
    from microagg.doors.verify import verify
    from microagg.measures.measured import Measures
    from microagg.measures.utility.information_loss import information_loss
    from microagg.partitions.ordered import cut_path
    from microagg.plans.manifest import Manifest
    from microagg.plans.plan import Plan
    from microagg.release.findings import Verification
    from microagg.release.protect import protect
    from microagg.release.protect_file import protect_file
    from microagg.release.release import Release
    from microagg.release.transformer import Microaggregator
    from microagg.scale.protect import protect_dataset
    from microagg.studies.compare import compare
    from microagg.studies.comparison import Comparison, risk_utility_map
    from microagg.studies.sweep import sweep

__version__ = "0.2.0"

_HOMES = {
    "Comparison": "microagg.studies.comparison",
    "Manifest": "microagg.plans.manifest",
    "Measures": "microagg.measures.measured",
    "Microaggregator": "microagg.release.transformer",
    "Plan": "microagg.plans.plan",
    "Release": "microagg.release.release",
    "Verification": "microagg.release.findings",
    "compare": "microagg.studies.compare",
    "cut_path": "microagg.partitions.ordered",
    "information_loss": "microagg.measures.utility.information_loss",
    "lower_bound": "microagg.bounds",
    "measure": "microagg.doors.measure",
    "methods": "microagg.core.registry",
    "protect": "microagg.release.protect",
    "protect_dataset": "microagg.scale.protect",
    "protect_file": "microagg.release.protect_file",
    "risk_utility_map": "microagg.studies.comparison",
    "sweep": "microagg.studies.sweep",
    "verify": "microagg.doors.verify",
}
_MODULES = {
    "errors": "microagg.errors",
    "orderings": "microagg.orderings",
    "partitions": "microagg.partitions",
}

__all__ = [
    "Comparison",
    "Manifest",
    "Measures",
    "Microaggregator",
    "Plan",
    "Release",
    "Verification",
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
    "protect_dataset",
    "protect_file",
    "risk_utility_map",
    "sweep",
    "verify",
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
