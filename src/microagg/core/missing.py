"""Texts that stand for a missing value among numbers or dates."""

_USUAL = ("NA", "N/A", "NaN", "null", ".", "-", "?", "#N/A", "#NULL!")
# As written above, in capitals or in small letters. In text that is neither numbers nor dates, they
# may be values: NA is also a country.
MARKERS = tuple(
    dict.fromkeys(form for text in _USUAL for form in (text, text.upper(), text.lower()))
)
