"""measure() where records are about units, and where a plan requires more than k records."""

import json

import numpy as np
import polars as pl
import pytest

from microagg import measure, protect
from microagg.core.errors import ParameterError

RNG = np.random.default_rng(5)
WHO = np.repeat(np.arange(40), RNG.integers(1, 5, 40))
N = len(WHO)
VISITS = pl.DataFrame(
    {
        "visit": range(N),
        "patient": [f"{unit:04}" for unit in WHO],
        "age": RNG.integers(18, 90, 40)[WHO],
        "weight": RNG.normal(70, 9, N).round(1),
        "ill": RNG.choice(["no", "flu", "cold"], N),
    }
)
ROLES = {"sensitive": ["ill"], "drop": ["visit"], "l_diversity": {"ill": 2}}
RELEASE = protect(VISITS, 3, method="mdav", unit="patient", **ROLES)
ALONE = protect(VISITS, 3, method="mdav", unit="rows", sensitive="ill", drop=["visit", "patient"])


def figures(found):
    return json.dumps([found.risk.as_dict(), found.utility.as_dict()])


def test_a_release_measures_itself_as_measure_does():
    own = json.dumps([RELEASE.risk().as_dict(), RELEASE.utility().as_dict()])
    assert figures(measure(VISITS, RELEASE.table, unit="patient")) == own
    found = measure(VISITS, RELEASE.table, plan=RELEASE.manifest.plan)
    assert figures(found) == own
    assert found.unit == "patient"
    assert found.risk.units.classes.fewest == RELEASE.manifest.units.fewest >= 3


def test_files_name_their_unit_in_the_manifest(tmp_path):
    table = VISITS.with_columns(
        patient=pl.col("patient").replace("0001", "1").replace("0002", "01")
    )
    release = protect(table, 3, method="mdav", unit="patient", **ROLES)
    table.write_csv(tmp_path / "in.csv")
    release.save(tmp_path / "out.csv")
    found = measure(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (found.unit, found.risk.units.n_units) == ("patient", 40)  # 1 and 01 are two patients
    assert found.risk.units.classes.fewest == release.manifest.units.fewest
    assert found.dropped == ("visit", "patient")
    facts = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert facts["unit"] == "patient"
    assert facts["requirements"] == [
        own.model_dump(mode="json") for own in release.manifest.requirements
    ]


def test_a_requirement_on_several_blocks_is_reported_once():
    release = protect(VISITS, 3, method="mdav", unit="patient", blocks=[["age"]], **ROLES)
    found = measure(VISITS, release.table, plan=release.manifest.plan)
    assert len(found.blocks) == 2
    assert [own.as_dict() for own in found.requirements] == [
        own.model_dump(mode="json") for own in release.manifest.requirements
    ]
    assert [name for name, _ in found.rows()].count("k units") == 1


def test_units_follow_the_key():
    table = VISITS.drop("visit").with_columns(key=pl.Series(np.arange(N)))
    shown = RELEASE.table.with_columns(key=pl.Series(np.arange(N)))
    mixed = shown.sample(fraction=1.0, shuffle=True, seed=1)
    one, other = (
        measure(table, released, key="key", unit="patient").risk.units
        for released in (shown, mixed)
    )
    assert one.classes == other.classes
    assert one.linkage.linked == pytest.approx(other.linkage.linked)
    few = measure(table, mixed.filter(pl.col("key") < 30), key="key", unit="patient")
    assert few.risk.units.n_units == VISITS["patient"][:30].n_unique()


def test_the_unit_may_be_in_the_index():
    table = VISITS.to_pandas().set_index("patient")
    released = protect(table, 3, method="mdav", unit="patient", **ROLES)
    assert released.risk().units.n_units == 40
    found = measure(table, released.table.reset_index(drop=True), unit="patient")
    assert found.risk.units.classes.fewest >= 3


def test_rows_are_told_apart_from_people():
    """k records are kept, k patients are not, and only a unit shows it."""
    found = measure(VISITS, ALONE.table, unit="patient", sensitive="ill")
    assert found.risk.classes.smallest >= 3
    assert found.risk.units.classes.fewest < 3
    assert found.risk.units.classes.units_below[3] > 0
    figures = {row[0]: row[1] for row in found.risk.rows()}
    assert figures["fewest units"].endswith("different units ('patient')")
    assert "linked units" in " ".join(repr(found).split())


def test_without_a_unit_nothing_is_said_of_units():
    found = measure(VISITS, ALONE.table)
    facts = found.as_dict()
    assert facts["unit"] is facts["risk"]["units"] is facts["utility"]["units"] is None
    assert facts["requirements"] == []
    assert "unit" not in " ".join(repr(found).split()).replace("in units of", "")
    plan = RELEASE.manifest.plan
    told = measure(VISITS, RELEASE.table, plan=plan, unit="rows")
    assert told.unit is told.risk.units is None
    with pytest.raises(ParameterError, match="also has a column of that name"):
        measure(VISITS.rename({"patient": "rows"}), ALONE.table, unit="rows")


def test_what_the_plan_requires_is_checked():
    plan = RELEASE.manifest.plan
    kept = measure(VISITS, RELEASE.table, plan=plan)
    assert [own.satisfied for own in kept.requirements] == [True, True]
    assert not [note for note in kept.notes() if "requirement" in note]
    assert "at least 2 values of 'ill'" in repr(kept)
    broken = measure(VISITS, ALONE.table, plan=plan)
    assert broken.requirements[0].satisfied is False
    assert "fewer than 3 different units ('patient') are behind" in broken.notes()[0]
    unknown = measure(VISITS.drop("patient"), RELEASE.table, plan=plan)
    assert [own.satisfied for own in unknown.requirements] == [None, True]
    assert "cannot be checked" in unknown.notes()[0]
    assert unknown.unit is None


def test_contributions_are_checked_with_the_original():
    release = protect(
        VISITS,
        3,
        method="mdav",
        unit="patient",
        sensitive="ill",
        drop="visit",
        p_percent={"weight": 5},
    )
    plan = release.manifest.plan
    found = measure(VISITS, release.table, plan=plan).requirements
    told = [own.worst for own in release.manifest.requirements]
    assert found[0].worst == told[0]
    assert told[1] is None  # in a manifest, it would give a contribution away
    mixed = release.table.with_columns(key=pl.Series(np.arange(N))).reverse()
    plan = plan.replace(columns={**plan.columns, "key": {"role": "identifier"}})
    again = measure(VISITS.with_columns(key=pl.Series(np.arange(N))), mixed, plan=plan, key="key")
    assert [own.as_dict() for own in again.requirements] == [own.as_dict() for own in found]


@pytest.mark.parametrize(
    ("unit", "roles", "words"),
    [
        ("pateint", {}, "no column 'pateint'. Did you mean 'patient'"),
        ("age", {"quasi_identifiers": "age"}, "named as a quasi-identifier and as the unit"),
        ("ill", {"sensitive": "ill"}, "named as sensitive and as the unit"),
    ],
)
def test_units_that_cannot_be(unit, roles, words):
    with pytest.raises(ParameterError, match=words):
        measure(VISITS, RELEASE.table, unit=unit, **roles)


def test_a_unit_alone_is_one_unit():
    table = pl.DataFrame({"who": ["a", "a", "b", "b"], "x": [1, 1, 2, 2]})
    found = measure(table, table.drop("who"), unit="who", quasi_identifiers="x")
    figures = {row.measure: row.figure for row in found.risk.rows()}
    assert figures["fewest units"] == "1 unit ('who')"
