"""Whom records are about: k people, not k of their records."""

import random
from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import Plan, compare, protect, protect_file, sweep
from microagg.core.errors import DataError, ParameterError

K = 5


def visits_of(n_patients, seed=1):
    """Visits of patients, 1 to 11 each: those of one patient are much alike."""
    chance = random.Random(seed)
    rows = []
    for patient in range(n_patients):
        age, weight = chance.randint(1, 95), chance.gauss(70, 15)
        for _ in range(chance.randint(1, 11)):
            rows.append(
                {
                    "visit": f"v{len(rows)}",
                    "patient": f"p{patient}",
                    "age": age,
                    "weight": round(weight + chance.gauss(0, 1), 1),
                    "pulse": chance.randint(50, 110),
                    "ward": chance.choice("ab"),
                    "illness": chance.choice(["flu", "cold", "none"]),
                }
            )
    chance.shuffle(rows)
    return pl.DataFrame(rows)


VISITS = visits_of(60)
ASKED = {"sensitive": ["illness", "ward"], "drop": "visit", "method": "mdav"}
SHOWN = ("age", "weight", "pulse")


def patients_behind(released, patients, shown=SHOWN):
    """Return the fewest patients behind a combination; None is nobody."""
    behind = defaultdict(set)
    for row, patient in zip(released.select(shown).iter_rows(), patients, strict=True):
        behind[row].add(patient)
    return min(len(own - {None}) for own in behind.values())


