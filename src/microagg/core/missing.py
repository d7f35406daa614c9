"""Texts that stand for a missing value among numbers or dates."""

# In text that is neither, they may be values: NA is also a country.
MARKERS = ("NA", "N/A", "NaN", "null", ".", "-", "?", "#N/A", "#NULL!")
