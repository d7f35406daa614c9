"""Figures: how they look, how they are saved, and which need not be drawn again."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[2]
STYLE = ROOT / "examples" / "gallery.mplstyle"
_CACHE = ROOT / "build" / "figures"
_PACKAGE = ROOT / "src" / "microagg"


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of the gallery, without a screen; figures are closed in the end."""
    matplotlib.use("svg")
    show = plt.show
    plt.show = lambda *_, **__: None
    try:
        with plt.style.context(STYLE, after_reset=True):
            yield
    finally:
        plt.show = show
        plt.close("all")


def save(figure: Figure, path: Path) -> None:
    """Save a figure as SVG, with the same bytes every time."""
    figure.savefig(path, format="svg", metadata={"Date": None})


def cached(name: str, files: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """Return the folder that `make` fills; it is called if a file or the package has changed."""
    digest = hashlib.sha256()
    for file in (STYLE, Path(__file__), *files, *sorted(_PACKAGE.rglob("*.py"))):
        digest.update(file.read_bytes())
    folder = _CACHE / f"{name}-{digest.hexdigest()[:12]}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        (folder / "done").touch()
    return folder
