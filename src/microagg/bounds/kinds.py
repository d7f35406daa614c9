"""The kinds of bounds, by name."""

FAST, TIGHT = "fast", "tight"
TIGHTNESS = (FAST, TIGHT)
# What a release can be asked for: one of them, whichever is cheap, or none.
AUTO, NONE = "auto", "none"
BOUNDS = (AUTO, *TIGHTNESS, NONE)
