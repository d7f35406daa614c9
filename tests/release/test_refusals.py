"""Requests and tables that are refused late: each message says what was expected and what to do."""

import io
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

import microagg
from microagg import Plan, measure, protect
from microagg.core.errors import DataError, ParameterError
from microagg.files import reading
from microagg.partitions import MDAV, Univariate

TABLE = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "c": ["a", "b", "c", "a"]})
LISTS = TABLE.with_columns(several=pl.Series([["a"], ["b"], ["c"], ["a"]]))


REFUSED = {
    "strata of lists": (
        lambda: protect(LISTS, 2, strata="several", quasi_identifiers="c"),
        DataError,
        "strata must be numbers, text, categories or dates",
    ),
    "one column that takes several numbers": (
        lambda: protect(TABLE.select("c"), 2, method="univariate", quasi_identifiers="c"),
        ParameterError,
        "'univariate' takes one column of numbers",
    ),
    "tables without a common column": (
        lambda: measure(TABLE.select("x"), TABLE.select("c"), identifiers="c"),
        DataError,
        "the two tables have no column in common",
    ),
    "lists to measure": (
        lambda: measure(LISTS, LISTS, quasi_identifiers="several"),
        DataError,
        "'several' is stored as List.*cannot be measured",
    ),
    "columns beside a plan": (
        lambda: measure(TABLE, TABLE, plan=Plan.of(k=2), quasi_identifiers="x"),
        ParameterError,
        "columns are given beside a plan",
    ),
    "whole numbers of more than 64 bits": (
        lambda: Univariate(2, integer=True).fit([[0.0], [1e19], [2e19]]),
        DataError,
        "fit 64-bit integers.*Rescale X",
    ),
    "a parameter that is none": (
        lambda: MDAV(2).set_params(leftovers="nearest"),
        ParameterError,
        "Invalid parameter 'leftovers' for MDAV.*Did you mean 'leftover'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    ask, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_a_plan_nested_too_deeply_cannot_be_read(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("k = " + "[" * 100_000)
    with pytest.raises(DataError, match="nested more than 20 deep"):
        Plan.read(path)


def test_standard_input_that_fails(monkeypatch):
    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, _buffer):
            raise OSError(5, "Input/output error")

    broken = io.TextIOWrapper(io.BufferedReader(Broken()))
    monkeypatch.setattr(reading.sys, "stdin", broken)
    with pytest.raises(ParameterError, match="standard input cannot be read: Input/output error"):
        reading._standard_bytes()


def test_dates_are_measured_against_times():
    days = [date(2020, 1, day) for day in (1, 2, 3, 4)]
    times = [datetime(2020, 1, day) for day in (1, 2, 3, 4)]
    same = measure(pl.DataFrame({"d": days}), pl.DataFrame({"d": times}), quasi_identifiers="d")
    assert same.utility.loss.information_loss == 0


def test_a_generator_of_the_old_kind_gives_the_same_groups_again():
    X = np.random.default_rng(0).normal(size=(40, 2))
    one, two = (
        microagg.partitions.get("icsm")(3, random_state=np.random.RandomState(4)).fit_predict(X)
        for _ in range(2)
    )
    assert one.tolist() == two.tolist()
