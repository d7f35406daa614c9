"""verify() on what is not published: units and contributions need the original."""

import numpy as np
import polars as pl
import pytest

from microagg import protect, verify
from microagg.cli.main import main
from microagg.core.errors import DataError, ParameterError

RNG = np.random.default_rng(5)
PATIENT = np.repeat(np.arange(40), RNG.integers(1, 5, 40))
N = len(PATIENT)
VISITS = pl.DataFrame(
    {
        "patient": [f"p{i}" for i in PATIENT],
        "age": (PATIENT * 7) % 60 + 20,
        "cost": RNG.lognormal(4, 1, N).round(2),
        "illness": [("flu", "cold", "none")[i] for i in RNG.integers(0, 3, N)],
    }
)
ASKED = {
    "k": 3,
    "unit": "patient",
    "sensitive": ["illness"],
    "l_diversity": {"illness": 2},
    "p_percent": {"cost": 5},
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visits")
    VISITS.write_csv(folder / "visits.csv")
    protect(VISITS, method="mdav", **ASKED).save(folder / "safe.csv")
    from_file = protect(pl.read_csv(folder / "visits.csv"), method="mdav", **ASKED)
    from_file.save(folder / "beside.csv")
    return folder


def by_name(found):
    return {check["requirement"]: check["satisfied"] for check in found.as_dict()["checks"]}


class TestWithoutTheOriginal:
    def test_what_can_be_seen_is_checked_and_the_rest_is_not_vouched_for(self, saved):
        found = verify(saved / "safe.csv")
        assert by_name(found) == {
            "k records": True,
            "k units": None,
            "l-diversity": True,
            "p per cent": None,
            "no identifiers": True,
        }
        assert not found
        assert found.verdict.startswith(
            "Cannot be checked without the original (--original): at least 3 different units "
            "('patient'); no contribution to 'cost' known within 5 %. The rest holds: every "
        )

    def test_what_is_broken_comes_first(self, saved):
        found = verify(
            saved / "safe.csv", 3, sensitive=["illness"], l_diversity={"illness": 3}, unit="patient"
        )
        assert found.verdict.startswith("No: there are fewer than 3 values of 'illness' in ")
        assert "Cannot be checked without the original" in found.verdict


class TestWithTheOriginal:
    def test_all_is_checked(self, saved):
        found = verify(saved / "safe.csv", original=VISITS)
        assert found
        assert set(by_name(found).values()) == {True}

    def test_a_table_in_memory_needs_the_unit_named(self, saved):
        table = protect(VISITS, method="mdav", **ASKED).table
        for original in (VISITS, VISITS.to_pandas(), saved / "visits.csv"):
            assert verify(table, **ASKED, original=original)

    def test_fewer_units_than_k(self):
        unprotected = protect(VISITS.drop("patient"), 3, sensitive=["illness"], method="mdav").table
        behind = (
            unprotected.with_columns(VISITS["patient"])
            .group_by("age", "cost")
            .agg(pl.col("patient").n_unique())["patient"]
        )
        found = verify(unprotected, 3, sensitive=["illness"], unit="patient", original=VISITS)
        assert not found
        few = int((behind < 3).sum())
        assert few > 0
        assert f"fewer than 3 different units ('patient') are behind {few} of " in found.verdict

    def test_contributions_are_those_of_units(self):
        table = pl.DataFrame({"id": [1, 1, 1, 2, 3, 4], "pay": [50.0, 30, 20, 60, 10, 5]})
        shown = pl.DataFrame({"pay": [29.0] * 6})
        # By units: 100, 60, 10, 5, so that 15 of the rest are 15 per cent of the largest.
        for p, holds in ((14.9, True), (15, True), (15.1, False)):
            found = verify(shown, 2, p_percent={"pay": p}, unit="id", original=table)
            assert bool(found) is holds
        for share, holds in ((91.5, True), (91.4, False)):
            found = verify(shown, 2, dominance={"pay": (2, share)}, unit="id", original=table)
            assert bool(found) is holds
        assert verify(shown, 2, p_percent={"pay": 100}, original=table)  # records: 60, 50, 65 rest

    @pytest.mark.parametrize(
        ("original", "message"),
        [
            (VISITS.head(9), "the original has 9 records, the protected table has"),
            (VISITS.reverse(), "'illness' is published unchanged, but differs from the original"),
            (VISITS.drop("patient"), "the original has no column 'patient'"),
            (VISITS.with_columns(cost=pl.lit("x")), "'cost' must be numbers in the original"),
        ],
    )
    def test_another_table_is_refused(self, original, message):
        table = protect(VISITS, method="mdav", **ASKED).table
        with pytest.raises(DataError, match=message.replace("(", r"\(")):
            verify(table, **ASKED, original=original)

    def test_another_table_than_the_manifest_names_is_refused(self, saved):
        with pytest.raises(DataError, match="is not the table that the manifest names"):
            verify(saved / "safe.csv", original=VISITS.reverse())

    def test_an_original_without_need_is_refused(self, saved):
        with pytest.raises(ParameterError, match="none of them is asked for"):
            verify(saved / "safe.csv", 3, sensitive=["illness"], original=VISITS)


class TestTheCommandLine:
    def run(self, *words):
        with pytest.raises(SystemExit) as ended:
            main(["verify", *map(str, words)])
        return ended.value.code

    def test_exit_codes(self, saved):
        columns = ["-k", 3, "--sensitive", "illness", "--unit", "patient"]
        asked = [*columns, "--l-diversity", "illness=2", "--p-percent", "cost=5"]
        with_original = ["--original", saved / "visits.csv"]
        assert self.run(saved / "safe.csv", *asked, *with_original) == 0
        assert self.run(saved / "safe.csv", *asked) == 4
        too_much = [*columns, "--l-diversity", "illness=4"]
        assert self.run(saved / "safe.csv", *too_much, *with_original) == 4

    def test_a_plan_file(self, saved, tmp_path, capsys):
        plan = tmp_path / "plan.toml"
        plan.write_text(
            "k = 3\n[columns]\n"
            'patient.role = "unit"\n'
            'illness = { role = "sensitive", l_diversity = 2 }\n'
            "cost.p_percent = 5\n"
        )
        original = saved / "visits.csv"
        assert self.run(saved / "safe.csv", "--plan", plan, "--original", original) == 0
        assert "at least 3 different units ('patient'): " in capsys.readouterr().out


class TestOriginalsWithoutAManifest:
    """Only what the tables themselves show can tell whether they have the same records."""

    BARE = VISITS.select("patient", "age", "cost")

    def released(self):
        return protect(self.BARE, 3, unit="patient", method="mdav").table

    def test_records_in_another_order_are_refused(self):
        shuffled = self.BARE.sample(fraction=1.0, shuffle=True, seed=1)
        with pytest.raises(DataError, match="are not those of these records"):
            verify(self.released(), 3, unit="patient", original=shuffled)

    def test_nothing_to_compare(self):
        units = pl.DataFrame({"patient": range(N)})
        with pytest.raises(DataError, match="nothing shows that the original has the records"):
            verify(self.released(), 3, unit="patient", original=units)

    @pytest.mark.parametrize("aggregate", ["mean", "median"])
    def test_means_medians_and_rounded_ones(self, aggregate):
        columns = {name: {"aggregate": aggregate} for name in ("age", "cost")}
        table = protect(self.BARE, 3, unit="patient", method="mdav", columns=columns).table
        for shown in (table, table.with_columns(pl.col("cost").round(2))):
            assert verify(shown, 2, unit="patient", original=self.BARE)

    def test_the_manifest_names_the_original_whatever_is_asked(self, saved):
        fake = VISITS.with_columns(patient=pl.Series(range(N)))
        with pytest.raises(DataError, match="not the table that the manifest names"):
            verify(saved / "safe.csv", 5, unit="patient", sensitive="illness", original=fake)
