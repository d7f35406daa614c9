"""The drawings on the pages of methods and of benchmarks: docs/drawings has a function for each."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from docs.builder import figures, tables
from docs.drawings import dense_first, from_outside, improving, of_benchmarks, paths, special, trees

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
BENCHMARKS = figures.ROOT / "docs" / "benchmarks.md"


def write(pages: Path) -> None:
    """Write all drawings where the pages look for them."""
    for name, draw in DRAWINGS.items():
        _write(f"drawing-{name}", draw, pages / "methods" / "drawings" / f"{name}.svg")
    for name in of_benchmarks.PLOTS:
        target = pages / "drawings" / f"benchmarks-{name}.svg"
        read = (BENCHMARKS, Path(tables.__file__))
        _write(f"benchmarks-{name}", partial(plot, name), target, *read)


def plot(name: str) -> Figure:
    """Draw one of the plots of benchmarks, from the figures on their page."""
    text = BENCHMARKS.read_text("utf-8")
    return of_benchmarks.PLOTS[name](tables.tables(text), text)


def _write(name: str, draw: Callable[[], Figure], target: Path, *sources: Path) -> None:
    def save(folder: Path) -> None:
        with figures.styled():
            figures.save(draw(), folder / "figure.svg")

    made = figures.cached(name, [*sorted(_SOURCES.glob("*.py")), *sources], save)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(made / "figure.svg", target)
