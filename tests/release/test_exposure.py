"""What gives units away although they are not published: their order, values of their own."""

import warnings
from datetime import date, datetime, timedelta
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import protect, verify
from microagg.core.errors import ColumnWarning, DataError, PrivacyWarning

RNG = np.random.default_rng(8)
PATIENT = np.repeat(np.arange(30), 4)
VISITS = pl.DataFrame(
    {
        "patient": PATIENT,
        "age": RNG.integers(20, 90, 120),
        "cost": RNG.lognormal(4, 1, 120).round(2),
        "ward": RNG.integers(0, 40, 120),
        "code": PATIENT * 7 + 1,
    }
)
SHUFFLED = VISITS.sample(fraction=1.0, shuffle=True, seed=3)


def warned(table, **asked):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        protect(table, 3, unit="patient", method="mdav", **asked)
    return [str(own.message) for own in caught if own.category is PrivacyWarning]


def test_records_in_the_order_of_units():
    (told,) = warned(VISITS.drop("code"), sensitive=["ward"])
    assert told.startswith("records of the same 'patient' follow each other")
    assert told.endswith("Shuffle them (--shuffle, or shuffle=True in Python).")
    assert not warned(SHUFFLED.drop("code"), sensitive=["ward"])
    assert not warned(VISITS.drop("code"), sensitive=["ward"], shuffle=True)


@pytest.mark.parametrize("role", ["sensitive", "publish", "weights"])
def test_a_value_of_its_own_for_every_unit(role):
    told = warned(SHUFFLED, **{"columns": {"ward": {"type": "integer"}}, role: "code"})
    assert told[0].startswith("column 'code' is published unchanged, and nearly every 'patient'")


class TestSerialNumbersWithoutARole:
    TABLE = pl.DataFrame({"case": range(1000, 1060), "age": RNG.integers(20, 90, 60)})

    def test_are_warned_of(self):
        with pytest.warns(ColumnWarning, match="'case' has no role and looks like a serial number"):
            protect(self.TABLE.sample(fraction=1.0, shuffle=True, seed=1), 3, method="mdav")

    @pytest.mark.parametrize("dtype", ["uint64", "float32", "Int64", "int64[pyarrow]"])
    def test_however_they_are_stored(self, dtype):
        table = self.TABLE.to_pandas().astype({"case": dtype})
        with pytest.warns(ColumnWarning, match="'case' has no role"):
            protect(table, 3, method="mdav")

    @pytest.mark.parametrize(
        ("table", "asked"),
        [
            (TABLE, {"quasi_identifiers": ["case"]}),
            (TABLE, {"identifiers": ["case"]}),
            (TABLE.with_columns(case=RNG.integers(0, 100_000, 60)), {}),
            (TABLE.with_columns(case=np.sort(RNG.integers(0, 100_000, 60))), {}),
            (TABLE.head(12), {}),
            (TABLE.with_columns(case=pl.lit(None, pl.Int64)), {"missing": "value"}),
        ],
        ids=["named", "dropped", "amounts", "amounts in order", "few records", "nothing"],
    )
    def test_nothing_else_is(self, table, asked):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            protect(table, 3, method="mdav", **asked)


