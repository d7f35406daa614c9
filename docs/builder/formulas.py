"""Formulas: blocks of LaTeX, fenced as `math`, become MathML, which browsers show by themselves.

Few systems have a font with what formulas need, so the site brings one along: STIX Two Math, which
comes with ziamath, cut down to the signs that formulas are made of.
"""

import logging
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from fontTools import subset
from latex2mathml.converter import convert

FONT = "stix-two-math.woff"
_LATIN, _GREEK = range(0x20, 0x100), range(0x370, 0x400)
_SIGNS = (*range(0x2000, 0x2070), *range(0x2190, 0x2400), *range(0x27E6, 0x27EC))
_ITALICS = range(0x1D400, 0x1D7D0)


def block(source: str, *_: object, **__: Any) -> str:
    """Return the formulas of a block, one to a line or to an environment of LaTeX."""
    lines = [source] if "\\begin" in source else source.strip().splitlines()
    formulas = "".join(convert(line.strip(), display="block") for line in lines if line.strip())
    return f'<div class="formula" tabindex="0">{formulas}</div>'


def write_font(folder: Path) -> None:
    """Write the font of formulas into a folder."""
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it reports every table
    options = subset.Options(flavor="woff", layout_features=["*"], notdef_outline=True)
    with as_file(files("ziamath.fonts") / "STIXTwoMath-Regular.ttf") as source:
        font = subset.load_font(str(source), options)
        signs = subset.Subsetter(options)
        signs.populate(unicodes=(*_LATIN, *_GREEK, *_SIGNS, *_ITALICS))
        signs.subset(font)
        subset.save_font(font, str(folder / FONT), options)
