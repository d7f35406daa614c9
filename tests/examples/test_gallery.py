"""Every example of the gallery runs without a screen and draws one figure."""

import ast
import warnings

import pytest
from matplotlib import pyplot as plt

from docs.builder import figures, gallery
from docs.builder.alternatives import ALTERNATIVES
from docs.builder.errors import BuildError
from microagg.core.errors import PrivacyWarning

PATHS = list(gallery.examples())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_title_text_and_seed(path):
    example = gallery.Example.of(path)
    assert len(example.title) < 50
    assert len(example.text.split()) > 25
    assert "rng(" in path.read_text() or "random_state=" in path.read_text()


def test_every_figure_is_described_in_a_sentence_of_its_own():
    assert ALTERNATIVES.keys() == {path.stem.removeprefix("plot_") for path in PATHS}
    for path in PATHS:
        seen = ALTERNATIVES[path.stem.removeprefix("plot_")]
        assert seen[0].isupper()
        assert seen.endswith(".")
        assert len(seen.split()) > 12
        assert seen[:40] not in " ".join(gallery.Example.of(path).text.split())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_only_public_names_are_used(path):
    imported = {
        name
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [node.module]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        if name.startswith("microagg")
    }
    assert imported
    assert imported <= {"microagg", "microagg.partitions", "microagg.fuzzy"}


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_example_draws_a_figure_without_warnings(path):
    with warnings.catch_warnings(), figures.styled():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyWarning)
        said = gallery.run(gallery.Example.of(path), path)
        figure = plt.figure(plt.get_fignums()[0])
        assert len(said) == len(gallery.Example.of(path).cells)
        axes = figure.get_axes()
        assert any(panel.has_data() for panel in axes)
        assert figure.get_suptitle() or any(
            panel.get_xlabel() or panel.get_title(loc="left") for panel in axes
        )


def test_pieces_are_the_code_of_the_script():
    for path in PATHS:
        example = gallery.Example.of(path)
        lines = path.read_text().splitlines()
        for cell in example.cells:
            assert cell.code.splitlines()[0] == lines[cell.line - 1]
        code = [line for line in lines if not line.startswith("#") and line.strip()]
        shown = "\n".join(cell.code for cell in example.cells).splitlines()
        assert code[-3:] == [line for line in shown if line.strip()][-3:]


def test_a_page_has_text_code_and_what_is_printed(tmp_path):
    path = tmp_path / "plot_x.py"
    path.write_text(
        '"""A title\n\nOne sentence. Another."""\n\nimport matplotlib.pyplot as plt\n\n'
        "# %%\n# Why this\n# is done.\nprint(6 * 7)\n\n# %%\nplt.plot([1, 2])\nplt.show()\n"
    )
    example = gallery.Example.of(path)
    assert (example.name, example.title) == ("x", "A title")
    assert [cell.text for cell in example.cells] == ["", "Why this is done.", ""]
    with figures.styled():
        assert gallery.run(example, path) == ["", "42", ""]


def test_an_example_without_a_figure_is_refused(tmp_path):
    path = tmp_path / "plot_none.py"
    path.write_text('"""A title\n\nA text."""\nx = 1\n')
    with figures.styled(), pytest.raises(BuildError, match=r"must draw one figure; it draws 0"):
        gallery.run(gallery.Example.of(path), path)


def test_an_example_without_a_text_is_refused(tmp_path):
    path = tmp_path / "plot_none.py"
    path.write_text('"""A title"""\nx = 1\n')
    with pytest.raises(BuildError, match="needs a docstring"):
        gallery.Example.of(path)
