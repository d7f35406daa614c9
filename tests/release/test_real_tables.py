"""Tables as they are: those that scikit-learn brings, and a household survey of mixed columns."""

import json
from collections import Counter

import pandas as pd
import polars as pl
import pytest
from sklearn import datasets

from microagg import protect
from microagg.cli.main import main

K = 5
NOMINAL = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "hhcivil")
NUMBERS = ("age", "expend", "income", "savings")
SURVEY = {
    "unit": "ori_hid",
    "quasi_identifiers": [*NOMINAL, *NUMBERS],
    "weights": "sampling_weight",
    "sensitive": ["household_weights"],
    "columns": {name: {"type": "nominal"} for name in NOMINAL},
}


def smallest_class(table: pl.DataFrame, columns) -> int:
    return min(Counter(table.select(columns).iter_rows()).values())


def fewest_units(table: pl.DataFrame, columns, units: pl.Series) -> int:
    behind: dict[tuple, set] = {}
    for shown, unit in zip(table.select(columns).iter_rows(), units, strict=True):
        behind.setdefault(shown, set()).add(unit)
    return min(map(len, behind.values()))


def run(*argv: object) -> int:
    with pytest.raises(SystemExit) as leaving:
        main([str(word) for word in argv])
    return int(leaving.value.code or 0)


@pytest.fixture(params=["iris", "wine", "breast_cancer", "diabetes"])
def bundled(request) -> pd.DataFrame:
    return getattr(datasets, f"load_{request.param}")(as_frame=True).frame


@pytest.mark.parametrize("method", ["mdav", "tsp-mhm"])
def test_bundled_tables_are_released(bundled, method):
    inside = [name for name in bundled.columns if name != "target"]
    # Means of whole numbers would be rounded, and those of others to the decimals that they have.
    types = {name: {"type": "continuous"} for name in inside}
    asked = {"method": method, "columns": types, "digits": "all"}
    release = protect(bundled, K, sensitive="target", **asked)
    assert smallest_class(pl.from_pandas(release.table), inside) >= K
    pd.testing.assert_series_equal(release.table["target"], bundled["target"])
    assert (release.table.dtypes == bundled.dtypes).all()
    for name in inside:
        assert release.table[name].mean() == pytest.approx(bundled[name].mean(), abs=1e-6, rel=1e-6)
    assert 0 < release.information_loss < 60
    assert release.manifest.lower_bound <= release.grouping_loss


def test_bundled_tables_are_released_by_the_command_line(bundled, tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    bundled.to_csv(source, index=False)
    asked = ("-k", K, "--method", "mdav", "--sensitive", "target", "--quiet")
    assert run("protect", source, *asked, "-o", target) == 0
    assert run("verify", target, "-k", K, "--sensitive", "target", "--quiet") == 0
    written, fresh = pl.read_csv(target), protect(bundled, K, sensitive="target", method="mdav")
    for name in bundled.columns:
        assert written[name].to_list() == pytest.approx(fresh.table[name].tolist(), rel=1e-12)


@pytest.fixture(scope="module")
def survey(benchmark_file) -> pl.DataFrame:
    return pl.read_csv(benchmark_file("testdata"), infer_schema_length=None)


@pytest.mark.parametrize("valid_combinations", [False, True])
def test_a_household_survey_is_released(survey, valid_combinations):
    release = protect(survey, K, method="mdav", valid_combinations=valid_combinations, **SURVEY)
    released = release.table
    assert released.columns == [name for name in survey.columns if name != "ori_hid"]
    assert fewest_units(released, [*NOMINAL, *NUMBERS], survey["ori_hid"]) >= K
    kept = ["sampling_weight", "household_weights"]
    assert released.select(kept).equals(survey.select(kept))
    assert released.schema == {name: survey.schema[name] for name in released.columns}
    for name in NOMINAL:
        assert set(released[name]) <= set(survey[name])
    before = set(survey.select(NOMINAL).iter_rows())
    new = [row for row in released.select(NOMINAL).iter_rows() if row not in before]
    assert release.manifest.new_combinations.records == len(new)
    assert new == [] or not valid_combinations
    assert set(release.manifest.columns) == {*NOMINAL, *NUMBERS}


@pytest.mark.slow
def test_a_household_survey_is_released_by_the_command_line(survey, benchmark_file, tmp_path):
    target = tmp_path / "out.csv"
    asked = ["-k", K, "--method", "mdav", "--unit", "ori_hid", "--quiet"]
    asked += ["--weights", "sampling_weight", "--sensitive", "household_weights"]
    for name in NOMINAL:
        asked += ["--type", f"{name}=nominal"]
    assert run("protect", benchmark_file("testdata"), *asked, "-o", target) == 0
    told = json.loads((tmp_path / "out.csv.manifest.json").read_text("utf-8"))
    assert told["assumed_quasi_identifiers"] == list(NUMBERS)
    unchecked = ("--sensitive", "sampling_weight", "--sensitive", "household_weights")
    assert run("verify", target, "-k", K, *unchecked, "--quiet") == 0
    fresh = protect(survey, K, method="mdav", **SURVEY)
    assert told["information_loss"] == pytest.approx(fresh.information_loss)
    written = pl.read_csv(target, infer_schema_length=None)
    assert written.select(NOMINAL).equals(fresh.table.select(NOMINAL))


def test_strata_of_a_household_survey(survey):
    asked = {**SURVEY, "quasi_identifiers": NUMBERS, "strata": ["urbrur", "sex", "roof"]}
    asked["columns"] = {name: {"role": "drop"} for name in NOMINAL}
    for name in asked["strata"]:
        del asked["columns"][name]
    release = protect(survey, K, method="mdav", small_strata="merge", **asked)
    shown = [*NUMBERS, *asked["strata"]]
    assert fewest_units(release.table, shown, survey["ori_hid"]) >= K
    assert release.manifest.strata_found.smallest >= K
