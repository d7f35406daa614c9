"""Paths of a request, checked before anything is read or computed."""

from pathlib import Path

from microagg.core.errors import ParameterError

STANDARD_DESCRIPTOR = 0


def check_source(source: str) -> None:
    """Refuse an input that cannot be a table."""
    from microagg.files.formats import STANDARD, format_of
    from microagg.files.reading import check_readable

    format_of(source)
    if source != STANDARD:
        check_readable(Path(source))


def origin_of(source: str) -> Path | int:
    """Return what must not be overwritten: the input, by its path or as what is open."""
    from microagg.files.formats import STANDARD

    return STANDARD_DESCRIPTOR if source == STANDARD else Path(source)


def check_page_or_figure(path: str, source: str, *, suffix: str, force: bool) -> None:
    """Refuse a page or a figure that cannot or must not be written."""
    from microagg.files.atomic import check_target

    if not path.lower().endswith(suffix):
        kind = "report is an HTML page" if suffix == ".html" else "figure is an SVG file"
        raise ParameterError(f"a {kind} and ends with {suffix}; got {path!r}.")
    check_target(Path(path), force=force, source=origin_of(source))


def check_output(target: str, source: str, *, json: bool, force: bool) -> None:
    """Refuse an output that cannot or must not be written."""
    from microagg.files.atomic import check_target
    from microagg.files.formats import STANDARD, format_of

    format_of(target)
    if target != STANDARD:
        check_target(Path(target), force=force, source=origin_of(source))
    elif json:
        raise ParameterError(
            "--json and the table cannot both go to standard output. Name a file with -o."
        )
