"""A release on disk: the table, its manifest, and who is in which group."""

import hashlib
import json
import os
import re
import warnings
from datetime import UTC, datetime
from functools import partial

import numpy as np
import polars as pl
import pytest

from microagg import Manifest, measure, protect, verify
from microagg.core.errors import ManifestWarning, ParameterError, PrivacyWarning

protect = partial(protect, method="mdav")
TABLE = pl.DataFrame(
    {
        "who": [f"Sentinella {i}" for i in range(12)],
        "a": np.arange(12) ** 2,
        "b": np.linspace(0, 1, 12),
    }
)


@pytest.fixture
def release():
    return protect(TABLE, 3, identifiers="who")


def test_a_manifest_lies_beside_the_table(release, tmp_path):
    release.save(tmp_path / "out.csv")
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "out.csv.manifest.json"]
    told = json.loads((tmp_path / "out.csv.manifest.json").read_text("utf-8"))
    written = (tmp_path / "out.csv").read_bytes()
    assert told.pop("output") == {
        "file": "out.csv",
        "sha256": hashlib.sha256(written).hexdigest(),
    }
    assert told == json.loads(json.dumps(release.manifest.as_dict()))
    assert "Sentinella" not in json.dumps(told)
    for key in ("microagg_version", "libraries", "input", "plan", "command", "group_sizes"):
        assert told[key]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.feather"])
def test_what_is_saved_reads_back(release, tmp_path, name):
    from microagg.files.formats import open_table

    release.save(tmp_path / name)
    assert open_table(str(tmp_path / name)).table().equals(release.table)
    assert (tmp_path / f"{name}.manifest.json").exists()


def test_each_format_has_a_manifest_of_its_own(release, tmp_path):
    paths = [tmp_path / name for name in ("s.sav", "s.dta", "s.csv", "s.csv.gz")]
    for path in paths:
        release.save(path)
    for path in paths:
        assert verify(path).manifest == f"{path}.manifest.json"
        assert measure(TABLE, path).read_from == f"{path}.manifest.json"


def test_a_manifest_under_the_earlier_name_is_still_found(release, tmp_path):
    path = release.save(tmp_path / "s.csv.gz")
    earlier = (tmp_path / "s.csv.gz.manifest.json").rename(tmp_path / "s.manifest.json")
    assert verify(path).manifest == str(earlier)
    assert measure(TABLE, path).read_from == str(earlier)
    with pytest.warns(PrivacyWarning, match=r"earlier release .* is replaced \('s.manifest.json'"):
        protect(TABLE, 4, identifiers="who").save(path, force=True)
    assert verify(path).manifest == f"{path}.manifest.json", "the new one comes first"


def test_the_manifest_says_when_it_was_made(tmp_path):
    began = datetime.now(UTC).replace(microsecond=0)
    release = protect(TABLE, 3, identifiers="who")
    assert began <= release.manifest.created <= datetime.now(UTC)
    release.save(tmp_path / "out.csv")
    told = json.loads((tmp_path / "out.csv.manifest.json").read_text("utf-8"))["created"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told)
    assert Manifest.load(tmp_path / "out.csv.manifest.json").created == release.manifest.created


