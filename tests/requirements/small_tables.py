"""Small random tables for judges, with the values behind every combination as plain lists."""

import math
from collections import defaultdict

import numpy as np
import polars as pl

from microagg.requirements.base import Evidence

KINDS = ("whole", "numbers", "text", "written", "categories", "days")


def column_of(kind, rng, n):
    """A column with ties and missing values as it is stored, and its values; None is missing."""
    ranks = rng.integers(rng.integers(1, 7), size=n).tolist()
    gone = (rng.random(n) < rng.choice([0.0, 0.3])).tolist()
    plain = [None if is_gone else rank for rank, is_gone in zip(ranks, gone, strict=True)]
    shown = [0 if value is None else value for value in plain]
    stored = {
        "whole": pl.Series(plain, dtype=pl.Int32),
        "numbers": pl.Series(
            [(math.nan if at % 2 else None) if v is None else v / 4 for at, v in enumerate(plain)],
            dtype=pl.Float64,
        ),
        "text": pl.Series(
            [
                ("" if at % 2 else None) if v is None else "abcdefg"[v] + " " * (at % 2)
                for at, v in enumerate(plain)
            ],
            dtype=pl.String,
        ),
        # Numbers of a text file with decimal commas: 10,5 comes before 9,5 as text only.
        "written": pl.Series(
            [
                "" if gone[at] else (f"{v + 7},50" if at % 3 else f" {v + 7},5")
                for at, v in enumerate(shown)
            ],
            dtype=pl.String,
        ),
        "categories": pl.Series(
            [None if v is None else "gfedcba"[v] for v in plain], dtype=pl.Categorical
        ),
        "days": pl.Series(plain, dtype=pl.Int32).cast(pl.Date),
    }[kind]
    return stored, plain


def has_order(kind):
    return kind not in ("text", "categories")


def evidence_of(seed, **columns):
    """Evidence with these columns of 2 to 25 records, and the rows behind every combination."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 26))
    shown = {name: rng.integers(3, size=n) for name in ("^a$", "b")}
    groups = defaultdict(list)
    for at, combination in enumerate(zip(*(own.tolist() for own in shown.values()), strict=True)):
        groups[combination].append(at)
    made = {name: column_of(kind, rng, n) for name, kind in columns.items()}
    stored = {name: own[0] for name, own in made.items()}
    plain = {name: own[1] for name, own in made.items()}
    table = pl.DataFrame({**shown, **stored})
    evidence = Evidence(table, tuple(shown), pl.DataFrame(stored), ",")
    return evidence, list(groups.values()), plain


def picked(values, rows):
    return [values[at] for at in rows]


def check_finding(found, figures, groups, limit, *, most):
    """A finding says what the figures of all groups do."""
    margin = 1e-9 * max(1.0, limit)
    fails = [f > limit + margin if most else f < limit - margin for f in figures]
    assert found.worst == (max(figures) if most else min(figures)) or math.isclose(
        found.worst, max(figures) if most else min(figures), abs_tol=1e-12, rel_tol=1e-12
    )
    assert found.n_failing == sum(fails)
    assert found.n_combinations == len(groups)
    assert found.records_failing == sum(
        len(rows) for rows, is_failing in zip(groups, fails, strict=True) if is_failing
    )
    assert found.satisfied is (not any(fails))