class TestIdentifiersThatRepeat:
    @pytest.mark.parametrize("others", [[], ["visit"]], ids=["alone", "beside a unique one"])
    @pytest.mark.parametrize("kind", [pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
    def test_they_are_refused(self, kind, others):
        asked = {**ASKED, "drop": [] if others else "visit", "identifiers": [*others, "patient"]}
        with pytest.raises(DataError) as refused:
            protect(kind(VISITS), K, **asked)
        told = str(refused.value)
        repeating = sum(VISITS["patient"].value_counts()["count"] > 1)
        assert f"identifier 'patient' repeats: {repeating} of its values are in several" in told
        for way in ("--unit patient", "unit='patient'", "--unit rows", "unit='rows'"):
            assert way in told
        assert "\n" not in told

    def test_all_are_named(self):
        table = VISITS.with_columns(doctor=pl.lit("Sentinella"))
        with pytest.raises(
            DataError, match=r"'patient' repeats \(and so does 'doctor'\)"
        ) as refused:
            protect(table, K, identifiers=["patient", "doctor"], **ASKED)
        assert "Sentinella" not in str(refused.value)

    def test_options_can_be_copied_to_a_shell(self):
        table = VISITS.rename({"patient": "patient no."})
        with pytest.raises(DataError, match=r"--unit 'patient no\.', or unit='patient no\.'"):
            protect(table, K, identifiers="patient no.", **ASKED)

    def test_in_the_index(self):
        table = VISITS.to_pandas().set_index("patient")
        with pytest.raises(DataError, match="'patient' repeats"):
            protect(table, K, identifiers="patient", **ASKED)

    @pytest.mark.parametrize(
        "names",
        [
            [None, None, "a", "b", "c", "d"],
            ["", " ", "a", "b", "c", "d"],
            [float("nan"), float("nan"), 1.0, 2.0, 3.0, None],
        ],
    )
    def test_missing_values_are_no_repetition(self, names):
        table = pl.DataFrame({"x": range(6), "name": names}, strict=False)
        assert protect(table, 3, identifiers="name").manifest.identifiers == ("name",)
        again = pl.concat([table, table])
        with pytest.raises(DataError, match="'name' repeats"):
            protect(again, 3, identifiers="name")

    @pytest.mark.parametrize("name", ["records", "^n$", "^.*$", "len", ""])
    def test_odd_names(self, name):
        table = pl.DataFrame({"x": range(6), name: ["a", "a", "b", "b", "c", "d"]})
        with pytest.raises(DataError, match="repeats: 2 of its values are in several records"):
            protect(table, 3, identifiers=name)
        assert protect(table, 3, unit=name).manifest.units.count == 4

    @pytest.mark.parametrize("study", [lambda t, **k: compare(t, K, "mdav", **k), sweep])
    def test_studies_refuse_them_as_well(self, study):
        asked = {name: own for name, own in ASKED.items() if name != "method"}
        with pytest.raises(DataError, match="'patient' repeats"):
            study(VISITS, identifiers="patient", **asked)

    def test_files_too(self, tmp_path):
        VISITS.write_csv(tmp_path / "visits.csv")
        plan = Plan.of(k=K, method="mdav", columns=columns(patient="identifier"))
        with pytest.raises(DataError, match="'patient' repeats"):
            protect_file(tmp_path / "visits.csv", tmp_path / "out.csv", plan)
        assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]


def columns(**roles):
    named = {"visit": "drop", "ward": "sensitive", "illness": "sensitive", **roles}
    return {name: {"role": role} for name, role in named.items()}


class TestUnits:
    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["auto", "mdav", "kmeans", "icsm"])
    def test_every_combination_stands_for_k_patients(self, method):
        effort = {"effort": "fast"} if method == "auto" else {}
        release = protect(VISITS, K, unit="patient", **{**ASKED, "method": method}, **effort)
        assert "patient" not in release.table.columns
        fewest = patients_behind(release.table, VISITS["patient"])
        assert fewest == release.manifest.units.fewest >= K
        assert release.manifest.units.count == VISITS["patient"].n_unique()
        assert release.manifest.units.records_without == 0
        assert release.manifest.dropped == ("patient", "visit")
        alone = protect(VISITS, K, unit="rows", identifiers="patient", **ASKED)
        assert patients_behind(alone.table, VISITS["patient"]) < K, "this table needs units"

    @pytest.mark.slow
    def test_six_hundred_patients_in_a_file(self, tmp_path):
        visits = visits_of(600, seed=2)
        visits.write_csv(tmp_path / "visits.csv")
        plan = Plan.of(k=K, effort="fast", random_state=0, columns=columns(patient="unit"))
        protect_file(tmp_path / "visits.csv", tmp_path / "out.csv", plan)
        written = pl.read_csv(tmp_path / "out.csv")
        assert patients_behind(written, visits["patient"]) >= K

    def test_a_unit_may_be_named_as_an_identifier_too(self):
        both = protect(VISITS, K, unit="patient", identifiers=["patient"], **ASKED)
        assert both.labels.tolist() == protect(VISITS, K, unit="patient", **ASKED).labels.tolist()
        assert both.manifest.identifiers == ()

    def test_beside_other_identifiers(self):
        asked = {**ASKED, "drop": ()}
        release = protect(VISITS, K, unit="patient", identifiers="visit", **asked)
        assert patients_behind(release.table, VISITS["patient"]) >= K
        assert release.manifest.identifiers == ("visit",)

    @pytest.mark.parametrize("index", ["patient", ["visit", "patient"]])
    def test_in_the_index(self, index):
        table = VISITS.to_pandas().set_index(index)
        release = protect(table, K, unit="patient", **ASKED)
        assert patients_behind(pl.from_pandas(release.table), VISITS["patient"]) >= K
        assert list(release.table.index) == list(range(len(VISITS)))

    def test_a_record_without_a_unit_counts_for_nobody(self):
        names = [
            (None, "", "  ", name, f" {name} ")[at % 5] for at, name in enumerate(VISITS["patient"])
        ]
        table = VISITS.with_columns(patient=pl.Series(names))
        release = protect(table, K, unit="patient", **ASKED)
        bare = [(name or "").strip() or None for name in names]
        assert patients_behind(release.table, bare) >= K
        assert release.manifest.units.records_without == bare.count(None)
        assert release.manifest.units.count == len({*bare} - {None})

    @pytest.mark.parametrize("dtype", ["Int64", "float64", "category"])
    def test_units_of_other_types(self, dtype):
        table = VISITS.to_pandas()
        codes = table["patient"].str[1:].astype(int).astype(dtype)
        release = protect(table.assign(patient=codes), K, unit="patient", **ASKED)
        assert patients_behind(pl.from_pandas(release.table), VISITS["patient"]) >= K

    def test_blocks(self):
        with pytest.warns(match="block"):
            release = protect(VISITS, K, unit="patient", blocks=[["age"]], **ASKED)
        for shown in (["age"], ["weight", "pulse"]):
            assert patients_behind(release.table, VISITS["patient"], shown) >= K
        assert [one.requirement for one in release.manifest.requirements] == ["k units"]

    @pytest.mark.parametrize("missing", ["value", "impute"])
    def test_missing_values(self, missing):
        gone = pl.Series(np.random.default_rng(3).random(len(VISITS)) < 0.2)
        table = VISITS.with_columns(pl.when(~gone).then(pl.col("weight")).alias("weight"))
        release = protect(table, K, unit="patient", missing=missing, **ASKED)
        assert patients_behind(release.table, VISITS["patient"]) >= K

    def test_weights_do_not_count(self):
        table = VISITS.with_columns(w=pl.Series([1.0, 50.0] * len(VISITS))[: len(VISITS)])
        release = protect(table, K, unit="patient", weights="w", **ASKED)
        assert patients_behind(release.table, VISITS["patient"]) >= K

    @pytest.mark.slow
    def test_one_record_each_is_as_without_units(self):
        once = VISITS.unique("patient", maintain_order=True)
        for method in ("auto", "mdav", "tsp-mhm"):
            asked = {**ASKED, "method": method, "random_state": 0}
            asked |= {"effort": "fast"} if method == "auto" else {}
            bare = protect(once, K, identifiers="patient", **asked)
            for unit in ("patient", "rows"):
                own = protect(once, K, identifiers="patient", unit=unit, **asked)
                assert own.labels.tolist() == bare.labels.tolist()
                assert own.information_loss == bare.information_loss

    @pytest.mark.parametrize("nobody", [None, "", " "])
    def test_of_nobody(self, nobody):
        table = VISITS.with_columns(patient=pl.lit(nobody, dtype=pl.String))
        with pytest.raises(DataError, match="no record has a value in the unit 'patient'"):
            protect(table, K, unit="patient", **ASKED)

    def test_too_few(self):
        n = VISITS["patient"].n_unique()
        few = rf"fewer than {n + 1} different units \('patient'\) are behind all records"
        match = f"{few}.*Use k = {n} or less"
        with pytest.raises(ParameterError, match=match):
            protect(VISITS, n + 1, unit="patient", **ASKED)
        assert protect(VISITS, n, unit="patient", **ASKED).manifest.units.fewest == n


