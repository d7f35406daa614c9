"""The drawings on the pages of methods: docs/drawings has a function for each."""

import shutil
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from docs.builder import figures
from docs.drawings import dense_first, from_outside, improving, paths, special, trees

# By the name of the page, which shows drawings/NAME.svg.
DRAWINGS: dict[str, Callable[[], Figure]] = {
    "auto": improving.auto,
    "dba": dense_first.dba,
    "fixed-size": from_outside.fixed_size,
    "fuzzy": special.fuzzy,
    "gsms": dense_first.gsms,
    "hac": trees.hac,
    "icsm": improving.icsm,
    "igd": improving.igd,
    "kmeans": improving.kmeans,
    "mdav": from_outside.mdav,
    "mst": trees.mst,
    "mu-approx": trees.mu_approx,
    "ordered": paths.ordered,
    "reporder": paths.reporder,
    "tclose": special.tclose,
    "tfrp": from_outside.tfrp,
    "univariate": paths.univariate,
    "v-mdav": from_outside.v_mdav,
}
_SOURCES = figures.ROOT / "docs" / "drawings"


def write(folder: Path) -> None:
    """Write all drawings into a folder, as NAME.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in DRAWINGS.items():
        made = figures.cached(f"drawing-{name}", sorted(_SOURCES.glob("*.py")), _saver(draw))
        shutil.copy(made / "figure.svg", folder / f"{name}.svg")


def _saver(draw: Callable[[], Figure]) -> Callable[[Path], None]:
    def save(folder: Path) -> None:
        with figures.styled():
            figures.save(draw(), folder / "figure.svg")

    return save
