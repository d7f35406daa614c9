"""The names of the bounds, apart so that a plan can list them without loading the rest."""

TIGHTNESS = ("fast", "tight")
AUTO, NONE = "auto", "none"
BOUNDS = (AUTO, *TIGHTNESS, NONE)
