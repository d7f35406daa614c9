"""A release whose formulas are escaped: said in the manifest, and undone by verify and measure."""

import random
from contextlib import nullcontext

import polars as pl
import pytest

import microagg
from microagg import Manifest, Plan
from microagg.core.errors import ManifestWarning, ParameterError, PrivacyWarning

random.seed(3)
N = 24
TABLE = pl.DataFrame(
    {
        "who": [f"=HYPERLINK({i})" for i in range(N)],
        "=age": [random.randint(20, 60) for _ in range(N)],
        "job": [random.choice(["=cmd|x", "'=cmd|x", "@sum", "plain"]) for _ in range(N)],
        "note": [random.choice(["-5", "+x", "plain"]) for _ in range(N)],
    }
)
PLAN = Plan.of(
    k=3,
    method="mdav",
    columns={
        "who": {"role": "identifier"},
        "job": {"role": "quasi-identifier"},
        "note": {"role": "sensitive"},
    },
)


@pytest.fixture
def release():
    return microagg.protect(TABLE, plan=PLAN)


def test_the_manifest_says_so_and_the_files_can_be_checked(release, tmp_path):
    path, plain = tmp_path / "out.csv", tmp_path / "plain.csv"
    release.save(path, escape_formulas=True)
    release.save(plain)
    assert Manifest.load(f"{path}.manifest.json").output.formulas_escaped
    assert "formulas_escaped" not in (tmp_path / "plain.csv.manifest.json").read_text()
    assert path.read_text().splitlines()[0] == "'=age,job,note"
    assert "'=cmd|x" in path.read_text()
    for options in ({}, {"k": 3, "quasi_identifiers": ["=age", "job"]}):
        with pytest.warns(ManifestWarning) if options else nullcontext():
            one, two = (microagg.verify(file, **options) for file in (path, plain))
        assert one.satisfied
        assert (one.columns, one.classes) == (two.columns, two.classes)
    assert microagg.verify(path, plan=PLAN).satisfied
    original = tmp_path / "original.csv"
    TABLE.write_csv(original)
    one, two = (microagg.measure(original, file) for file in (path, plain))
    assert one.risk.as_dict() == two.risk.as_dict()
    assert one.utility.as_dict() == two.utility.as_dict()


def test_the_file_alone_keeps_k(release, tmp_path):
    release.save(tmp_path / "out.csv", escape_formulas=True)
    (tmp_path / "out.csv.manifest.json").unlink()
    found = microagg.verify(tmp_path / "out.csv", k=3, sensitive="note")
    assert found.satisfied
    assert found.columns == ("'=age", "job")


@pytest.mark.parametrize("damage", ["[]", '{"output": 5}', '{"output": {"formulas_escaped": 1}}'])
def test_whatever_the_manifest_holds_the_file_is_read(release, tmp_path, damage):
    release.save(tmp_path / "out.csv", escape_formulas=True)
    (tmp_path / "out.csv.manifest.json").write_text(damage)
    with pytest.warns(ManifestWarning):
        assert microagg.verify(tmp_path / "out.csv", k=3, sensitive="note").satisfied


def test_a_changed_file_is_read_as_it_is(release, tmp_path):
    release.save(tmp_path / "out.csv", escape_formulas=True)
    with (tmp_path / "out.csv").open("a") as stream:
        stream.write("1,plain,x\n")
    with pytest.warns(ManifestWarning):
        assert microagg.verify(tmp_path / "out.csv", k=1).columns[0] == "'=age"


def test_the_audit_is_escaped_if_it_is_text(release, tmp_path):
    for target, audit in (("out.csv", "audit.csv"), ("two.csv", "audit.parquet")):
        with pytest.warns(PrivacyWarning):
            release.save(tmp_path / target, escape_formulas=True, audit=tmp_path / audit)
    with pytest.warns(PrivacyWarning):
        release.save_audit(tmp_path / "again.csv", escape_formulas=True)
    assert (tmp_path / "audit.csv").read_text().splitlines()[1].startswith("1,'=HYPERLINK(0),")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "audit.csv").read_bytes()
    kept = pl.read_parquet(tmp_path / "audit.parquet").get_column("who")
    assert kept.to_list() == TABLE.get_column("who").to_list()


def test_refused_where_it_means_nothing(release, tmp_path):
    for attempt in (
        lambda: release.save(tmp_path / "out.parquet", escape_formulas=True),
        lambda: release.save_audit(tmp_path / "out.parquet", escape_formulas=True),
        lambda: microagg.protect_file(
            tmp_path / "none.csv", tmp_path / "out.xlsx", PLAN, escape_formulas=True
        ),
    ):
        with pytest.raises(ParameterError, match="text is never a formula"):
            attempt()
    with pytest.raises(ParameterError, match="escape_formulas must be True or False"):
        release.save(tmp_path / "out.csv", escape_formulas="yes")
    with pytest.raises(ParameterError, match=r"outputs must end in"):
        release.save(tmp_path / "out.odd", escape_formulas=True)
    assert list(tmp_path.iterdir()) == []
