"""The names of the bounds, apart so that a plan can list them without loading the rest."""

FAST, TIGHT = TIGHTNESS = ("fast", "tight")
AUTO, NONE = "auto", "none"
# How its progress is reported; an interrupt then keeps the best bound so far.
TIGHT_TASK = "tight bound"
BOUNDS = (AUTO, *TIGHTNESS, NONE)


def tight_task(sse: float, bound: float) -> str:
    """Name the task of a tight bound, with the gap so far between a partition and the bound.

    >>> tight_task(12.6, bound=12.0)
    'tight bound (gap 5.0 %)'
    """
    if not bound > 0.0:
        return TIGHT_TASK
    return f"{TIGHT_TASK} (gap {max(0.0, 100.0 * (sse / bound - 1.0)):.1f} %)"
