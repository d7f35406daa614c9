"""How far from optimal a partition can be: lower bounds on the SSE of every partition.

Loaded on first use, as a plan only names bounds.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microagg.bounds.lower import bound_on, gap, lower_bound, proves_optimal

__all__ = ["bound_on", "gap", "lower_bound", "proves_optimal"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from microagg.bounds import lower

        return getattr(lower, name)
    raise AttributeError(f"module 'microagg.bounds' has no attribute {name!r}")
