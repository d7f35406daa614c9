"""A requirement of one's own: protect and verify ask its judge and heed what it finds."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import Plan, protect, protect_file, verify
from microagg.cli.main import main
from microagg.core.errors import GuaranteeError
from microagg.requirements.records import Classes

N = 30
RNG = np.random.default_rng(5)
TABLE = pl.DataFrame(
    {
        "person": [f"p{i // 2}" for i in range(N)],
        "age": RNG.integers(18, 90, N),
        "height": RNG.normal(1.7, 0.1, N),
        "area": ["north", "south"] * (N // 2),
        "illness": ["flu", "cold", "none"] * (N // 3),
    }
)
ASKED = {"unit": "person", "sensitive": "illness", "strata": "area", "method": "mdav"}
BLOCKS = {"blocks": [["age"], ["height"]]}


@dataclass(frozen=True)
class Odd:
    """A finding that says what it is told to."""

    satisfied: bool | None
    complaint = "the illnesses of a group are odd"
    verdict = "odd illnesses"

    def rows(self):
        return [("illnesses", "odd")]

    def as_dict(self):
        return {"requirement": "even illnesses", "n_odd": 3}


class Even:
    """A requirement that remembers the evidence."""

    def __init__(self, satisfied):
        self.satisfied, self.seen = satisfied, []

    def judge(self, evidence):
        self.seen.append(evidence)
        return Odd(self.satisfied)


@pytest.fixture
def require(monkeypatch):
    """Make every plan require something else besides k."""

    def required(satisfied):
        even = Even(satisfied)
        required = Plan.requirements.fget
        more = property(lambda plan: (*required(plan), even))
        monkeypatch.setattr(Plan, "requirements", more)
        return even

    return required


class TestProtect:
    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    @pytest.mark.parametrize("more", [{}, BLOCKS], ids=["one block", "blocks"])
    def test_it_releases_what_is_found_to_be_good(self, require, more):
        even = require(True)
        release = protect(TABLE, 3, **ASKED, **more)
        assert [own.combination for own in even.seen] == [
            (*block, "area") for block in release.manifest.blocks
        ]
        for own in even.seen:
            assert own.table.equals(release.table)
            assert own.unpublished.equals(TABLE.select("person"))

    @pytest.mark.parametrize("satisfied", [False, None])
    def test_it_releases_nothing_else(self, require, satisfied):
        require(satisfied)
        match = "the illnesses of a group are odd; nothing was released"
        with pytest.raises(GuaranteeError, match=match) as refused:
            protect(TABLE, 3, **ASKED)
        assert ("bug in microagg" in str(refused.value)) == (satisfied is False)

    def test_what_is_not_published(self, require):
        even = require(True)
        table = TABLE.to_pandas().set_index("person").assign(id=range(N))
        protect(table, 3, **ASKED, identifiers="id", dominance={"age": (1, 90)})
        (own,) = even.seen
        assert own.unpublished.columns == ["person", "age"]
        assert own.unpublished["person"].to_list() == TABLE["person"].to_list()
        assert own.unpublished["age"].to_list() == TABLE["age"].to_list()
        assert own.table["age"].to_list() != TABLE["age"].to_list()

    def test_a_random_key_is_published(self, require):
        even = require(True)
        table = TABLE.with_columns(id=pl.Series(range(N)))
        asked = {**ASKED, "unit": "rows", "identifiers": ["id", "person"]}
        protect(table.to_pandas().set_index("person"), 3, **asked, keep_key=True)
        (own,) = even.seen
        assert "id" in own.table.columns
        assert own.unpublished.columns == []

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    @pytest.mark.parametrize("audit", [None, "a.csv"])
    @pytest.mark.parametrize("unit", ["person", "rows"])
    def test_the_unit_of_a_file_is_read(self, require, unit, audit, tmp_path, monkeypatch):
        even = require(True)
        monkeypatch.chdir(tmp_path)
        TABLE.write_csv("in.csv")
        roles = {"person": "identifier", "illness": "sensitive", "area": "stratum"}
        columns = {name: {"role": role} for name, role in roles.items()}
        plan = Plan.of(k=3, method="mdav", unit=unit, columns=columns)
        protect_file("in.csv", "out.csv", plan, audit=audit)
        expected = TABLE.select("person") if unit == "person" else pl.DataFrame()
        assert even.seen[0].unpublished.equals(expected)
        assert audit is None or pl.read_csv(audit)["person"].equals(TABLE["person"])

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    @pytest.mark.parametrize(
        "ids", [[10**30, "a", 2.5], [10**30, -(10**20), None], [{1}, "a", b"c"]]
    )
    def test_identifiers_that_polars_cannot_hold_are_text(self, require, ids, tmp_path):
        even = require(True)
        table = TABLE.to_pandas().assign(person=pd.Series(ids * (N // 3), dtype=object))
        release = protect(table, 2, **ASKED)
        assert "person" not in release.table
        told = [None if own is None else str(own) for own in ids]
        assert even.seen[0].unpublished["person"].to_list()[:3] == told
        release.save(tmp_path / "out.csv", audit=tmp_path / "audit.csv")
        assert (tmp_path / "audit.csv").read_text().count(str(ids[0])) == N // 3

    def test_columns_that_polars_cannot_hold_are_no_evidence(self, require):
        even = require(True)
        table = TABLE.to_pandas().assign(notes=pd.Series([{1}, "a", 2.5] * (N // 3)))
        protect(table, 3, **{**ASKED, "sensitive": ["illness", "notes"]})
        assert set(even.seen[0].table.columns) == {"age", "height", "area", "illness"}


class TestVerify:
    def test_yes(self, require):
        even = require(True)
        found = verify(TABLE.select("area"), 3)
        assert (
            found.verdict == "Yes: every combination stands for at least 3 records; odd illnesses"
        )
        assert ("illnesses", "odd") in found.rows()
        assert even.seen[0].unpublished is None

    def test_no(self, require):
        require(False)
        found = verify(TABLE.select("area"), 3)
        assert not found
        assert found.verdict == "No: odd illnesses"
        assert found.as_dict()["checks"][1] == {
            "requirement": "even illnesses",
            "n_odd": 3,
            "satisfied": False,
            "quasi_identifiers": ["area"],
        }

    def test_what_cannot_be_checked_is_not_satisfied(self, require):
        require(None)
        found = verify(TABLE.select("area"), 3)
        assert not found
        assert found.verdict == (
            "Cannot be checked without the original (--original): odd illnesses. The rest holds: "
            "every combination stands for at least 3 records"
        )
        assert found.as_dict()["checks"][1]["satisfied"] is None
        beyond = verify(TABLE.select("area"), 16)
        assert beyond.verdict == (
            "No: 30 of 30 records show a combination that fewer than 16 share. Cannot be checked "
            "without the original (--original): odd illnesses"
        )

    def test_each_block_is_told(self, require):
        require(False)
        found = verify(TABLE.select("area", "illness"), plan=Plan.of(k=12, blocks=[["area"]]))
        assert found.verdict == (
            "No: in block 1 (area), odd illnesses; in block 2 (illness), 30 of 30 records show a "
            "combination that fewer than 12 share; in block 2 (illness), odd illnesses"
        )
        labels = [label for label, _ in found.rows()]
        of_block = ["combinations", "rarest", "below k", "illnesses"]
        assert labels == ["checked", "block 1", *of_block, "block 2", *of_block]
        assert [len(block) for block in found.findings] == [2, 2]
        assert found.findings[0][0] == Classes(12, N, 15, 2, {})
        checks = found.as_dict()["checks"]
        assert [check["quasi_identifiers"] for check in checks] == [["area"]] * 2 + [
            ["illness"]
        ] * 2
        assert [check.get("records_below_k") for check in checks] == [0, None, 30, None]

    @pytest.mark.parametrize("satisfied", [True, False, None])
    def test_on_the_command_line(self, require, satisfied, tmp_path, monkeypatch, capsys):
        require(satisfied)
        monkeypatch.chdir(tmp_path)
        TABLE.select("area").write_csv("t.csv")
        with pytest.raises(SystemExit) as ended:
            main(["verify", "t.csv", "-k", "3", "--json"])
        assert ended.value.code == (0 if satisfied else 4)
        assert json.loads(capsys.readouterr().out)["satisfied"] is (satisfied is True)
