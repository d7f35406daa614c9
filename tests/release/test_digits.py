"""Released numbers as people would write them, in every kind of table and on the command line."""

import csv
import json
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import Manifest, Microaggregator, Plan, protect, protect_file, verify
from microagg.cli.main import main
from microagg.core.errors import DataError, ParameterError, PrivacyWarning

RNG = np.random.default_rng(7)
N = 60
NET = RNG.integers(50_000, 900_000, N)
TAX = NET // 5 + RNG.integers(0, 3000, N)
TABLE = pl.DataFrame(
    {
        "net": NET / 100,
        "tax": TAX / 100,
        "gross": (NET + TAX) / 100,
        "rate": RNG.integers(0, 1000, N) / 1000,
        "noise": RNG.normal(size=N),
        "age": RNG.integers(18, 90, N),
    }
)
QUICK = {"method": "mdav", "bound": "none"}


def decimals(column):
    return max(-Decimal(repr(value)).normalize().as_tuple().exponent for value in column)


def exact_mean(values, digits):
    """The mean of decimal numbers, rounded half away from zero."""
    mean = sum(Fraction(repr(value)) for value in values) / len(values)
    size = (abs(mean) * 10**digits + Fraction(1, 2)) // 1
    return float((1 if mean >= 0 else -1) * size / Fraction(10) ** digits)


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "tsp-mhm", "kmeans"])
def test_means_have_the_decimals_of_their_column(method):
    release = protect(TABLE, 4, method=method, bound="none", random_state=1)
    for name, digits in (("net", 2), ("tax", 2), ("gross", 2), ("rate", 3)):
        assert release.manifest.columns[name].digits == digits
        for label in set(release.labels.tolist()):
            rows = release.labels == label
            (shown,) = set(release.table[name].filter(rows).to_list())
            assert shown == exact_mean(TABLE[name].filter(rows).to_list(), digits)
    assert release.manifest.columns["noise"].digits == "all"
    assert release.manifest.columns["age"].digits == 0


def test_every_digit_if_asked():
    release = protect(TABLE, 4, digits="all", **QUICK)
    assert decimals(release.table["net"]) > 2
    assert release.manifest.columns["net"].digits == "all"
    assert "digits='all'" in release.manifest.command


def test_digits_of_single_columns():
    asked = {"net": -3, "rate": 5, "noise": 2, "age": -1, "tax": "all"}
    release = protect(TABLE, 4, digits=asked, **QUICK)
    table = release.table
    assert (table["net"] % 1000 == 0).all()
    assert (table["age"] % 10 == 0).all()
    assert table["age"].dtype == pl.Int64
    assert decimals(table["rate"]) in (4, 5)
    assert decimals(table["noise"]) == 2
    assert decimals(table["gross"]) == 2
    found = {name: facts.digits for name, facts in release.manifest.columns.items()}
    assert found == {**asked, "gross": 2}


@pytest.mark.parametrize("method", ["mdav", "kmeans", "fcm", "efcm"])
def test_totals_hold_to_the_cent_in_the_file(tmp_path, method):
    TABLE.drop("noise").write_csv(tmp_path / "in.csv")
    plan = Plan(
        k=4,
        method=method,
        random_state=3,
        bound="none",
        constraints=["net + tax = gross", "tax <= net"],
    )
    draws = method in ("fcm", "efcm")
    with pytest.warns(PrivacyWarning, match="draws") if draws else nullcontext():
        protect_file(tmp_path / "in.csv", tmp_path / "out.csv", plan)
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    for row in rows:
        assert Decimal(row["net"]) + Decimal(row["tax"]) == Decimal(row["gross"])
        assert all(len(row[name].partition(".")[2]) <= 2 for name in ("net", "tax", "gross"))
        assert len(row["rate"].partition(".")[2]) <= 3


def test_constraints_with_mixed_steps_and_factors():
    release = protect(
        TABLE.select("net", "tax", "age"),
        4,
        digits={"tax": 4},
        constraints=["tax = 0.19 * net", "age <= 80"],
        **QUICK,
    )
    for net, tax, age in release.table.iter_rows():
        assert Fraction(repr(tax)) == Fraction(19, 100) * Fraction(repr(net))
        assert age <= 80
    assert decimals(release.table["net"]) == 2