class TestStrata:
    ASKED = ASKED | {"sensitive": "illness", "strata": "ward"}

    def test_k_patients_in_each(self):
        release = protect(VISITS, K, unit="patient", **self.ASKED)
        assert patients_behind(release.table, VISITS["patient"], (*SHOWN, "ward")) >= K

    # Ten households of six in one street, each of which would be enough by its records.
    HOMES = pl.DataFrame(
        {
            "household": [f"h{i // 6}" for i in range(60)] + [f"z{i}" for i in range(40)],
            "age": [(37 * i) % 90 for i in range(100)],
            "rooms": [1.0 + (7 * i) % 5 for i in range(100)],
            "street": [f"s{i // 12}" for i in range(60)] + ["t"] * 40,
        }
    )

    def test_strata_of_too_few_households_are_refused(self):
        match = r"every stratum must hold at least k=4 units; 5 of the 6 strata .* holds 2"
        with pytest.raises(DataError, match=match):
            protect(self.HOMES, 4, unit="household", strata="street", method="mdav")

    def test_or_merged_until_there_are_enough(self):
        release = protect(
            self.HOMES, 4, unit="household", strata="street", small_strata="merge", method="mdav"
        )
        behind = defaultdict(set)
        for street, home in zip(release.table["street"], self.HOMES["household"], strict=True):
            behind[street].add(home)
        assert min(map(len, behind.values())) >= 4
        shown = ("age", "rooms", "street")
        assert patients_behind(release.table, self.HOMES["household"], shown) >= 4
        assert release.manifest.strata_found.merged > 0
        assert "t" in behind


