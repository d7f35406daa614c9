"""verify() of a folder says what it says of all its rows in one table."""

import json
import os

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from microagg.core.errors import DataError, GuaranteeError, ManifestWarning, ParameterError
from microagg.scale.checks import checking
from tests.scale.datasets import ROLES, people, read_files, write_files


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A dataset and its release, with a unit, l values and a constraint."""
    folder = tmp_path_factory.mktemp("verified")
    n, rng = 2_000, np.random.default_rng(4)
    table = people(n).with_columns(
        patient=pl.Series(rng.integers(0, 500, n)), net=pl.col("income") * 0.5
    )
    source = write_files(table, folder / "in", (600, 1_500))
    microagg.protect_dataset(
        source,
        folder / "out",
        k=4,
        unit="patient",
        drop="id",
        effort="fast",
        quasi_identifiers=["job"],
        sensitive="disease",
        l_diversity={"disease": 2},
        p_percent={"income": 5},
        constraints="net <= income",
    )
    return source, folder / "out"


def figures(found):
    """All that a verification says, but for where the manifest is."""
    return {name: own for name, own in found.as_dict().items() if name != "manifest"}


@pytest.mark.slow
def test_a_release_is_what_its_manifest_says(places):
    source, target = places
    found = microagg.verify(target, original=source)
    assert found.satisfied
    assert found.manifest == f"{target}.manifest.json"
    assert [own["requirement"] for own in found.as_dict()["checks"]] == [
        "k records",
        "k units",
        "l-diversity",
        "p per cent",
        "no identifiers",
        "constraints",
    ]


def test_it_agrees_with_the_table(places):
    source, target = places
    manifest = microagg.Manifest.load(f"{target}.manifest.json")
    table = microagg.verify(
        read_files(target), plan=manifest.plan, original=read_files(source).drop("id")
    )
    whole = microagg.verify(target, original=source)
    assert whole.verdict == table.verdict
    for own, other in zip(whole.as_dict()["checks"], table.as_dict()["checks"], strict=True):
        assert own.pop("worst", None) == pytest.approx(other.pop("worst", None))
        for found in (own, other):  # a plan and a manifest name them in another order
            found["identifiers"] = sorted(found.get("identifiers", ()))
        assert own == other


def test_without_the_original_units_cannot_be_told(places):
    found = microagg.verify(places[1])
    assert not found.satisfied
    assert found.verdict.startswith("Cannot be checked without the original")


def test_another_original_is_refused(places, tmp_path):
    source, target = places
    other = write_files(read_files(source).reverse(), tmp_path / "other", (600, 1_500))
    with pytest.raises(DataError, match="not the dataset that the manifest names"):
        microagg.verify(target, original=other)


def test_a_file_that_changed_does_not_belong_to_the_manifest(places, tmp_path):
    target = tmp_path / "out"
    write_files(read_files(places[1]), target, (600, 1_500))
    os.link(f"{places[1]}.manifest.json", f"{target}.manifest.json")
    with pytest.raises(GuaranteeError, match="is not the folder that"):
        microagg.verify(target)
    with pytest.warns(ManifestWarning, match="it belongs to another folder"):
        assert microagg.verify(target, k=4).classes.n_records == 2_000


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 400),
    st.lists(st.integers(0, 400), max_size=4),
    st.integers(1, 6),
    st.integers(0, 10_000),
)
def test_any_table_in_any_files(tmp_path_factory, n, cuts, k, seed):
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "age": rng.integers(0, 5, n),
            "size": np.where(rng.random(n) < 0.2, None, rng.integers(0, 3, n) / 2).tolist(),
            "job": rng.choice(["a", "b", ""], n),
            "pay": rng.integers(0, 9, n).astype(float),
            "ill": rng.choice(["x", "y", "z"], n),
        }
    )
    folder = tmp_path_factory.mktemp("any") / "in"
    write_files(table, folder, sorted(min(cut, n) for cut in cuts), rows=40)
    asked = {"sensitive": "ill", "l_diversity": {"ill": 2}, "constraints": ["pay >= age"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "BUCKET_ROWS", 30)
        whole = microagg.verify(folder, k, **asked)
    assert figures(whole) == figures(microagg.verify(table, k, **asked))
    assert whole.rows() == microagg.verify(table, k, **asked).rows()


@pytest.mark.parametrize("t", [0.1, 0.5])
def test_closeness_is_to_the_whole_dataset(tmp_path, monkeypatch, t):
    monkeypatch.setattr(checking, "BUCKET_ROWS", 40)
    rng = np.random.default_rng(2)
    table = pl.DataFrame(
        {"age": rng.integers(0, 6, 600), "cost": rng.integers(0, 9, 600), "ill": ["a", "b"] * 300}
    )
    folder = write_files(table, tmp_path / "in", (100, 350), rows=60)
    asked = {"sensitive": ["cost", "ill"], "t_closeness": {"cost": t, "ill": t}}
    whole, alone = (microagg.verify(own, 2, **asked) for own in (folder, table))
    assert whole.verdict == alone.verdict
    for own, other in zip(whole.as_dict()["checks"], alone.as_dict()["checks"], strict=True):
        assert own.pop("worst", None) == pytest.approx(other.pop("worst", None))
        assert own == other


@pytest.mark.parametrize("order", ["random", "ascending", "descending", "twice"])
def test_random_keys(tmp_path, order):
    n = 2_500
    keys = np.random.default_rng(0).permutation(n) + 1
    if order == "twice":
        keys[3] = keys[4]
    elif order != "random":
        keys = np.sort(keys)[:: 1 if order == "ascending" else -1]
    table = pl.DataFrame({"id": keys, "age": np.arange(n) // 5})
    folder = write_files(table, tmp_path / "in", (300, 1_100), rows=200)
    plan = microagg.Plan.of(k=5, keep_key=True, columns={"id": {"role": "identifier"}})
    whole, alone = (microagg.verify(own, plan=plan) for own in (folder, table))
    assert figures(whole) == figures(alone)
    assert whole.rows() == alone.rows()
    assert whole.satisfied is (order == "random")


def test_a_release_with_keys_and_closeness(tmp_path):
    source = write_files(people(900), tmp_path / "in", (400,))
    microagg.protect_dataset(
        source, tmp_path / "out", k=3, effort="fast", keep_key=True,
        t_closeness={"disease": 0.4}, **ROLES,
    )  # fmt: skip
    found = microagg.verify(tmp_path / "out")
    assert found.satisfied
    names = [own["requirement"] for own in found.as_dict()["checks"]]
    assert {"t-closeness", "random keys"} < set(names)


def test_blocks_of_a_plan(tmp_path):
    table = people(900).drop("id", "disease")
    folder = write_files(table, tmp_path / "in", (300,))
    plan = microagg.Plan.of(k=2, blocks=[["age"], ["job", "height"]])
    whole, alone = (microagg.verify(own, plan=plan) for own in (folder, table))
    assert figures(whole) == figures(alone)
    assert len(whole.blocks) == 3


def test_csv_files_are_compared_as_they_are_written(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("x;y\n1,0;1\n1,00;1\n")
    (tmp_path / "in" / "b.csv").write_text("x;y\n1,0;3\n")
    found = microagg.verify(tmp_path / "in", 2, constraints="x <= y")
    assert (found.classes.count, found.classes.smallest) == (3, 1)
    assert found.violations == {"x <= y": 0}
    assert microagg.verify(tmp_path / "in", 2, quasi_identifiers="y").classes.below == {1: 1}


def test_dates_in_text_are_read_by_all_files(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("begin,end\n01/02/2024,03/02/2024\n")
    (tmp_path / "in" / "b.csv").write_text("begin,end\n25/02/2024,24/02/2024\n")
    found = microagg.verify(tmp_path / "in", 1, constraints="begin <= end")
    assert found.violations == {"begin <= end": 1}


def test_one_file_with_memory(tmp_path):
    table = people(500).drop("id")
    table.write_parquet(tmp_path / "one.parquet")
    found = microagg.verify(tmp_path / "one.parquet", 2, sensitive="disease", memory="1GB")
    assert figures(found) == figures(microagg.verify(table, 2, sensitive="disease"))


def test_nothing_is_left_in_the_work_folder(tmp_path):
    folder = write_files(people(300).drop("id"), tmp_path / "in", (100,))
    (tmp_path / "work").mkdir()
    microagg.verify(folder, 2, sensitive="disease", work_dir=tmp_path / "work")
    with pytest.raises(ParameterError, match="no column"):
        microagg.verify(folder, 2, sensitive="diseases", work_dir=tmp_path / "work")
    assert os.listdir(tmp_path / "work") == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"k": 2, "sheet": "people"}, "sheet"),
        ({"k": 2, "memory": "1MB"}, "memory must be at least"),
        ({"k": 2, "delimiter": ";"}, "Parquet files do not take --delimiter"),
        ({"k": 2, "work_dir": "nowhere"}, "work_dir must be an existing folder"),
        ({"k": 2, "original": "in"}, "the original is needed to check"),
        ({}, "k, the least number"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, asked, said):
    monkeypatch.chdir(tmp_path)
    write_files(people(50), tmp_path / "in")
    with pytest.raises(ParameterError, match=said):
        microagg.verify("in", **asked)


def test_a_table_takes_no_memory():
    with pytest.raises(ParameterError, match="memory is for datasets"):
        microagg.verify(people(10), 2, memory="1GB")


def test_the_command(tmp_path, monkeypatch, capsys):
    from microagg.cli.main import main

    monkeypatch.chdir(tmp_path)
    write_files(people(600), tmp_path / "in", (200,))
    microagg.protect_dataset("in", "out", k=3, effort="fast", **ROLES)
    for command, code in ((["verify", "out/"], 0), (["verify", "in", "-k", "2"], 4)):
        with pytest.raises(SystemExit) as ended:
            main([*command, "--memory", "1GB", "--json"])
        assert ended.value.code == code
        found = json.loads(capsys.readouterr().out)
        assert found["satisfied"] is (code == 0)
        assert found["n_records"] == 600
