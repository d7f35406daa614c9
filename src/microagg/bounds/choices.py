"""The names of the bounds, apart so that a plan can list them without loading the rest."""

TIGHTNESS = ("fast", "tight")
AUTO, NONE = "auto", "none"
# How its progress is reported; an interrupt then keeps the best bound so far.
TIGHT_TASK = "tight bound"
BOUNDS = (AUTO, *TIGHTNESS, NONE)
