"""Releases within constraints: whatever the method, totals add up and nothing else changes."""

import json
from functools import partial
from itertools import product

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import verify
from microagg.constraints.system import System
from microagg.core import registry
from microagg.core.errors import DataError, GuaranteeError, ParameterError
from microagg.tables.frames import open_frame, with_released

protect = partial(microagg.protect, method="mdav")

RNG = np.random.default_rng(0)
N = 90
NET = RNG.integers(1000, 5000, N)
TAX = NET // 5 + RNG.integers(-100, 100, N)
INTEGERS = pl.DataFrame({"net": NET, "tax": TAX, "gross": NET + TAX, "age": RNG.integers(0, 90, N)})
FLOATS = INTEGERS.with_columns(pl.all().cast(pl.Float64) * 1.01)
TOTAL = "net + tax = gross"
# Draws that promise nothing say so; that is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
SEVERAL = [name for name, m in registry.METHODS.items() if not (m.single_column or m.needs)]


def miss(table):
    return (table["net"] + table["tax"] - table["gross"]).abs().max()


@pytest.mark.parametrize("method", SEVERAL)
def test_integers_stay_integers_and_add_up_exactly_with_every_method(method):
    options = {"n_starts": 2} if method in ("reporder", "fcm", "efcm") else {}
    release = protect(
        INTEGERS, 4, method=method, method_options=options, constraints=[TOTAL], random_state=0
    )
    assert release.table.schema == INTEGERS.schema
    assert miss(release.table) == 0
    assert release.manifest.constraints.records_in_violation == {TOTAL: 0}
    assert release.manifest.constraints.groups_not_proved_nearest == 0
    json.dumps(release.manifest.as_dict())


