"""The names of the bounds, apart so that a plan can list them without loading the rest."""

FAST, TIGHT = TIGHTNESS = ("fast", "tight")
AUTO, NONE = "auto", "none"
# How its progress is reported; an interrupt then keeps the best bound so far.
TIGHT_TASK = "tight bound"
BOUNDS = (AUTO, *TIGHTNESS, NONE)


def tight_task(sse: float, bound: float) -> str:
    """Name the task of a tight bound, with the bound so far and the gap between it and a partition.

    >>> tight_task(12.6, bound=12.0)
    'tight bound (SSE at least 12, gap 5.0 %)'
    """
    if not bound > 0.0:
        return TIGHT_TASK
    gap = max(0.0, 100.0 * (sse / bound - 1.0))
    return f"{TIGHT_TASK} (SSE at least {bound:.5g}, gap {gap:.1f} %)"
