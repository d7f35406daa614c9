"""What a column is if nobody says: the same for drafts, releases, studies and measures."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import Plan, compare, measure, protect
from microagg.plans.drafting import guess_columns
from microagg.tables.columns import ColumnType
from microagg.tables.frames import open_frame
from microagg.tables.judging import judge_type


def judged(values, **more):
    return judge_type(open_frame(pl.DataFrame({"x": values})), "x", **more)


def cycle(n_values, n_records):
    return [1 + i % n_values for i in range(n_records)]


class TestCodes:
    def test_at_most_twelve_values(self):
        assert judged(cycle(12, 120)).type is ColumnType.NOMINAL
        assert judged(cycle(13, 130)).type is ColumnType.INTEGER
        assert judged(cycle(13, 13_000)).type is ColumnType.INTEGER

    def test_each_in_ten_records_on_average(self):
        assert judged(cycle(5, 50)).type is ColumnType.NOMINAL
        assert judged(cycle(5, 49)).type is ColumnType.INTEGER

    def test_missing_values_are_no_records_of_a_code(self):
        assert judged([*cycle(5, 49), *[None] * 50]).type is ColumnType.INTEGER
        assert judged([*cycle(5, 50), *[None] * 50]).type is ColumnType.NOMINAL

    def test_a_thirteenth_value_may_come_late(self):
        assert judged([*cycle(12, 5000), 13]).type is ColumnType.INTEGER

    def test_stored_as_floats(self):
        found = judged([float(v) for v in cycle(5, 50)])
        assert found.type is ColumnType.NOMINAL
        assert found.why == "5 different whole numbers: codes"

    def test_one_value_is_none(self):
        assert judged([3] * 100).type is ColumnType.INTEGER

    def test_decimals_are_none(self):
        assert judged([0.5, 1.0] * 50).type is ColumnType.CONTINUOUS

    def test_unless_they_are_amounts(self):
        assert judged(cycle(5, 50), is_amount=True).type is ColumnType.INTEGER


class TestWholeFloats:
    def test_are_whole_numbers(self):
        found = judged([float(i) for i in range(50)] + [None])
        assert found.type is ColumnType.INTEGER
        assert found.why == "whole numbers stored as decimals"

    @pytest.mark.parametrize("other", [0.5, 2.0**53, np.inf])
    def test_but_for_one(self, other):
        assert judged([float(i) for i in range(50)] + [other]).type is ColumnType.CONTINUOUS

    def test_of_pandas_with_nan_stay_floats_and_whole(self):
        ages = pd.DataFrame({"age": [float(i) for i in range(30)] + [np.nan] * 2})
        released = protect(ages, 3, method="mdav", missing="impute").table["age"]
        assert released.dtype == np.float64
        assert (released == released.round()).all()

    def test_all_missing_is_as_stored(self):
        assert judged(pl.Series([None, None], dtype=pl.Float64)).type is ColumnType.CONTINUOUS


def test_text_that_is_dates():
    assert judged(["2024-01-31", None, "2024-02-01"]).type is ColumnType.DATE
    assert judged(["2024-01-31", "soon"]).type is ColumnType.NOMINAL


def test_names_that_look_like_patterns():
    for name in ("^a$", "^.*$", ""):
        table = pl.DataFrame({name: ["u", None, "v"], "n": [1, 2, 3]})
        assert judge_type(open_frame(table), name).type is ColumnType.NOMINAL
        assert guess_columns(open_frame(table))[name].why.startswith("text, different in every")


def test_labels_of_a_file_come_first():
    assert judged(list(range(40)), label=ColumnType.NOMINAL).type is ColumnType.NOMINAL


N = 200
RNG = np.random.default_rng(5)
SURVEY = pl.DataFrame(
    {
        "tenure": RNG.choice([1, 2, 5], N),
        "marstat": RNG.choice([1.0, 5.0], N),
        "age": RNG.integers(18, 80, N).astype(float),
        "pay": RNG.lognormal(8, 1, N).round(2),
    }
)
TYPES = {"tenure": "nominal", "marstat": "nominal", "age": "integer", "pay": "continuous"}


def types_of(release):
    return {name: str(column.type) for name, column in release.manifest.columns.items()}


class TestReleases:
    def test_codes_are_never_averaged(self):
        release = protect(SURVEY, 5, method="mdav")
        assert types_of(release) == TYPES
        for name in ("tenure", "marstat"):
            assert set(release.table[name]) <= set(SURVEY[name])
        assert release.manifest.columns["marstat"].why == "2 different whole numbers: codes"
        assert release.manifest.columns["age"].why == "whole numbers stored as decimals"
        assert "why" not in release.manifest.as_dict()["columns"]["pay"]

    def test_a_stated_type_counts(self):
        release = protect(SURVEY, 5, method="mdav", columns={"tenure": {"type": "integer"}})
        assert types_of(release) == {**TYPES, "tenure": "integer"}
        assert release.manifest.columns["tenure"].why == ""

    @pytest.mark.parametrize(
        "said",
        [
            {"constraints": ["tenure >= 1"]},
            {"columns": {"tenure": {"aggregate": "mean"}}},
            {"columns": {"tenure": {"aggregate": "median"}}},
            {"p_percent": {"tenure": 5}},
            {"dominance": {"tenure": "1:90"}},
        ],
        ids=lambda said: next(iter(said)),
    )
    def test_what_is_added_up_is_an_amount(self, said):
        assert types_of(protect(SURVEY, 5, method="mdav", **said)) == {**TYPES, "tenure": "integer"}

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    @pytest.mark.parametrize("said", [{"method": "efcm", "random_state": 1}, {"hybrid": True}])
    def test_who_asks_for_methods_of_numbers_has_amounts(self, said):
        release = protect(SURVEY.drop("pay"), 7, **{"method": "mdav", **said})
        assert types_of(release) == dict.fromkeys(("tenure", "marstat", "age"), "integer")

    def test_one_column(self):
        release = protect(SURVEY.select("tenure"), 5, method="univariate")
        assert types_of(release) == {"tenure": "integer"}
        row = compare(SURVEY.select("tenure"), 5, "univariate")[0]
        assert row.information_loss == pytest.approx(release.information_loss)

    def test_a_draft_has_the_same_types(self):
        guesses = guess_columns(open_frame(SURVEY))
        assert {name: str(guess.type) for name, guess in guesses.items()} == TYPES
        said = {name: {"type": guess.type} for name, guess in guesses.items()}
        stated = protect(SURVEY, plan=Plan.of(k=5, method="mdav", columns=said))
        assert stated.table.equals(protect(SURVEY, 5, method="mdav").table)

    def test_a_comparison_has_them_too(self):
        row = compare(SURVEY, 5, "mdav")[0]
        release = protect(SURVEY, 5, method="mdav")
        assert row.information_loss == pytest.approx(release.information_loss)


class TestMeasures:
    def test_of_a_release_are_those_without_it(self):
        release = protect(SURVEY, 5, method="mdav")
        found = measure(SURVEY, release.table).as_dict()
        assert found["risk"] == measure(SURVEY, release.table, plan=Plan.of(k=5)).as_dict()["risk"]
        own = release.risk().as_dict()
        assert found["risk"]["linkage"] == own["linkage"]

    @pytest.mark.parametrize("said", [{"sensitive": "s"}, {}], ids=["named", "assumed"])
    @pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64])
    def test_sensitive_numbers_have_an_order_as_in_a_release(self, said, dtype):
        table = SURVEY.with_columns(s=pl.Series(RNG.integers(1, 6, N), dtype=dtype))
        release = protect(table, 5, method="mdav", sensitive="s")
        own = release.risk().as_dict()["attributes"]
        assert measure(table, release.table, **said).as_dict()["risk"]["attributes"] == own

    def test_codes_that_became_means_were_amounts(self):
        averaged = SURVEY.with_columns(tenure=pl.lit(2.3), age=pl.col("age") + 0.25)
        found = measure(SURVEY, averaged).as_dict()
        changed = found["risk"]["intervals"]["by_deviation"]
        assert {"tenure", "age"} <= changed.keys()
