"""The gallery: every examples/plot_*.py is a page, with the figure that it draws.

The docstring of an example has its title and its text; lines `# %%` divide its code, and comments
after them are text, too. It runs alone, `python examples/plot_x.py`, and shows its figure where
there is a screen; here it is saved, with what the example prints.
"""

import ast
import io
import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from matplotlib import pyplot as plt

from docs.builder import figures
from docs.builder.alternatives import ALTERNATIVES
from docs.builder.errors import BuildError

EXAMPLES = figures.ROOT / "examples"
# The order of the gallery; every example is in one of its parts.
PARTS = {
    "Ideas": (
        *("idea", "linkage", "sweep", "risk_utility", "twice"),
        *("scales", "blocks", "hybrid"),
    ),
    "Methods": (
        *("mdav", "univariate", "path", "local_search", "regions", "fuzzy"),
        *("constraints", "bounds", "methods"),
    ),
    "Requirements": ("units", "l_diversity", "t_closeness", "dominance"),
    "Whole jobs": (
        *("release", "totals", "dates", "missing", "margins", "strata", "weights"),
        *("pipeline", "dataset"),
    ),
}


class Cell(NamedTuple):
    """A piece of an example: its text, its code, and the line where that begins."""

    text: str
    code: str
    line: int


class Example(NamedTuple):
    """A script of the gallery: its name, what its docstring says, and its code in pieces."""

    name: str
    title: str
    text: str
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, path: Path) -> "Example":
        """Read an example; its docstring must have a title and a text."""
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        title, _, text = (ast.get_docstring(tree) or "").partition("\n\n")
        if not (title and text):
            raise BuildError(f"{path.name} needs a docstring: a title, an empty line, and a text")
        cells = tuple(_cells(source, tree.body[0].end_lineno))
        name = path.stem.removeprefix("plot_").replace("_", "-")
        return cls(name, " ".join(title.split()).rstrip("."), text, cells)


def examples() -> Iterator[Path]:
    """Return the scripts of the gallery in its order."""
    listed = [EXAMPLES / f"plot_{name}.py" for names in PARTS.values() for name in names]
    if strange := set(listed) ^ set(EXAMPLES.glob("plot_*.py")):
        names = ", ".join(sorted(path.name for path in strange))
        raise BuildError(f"PARTS in {Path(__file__).name} and examples/ differ: {names}")
    return iter(listed)


def write(folder: Path) -> None:
    """Write the index of the gallery and a page for each example, with its figure."""
    folder.mkdir(exist_ok=True)
    for path in examples():
        example = Example.of(path)
        made = draw(path)
        shutil.copy(made / "figure.svg", folder / f"{example.name}.svg")
        shutil.copy(made / "thumbnail.png", folder / f"{example.name}.png")
        shutil.copy(path, folder)
        said = json.loads((made / "printed.json").read_text("utf-8"))
        (folder / f"{example.name}.md").write_text(_page(example, path, said), "utf-8")
    (folder / "index.md").write_text(_index(), "utf-8")


def draw(path: Path) -> Path:
    """Run an example, unless it and the package are as they were; return the folder it filled."""

    def make(folder: Path) -> None:
        with figures.styled():
            said = run(Example.of(path), path)
            figure = plt.figure(plt.get_fignums()[0])
            figures.save(figure, folder / "figure.svg")
            figure.savefig(folder / "thumbnail.png", dpi=60)
        (folder / "printed.json").write_text(json.dumps(said), "utf-8")

    return figures.cached(path.stem, [path], make)


def run(example: Example, path: Path) -> list[str]:
    """Run the code of an example; return what each piece prints, and leave one figure open."""
    names: dict[str, object] = {"__name__": "__main__", "__file__": str(path)}
    said = []
    for cell in example.cells:
        code = compile("\n" * (cell.line - 1) + cell.code, str(path), "exec")
        with redirect_stdout(io.StringIO()) as out:
            exec(code, names)
        said.append(out.getvalue().rstrip())
    if (found := len(plt.get_fignums())) != 1:
        raise BuildError(f"{path.name} must draw one figure; it draws {found}")
    return said


def _cells(source: str, first: int) -> Iterator[Cell]:
    lines = source.splitlines()
    starts = [first, *(at for at, line in enumerate(lines) if line == "# %%"), len(lines)]
    for start, end in pairwise(starts):
        at = start + (lines[start] == "# %%")
        text = []
        while start > first and lines[at].startswith("# "):
            text.append(lines[at].removeprefix("# "))
            at += 1
        code = "\n".join(lines[at:end]).rstrip()
        before = len(code) - len(code.lstrip("\n"))
        if code.strip():
            yield Cell(" ".join(text), code.strip("\n"), at + 1 + before)


def _page(example: Example, path: Path, said: list[str]) -> str:
    parts = [
        f"# {example.title}\n\n{example.text}\n",
        f"![{ALTERNATIVES[path.stem.removeprefix('plot_')]}]({example.name}.svg)\n",
    ]
    for cell, printed in zip(example.cells, said, strict=True):
        parts += [f"{cell.text}\n"] * bool(cell.text)
        parts.append(f"```python\n{cell.code}\n```\n")
        parts += [f"```text\n{printed}\n```\n"] * bool(printed)
    parts.append(f"The script: [{path.name}]({path.name}). It runs alone and shows the figure.\n")
    return "\n".join(parts)


def _index() -> str:
    parts = [
        "# Gallery\n",
        "Each picture is drawn by a short script that you can copy, run and change. Some need "
        "pandas or pyarrow: `pip install '.[datasets]' pandas` installs what all of them need.\n",
    ]
    of_name = {path.stem.removeprefix("plot_"): Example.of(path) for path in examples()}
    for part, names in PARTS.items():
        parts.append(f'## {part}\n\n<div class="gallery" markdown>\n')
        parts += [_card(of_name[name]) for name in names]
        parts.append("</div>\n")
    return "\n".join(parts)


def _card(example: Example) -> str:
    link = f"{example.name}.md"
    # The title below says what it is; a reader who cannot see the picture need not hear it twice.
    return f"[![Figure: {example.title}]({example.name}.png)]({link})\n[{example.title}]({link})\n"
