"""Texts and numbers that mean a missing value: named in DataFrames, and in sensitive columns."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg import Plan, measure, protect, protect_file, verify
from microagg.core.errors import DataError, ParameterError
from microagg.requirements.base import Evidence
from microagg.requirements.observed import values

N = 40
TABLE = pl.DataFrame(
    {
        "age": [-9 if i % 10 == 0 else 20 + i for i in range(N)],
        "pay": [-9.0 if i % 8 == 0 else 1000.5 + i for i in range(N)],
        "place": ["NA" if i % 5 == 0 else " -9 " if i % 7 == 0 else "DE" for i in range(N)],
        "kept": ["NA", "-9"] * (N // 2),
    }
)
KINDS = {"polars": lambda t: t, "pandas": pl.DataFrame.to_pandas, "pyarrow": pl.DataFrame.to_arrow}
ASKED = {"quasi_identifiers": "place", "sensitive": "kept", "method": "mdav", "missing": "impute"}


def as_polars(table):
    if isinstance(table, pa.Table):
        return pl.from_arrow(table)
    return pl.from_pandas(table) if isinstance(table, pd.DataFrame) else table


class TestDataFrames:
    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_texts_and_numbers(self, kind):
        release = protect(kind(TABLE), 4, na=["NA", -9], **ASKED)
        assert release.manifest.markers == {"age": 4, "pay": 5, "place": 12}
        found = as_polars(release.table)
        assert -9 not in found["age"].to_list()
        assert found["pay"].min() > 1000
        assert set(found["place"]) == {"DE"}
        assert found["kept"].to_list() == TABLE["kept"].to_list()

    @pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.UInt64, pl.Float32])
    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_of_any_type(self, kind, dtype):
        table = pl.DataFrame({"x": pl.Series([1, 99, *range(3, 41)], dtype=dtype)})
        release = protect(kind(table), 4, na=[99, -1, 0.5, 1e30], method="mdav", missing="impute")
        assert release.manifest.markers == {"x": 1}
        assert as_polars(release.table)["x"].max() < 99

    @pytest.mark.parametrize("name", ["^.*$", "*", "x"])
    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_names_that_look_like_patterns(self, kind, name):
        table = pl.DataFrame({name: [-9, *range(39)], "other": [-9, -9, *range(38)]})
        release = protect(kind(table), 4, na=[-9], method="mdav", missing="impute")
        assert release.manifest.markers == {name: 1, "other": 2}

    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_none_are_named(self, kind):
        release = protect(kind(TABLE), 4, **ASKED)
        assert release.manifest.markers == {}
        assert "markers" not in release.manifest.as_dict()
        assert set(as_polars(release.table)["place"]) <= {"NA", " -9 ", "DE"}

    def test_the_digest_is_that_of_the_table_as_given(self):
        with_na, without = (protect(TABLE, 4, na=na, **ASKED) for na in (["NA", -9], []))
        assert with_na.manifest.input == without.manifest.input

    def test_they_are_refused_like_other_missing_values(self):
        with pytest.raises(DataError, match=r"'age' \(4\), 'pay' \(5\)"):
            protect(TABLE, 4, na="-9", **{**ASKED, "missing": "error"})

    def test_a_release_can_be_repeated_from_its_manifest(self):
        first = protect(TABLE, 4, na=["NA", -9], **ASKED)
        assert first.manifest.plan.na == ("NA", "-9")
        assert protect(TABLE, plan=first.manifest.plan).table.equals(first.table)

    @pytest.mark.parametrize("na", [True, {"NA": 1}, [None], [["NA"]]])
    def test_what_they_may_be(self, na):
        with pytest.raises(ParameterError, match="na must be a list of texts or numbers"):
            Plan.of(k=2, na=na)


AGES = ["none" if i % 9 == 0 else 20 + i for i in range(60)]
PAYS = ["NA" if i % 7 == 0 else i * 1.5 for i in range(60)]
LINES = [f"{age},{pay}" for age, pay in zip(AGES, PAYS, strict=True)]


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "t.csv"
        path.write_text(text)
        return path

    return write


class TestFiles:
    def test_measure_and_verify_know_them(self, file, tmp_path):
        path = file("age,pay\n" + "\n".join(LINES) + "\n")
        plan = Plan.of(
            k=4, na=["none"], missing="impute", method="mdav", columns={"pay": {"p_percent": 5}}
        )
        release = protect_file(path, tmp_path / "out.csv", plan)
        assert release.manifest.markers == {"age": 7, "pay": 9}
        assert verify(tmp_path / "out.csv", original=path)
        found = measure(path, tmp_path / "out.csv").as_dict()
        assert json.dumps(found["risk"]["linkage"]) == json.dumps(
            release.risk().as_dict()["linkage"]
        )

    def test_of_a_unit(self, file, tmp_path):
        lines = [f"{'nobody' if i % 6 == 0 else f'p{i // 2}'},{20 + i * 7 % 60}" for i in range(60)]
        path = file("who,age\n" + "\n".join(lines) + "\n")
        plan = Plan.of(k=3, na=["nobody"], method="mdav", unit="who")
        release = protect_file(path, tmp_path / "out.csv", plan)
        assert release.manifest.units.records_without == 10
        assert verify(tmp_path / "out.csv", original=path)
        counted = measure(path, tmp_path / "out.csv").risk.units.classes.fewest
        assert counted == release.manifest.units.fewest >= 3

    def test_text_among_numbers_is_explained(self, file, tmp_path):
        path = file("age,pay\n" + "\n".join(LINES) + "\n")
        with pytest.raises(DataError, match=r"texts among the numbers in 'age'.*--na TEXT"):
            protect_file(path, tmp_path / "out.csv", Plan.of(k=4))

    def test_text_without_numbers_is_not(self, file, tmp_path):
        path = file("age,who\n1,Bo\n2,NA\n3,Cy\n")
        with pytest.raises(DataError) as raised:
            protect_file(path, tmp_path / "out.csv", Plan.of(k=2))
        assert "--na" not in str(raised.value)


class TestSensitiveColumns:
    """Markers among the numbers of a sensitive column are one missing value, whoever looks."""

    @pytest.mark.parametrize("mark", ["NA", ".", "-", "NaN"])
    @pytest.mark.parametrize("decimal", [".", ","])
    def test_a_judge_and_the_search_agree(self, file, tmp_path, mark, decimal):
        rng = np.random.default_rng(3)
        pay = [f"{v:.1f}".replace(".", decimal) for v in rng.lognormal(3, 1, 60)]
        pay = [mark if i % 11 == 0 else entry for i, entry in enumerate(pay)]
        lines = [f"{20 + i};{entry}" for i, entry in enumerate(pay)]
        path = file("age;pay\n" + "\n".join(lines) + "\n")
        asked = {"role": "sensitive", "t_closeness": 0.25}
        plan = Plan.of(k=3, method="mdav", columns={"pay": asked})
        release = protect_file(path, tmp_path / "out.csv", plan, decimal=decimal)
        assert release.manifest.plan.columns["pay"].type == "continuous"
        assert (
            pl.read_csv(tmp_path / "out.csv", separator=";", infer_schema=False)["pay"].to_list()
            == pay
        )
        assert verify(tmp_path / "out.csv")
        told = release.manifest.requirements[0]
        # By hand: the ordered distance of every released combination, missing values last.
        numbers = [np.inf if e == mark else float(e.replace(",", ".")) for e in pay]
        ranks = np.unique(numbers, return_inverse=True)[1]
        n_values, worst = ranks.max() + 1, 0.0
        whole = np.bincount(ranks, minlength=n_values) / len(ranks)
        shown = pl.read_csv(tmp_path / "out.csv", separator=";", columns=["age"])["age"].to_numpy()
        for own in np.unique(shown):
            part = np.bincount(ranks[shown == own], minlength=n_values)
            worst = max(worst, np.abs(np.cumsum(part / part.sum() - whole)).sum() / (n_values - 1))
        assert told.worst == pytest.approx(worst)

    @pytest.mark.parametrize(
        ("entries", "decimal", "expected"),
        [
            (["1", "NA", " 2 "], ".", [1, None, 2]),
            (["1,5", ".", "-"], ",", [1.5, None, None]),
            (["NA", "DE"], ".", ["NA", "DE"]),
            (["NA", "NA"], ".", ["NA", "NA"]),
            (["NA", "01"], ".", ["NA", "01"]),
            (["", "nan"], ".", [None, "nan"]),
            (["NaN", "9007199254740993"], ".", [None, 9007199254740993]),
        ],
    )
    def test_what_a_judge_sees(self, entries, decimal, expected):
        evidence = Evidence(pl.DataFrame(), (), decimal=decimal)
        assert values(pl.Series(entries), evidence).to_list() == expected

    @pytest.mark.parametrize(
        ("entries", "expected"),
        [
            (["x", " unknown", None], ["x", None, None]),
            (["7", "-9.0", "unknown"], [7.0, None, None]),
            ([7, -9, None], [7, None, None]),
            (pl.Series(["x", "unknown"], dtype=pl.Categorical), ["x", None]),
        ],
    )
    def test_what_is_named_is_missing_for_a_judge(self, entries, expected):
        evidence = Evidence(pl.DataFrame(), (), na=("unknown", "-9"))
        assert values(pl.Series(entries), evidence).to_list() == expected

    @pytest.mark.parametrize("kind", [str, int, pl.Categorical, pl.Enum(["x", "", "?", "y"])])
    def test_what_is_named_is_one_missing_value(self, kind, tmp_path):
        """Two ways to say that a value is missing are not two values."""
        rng = np.random.default_rng(2)
        kept = rng.choice(["x", "?", None], 60, p=[0.2, 0.4, 0.4])
        column = pl.Series("kept", kept.tolist(), dtype=pl.String)
        if kind is int:
            column = column.replace_strict({"x": 1, "?": -9}, default=None, return_dtype=pl.Int64)
        elif kind is not str:
            column = column.cast(kind)
        table = pl.DataFrame({"age": rng.normal(size=60).round(3), "kept": column})
        asked = {"sensitive": "kept", "method": "mdav", "l_diversity": {"kept": 2}}
        release = protect(table, 3, na=["?", -9], **asked)
        release.save(tmp_path / "out.csv")
        behind = {}
        for age, value in release.table.iter_rows():
            behind.setdefault(age, set()).add(value in ("x", 1))
        assert {len(own) for own in behind.values()} == {2}
        assert verify(tmp_path / "out.csv")
        (found,) = measure(table, release.table, plan=release.manifest.plan).requirements
        assert found.worst == 2
        careless = protect(table, 3, **asked)  # "?" and a missing value are two
        assert not verify(careless.table, plan=release.manifest.plan)
