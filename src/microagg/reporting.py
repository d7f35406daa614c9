"""Release -> reports: measured, put in words, and rendered."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from microagg.errors import ParameterError
from microagg.measuring import measure_risk, measure_utility
from microagg.readings import risk_notes, risk_rows, utility_rows
from microagg.registry import find
from microagg.report.page import Subject, render
from microagg.tables.pairs import Pair


def pages(
    pair: Callable[[], Pair],
    manifest: Mapping[str, Any],
    wanted: Mapping[Path, bool],
    *,
    title: str | None,
    target: str | None,
    seed: int,
) -> dict[Path, str]:
    """Return the text of each wanted report; the values say which are for publishing."""
    for path in wanted:
        if path.suffix.lower() not in (".html", ".htm"):
            raise ParameterError(
                f"a report is an HTML page and ends with .html; got {str(path)!r}."
            )
    records = pair()
    risk = measure_risk(records, seed=seed, is_drawn=find(manifest["method"]).draws)
    utility = measure_utility(records, target=target, seed=seed)
    rows = tuple(risk_rows(risk)), tuple(utility_rows(utility))
    notes = tuple(risk_notes(risk))
    return {
        path: render(Subject(records, manifest, *rows, notes=notes, name=title, public=is_public))
        for path, is_public in wanted.items()
    }
