"""Results as tables: plain text for a terminal, HTML for a notebook."""

import re
import shutil
from collections.abc import Sequence
from html import escape
from io import StringIO

# Lines are at most this long, and fit the terminal unless it is very narrow.
_WIDEST, _NARROWEST = 100, 60
_NUMBER = re.compile(r"[-+\u2212]?[\d,]*\.?\d+(e[-+]?\d+)?( ?%)?")
# A line of dashes under the header, and no other lines.
_RULES = "    \n    \n -- \n    \n    \n    \n    \n    \n"

Rows = Sequence[Sequence[str]]


def text_table(
    header: Sequence[str], rows: Rows, *, title: str = "", width: int | None = None
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
    for place, name in enumerate(header or [""] * max(map(len, rows), default=0)):
        align = "right" if _is_numeric(rows, place) else "left"
        table.add_column(Text(name), justify=align, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(
        file=StringIO(),
        width=_terminal_width() if width is None else width,
        color_system=None,
        force_terminal=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(table)
    lines = [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]
    return "\n".join([*([title] if title else []), *lines])


def html_table(header: Sequence[str], rows: Rows, *, title: str = "") -> str:
    """Return the same table in HTML, with every cell escaped.

    >>> html_table([], [["a<b"]])
    '<table><tbody><tr><td style="text-align: left">a&lt;b</td></tr></tbody></table>'
    """
    aligns = [
        "right" if _is_numeric(rows, place) else "left"
        for place in range(max(len(header), max(map(len, rows), default=0)))
    ]
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


def _is_numeric(rows: Rows, place: int) -> bool:
    """Whether a column contains numbers and empty cells only."""
    cells = [row[place] for row in rows if place < len(row) and row[place]]
    return bool(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)


def _terminal_width() -> int:
    columns = shutil.get_terminal_size((_WIDEST, 24)).columns
    return max(_NARROWEST, min(columns, _WIDEST))