def test_each_group_gets_the_nearest_whole_numbers():
    release = protect(INTEGERS, 6, constraints=[TOTAL])
    deviations = [INTEGERS[name].std() for name in ("net", "tax", "gross")]
    for group in np.unique(release.labels):
        members = INTEGERS.filter(release.labels == group)
        means = [members[name].mean() for name in ("net", "tax", "gross")]
        near = [range(int(mean) - 4, int(mean) + 6) for mean in means]
        least = min(
            sum(((v - m) / s) ** 2 for v, m, s in zip(values, means, deviations, strict=True))
            for values in product(*near)
            if values[0] + values[1] == values[2]
        )
        row = release.table.filter(release.labels == group).row(0)[:3]
        distance = sum(((v - m) / s) ** 2 for v, m, s in zip(row, means, deviations, strict=True))
        assert distance == pytest.approx(least, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_where_the_data_satisfy_them_continuous_releases_do_not_change(kind):
    convert = {
        "polars": lambda t: t,
        "pandas": pl.DataFrame.to_pandas,
        "arrow": pl.DataFrame.to_arrow,
    }
    table = convert[kind](FLOATS.with_columns(gross=pl.col("net") + pl.col("tax")))
    limits = [TOTAL, "age >= 0", "net <= gross"]
    plain = protect(table, 5, digits="all").table
    bound = protect(table, 5, constraints=limits, digits="all").table
    assert type(bound) is type(table)
    assert plain.equals(bound) if kind != "arrow" else plain == bound


@pytest.mark.parametrize("scale", ["standardise", "none"])
def test_where_they_do_not_the_release_does_and_says_who_did_not(scale):
    broken = FLOATS.with_columns(gross=pl.col("gross") + pl.Series(RNG.normal(size=N) * 50))
    release = protect(broken, 5, constraints=[TOTAL, "tax <= 700"], scale=scale)
    table, facts = release.table, release.manifest.constraints
    assert miss(table) <= 1e-9 * table["gross"].max()
    assert table["tax"].max() <= 700 * (1 + 1e-9)
    above = int((broken["tax"] > 700).sum())
    assert facts.records_in_violation == {TOTAL: N, "tax <= 700": above}
    assert above > 0
    assert facts.groups_moved == release.manifest.n_groups
    plain = protect(broken, 5, scale=scale)
    assert release.grouping_loss == plain.grouping_loss
    assert release.information_loss > plain.information_loss
    assert release.labels.tolist() == plain.labels.tolist()


def test_the_added_loss_is_that_of_the_released_values():
    broken = FLOATS.with_columns(gross=pl.col("gross") * 1.1)
    release = protect(broken, 5, constraints=[TOTAL], digits="all")
    original, released = broken.to_numpy(), release.table.to_numpy()
    spread = original.std(axis=0, ddof=1)
    lost = (((original - released) / spread) ** 2).sum()
    total = (((original - original.mean(axis=0)) / spread) ** 2).sum()
    facts = release.manifest.constraints
    assert release.information_loss == pytest.approx(100 * lost / total)
    expected = 100 * lost / total - release.grouping_loss
    assert facts.added_information_loss == pytest.approx(expected, rel=1e-9)
    assert facts.added_information_loss > 0.01


def test_types_keep_their_limits():
    small = pl.DataFrame(
        {"a": [200, 250, 255] * 5, "b": [50, 5, 0] * 5}, schema={"a": pl.UInt8, "b": pl.UInt8}
    )
    release = protect(small, 3, constraints=["a + b >= 258"])
    assert release.table.schema == small.schema
    total = release.table["a"].cast(pl.Int64) + release.table["b"].cast(pl.Int64)
    assert total.min() >= 258


def test_names_as_tables_have_them():
    table = pl.DataFrame(
        {"net pay": [1.0, 2, 3, 4], "größe": [2.0, 4, 6, 9], "x.y": [1.0, 1, 1, 2]}
    )
    release = protect(table, 2, constraints=["2*'net pay' = größe", "x.y <= 1.25"])
    assert (release.table["net pay"] * 2 - release.table["größe"]).abs().max() < 1e-12
    assert release.table["x.y"].max() <= 1.25


@pytest.mark.parametrize("table", [pd.DataFrame, pa.table])
def test_other_kinds_of_tables(table):
    release = protect(table(INTEGERS.to_dict(as_series=False)), 4, constraints=[TOTAL])
    assert miss(pl.DataFrame(release.table)) == 0


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (7, "constraints must be a list of texts"),
        ({"net": 1}, "constraints must be a list of texts"),
        ([7], "must be a text"),
        (["net + tax"], "at character 10"),
        (["net * tax = gross"], "is not linear"),
        (["net + taxx = gross"], "Did you mean 'tax'?"),
        (["gross >= code"], "'code' is sensitive"),
        (["gross >= name"], "'name' is an identifier"),
        (["gross >= firm"], "'firm' is the unit"),
        (["gross >= notes"], "'notes' is dropped"),
        (["2*net = 3"], "in whole numbers"),
        (["net <= 1", "net >= 2"], "contradict each other"),
        (["net + tax = gross", "2*net + 2*tax = 2*gross + 2"], "contradict each other"),
    ],
)
def test_constraints_that_cannot_be_kept(constraints, words, monkeypatch):
    monkeypatch.setattr("microagg.partitions.mdav.MDAV.fit", lambda *_: pytest.fail("was run"))
    table = INTEGERS.with_columns(code=pl.lit(1), name=pl.lit("Sentinella"), notes=pl.lit("x"))
    table = table.with_columns(firm=pl.Series(range(len(table))))
    roles = {"sensitive": "code", "identifiers": "name", "unit": "firm", "drop": "notes"}
    with pytest.raises(ParameterError) as caught:
        protect(table, 3, constraints=constraints, **roles)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_constraints_the_manifest_says_none():
    assert protect(INTEGERS, 3).manifest.constraints is None
    for none in ((), None, []):
        assert protect(INTEGERS, 3, constraints=none).manifest.constraints is None


def test_one_constraint_may_be_one_text():
    found = protect(INTEGERS, 3, constraints=TOTAL).manifest.constraints
    assert found.records_in_violation == {TOTAL: 0}


