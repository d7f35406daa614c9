"""What every writer shares, and small writers for text and JSON files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.core.errors import ParameterError
from microagg.core.words import without_controls
from microagg.files.atomic import Writer

if TYPE_CHECKING:  # the command line lists formats without loading polars
    from microagg.files.annotations import Annotations
    from microagg.files.dialect import Dialect


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a table is to be written; each format uses what applies to it.

    The path handed to a writer is a temporary one, so `suffix` names the variant of the format.
    `escape_formulas` is for formats in which a spreadsheet may take text for a formula.
    """

    suffix: str
    dialect: "Dialect | None" = None
    annotations: "Annotations | None" = None
    sheet: str | None = None
    escape_formulas: bool = False


def check_html_name(path: str | Path) -> None:
    """Refuse a report that is not named as an HTML page."""
    if not str(path).lower().endswith(".html"):
        raise ParameterError(f"a report is an HTML page and ends with .html; got {str(path)!r}.")


def text_writer(text: str) -> Writer:
    """Return a writer of the text, in UTF-8."""

    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write


def json_writer(facts: Mapping[str, Any]) -> Writer:
    """Return a writer of the facts as JSON, with the values they have when it is called."""

    def write(path: Path) -> None:
        text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
        path.write_text(f"{without_controls(text)}\n", encoding="utf-8")

    return write