class TestRows:
    def test_every_record_is_about_somebody_else(self):
        asked = {"identifiers": ["visit", "patient"], **ASKED, "drop": ()}
        release = protect(VISITS, K, unit="rows", **asked)
        bare = protect(VISITS.drop("visit", "patient"), K, **asked | {"identifiers": ()})
        assert release.labels.tolist() == bare.labels.tolist()
        assert release.manifest.units is None
        assert release.manifest.plan.unit == "rows"

    def test_it_is_no_column(self):
        table = VISITS.rename({"patient": "rows"})
        with pytest.raises(ParameterError, match="a column named 'rows' cannot be the unit"):
            protect(table, K, columns={"rows": {"role": "unit"}}, **ASKED)

    @pytest.mark.parametrize("identifiers", [(), "rows"], ids=["no role", "identifier"])
    def test_it_is_not_clear_beside_a_column_of_that_name(self, identifiers):
        table = VISITS.rename({"patient": "rows"})
        with pytest.raises(ParameterError, match="also has a column of that name"):
            protect(table, K, unit="rows", identifiers=identifiers, **ASKED)

    def test_a_column_of_that_name_may_have_another_role(self):
        table = VISITS.rename({"age": "rows"})
        asked = {**ASKED, "drop": ["visit", "patient"]}
        release = protect(table, K, unit="rows", quasi_identifiers="rows", **asked)
        assert "rows" in release.manifest.quasi_identifiers

    def test_not_beside_a_column(self):
        with pytest.raises(ParameterError, match="the unit is given twice"):
            protect(VISITS, K, unit="rows", columns={"patient": {"role": "unit"}}, **ASKED)


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "strata", "weights", "drop"])
def test_no_other_role_for_a_unit(role):
    with pytest.raises(ParameterError, match="'patient' can have one role only"):
        protect(VISITS, K, unit="patient", **{role: "patient"})


def test_two_units_are_refused():
    roles = {name: {"role": "unit"} for name in ("patient", "visit")}
    with pytest.raises(ParameterError, match="only one column can say whom a record is about"):
        protect(VISITS, K, columns=roles, sensitive=["ward", "illness"])


def test_keys_are_refused_beside_a_unit():
    match = "keep_key .* cannot be used with a unit: a key leads back to every record"
    with pytest.raises(ParameterError, match=match):
        protect(VISITS, K, unit="patient", keep_key=True, identifiers="visit")


@pytest.mark.parametrize("unit", ["nobody", "patients"])
def test_a_unit_that_is_no_column(unit):
    with pytest.raises(ParameterError, match=f"the table has no column '{unit}'"):
        protect(VISITS, K, unit=unit, **ASKED)


@pytest.mark.parametrize("unit", [3, ["patient"], True])
def test_a_unit_is_one_name(unit):
    with pytest.raises(ParameterError, match="unit must be the name of a column"):
        protect(VISITS, K, unit=unit, **ASKED)


@pytest.mark.parametrize("method", ["fcm", "efcm"])
def test_methods_that_draw_refuse_units(method):
    with pytest.raises(ParameterError, match="at random and cannot take a unit into account"):
        protect(VISITS, K, unit="patient", **{**ASKED, "method": method})


class TestStudies:
    ASKED = {name: own for name, own in ASKED.items() if name != "method"} | {"unit": "patient"}

    def test_compare(self):
        (row,) = compare(VISITS, K, "mdav", **self.ASKED)
        alone = protect(VISITS, K, method="mdav", **self.ASKED)
        assert row.information_loss == alone.information_loss

    @pytest.mark.slow
    def test_sweep(self):
        swept = sweep(VISITS, [2, 4], random_state=0, **self.ASKED)
        for row in swept:
            behind = defaultdict(set)
            for label, patient in zip(row.labels.tolist(), VISITS["patient"], strict=True):
                behind[label].add(patient)
            assert min(map(len, behind.values())) >= row.k

    def test_a_sweep_ends_at_the_number_of_units(self):
        few = pl.DataFrame({"who": [f"p{i % 4}" for i in range(24)], "x": range(24)})
        assert [row.k for row in sweep(few, unit="who", random_state=0)] == [2, 3, 4]


@pytest.mark.slow
def test_pandas_and_polars_agree():
    one = protect(VISITS, K, unit="patient", **ASKED)
    two = protect(VISITS.to_pandas(), K, unit="patient", **ASKED)
    assert isinstance(two.table, pd.DataFrame)
    assert one.labels.tolist() == two.labels.tolist()
