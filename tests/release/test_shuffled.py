"""Records in random order: whoever released them knows which is where, and nobody else."""

import json
import os
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import Plan, measure, protect, protect_file, verify
from microagg.core.errors import DataError, ParameterError, PrivacyWarning

N, K = 240, 3
RNG = np.random.default_rng(4)
VISITS = pl.DataFrame(
    {
        "patient": np.repeat([f"p{i}" for i in range(N // 4)], 4),
        "age": RNG.integers(20, 90, N),
        "weight": RNG.normal(70, 12, N).round(1),
        "ward": RNG.choice(["a", "b"], N),
        "illness": RNG.choice(["flu", "cold", "none"], N),
    }
)
ASKED = {
    "unit": "patient",
    "sensitive": "illness",
    "quasi_identifiers": "ward",
    "method": "mdav",
    "random_state": 1,
}


def shuffled(table=VISITS, k=K, **others):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the order is no longer warned of
        return protect(table, k, **{**ASKED, **others}, shuffle=True)


@pytest.fixture(scope="module")
def plain():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return protect(VISITS, K, **ASKED)


KINDS = {
    "polars": (lambda table: table, lambda table: table),
    "pandas": (pl.DataFrame.to_pandas, pl.from_pandas),
    "pyarrow": (pl.DataFrame.to_arrow, pl.from_arrow),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_records_in_another_order(plain, kind):
    there, back = KINDS[kind]
    release = shuffled(there(VISITS))
    order = release.order
    assert sorted(order) == list(range(N))
    assert order.tolist() != list(range(N))
    assert back(release.table).equals(plain.table[order], null_equal=True)
    if kind == "pandas":
        assert isinstance(release.table.index, pd.RangeIndex)
        assert release.table.index.tolist() == list(range(N))


def test_labels_are_those_of_the_released_table(plain):
    release = shuffled()
    labels, was = release.labels, plain.labels[release.order]
    assert len({*zip(labels.tolist(), was.tolist(), strict=True)}) == plain.manifest.n_groups
    assert list(dict.fromkeys(labels.tolist())) == list(range(plain.manifest.n_groups))
    with pytest.raises(ValueError, match="read-only"):
        release.order[0] = 0
    assert plain.order.tolist() == list(range(N))


def test_a_named_index_goes_with_its_records():
    table = VISITS.to_pandas().set_index("illness")
    release = protect(table, K, **{**ASKED, "unit": None, "drop": "patient"}, shuffle=True)
    assert release.table.index.tolist() == VISITS["illness"][release.order].to_list()


def test_every_run_and_nothing_that_is_written_has_another_order():
    one, two = shuffled(), shuffled()
    assert one.order.tolist() != two.order.tolist()
    facts = [{**own.manifest.as_dict(), "seconds": 0, "command": ""} for own in (one, two)]
    written = [json.loads(json.dumps(own)) for own in facts]
    for own in written:
        own.pop("created", None)
    assert written[0] == written[1]
    assert one.manifest.plan.shuffle


@pytest.mark.slow
def test_risk_and_utility_are_those_of_the_same_records(plain):
    release = shuffled()
    assert release.risk().as_dict() == plain.risk().as_dict()
    assert release.utility(target="illness").as_dict() == plain.utility(target="illness").as_dict()
    assert release.information_loss == plain.information_loss


def test_the_report_differs_in_nothing_but_the_order(plain, tmp_path):
    release = shuffled()
    for name, own in (("s.html", release), ("p.html", plain)):
        own.report(tmp_path / name)
    texts = [(tmp_path / name).read_text("utf-8") for name in ("s.html", "p.html")]
    assert "The records are in random order" in texts[0]
    assert "The records are in random order" not in texts[1]


@pytest.mark.parametrize("n_values", [2, 25], ids=["few", "many"])
def test_blocks(n_values):
    table = pl.DataFrame(
        {name: np.random.default_rng(n_values).normal(size=80).round(3) for name in "xyz"}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        own = {"blocks": [["x"]], "method": "mdav", "random_state": n_values}
        one, two = protect(table, 9, **own), protect(table, 9, **own, shuffle=True)
    assert two.table.equals(one.table[two.order])
    assert two.labels.shape == one.labels.shape


class TestAudit:
    @pytest.fixture(autouse=True)
    def release(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        VISITS.write_csv("visits.csv")
        roles = {
            "patient": {"role": "unit"},
            "illness": {"role": "sensitive"},
            "ward": {"role": "quasi-identifier"},
        }
        plan = Plan.of(k=K, method="mdav", shuffle=True, columns=roles)
        with pytest.warns(PrivacyWarning, match="keep this file internal"):
            protect_file("visits.csv", "out.csv", plan, audit="audit.csv")

    def test_it_says_which_record_is_where(self):
        audit, released = pl.read_csv("audit.csv"), pl.read_csv("out.csv")
        assert audit.columns == ["record", "released_row", "patient", "group"]
        assert audit["patient"].equals(VISITS["patient"])
        there = released[(audit["released_row"] - 1).to_list()]
        assert there["illness"].equals(VISITS["illness"])
        shown = there.with_columns(audit["group"]).group_by("group").n_unique()
        assert shown["age"].to_list() == [1] * len(shown)

    def test_verify_counts_units_by_it(self):
        assert not verify("out.csv").satisfied  # units cannot be counted without the original
        found = verify("out.csv", original="visits.csv", audit="audit.csv")
        assert found.satisfied
        units = next(own for own in found.as_dict()["checks"] if own.get("column") == "patient")
        audit = pl.read_csv("audit.csv")
        rows = pl.read_csv("out.csv")[(audit["released_row"] - 1).to_list()]
        counted = rows.with_columns(VISITS["patient"]).group_by("age", "weight", "ward")
        fewest = counted.agg(pl.col("patient").n_unique())["patient"].min()
        assert fewest == units["worst"]

    def test_measure_matches_by_it(self, plain):
        found = measure("visits.csv", "out.csv", audit="audit.csv")
        there = measure(VISITS, plain.table, plan=plain.manifest.plan)
        assert found.utility.loss.information_loss == pytest.approx(plain.information_loss)
        assert found.risk.linkage.linked == pytest.approx(there.risk.linkage.linked)
        assert found.risk.units.linkage.linked == pytest.approx(there.risk.units.linkage.linked)
        assert all(own.satisfied for own in found.requirements)

    @pytest.mark.parametrize("door", ["verify", "measure"])
    def test_without_it_nothing_is_matched_by_order(self, door):
        match = "records of this release were shuffled.*audit"
        with pytest.raises(ParameterError, match=match):
            self.go(door)
        with pytest.raises(ParameterError, match=r"shuffled.*Leave out --memory"):
            self.go(door, memory="1GB")
        with pytest.raises(ParameterError, match=r"not by .*audit"):
            self.go(door, memory="1GB", audit="audit.csv")

    @pytest.mark.parametrize("door", ["verify", "measure"])
    def test_it_must_be_that_of_the_release(self, door):
        audit = pl.read_csv("audit.csv")
        audit[:-1].write_csv("short.csv")
        with pytest.raises(DataError, match=r"each number from 1 to 240 .* once in 'record'"):
            self.go(door, audit="short.csv")
        gaps = pl.DataFrame(
            {"record": [None, *range(1, 241)], "released_row": [*range(1, 241), None]}
        )
        gaps.write_csv("gaps.csv")  # every number is there, but not beside its own
        with pytest.raises(DataError, match=r"each number from 1 to 240 .* once in 'record'"):
            self.go(door, audit="gaps.csv")
        audit.drop("released_row").write_csv("unshuffled.csv")
        with pytest.raises(ParameterError, match="columns 'record' and 'released_row'"):
            self.go(door, audit="unshuffled.csv")

    def test_that_of_another_run_is_seen(self):
        audit = pl.read_csv("audit.csv")
        audit.with_columns(pl.col("released_row").reverse()).write_csv("other.csv")
        with pytest.raises(DataError, match="'illness' is published unchanged, but differs"):
            self.go("verify", audit="other.csv")

    def test_what_does_not_go_with_it(self):
        with pytest.raises(ParameterError, match="no original"):
            verify("out.csv", audit="audit.csv")
        with pytest.raises(ParameterError, match="got both"):
            measure("visits.csv", "out.csv", audit="audit.csv", key="patient")

    def go(self, door, **others):
        if door == "verify":
            return verify("out.csv", original="visits.csv", **others)
        return measure("visits.csv", "out.csv", **others)


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
def test_an_audit_has_the_keys_of_its_records(tmp_path):
    table = VISITS.with_columns(patient=pl.Series([f"v{i}" for i in range(N)]))
    asked = {**ASKED, "unit": None, "identifiers": "patient", "keep_key": True}
    release = protect(table, K, **asked, shuffle=True)
    release.save_audit(tmp_path / "audit.csv")
    audit = pl.read_csv(tmp_path / "audit.csv")
    assert audit["patient"].equals(table["patient"])
    keys = release.table["patient"].to_numpy()
    assert audit["key"].to_list() == keys[audit["released_row"].to_numpy() - 1].tolist()


def test_a_key_that_both_tables_have_needs_no_audit():
    table = VISITS.with_columns(visit=pl.Series([f"v{i}" for i in range(N)]))
    with pytest.warns(PrivacyWarning, match="a value of its own"):
        release = protect(
            table, K, **{**ASKED, "unit": None, "drop": "patient"}, publish="visit", shuffle=True
        )
    found = measure(table, release.table, key="visit", plan=release.manifest.plan)
    assert found.utility.loss.information_loss == pytest.approx(release.information_loss)


def test_datasets_keep_the_order_of_their_files(tmp_path):
    (tmp_path / "visits").mkdir()
    VISITS.write_parquet(tmp_path / "visits" / "1.parquet")
    plan = Plan.of(k=K, shuffle=True, columns={"patient": {"role": "unit"}})
    refusal = r"shuffle \(--shuffle\) is not available for datasets"
    with pytest.raises(ParameterError, match=refusal):
        microagg.protect_dataset(tmp_path / "visits", tmp_path / "out", plan=plan)
    assert os.listdir(tmp_path) == ["visits"]


def test_studies_do_not_shuffle():
    plan = Plan.of(
        k=K,
        shuffle=True,
        columns={
            "patient": {"role": "drop"},
            "ward": {"role": "drop"},
            "illness": {"role": "drop"},
        },
    )
    found = microagg.compare(VISITS, 3, "mdav", plan=plan)
    assert found.setting.unused == ("shuffle",)


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_categories_are_not_listed_by_first_appearance(kind):
    names = [f"v{at:02d}" for at in np.random.default_rng(3).permutation(30)]
    table = pa.table({"x": np.arange(30.0), "s": pa.array(names).dictionary_encode()})
    given = table if kind == "arrow" else table.to_pandas()
    release = protect(given, 3, method="mdav", sensitive=["s"], shuffle=True)
    column = release.table["s"]
    listed = column.chunk(0).dictionary.to_pylist() if kind == "arrow" else [*column.cat.categories]
    assert listed == sorted(names)
    released = column.to_pylist() if kind == "arrow" else [*column]
    assert released == [names[row] for row in release.order]


def test_hybrid_records_would_give_the_order_away():
    with pytest.raises(ParameterError, match="shuffle"):
        protect(pl.DataFrame({"x": range(20)}), 5, hybrid=True, shuffle=True)


def test_measure_finds_the_manifest_beside_whatever_columns_are_named(tmp_path):
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)})
    table.write_csv(tmp_path / "before.csv")
    protect(table, 4, method="mdav", shuffle=True).save(tmp_path / "after.csv")
    with pytest.raises(ParameterError, match="shuffled"):
        measure(tmp_path / "before.csv", tmp_path / "after.csv", quasi_identifiers=["x", "y"])
