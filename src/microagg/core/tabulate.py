"""Results as tables: plain text for a terminal, HTML for a notebook."""

import re
import shutil
from collections.abc import Sequence
from html import escape
from io import StringIO

from microagg.core.words import printable

# Lines are at most this long, and fit the terminal unless it is very narrow.
_WIDEST, _NARROWEST = 100, 60
_NUMBER = re.compile(r"<?[-+\u2212]?[\d,]*\.?\d+(e[-+]?\d+)?( ?%)?")
# A line of dashes under the header, and no other lines.
_RULES = "    \n    \n -- \n    \n    \n    \n    \n    \n"

TableRows = Sequence[Sequence[str]]


def text_table(
    header: Sequence[str], rows: TableRows, *, title: str = "", width: int | None = None
) -> str:
    """Return aligned columns of plain text; long cells are wrapped.

    Columns of numbers are aligned to the right. An empty header is left out. `width` defaults to
    that of the terminal, at most 100.

    >>> print(text_table(["method", "loss"], [["mdav", "16.9 %"], ["auto", "9.5 %"]]))
    method    loss
    --------------
    mdav    16.9 %
    auto     9.5 %
    """
    header, rows = _printable(header, rows)
    lines = _lines(header, rows, [0] * _n_columns(header, rows), _aligns(header, rows), width)
    return "\n".join([*([title] if title else []), *lines])


def text_tables(tables: Sequence[tuple[Sequence[str], TableRows]]) -> list[str]:
    """Return several tables as `text_table` does, all with the same column widths.

    >>> one, two = text_tables([(["a"], [["1"]]), (["b"], [["100"]])])
    >>> one.splitlines()[-1], two.splitlines()[-1]
    ('  1', '100')
    """
    tables = [_printable(header, rows) for header, rows in tables]
    all_rows = [row for _, rows in tables for row in rows]
    headers = [header for header, _ in tables]
    widths = [max(map(len, column)) for column in zip(*headers, *all_rows, strict=True)]
    aligns = _aligns(headers[0], all_rows) if headers else []
    return ["\n".join(_lines(header, rows, widths, aligns, None)) for header, rows in tables]


def _printable(
    header: Sequence[str], rows: TableRows
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return a table in which nothing controls the terminal, and blanks after names are seen."""
    return [*map(printable, header)], [[printable(_ended(cell)) for cell in row] for row in rows]


def _ended(cell: str) -> str:
    bare = cell.rstrip(" ")
    return bare + "␣" * (len(cell) - len(bare))


def _lines(
    header: Sequence[str],
    rows: TableRows,
    widths: Sequence[int],
    aligns: Sequence[str],
    width: int | None,
) -> list[str]:
    """Return the lines of a table whose columns have at least these widths."""
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=Box(_RULES, ascii=True) if header else None,
        show_header=bool(header),
        show_edge=False,
        pad_edge=False,
        padding=(0, 2, 0, 0) if not header else (0, 1, 0, 0),
    )
    for name, least, align in zip(header or [""] * len(aligns), widths, aligns, strict=True):
        # Not min_width: to it, earlier versions of rich add the padding that the last column lacks.
        padded = name.rjust(least) if align == "right" else name.ljust(least)
        table.add_column(
            Text(padded),
            justify=align,  # type: ignore[arg-type]
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(
        file=StringIO(),
        width=text_width() if width is None else width,
        color_system=None,
        force_terminal=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]


def html_table(header: Sequence[str], rows: TableRows, *, title: str = "") -> str:
    """Return the same table in HTML, with every cell escaped.

    >>> html_table([], [["a<b"]])
    '<table><tbody><tr><td style="text-align: left">a&lt;b</td></tr></tbody></table>'
    """
    aligns = _aligns(header, rows)
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    head = f"<thead>{_html_row('th', header, aligns)}</thead>" if header else ""
    body = "".join(_html_row("td", row, aligns) for row in rows)
    return f"<table>{caption}{head}<tbody>{body}</tbody></table>"


def _html_row(tag: str, cells: Sequence[str], aligns: Sequence[str]) -> str:
    texts = (
        f'<{tag} style="text-align: {align}">{escape(cell)}</{tag}>'
        for cell, align in zip(cells, aligns, strict=False)
    )
    return f"<tr>{''.join(texts)}</tr>"


def _n_columns(header: Sequence[str], rows: TableRows) -> int:
    return max(len(header), max(map(len, rows), default=0))


def _aligns(header: Sequence[str], rows: TableRows) -> list[str]:
    places = range(_n_columns(header, rows))
    return ["right" if _is_numeric(rows, place) else "left" for place in places]


def _is_numeric(rows: TableRows, place: int) -> bool:
    """Whether a column contains only numbers and empty cells."""
    cells = [row[place] for row in rows if place < len(row) and row[place]]
    return bool(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)


def text_width() -> int:
    """Return the line length: the width of the terminal, from 60 to 100."""
    columns = shutil.get_terminal_size((_WIDEST, 24)).columns
    return max(_NARROWEST, min(columns, _WIDEST))