@pytest.mark.filterwarnings("ignore::microagg.core.errors.ManifestWarning")
def test_neither_file_is_replaced_unless_asked(release, tmp_path):
    (tmp_path / "out.csv.manifest.json").write_text("mine")
    with pytest.raises(ParameterError, match="already exists"):
        release.save(tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["out.csv.manifest.json"]
    release.save(tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv.manifest.json").read_text() != "mine"


def test_a_second_release_of_the_same_table_is_warned_of(release, tmp_path):
    release.save(tmp_path / "one.csv")
    with pytest.warns(PrivacyWarning, match=r"earlier .*'one.csv.manifest.json', k = 3, mdav"):
        protect(TABLE, 4, identifiers="who").save(tmp_path / "two.csv")


@pytest.mark.parametrize("kind", ["pipe", "deep", "binary", "large number"])
def test_whatever_lies_beside_the_run_goes_on(release, tmp_path, kind):
    beside = tmp_path / "odd.manifest.json"
    if kind == "pipe":
        os.mkfifo(beside)
    elif kind == "deep":
        beside.write_text("[" * 100_000)
    elif kind == "binary":
        beside.write_bytes(b"\xff\x00")
    else:
        beside.write_text('{"k": ' + "9" * 10_000 + "}")
    with pytest.warns(ManifestWarning, match="'odd.manifest.json' .* could not be read"):
        release.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").exists()


def test_an_earlier_manifest_says_nothing_that_it_makes_up(release, tmp_path):
    release.save(tmp_path / "one.csv")
    path = tmp_path / "one.csv.manifest.json"
    earlier = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**earlier, "k": "\x1b[2J", "method": ["x"], "schema_version": 99}))
    with pytest.warns(PrivacyWarning, match=r"earlier release .*'one.csv.manifest.json'\): anyone"):
        protect(TABLE, 4, identifiers="who").save(tmp_path / "two.csv")


def test_no_warning_for_another_table_or_the_same_release(release, tmp_path):
    release.save(tmp_path / "one.csv")
    (tmp_path / "odd.manifest.json").write_text("[]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        protect(TABLE, 3, identifiers="who").save(tmp_path / "again.csv")
        protect(TABLE[:-1], 4, identifiers="who").save(tmp_path / "other.csv")
        release.save(tmp_path / "one.csv", force=True)
    assert {path.name for path in tmp_path.glob("*.csv")} == {"one.csv", "again.csv", "other.csv"}


def test_an_audit_says_who_is_in_which_group(release, tmp_path):
    with pytest.warns(PrivacyWarning, match="keep this file internal"):
        release.save_audit(tmp_path / "audit.csv")
    audit = pl.read_csv(tmp_path / "audit.csv")
    assert audit.columns == ["record", "who", "group"]
    assert audit["record"].to_list() == list(range(1, 13))
    assert audit["who"].equals(TABLE["who"])
    assert audit["group"].to_list() == (release.labels + 1).tolist()


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
def test_an_audit_holds_keys_and_all_blocks(tmp_path):
    table = TABLE.rename({"who": "record"})
    release = protect(table, 3, identifiers="record", keep_key=True, blocks=[["a"]])
    release.save_audit(tmp_path / "audit.csv")
    audit = pl.read_csv(tmp_path / "audit.csv")
    assert audit.columns == ["record", "record_", "key", "group_1", "group_2"]
    assert audit["key"].to_list() == release.table["record"].to_list()


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
def test_an_audit_of_a_pandas_index(tmp_path):
    table = TABLE.to_pandas().set_index("who")
    protect(table, 3, identifiers="who").save_audit(tmp_path / "audit.csv")
    assert pl.read_csv(tmp_path / "audit.csv")["who"].equals(TABLE["who"])


def test_an_audit_goes_with_the_release_or_not_at_all(release, tmp_path):
    with pytest.raises(ParameterError, match="lead to the same file"):
        release.save(tmp_path / "out.csv", audit=tmp_path / "out.csv")
    assert not os.listdir(tmp_path)
    with pytest.warns(PrivacyWarning, match="keep this file internal"):
        release.save(tmp_path / "out.csv", audit=tmp_path / "audit.csv")
    assert (tmp_path / "audit.csv").stat().st_mode & 0o077 == 0
    assert len(os.listdir(tmp_path)) == 3


def test_a_release_that_replaces_another_is_warned_of(release, tmp_path):
    release.save(tmp_path / "one.csv")
    with pytest.warns(PrivacyWarning, match="earlier release of the same table is replaced"):
        protect(TABLE, 4, identifiers="who").save(tmp_path / "one.csv", force=True)


def test_what_lies_under_a_null_is_no_part_of_a_table():
    plain = pl.DataFrame({"x": [1, None, 3]})
    masked = pl.DataFrame({"x": [1, 99, 3]}).select(pl.when(pl.col("x") != 99).then("x").alias("x"))
    one, two = (protect(table, 3, missing="value").manifest.input for table in (plain, masked))
    assert one == two
