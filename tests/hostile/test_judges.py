"""The judges bite: each finds the one thing that is wrong with a release."""

import copy
import json
import os
from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest

from tests.hostile.cases import Finding
from tests.hostile.columns import IDENTIFIER, QI, SENSITIVE, UNIT
from tests.hostile.commands import Outcome
from tests.hostile.judges import (
    Asked,
    judge_closeness,
    judge_contributions,
    judge_diversity,
    judge_groups,
    judge_k,
    judge_key,
    judge_loss,
    judge_published,
    judge_range,
    judge_shape,
    judge_totals,
    judge_units,
)
from tests.hostile.judges_of_files import (
    judge_bytes,
    judge_controls,
    judge_folder,
    judge_formulas,
    judge_hash,
    judge_private,
    judge_quiet,
    judge_refused,
    judge_values,
)
from tests.hostile.memory import judge_line
from tests.hostile.stored import WRITABLE, read_output, write_input
from tests.hostile.tables import Total

BEFORE = {
    "name": [f"Zq{at}" * 3 for at in range(6)],
    "patient": ["p1", "p2", "p3", "p1", "p2", "p3"],
    "net": [1.1, 2.2, 3.3, 10.1, 20.2, 30.3],
    "tax": [0.1, 0.2, 0.3, 1.1, 2.2, 3.3],
    "gross": [1.2, 2.4, 3.6, 11.2, 22.4, 33.6],
    "sick": ["flu", "cold", "flu", "cold", "flu", "cold"],
}
AFTER = {
    "net": [2.2] * 3 + [20.2] * 3,
    "tax": [0.2] * 3 + [2.2] * 3,
    "gross": [2.4] * 3 + [22.4] * 3,
    "sick": BEFORE["sick"],
}
ROLES = {"name": IDENTIFIER, "patient": UNIT, "net": QI, "tax": QI, "gross": QI}
ROLES |= {"sick": SENSITIVE}
ASKED = Asked(
    k=3,
    roles=ROLES,
    blocks=[["net", "tax", "gross"]],
    diversity={"sick": 2},
    totals=[Total({"net": Decimal(1), "tax": Decimal(1), "gross": Decimal(-1)}, "=")],
)
LABELS = [[0, 0, 0, 1, 1, 1]]
# Within groups 2.42 + 204.02, and six records 9 from the mean of all besides.
LOSS = 100 * (2.42 + 204.02) / (2.42 + 204.02 + 6 * 81)


def changed(**columns):
    return {**copy.deepcopy(AFTER), **columns}


JUDGES = {
    "k": lambda after: judge_k(ASKED, after),
    "units": lambda after: judge_units(ASKED, BEFORE, after),
    "shape": lambda after: judge_shape(ASKED, BEFORE, after),
    "published": lambda after: judge_published(ASKED, BEFORE, after),
    "diversity": lambda after: judge_diversity(ASKED, after),
    "closeness": lambda after: judge_closeness(after, ["net"], "sick", 0.2),
    "totals": lambda after: judge_totals(ASKED, after),
    "groups": lambda after: judge_groups(ASKED, LABELS, after),
    "range": lambda after: judge_range(BEFORE, after, "net", LABELS[0], step=Fraction(1, 10)),
    "loss": lambda after: judge_loss(LOSS, BEFORE, after, {"net": False}),
}

BROKEN = {
    "k": changed(net=[2.2] * 2 + [2.3] + [20.2] * 3),
    "units": changed(net=[2.2, 2.2, 20.2, 2.2, 20.2, 20.2]),
    "shape": {"name": BEFORE["name"], **AFTER},
    "published": changed(sick=["cold", *BEFORE["sick"][1:]]),
    "diversity": changed(sick=["flu"] * 3 + BEFORE["sick"][3:]),
    "closeness": changed(sick=["flu"] * 3 + ["cold"] * 3),
    "totals": changed(gross=[2.4] * 3 + [22.41] * 3),
    "groups": changed(tax=[0.2, 0.2, 0.21, 2.2, 2.2, 2.2]),
    "range": changed(net=[2.2] * 3 + [30.5] * 3),
    "loss": changed(net=[2.2] * 3 + [20.1] * 3),
}


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_a_right_release_passes(judge):
    judge(AFTER)


@pytest.mark.parametrize("name", JUDGES)
def test_a_broken_one_is_found(name):
    with pytest.raises(Finding):
        JUDGES[name](BROKEN[name])


@pytest.mark.parametrize(
    ("right", "wrong"),
    [({"p_percent": 30}, {"p_percent": 40}), ({"dominance": (1, 51)}, {"dominance": (1, 49)})],
)
def test_contributions(right, wrong):
    judge_contributions(ASKED, BEFORE, AFTER, "net", right)  # 3.3 of 6.6, and 1.1 beside two
    with pytest.raises(Finding):
        judge_contributions(ASKED, BEFORE, AFTER, "net", wrong)


def test_a_code_of_minus_zero_is_zero():
    codes = {"code": [-0.0, 0.0, 1.0, 1.0]}
    judge_loss(0.0, codes, {"code": [0.0, 0.0, 1.0, 1.0]}, {"code": True})
    with pytest.raises(Finding):
        judge_loss(0.0, codes, {"code": [1.0, 0.0, 1.0, 1.0]}, {"code": True})