def test_a_constraint_that_no_cents_satisfy():
    with pytest.raises(ParameterError, match=r"in multiples of 0\.01 in 'net', 'tax'"):
        protect(TABLE, 4, constraints="net - tax = 0.005", **QUICK)


def test_numbers_too_large_for_the_digits_of_a_constraint():
    table = pl.DataFrame({"a": [1e14, 2e14, 3e14, 4e14], "b": [0.5, 1.5, 2.5, 3.5]})
    with pytest.raises(DataError, match="too large for floats to hold with digits=3"):
        protect(table, 2, digits={"a": 3}, constraints="a >= b", **QUICK)


@pytest.mark.parametrize("how", ["mean", "median"])
def test_missing_and_imputed_values(how):
    values = [1.25, None, 1.5, 2.0, 10.0, 11.25, None, 12.5]
    table = pl.DataFrame({"x": values, "y": [1, 2, 3, 4, 101, 102, 103, 104]})
    columns = {"x": {"aggregate": how}}
    release = protect(table, 4, missing="impute", columns=columns, **QUICK)
    assert release.manifest.columns["x"].digits == 2
    assert decimals(release.table["x"]) <= 2
    assert release.table["x"].null_count() == 0


def test_weighted_means():
    table = pl.DataFrame({"x": [0.1, 0.2, 5.0, 5.5], "w": [0.1, 0.1, 0.3, 0.1]})
    release = protect(table, 2, weights="w", **QUICK)
    assert release.table["x"].to_list() == [0.2, 0.2, 5.1, 5.1]