def released(columns, constraints, k=3, **options):
    """A release that, counted once more, violates nothing."""
    table = pl.DataFrame(columns)
    release = protect(table, k, constraints=constraints, random_state=0, **options)
    units = {name: float(np.std(values)) for name, values in columns.items()}
    found = System.of(constraints, list(columns)).violations(release.table.to_dict(), units)
    assert not any(found.values())
    return release


@pytest.mark.parametrize("method", ["mdav", "fcm", "efcm"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 1e9, 1e12, 1e15])
def test_columns_of_very_different_scales(method, scale):
    a, b = RNG.normal(size=60) * scale, RNG.normal(size=60)
    table = released({"a": a, "b": b}, ["a = b"], method=method).table
    np.testing.assert_allclose(table["a"], table["b"], rtol=1e-9)


@pytest.mark.parametrize("method", ["mdav", "fcm", "efcm"])
def test_constraints_that_follow_from_others(method):
    net, tax, d = RNG.normal(size=(3, 60)) * 100 + 1000
    columns = {"net": net, "tax": tax, "gross": net + tax, "d": d, "e": net + tax + d}
    released(columns, [TOTAL, "gross + d = e", "net + tax + d = e"], method=method)
    released(columns, [TOTAL, "0.3*net + 0.3*tax = 0.3*gross"], method=method)


@pytest.mark.parametrize("method", ["mdav", "fcm", "efcm"])
def test_constant_columns_move_if_they_must(method):
    columns = {"c": np.full(30, 4.0), "d": np.full(30, 3.0), "x": RNG.normal(size=30)}
    assert (released(columns, ["c = 5"], method=method).table["c"] == 5).all()
    table = released(columns, ["c = d"], method=method).table
    assert (table["c"] == table["d"]).all()
    table = released(columns, ["c + x = 5", "x <= 1"], method=method).table
    assert (table["c"] == 4).all()
    np.testing.assert_allclose(table["x"], 1, rtol=1e-12)


def test_no_negative_numbers_where_none_are_allowed():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = 1 + 0.51 * rng.normal(size=40), 0.57 * rng.normal(size=40)
        constraints = ["b >= 0", "a >= 1", "a + b <= 1"]
        table = released({"a": a, "b": b}, constraints, k=4).table
        assert table["b"].min() >= 0
        assert table["a"].min() >= 1


def test_columns_of_32_bits_hold_what_they_can():
    net, tax = (RNG.normal(size=(2, 60)) * 100 + 1000).astype(np.float32)
    exact = {"net": net, "tax": tax, "gross": net.astype(float) + tax.astype(float)}
    table = released(exact, [TOTAL]).table
    assert table.schema["net"] == pl.Float32
    total = table["net"].cast(pl.Float64) + table["tax"].cast(pl.Float64)
    np.testing.assert_allclose(table["gross"], total, rtol=1e-12)
    bounded = released({"net": net, "tax": tax}, ["net <= 1000.1", "tax >= 999.9"]).table
    assert float(bounded["net"].max()) <= 1000.1
    assert float(bounded["tax"].min()) >= 999.9
    narrow = {"net": net, "tax": tax, "gross": net + tax}
    facts = released(narrow, [TOTAL]).manifest.constraints
    assert facts.records_in_violation == {TOTAL: 0}


def test_columns_of_32_bits_beside_whole_numbers():
    rng = np.random.default_rng(5)
    whole, narrow = rng.integers(0, 100, 80), (rng.normal(size=80) * 10 + 50).astype(np.float32)
    wide = whole + narrow.astype(float) + rng.normal(size=80)
    columns = {"whole": whole, "narrow": narrow, "wide": wide}
    table = released(columns, ["whole + narrow = wide", "narrow >= 0.1"], k=4).table
    same = released({**columns, "narrow": narrow.astype(float)}, ["whole + narrow = wide"], k=4)
    assert table["whole"].to_list() == same.table["whole"].to_list()
    np.testing.assert_allclose(table["wide"], same.table["wide"], rtol=1e-6)
    np.testing.assert_allclose(table["narrow"], same.table["narrow"], rtol=1e-6)


