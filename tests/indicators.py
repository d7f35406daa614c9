"""The space of comparison written out: an axis of 0 and 1 for every category."""

from typing import Any

import numpy as np

from microagg.tables.pairs import Pair


def coordinates(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return the records before and after as matrices, in units of the original's deviations."""
    sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for column in pair.columns.values():
        if column.is_scaled:
            for side, axes in zip(sides, (column.before_axes(), column.after_axes()), strict=True):
                side.extend(axes)
            continue
        before, after = _written(column.before), _written(column.after)
        every = sorted({*before, *after})
        X, Z = (np.array([[own == c for c in every] for own in o], float) for o in (before, after))
        unit = np.sqrt(X.var(axis=0, ddof=1).sum()) if len(X) > 1 else 0.0
        for side, indicators in zip(sides, (X, Z), strict=True):
            side.extend((indicators / unit if unit else 0.0 * indicators).T)
    return np.column_stack(sides[0]), np.column_stack(sides[1])


def _written(values: Any) -> list[str]:
    missing = np.zeros(len(values.numbers), bool) if values.missing is None else values.missing
    return ["" if out else str(code) for code, out in zip(values.numbers, missing, strict=True)]
