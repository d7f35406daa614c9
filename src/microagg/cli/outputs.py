"""Checks of what a command writes beside a release, before any long work."""

from pathlib import Path

from microagg.core.errors import ParameterError
from microagg.files.atomic import check_target
from microagg.files.formats import STANDARD
from microagg.release.saving import check_output, input_of


def check_no_json(target: str, *, json: bool) -> None:
    """Refuse a table and a JSON object that both go to standard output."""
    if target == STANDARD and json:
        raise ParameterError(
            "--json and the table cannot both go to standard output. Name a file with -o."
        )


def check_figures_file(target: str, source: str, *, json: bool, force: bool) -> None:
    """Refuse a file of figures that cannot or must not be written."""
    check_output(target, source, force=force)
    check_no_json(target, json=json)


def check_text_output(target: str, source: str, *, force: bool) -> None:
    """Refuse a text file that cannot or must not be written."""
    check_target(Path(target), force=force, source=input_of(source))


def check_svg(path: str, source: str, *, force: bool) -> None:
    """Refuse a drawing that cannot or must not be written."""
    if not path.lower().endswith(".svg"):
        raise ParameterError(f"a figure is an SVG file and ends with .svg; got {path!r}.")
    check_text_output(path, source, force=force)
