"""Whatever table comes in, whatever is asked: what comes out keeps every promise, or nothing does.

MICROAGG_CASES is the number of tables, of all kinds together.
"""

import os
import tempfile
import warnings
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize("backend", BACKENDS)
@given(data=st.data())
@few_or_many
def test_every_table_is_released_as_promised_or_refused(backend, data):
    check_case(data.draw(cases(backend), label="case"))


def check_case(case):
    table = case.table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            release = protect(table, **case.arguments())
        except MicroaggError as error:
            check_quiet(str(error))
            if "defect" in str(error) or "unknown type" in str(error):
                raise
            event(f"refused: {str(error)[:40]}")
            return
    event(f"released by {case.request['method']}")
    check_release(case, table, release)
    with tempfile.TemporaryDirectory() as folder:
        check_saved(case, release, Path(folder))


def check_saved(case, release, folder):
    path = folder / "out.csv"
    try:
        release.save(path)
    except MicroaggError as error:
        check_quiet(str(error))
        event(f"not saved: {str(error)[:40]}")
        assert not list(folder.iterdir())
        return
    check_file(case, release, path)
    check_read_back(case, path)
    if case.backend == "polars":
        release.save(folder / "whole.parquet")
        assert pl.read_parquet(folder / "whole.parquet").equals(release.table)


def check_read_back(case, path):
    """The package reads its own files, and finds what it promised."""
    try:
        file = open_table(str(path), dialect=Dialect(delimiter=",", decimal="."))
    except MicroaggError as error:  # names that a file must not have
        if not any(part in str(error) for part in UNREADABLE):
            raise
        return
    table = file.table(as_text=file.columns)
    for shown in shown_of(case):
        texts = table.select(pl.nth([table.columns.index(name) for name in shown]))
        assert texts.group_by(pl.all()).len(name="n of all")["n of all"].min() >= case.request["k"]