def test_a_key_that_is_not_every_number():
    asked = Asked(k=3, roles=ROLES, key="name")
    judge_key(asked, {"name": ["3", "1", "2"]})
    with pytest.raises(Finding):
        judge_key(asked, {"name": [1, 2, 2]})


class TestFiles:
    @pytest.fixture
    def output(self, tmp_path):
        output = tmp_path / "out.csv"
        output.write_text("x\n1\n")
        sha256 = "dd6f8ae60f9d4a1d0d68d8bfbd6f4ed8c6c3d4a0c1a9ad0a0d0a9ea4d7cc2ba1"
        told = {"output": {"file": "out.csv", "sha256": sha256}}
        (tmp_path / "out.csv.manifest.json").write_text(json.dumps(told))
        return output

    def test_another_hash(self, output):
        with pytest.raises(Finding, match="another file"):
            judge_hash(output)

    def test_leftovers(self, output):
        judge_folder(output.parent, ["out.csv", "out.csv.manifest.json"])
        (output.parent / ".microagg-0.tmp").touch()
        with pytest.raises(Finding, match="by mistake"):
            judge_folder(output.parent, ["out.csv", "out.csv.manifest.json"])

    @pytest.mark.parametrize("cell", ["=1+1", "x;@a", '"x;""=1+1;y"'])
    def test_formulas(self, output, cell):
        output.write_text("a,b\nx,'=1\nx;-5,-3.5\nx,y;'@z\n")
        judge_formulas(output, "utf-8")
        output.write_text(f"a,b\nx,{cell}\n")
        with pytest.raises(Finding, match="a cell is a formula"):
            judge_formulas(output, "utf-8")

    def test_permissions(self, output):
        os.chmod(output, 0o600)
        judge_private(output)
        os.chmod(output, 0o640)
        with pytest.raises(Finding, match="others may read"):
            judge_private(output)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_an_identifier_in_the_bytes(self, output, encoding):
        judge_bytes(output, ["Zq1234"])
        output.write_bytes("x\nZq1234\n".encode(encoding))
        with pytest.raises(Finding, match="names somebody"):
            judge_bytes(output, ["Zq1234"])


def test_messages():
    for bad in ("Zq123456 is twice in the table.", "the frame of Zq-the-owner."):
        with pytest.raises(Finding, match="names somebody"):
            judge_quiet("a message", bad, ["Zq123456"])
    with pytest.raises(Finding, match="quotes a record"):
        judge_values("a message", "got 'Vx0123456789'.")
    with pytest.raises(Finding, match="control characters"):
        judge_controls("a message", "a \x1b[31mred name.")


@pytest.mark.parametrize(
    ("code", "out", "err"),
    [
        (1, "", "microagg: it failed.\n"),
        (2, "x", "microagg: it failed.\n"),
        (2, "", "microagg: it failed.\nTwice.\n"),
        (2, "", "Traceback (most recent call last).\n"),
        (3, "", "microagg: it failed\n"),
        (-11, "", ""),
    ],
)
def test_refusals(code, out, err):
    judge_refused(2, "", "microagg: k must be a whole number.\n")
    with pytest.raises(Finding):
        judge_refused(code, out, err)


@pytest.mark.parametrize("suffix", [s for s in WRITABLE if s not in (".sav", ".zsav", ".dta")])
def test_what_is_written_is_read(tmp_path, suffix):
    from random import Random

    columns = {"n": [1, 2, 30], "x": [1.5, -2.25, 0.125], "t": ["é", "b,c", "=1"]}
    dialect = write_input(columns, tmp_path / f"t{suffix}", suffix, Random(4))
    found = read_output(tmp_path / f"t{suffix}", suffix, dialect)
    assert [str(v).replace(",", ".") for v in found["x"]] == ["1.5", "-2.25", "0.125"]
    assert found["t"] == columns["t"]


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_spss_files_are_read(tmp_path, suffix):
    import datetime
    from random import Random

    day = datetime.date(2024, 2, 29)
    columns = {"long_name_of_it": [1.5, None, 300.0], "t": ["é" * 20, "", "b"], "d": [day] * 3}
    write_input(columns, tmp_path / "t.sav", suffix, Random(0))
    found = read_output(tmp_path / "t.sav", suffix, {})
    assert found == {**columns, "t": ["é" * 20, None, "b"]}
    assert pl.DataFrame(found).height == 3


@pytest.mark.parametrize(
    ("out", "err"),
    [
        ("", ""),
        (
            "",
            "allocation of 8 bytes failed\nmicroagg: not enough memory. Raise ulimit -v.\n",
        ),
        ("", "microagg: 't.csv' is not well-formed CSV.\n"),
        ("", "microagg: there is not enough memory.\n"),
        ("{}", "microagg: there is not enough memory. Use a machine with more memory.\n"),
    ],
)
def test_a_lack_of_memory_that_is_not_one_line_with_what_to_do(out, err):
    with pytest.raises(Finding):
        judge_line(Outcome(1, out, err))
    judge_line(Outcome(1, "", "microagg: there is not enough memory. Use more memory.\n"))