@pytest.mark.parametrize("dtype", ["float32", "Float32", "Float64", "float64[pyarrow]"])
def test_other_floats(dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    table = pd.DataFrame({"x": pd.array([0.1, 0.2, 0.3, 7.7, 7.8, 7.8], dtype=dtype)})
    release = protect(table, 3, **QUICK)
    assert release.table["x"].dtype == table["x"].dtype
    shown = pl.Series(release.table["x"].to_numpy()).cast(pl.String).to_list()
    assert shown == ["0.2"] * 3 + ["7.8"] * 3


def test_zero_has_no_sign():
    release = protect(pl.DataFrame({"x": [-0.1, 0.0, 5.0, 5.1]}), 2, digits={"x": 0}, **QUICK)
    assert [str(value) for value in release.table["x"]] == ["0.0", "0.0", "5.0", "5.0"]


def test_whole_floats_with_decimals_if_asked():
    table = pl.DataFrame({"x": [1.0, 2.0, 30.0, 41.0]})
    assert protect(table, 2, **QUICK).table["x"].to_list() == [2.0, 2.0, 36.0, 36.0]
    for digits in (1, "all"):
        release = protect(table, 2, digits={"x": digits}, **QUICK)
        assert release.table["x"].to_list() == [1.5, 1.5, 35.5, 35.5]


def test_codes_with_digits_are_amounts():
    table = pl.DataFrame({"x": [10, 20] * 60})
    assert protect(table, 3, **QUICK).manifest.columns["x"].type == "nominal"
    found = protect(table, 3, digits={"x": -1}, **QUICK).manifest.columns["x"]
    assert (found.type, found.digits) == ("integer", -1)


def test_the_transformer():
    X = np.array([[0.0], [0.1], [1.0], [10.0]])
    assert Microaggregator(2, method="mdav").fit_transform(X).ravel().tolist() == [
        0.1,
        0.1,
        5.5,
        5.5,
    ]
    exact = Microaggregator(2, method="mdav", digits={"x0": 2}).fit_transform(X)
    assert exact.ravel().tolist() == [0.05, 0.05, 5.5, 5.5]


def test_hybrid_records_are_not_rounded():
    table = TABLE.select("net", "rate")
    with pytest.warns(UserWarning, match="hybrid"):
        release = protect(table, 6, hybrid=True, random_state=1, **QUICK)
    assert decimals(release.table["net"]) > 2
    assert release.manifest.columns["net"].digits == "all"
    with pytest.raises(ParameterError, match="does not work with digits"):
        protect(table, 6, hybrid=True, digits={"net": 0}, **QUICK)


@pytest.mark.parametrize(
    ("digits", "message"),
    [
        ({"age": 2}, "'age' has whole numbers, which stay whole"),
        ({"age": "all"}, "'age' has whole numbers, which stay whole"),
        ({"net": 1.5}, "column 'net': digits must be a whole number"),
        ({"net": 23}, "column 'net': digits must be a whole number from -15 to 22; got 23"),
        ({"net": "cents"}, "digits must be a whole number from -15 to 22, or 'all'; got 'cents'"),
        ({"income": 0}, "no column 'income'"),
        (2, "digits must be 'all' for every digit, or by column"),
        ("some", "digits must be 'all' for every digit, or by column"),
    ],
)
def test_what_is_refused(digits, message):
    with pytest.raises(ParameterError, match=message):
        protect(TABLE, 4, digits=digits, **QUICK)


def test_only_numbers_have_digits():
    table = pl.DataFrame({"x": [1.5, 2.5], "sex": ["f", "m"]})
    with pytest.raises(ParameterError, match="'sex' has digits, which are for numbers"):
        protect(table, 2, columns={"sex": {"type": "nominal", "digits": 0}}, **QUICK)
    with pytest.raises(ParameterError, match="digits of column 'x' are given twice"):
        protect(table, 2, columns={"x": {"digits": 1}}, digits={"x": 0}, **QUICK)
    with pytest.raises(ParameterError, match="given the role sensitive"):
        Plan(k=2, columns={"x": {"role": "sensitive", "digits": 0}})


class TestTheCommandLine:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        TABLE.write_csv("t.csv")

    def run(self, *argv):
        with pytest.raises(SystemExit) as leaving:
            main(["protect", "t.csv", "-k", "4", "--method", "mdav", "-o", "o.csv", *argv])
        return leaving.value.code

    def test_by_column_and_for_all(self, capsys):
        assert self.run("--digits", "all", "--digits", "net=0", "--digits", "age=-1") == 0
        assert "age to multiples of 10: coarse for how much" in capsys.readouterr().out
        done = Manifest.load("o.csv.manifest.json")
        assert {name: own.digits for name, own in done.columns.items()} == {
            **dict.fromkeys(("tax", "gross", "rate", "noise"), "all"),
            "net": 0,
            "age": -1,
        }
        assert "--digits all --digits net=0 --digits age=-1" in done.command

    def test_the_command_line_overrides_the_plan(self):
        plan = 'k = 4\ndigits = "all"\n[columns]\nnet = { digits = 1 }\ntax = { digits = 0 }\n'
        Path("p.toml").write_text(plan, "utf-8")
        assert self.run("--plan", "p.toml", "--digits", "net=-2", "--quiet") == 0
        found = Manifest.load("o.csv.manifest.json").columns
        assert (found["net"].digits, found["tax"].digits) == (-2, 0)
        assert found["gross"].digits == "all"

    def test_coarse_rounding_is_said(self, capsys):
        assert self.run("--digits", "rate=0") == 0
        assert "rate to whole numbers: coarse for how much it varies" in capsys.readouterr().out
        columns = json.loads(Path("o.csv.manifest.json").read_text("utf-8"))["columns"]
        assert columns["rate"]["coarse"] is True
        assert "coarse" not in columns["net"]

    def test_neither_a_column_nor_all(self, capsys):
        assert self.run("--digits", "2") == 2
        assert "digits must be 'all' for every digit, or by column" in capsys.readouterr().err


def test_rounded_releases_are_verified_with_their_original(tmp_path):
    table = TABLE.with_columns(pl.Series("id", [f"p{i % 20}" for i in range(N)])).sort("noise")
    table.write_csv(tmp_path / "in.csv")
    plan = Plan(k=3, unit="id", digits={"net": -3, "age": -1}, **QUICK)
    protect_file(tmp_path / "in.csv", tmp_path / "out.csv", plan)
    found = verify(tmp_path / "out.csv", original=tmp_path / "in.csv")
    assert found is not None