class TestDatesAsWholeNumbers:
    TABLE = pl.DataFrame({"born": [19_400_101 + 10_000 * at for at in range(30)]})

    def test_are_warned_of(self):
        with pytest.warns(ColumnWarning, match="'born' look like dates such as 20240131"):
            protect(self.TABLE, 3, quasi_identifiers=["born"], method="mdav")

    @pytest.mark.parametrize("dtype", ["uint64", "float64", "Int64", "int64[pyarrow]"])
    def test_once_however_they_are_stored(self, dtype):
        with pytest.warns(ColumnWarning, match="look like dates") as warned:
            protect(self.TABLE.to_pandas().astype(dtype), 3, method="mdav")
        assert len(warned) == 1  # and not as serial numbers

    def test_one_missing_number_is_none(self):
        table = pl.DataFrame(
            {"born": [None], "age": [30]}, schema={"born": pl.Int64, "age": pl.Int8}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", ColumnWarning)
            warnings.simplefilter("ignore", PrivacyWarning)  # of k = 1
            protect(table, 1, method="mdav", missing="value")

    @pytest.mark.parametrize(
        ("table", "asked"),
        [
            (TABLE, {"columns": {"born": {"type": "integer"}}}),
            (TABLE.with_columns(pl.col("born").cast(pl.String).str.to_date("%Y%m%d")), {}),
            (TABLE.with_columns(pl.col("born") + 99), {}),
        ],
        ids=["of a type", "dates", "no days"],
    )
    def test_nothing_else_is(self, table, asked):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            protect(table, 3, quasi_identifiers=["born"], method="mdav", **asked)


class TestContributionsWithWeights:
    TABLE = pl.DataFrame(
        {
            "turnover": [100.0 + at for at in range(24)],
            "w": [400.0, 1, 1, 1, 1, 1] * 4,
            "firm": [f"f{at}" for at in range(24)],
        }
    )

    def test_the_total_is_that_of_weighted_amounts(self):
        asked = {"weights": "w", "identifiers": "firm", "method": "mdav"}
        release = protect(self.TABLE, 3, dominance={"turnover": (1, 60)}, **asked)
        shares = (
            release.table.rename({"turnover": "shown"})
            .with_columns(amount=self.TABLE["turnover"] * self.TABLE["w"])
            .group_by("shown")
            .agg(pl.col("amount").max() / pl.col("amount").sum() * 100)
        )
        assert shares["amount"].max() <= 60
        (found,) = release.manifest.requirements
        assert found.checkable
        assert found.worst is None  # with the mean, it would give a value away
        plan = release.manifest.plan
        assert verify(release.table, plan=plan, original=self.TABLE)
        plain = protect(self.TABLE, 3, **asked).table
        assert not verify(plain, plan=plan, original=self.TABLE)


def test_amounts_without_a_unit_may_be_of_the_largest():
    table = VISITS.with_columns(
        patient=pl.when(pl.col("age") > 80).then(None).otherwise("patient")
    ).drop("code", "ward")
    with pytest.raises(DataError, match=r"records have none\. Fill them in or remove"):
        protect(table, 3, unit="patient", p_percent={"cost": 5})


class TestColumnsThatNameRecords:
    N = 40
    VALUES: ClassVar = {
        "floats": pl.Series(np.linspace(0.0, 1.0, N) ** 2),
        "dates": pl.Series([date(2024, 1, 1) + timedelta(days=i) for i in range(N)]),
        "times": pl.Series([datetime(2024, 1, 1) + timedelta(minutes=i) for i in range(N)]),
        "categories": pl.Series([f"c{i}" for i in range(N)], dtype=pl.Categorical),
        "text": pl.Series([f"c{i}" for i in range(N)]),
        "numbers": pl.Series(range(N)),
        "large numbers": pl.Series(range(N)).cast(pl.Int128),
        "lists": pl.Series([[i, 1] for i in range(N)]),
        "structures": pl.Series([{"visits": [i]} for i in range(N)]),
    }

    def _told(self, values, **roles):
        table = pl.DataFrame({"a": [i % 5 + 0.5 for i in range(self.N)], "v": values})
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            protect(table, 2, method="mdav", **roles)
        return [str(own.message) for own in heard if issubclass(own.category, PrivacyWarning)]

    @pytest.mark.parametrize("role", ["sensitive", "publish"])
    @pytest.mark.parametrize("kind", VALUES)
    def test_whatever_their_type(self, kind, role):
        (told,) = self._told(self.VALUES[kind], **{role: "v"})
        assert told.startswith("column 'v' is published unchanged, and nearly every record has")

    def test_also_types_that_polars_does_not_have(self):
        told = []
        for real in (np.arange(self.N), np.arange(self.N) // 20):
            table = pd.DataFrame({"a": [i % 5 + 0.5 for i in range(self.N)], "v": real + 1j})
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                protect(table, 2, method="mdav", publish="v")
            told.append([str(warning.message) for warning in heard])
        assert told[0][0].startswith("column 'v' is published unchanged, and nearly every record")
        assert told[1] == []

    def test_weights(self):
        (told,) = self._told(self.VALUES["floats"] + 1.0, weights="v")
        assert told.startswith("the weight 'v' is published unchanged, and nearly every record has")

    def test_nearly_every_record_is_enough(self):
        values = self.VALUES["floats"].to_list()
        assert self._told([*values[:-2], values[0], None], sensitive="v") == []
        assert len(self._told([*values[:-1], None], sensitive="v")) == 1


def test_a_record_whose_weight_makes_it_most_of_its_group():
    table = pl.DataFrame({"a": [0.5, 1.5, 2.5, 9, 11, 12], "w": [8.0, 4, 1, 1, 1, 1]})
    with pytest.warns(PrivacyWarning, match="in 1 group one record has more than half of the"):
        release = protect(table, 3, weights="w", method="mdav")
    assert release.table["a"][0] == pytest.approx(0.5 + 6 / 13, abs=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        protect(table.with_columns(w=pl.lit(1.0)), 3, weights="w", method="mdav")
