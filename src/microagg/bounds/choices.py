"""The bounds that can be asked for; a plan lists them without loading the rest."""

TIGHTNESS = ("fast", "tight")
AUTO, NONE = "auto", "none"
BOUNDS = (AUTO, *TIGHTNESS, NONE)
