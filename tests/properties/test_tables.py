"""Whatever table comes in, whatever is asked: what comes out keeps every promise, or nothing does.

MICROAGG_CASES is the number of tables, of all kinds together.
"""

import os
import re
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from microagg import protect
from microagg.core.errors import MicroaggError, PrivacyWarning
from microagg.files.dialect import Dialect
from microagg.files.formats import open_table
from tests.properties.slow_checks import check_file, check_quiet, check_release
from tests.properties.whole_tables import BACKENDS, cases, shown_of

N_CASES = int(os.environ.get("MICROAGG_CASES", "2000"))

# Names without a sign, names that are numbers, and the character 0 are written, but not read.
UNREADABLE = ("has no name", "numbers only", "is empty", "binary, not text")

few_or_many = settings(
    max_examples=max(1, N_CASES // len(BACKENDS)),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

REFUSED, NOT_SAVED, NOT_READ, CHECKED = "refused", "not saved", "not read back", "checked whole"
REFUSED_AT_MOST = 0.3  # of all tables
CHECKED_AT_LEAST = 0.5
FEW = 100  # so few tables say nothing about shares


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_table_is_released_as_promised_or_refused(backend):
    ends, reasons = Counter(), Counter()

    @given(case=cases(backend))
    @few_or_many
    def check(case):
        end, reason = end_of(case)
        ends[end] += 1
        reasons[reason] += end == REFUSED

    check()
    check_shares(ends, reasons)


def check_shares(ends, reasons):
    """Fail if most tables never get as far as the checks: they would test refusals alone."""
    total = ends.total()
    if total < FEW:
        return
    shares = ", ".join(f"{count / total:.0%} {end}" for end, count in ends.most_common())
    message = (
        f"of {total} tables, {shares}; at most {REFUSED_AT_MOST:.0%} may be refused, and at least "
        f"{CHECKED_AT_LEAST:.0%} must be checked whole. Make whole_tables.py ask for what protect "
        f"grants. Most frequent refusals: {reasons.most_common(5)}."
    )
    assert ends[REFUSED] <= REFUSED_AT_MOST * total, message
    assert ends[CHECKED] >= CHECKED_AT_LEAST * total, message


def end_of(case):
    """Return how far a table got, and why it was refused, if it was."""
    table = case.table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            release = protect(table, **case.arguments())
        except MicroaggError as error:
            check_quiet(str(error))
            if "bug in" in str(error) or "unknown type" in str(error):
                raise
            return REFUSED, re.sub(r"['`].*['`]|\d+", "...", str(error), flags=re.DOTALL)[:60]
    check_release(case, table, release)
    with tempfile.TemporaryDirectory() as folder:
        return check_saved(case, release, Path(folder)), ""


def check_saved(case, release, folder):
    path = folder / "out.csv"
    try:
        release.save(path)
    except MicroaggError as error:
        check_quiet(str(error))
        assert not list(folder.iterdir())
        return NOT_SAVED
    check_file(case, release, path)
    if case.backend == "polars":
        release.save(folder / "whole.parquet")
        assert pl.read_parquet(folder / "whole.parquet").equals(release.table)
    return check_read_back(case, path)


def check_read_back(case, path):
    """The package reads its own files, and finds what it promised."""
    try:
        file = open_table(str(path), dialect=Dialect(delimiter=",", decimal="."))
    except MicroaggError as error:  # names that a file must not have
        if not any(part in str(error) for part in UNREADABLE):
            raise
        return NOT_READ
    table = file.table(as_text=file.columns)
    for shown in shown_of(case):
        texts = zip(*(table.get_column(name) for name in shown))
        assert min(Counter(texts).values()) >= case.request["k"]
    return CHECKED