def test_constraints_that_do_not_bind_change_no_integers():
    ages = pl.DataFrame({"age": RNG.integers(-45, 45, 400), "x": RNG.normal(size=400)})
    plain = protect(ages, 4)
    bound = protect(ages, 4, constraints=["age >= -100", "age <= 100"])
    assert plain.table.equals(bound.table)
    facts = bound.manifest.constraints
    assert (facts.groups_moved, facts.added_information_loss) == (0, 0.0)


def test_the_same_constraint_counts_once():
    constraints = ["age >= 1", "'age' >= 1", "2*age>=2"]
    facts = protect(INTEGERS, 3, constraints=constraints).manifest.constraints
    assert list(facts.records_in_violation)[:1] == ["age >= 1"]
    assert "'age' >= 1" not in facts.records_in_violation


def test_very_large_numbers():
    columns = {"a": RNG.normal(size=30) * 1e29, "b": RNG.normal(size=30) * 1e29}
    table = released(columns, ["a + b = 1e30", "a >= 0", "b >= 0"]).table
    np.testing.assert_allclose(table["a"] + table["b"], 1e30, rtol=1e-9)


def test_whole_numbers_that_are_too_large_are_refused_at_once(monkeypatch):
    monkeypatch.setattr("microagg.partitions.mdav.MDAV.fit", lambda *_: pytest.fail("was run"))
    table = pl.DataFrame({"a": [2**60, 1, 2], "b": [1, 2, 3]})
    with pytest.raises(DataError, match="'a' has larger ones"):
        protect(table, 3, constraints=["a >= 0"])


VIOLATED = r"a constraint is violated in the finished table: net \+ tax = gross \(90 records\)"


def test_values_that_violate_a_constraint_are_not_released(monkeypatch):
    monkeypatch.setattr(
        "microagg.release.constrained.in_type",
        lambda points, **_: np.asarray(points) + 7,
    )
    with pytest.raises(GuaranteeError, match=VIOLATED):
        protect(FLOATS, 3, constraints=[TOTAL])


@pytest.mark.parametrize("table", [INTEGERS, FLOATS], ids=["integers", "floats"])
@pytest.mark.parametrize("kind", [pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_what_is_judged_is_the_finished_table(table, kind, monkeypatch):
    def spoilt(*arguments, **options):
        finished = open_frame(with_released(*arguments, **options))
        return finished.with_columns(nw.col("net") + 1).to_native()

    assert protect(kind(table), 3, constraints=[TOTAL])
    monkeypatch.setattr("microagg.release.verification.with_released", spoilt)
    with pytest.raises(GuaranteeError, match=VIOLATED):
        protect(kind(table), 3, constraints=[TOTAL])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("wide", [pl.Float64, pl.Float32, pl.Int64, pl.UInt16])
@pytest.mark.slow
def test_a_release_with_constraints_verifies(tmp_path, suffix, wide):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        net, tax = rng.normal(size=(2, 40)) * 30 + [[200], [40]]
        table = pl.DataFrame({"net": net.clip(0), "tax": tax.clip(0)}).cast(wide)
        table = table.with_columns(gross=pl.col("net") + pl.col("tax"))
        constraints = [TOTAL, "tax >= 50", "net <= 150"]
        release = protect(table, 4, constraints=constraints)
        assert verify(release.table, 4, constraints=constraints).violations == dict.fromkeys(
            constraints, 0
        )
        path = release.save(tmp_path / f"{seed}{suffix}")
        assert verify(path)


def test_what_constraints_cost_is_a_number_even_in_tiny_units():
    table = pl.DataFrame({"a": [0.0, 1e-300, 2e-300, 1e-300]})
    release = protect(table, 2, constraints="a >= 5", method="mdav", digits="all")
    manifest = release.manifest.as_dict()
    assert 0 < manifest["constraints"]["added_information_loss"] < float("inf")
