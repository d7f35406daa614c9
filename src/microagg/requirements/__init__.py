"""What every released combination must satisfy: one requirement per file.

`GroupRule` is a requirement on arrays, as the methods take it: `fit(X, requirements=[...])`.
"""

from typing import Any

__all__ = ["GroupRule"]


def __getattr__(name: str) -> Any:
    """Load what the methods need only when asked for: plans have requirements, and load quickly."""
    if name != "GroupRule":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from microagg.requirements.coded import GroupRule

    return GroupRule
