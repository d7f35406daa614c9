"""Constraints that most records violate are warned about, before anything is grouped."""

import warnings

import numpy as np
import polars as pl
import pytest

import microagg
from microagg.core.errors import ConstraintWarning

N = 60
RNG = np.random.default_rng(1)
NET, TAX = RNG.integers(100, 900, N), RNG.integers(10, 90, N)
TABLE = pl.DataFrame({"net": NET, "tax": TAX, "gross": NET + TAX})
WRONG = "gross + tax = net"
SAID = rf"'gross \+ tax = net' is violated by {N} of {N} records \(100 %\)"


def test_protect():
    with pytest.warns(ConstraintWarning, match=SAID):
        microagg.protect(TABLE, 3, method="mdav", constraints=[WRONG])


def test_protect_file(tmp_path):
    TABLE.write_csv(tmp_path / "t.csv")
    plan = microagg.Plan.of(k=3, method="mdav", constraints=[WRONG])
    with pytest.warns(ConstraintWarning, match=SAID):
        microagg.protect_file(tmp_path / "t.csv", None, plan)


@pytest.mark.parametrize("study", ["compare", "sweep"])
def test_studies(study):
    asked = {"compare": ([3], ["mdav"]), "sweep": ([3],)}[study]
    with pytest.warns(ConstraintWarning, match=SAID):
        getattr(microagg, study)(TABLE, *asked, constraints=[WRONG])


def test_before_any_long_work(monkeypatch):
    def no_work(*_args, **_named):
        raise InterruptedError

    monkeypatch.setattr("microagg.release.protect.group", no_work)
    with pytest.warns(ConstraintWarning), pytest.raises(InterruptedError):
        microagg.protect(TABLE, 3, method="mdav", constraints=[WRONG])


def test_not_of_one_that_half_of_them_satisfy():
    limit = int(np.sort(TAX)[N // 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstraintWarning)
        microagg.protect(TABLE, 3, method="mdav", constraints=[f"tax <= {limit}"])


def test_records_with_missing_values_do_not_count():
    holes = TABLE.with_columns(tax=pl.when(pl.col("tax") > 30).then("tax"))
    there = holes["tax"].count()
    with pytest.warns(ConstraintWarning, match=f"by {there} of {there} records"):
        microagg.protect(holes, 3, method="mdav", missing="impute", constraints=[WRONG])
