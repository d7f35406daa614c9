"""verify(): whether any table keeps what is asked of it, counted without the code that made it."""

import csv
import io
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import microagg
from microagg import Plan, Verification, protect, verify
from microagg.core.errors import (
    DataError,
    GuaranteeError,
    ManifestWarning,
    ParameterError,
    PrivacyWarning,
)
from microagg.files.formats import write_table
from microagg.requirements.records import Classes

KINDS = [pd.DataFrame, pl.DataFrame, pa.table]
SUFFIXES = [".csv", ".csv.gz", ".parquet", ".arrow"]

RNG = np.random.default_rng(11)
N = 48
PAY, TAX = RNG.integers(1000, 5000, N), RNG.integers(0, 900, N)
PEOPLE = pl.DataFrame(
    {
        "name": [f"person {i}" for i in range(N)],
        "age": RNG.integers(18, 90, N),
        "height": RNG.normal(1.7, 0.1, N).round(2),
        "sex": [("f", "m")[i] for i in RNG.integers(0, 2, N)],
        "region": ["north", "south"] * (N // 2),
        "pay": PAY,
        "tax": TAX,
        "total": PAY + TAX,
        "w": RNG.integers(1, 4, N),
        "illness": [("flu", "cold", "none")[i] for i in RNG.integers(0, 3, N)],
    }
)
NUMBERS = PEOPLE.select("age", "height", "illness")
PAIRS = {"a": [1, 1, 1, 2, 2], "b": ["x", "x", "x", "y", "y"], "c": [1, 2, 3, 4, 5]}


def plan_of(**asked):
    columns = {
        "name": {"role": "identifier"},
        "sex": {"role": "quasi-identifier"},
        "region": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
        **asked.pop("columns", {}),
    }
    return Plan.of(**{"k": 3, "method": "mdav", "columns": columns, **asked})


@pytest.fixture
def saved(tmp_path):
    """Protect the people as a plan says, and save them; returns the path."""

    def save(plan, name="out.csv", table=PEOPLE):
        return protect(table, plan=plan).save(tmp_path / name)

    return save


class TestTables:
    @pytest.mark.parametrize("kind", KINDS)
    def test_what_is_counted(self, kind):
        found = verify(kind(PAIRS), 3, sensitive="c")
        assert found.classes == Classes(3, 5, 2, 2, {2: 1})
        assert (found.columns, found.blocks, found.manifest) == (("a", "b"), (), None)
        assert (found.satisfied, bool(found), found.largest_k) == (False, False, 2)
        assert found.violations == {}

    @pytest.mark.parametrize("kind", KINDS)
    def test_columns_can_be_named_or_left_out(self, kind):
        table = kind(PAIRS)
        assert verify(table, 2, quasi_identifiers=["b", "a"]).columns == ("a", "b")
        assert verify(table, 2, quasi_identifiers="a")
        assert not verify(table, 2)
        assert verify(table, 1)

    def test_the_largest_k_is_kept_and_no_larger_one(self):
        release = protect(NUMBERS, 4, sensitive="illness", method="mdav")
        largest = verify(release.table, 1, sensitive="illness").largest_k
        assert largest == release.manifest.smallest_class >= 4
        assert verify(release.table, largest, sensitive="illness")
        assert not verify(release.table, largest + 1, sensitive="illness")

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            ({}, r"k, .* is missing\. Give k \(-k\), or a plan"),
            ({"k": 0}, "k must be a whole number of at least 1; got 0"),
            ({"k": "3"}, "k must be a whole number"),
            ({"k": 2, "sensitive": "d"}, "the table has no column 'd'"),
            ({"k": 2, "quasi_identifiers": "A"}, "no column 'A'. Did you mean 'a'"),
            ({"k": 2, "quasi_identifiers": "a", "sensitive": "a"}, "'a' can have one role only"),
            ({"k": 2, "sensitive": ["a", "b", "c"]}, "there is no column to check"),
            ({"k": 2, "constraints": "a + d = 1"}, "'d'"),
            ({"k": 2, "constraints": "a ="}, "'a ='"),
            ({"k": 2, "plan": 5}, "a plan is a microagg.Plan or the name of a plan file"),
            ({"k": 2, "plan": Plan.of(k=2), "sensitive": "a"}, "given in addition to a plan"),
            ({"k": 2, "plan": Plan.of(k=2), "constraints": "a >= 0"}, "given in addition"),
        ],
    )
    def test_bad_requests(self, arguments, match):
        with pytest.raises(ParameterError, match=match) as refused:
            verify(pl.DataFrame(PAIRS), **arguments)
        assert "\n" not in str(refused.value)

    def test_bad_tables(self):
        with pytest.raises(DataError, match="no records"):
            verify(pl.DataFrame({"a": []}), 2)
        with pytest.raises(ParameterError, match="must be a DataFrame"):
            verify(5, 2)
        with pytest.raises(DataError, match="numbers"):
            verify(pl.DataFrame(PAIRS), 1, constraints="b >= 0")
        holes = pl.DataFrame({"a": [1, None]})
        with pytest.raises(DataError, match="values are missing in 'a'"):
            verify(holes, 1, constraints="a >= 0")


class TestConstraints:
    def test_records_that_violate_one_are_counted(self):
        table = pl.DataFrame({"net": [1, 1, 5, 5], "tax": [2, 2, 1, 1], "gross": [3, 3, 7, 7]})
        asked = ["net + tax = gross", "net >= 0", "tax <= 1"]
        found = verify(table, 2, constraints=asked)
        assert found.violations == dict(zip(asked, (2, 0, 2), strict=True))
        assert found.classes.satisfied
        assert not found
        assert found.verdict == (
            "No: a constraint is violated: net + tax = gross (2 records); tax <= 1 (2 records)"
        )
        assert verify(table, 2, constraints="net >= 0")

    @pytest.mark.parametrize("asked", ["a + b = c", "a + b <= c", "a + b >= c", "a >= 0"])
    @pytest.mark.parametrize("infinite", ["abc", "a", "ac"])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_infinity_satisfies_none(self, asked, infinite, sign):
        row = [sign * np.inf if name in infinite else 1.0 for name in "abc"]
        good, bad = [1.0, 2.0, 3.0], [-1.0, 4.0, 5.0]
        table = pl.DataFrame([row, good, bad], schema=["a", "b", "c"], orient="row")
        broken = {"a + b = c": 2, "a + b <= c": 1, "a + b >= c": 2, "a >= 0": 2}[asked]
        assert verify(table, 1, constraints=asked).violations == {asked: broken}

    def test_k_is_said_first(self):
        found = verify(pl.DataFrame({"a": [1, 2]}), 2, constraints="a >= 5")
        assert found.verdict == (
            "No: 2 of 2 records show a combination that fewer than 2 share; a constraint is "
            "violated: a >= 5 (2 records)"
        )
        assert found.violations == {"a >= 5": 2}

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_of_a_release(self, saved, suffix):
        path = saved(plan_of(constraints=["pay + tax = total"]), f"out{suffix}")
        assert verify(path, quasi_identifiers="pay", k=1, constraints="pay + tax = total")
        assert verify(path).violations == {"pay + tax = total": 0}
        broken = verify(path, constraints="pay + tax <= 0")
        assert broken.violations == {"pay + tax <= 0": N, "pay + tax = total": 0}
        assert not broken
        assert verify(path, constraints="tax = total - pay").violations == {"pay + tax = total": 0}

    def test_of_a_column_that_is_not_there(self):
        with pytest.raises(ParameterError) as refused:
            verify(pl.DataFrame({"net": [1, 1]}), 2, constraints="nett >= 0")
        assert str(refused.value) == (
            "constraint 'nett >= 0': the table has no column 'nett'. Did you mean 'net'?"
        )

    @pytest.mark.parametrize("kind", KINDS)
    def test_of_32_bit_floats_in_a_text_file(self, tmp_path, kind):
        total = "a + b = c"
        a, b = RNG.normal(size=(2, 30)).astype(np.float32)
        table = kind({"a": a, "b": b, "c": a + b})
        plan = Plan.of(k=2, method="mdav", constraints=[total])
        path = protect(table, plan=plan).save(tmp_path / "t.csv")
        assert verify(path).violations == {total: 0}
        assert verify(path, plan=plan)
        assert verify(path, 2, quasi_identifiers="a", constraints=total)
        (tmp_path / "t.csv.manifest.json").unlink()
        assert not verify(path, 2, constraints=total), "nothing says that these are 32-bit floats"
        assert verify(table, 1, constraints=total)
        spoilt = kind({"a": a, "b": b, "c": (a + b) * np.float32(1.0001)})
        assert verify(spoilt, 1, constraints=total).violations == {total: 30}

    def test_of_money_in_a_text_file(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("net,tax,gross\n102495.23,20000.11,122495.45\n102495.25,0.5,102495.75\n")
        found = verify(path, 1, constraints="net + tax = gross")
        assert found.violations == {"net + tax = gross": 1}, "eleven cents are missing"


class TestPlans:
    def test_a_plan_says_all(self, saved, tmp_path):
        plan = plan_of(constraints=["pay + tax = total"])
        release = protect(PEOPLE, plan=plan)
        found = verify(release.table, plan=plan)
        assert found
        assert found.classes.k == 3
        assert found.columns == tuple(c for c in PEOPLE.columns if c not in ("name", "illness"))
        assert found.violations == {"pay + tax = total": 0}
        (tmp_path / "p.toml").write_text(
            'k = 3\nconstraints = ["pay + tax = total"]\n'
            '[columns]\nname.role = "identifier"\nillness.role = "sensitive"\n'
        )
        assert verify(release.table, plan=tmp_path / "p.toml").classes == found.classes
        assert verify(saved(plan), plan=str(tmp_path / "p.toml")).classes == found.classes

    @pytest.mark.parametrize("keep_key", [False, True])
    def test_a_yes_names_all_that_was_checked(self, keep_key):
        plan = plan_of(constraints=["pay + tax = total"], keep_key=keep_key)
        gone, keys = (
            "no identifier that was named is in the table",
            "'name' holds keys from 1 to 48",
        )
        found = verify(protect(PEOPLE, plan=plan).table, plan=plan)
        assert found.verdict == (
            f"Yes: every combination stands for at least 3 records; {keys if keep_key else gone}; "
            "every record satisfies the constraints"
        )

    def test_another_k_than_that_of_the_plan(self):
        plan = plan_of()
        release = protect(PEOPLE, plan=plan)
        assert verify(release.table, 2, plan=plan).classes.k == 2
        assert not verify(release.table, N, plan=plan)

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_identifiers_must_be_gone(self, tmp_path, suffix):
        both = {"name": {"role": "identifier"}, "height": {"role": "identifier"}}
        two = {"unit": "rows", "columns": both}
        plan = plan_of(**two)
        table = protect(PEOPLE, plan=plan).table
        assert verify(table, plan=plan)
        spoilt = table.with_columns(name=pl.lit("x"), height=pl.lit(1.0))  # all the same
        path = tmp_path / f"out{suffix}"
        write_table(spoilt, str(path))
        for found in (verify(spoilt, plan=plan), verify(path, plan=plan)):
            assert not found
            assert found.verdict == (
                "No: identifier 'name' is still in the table; identifier 'height' is still in the "
                "table"
            )
            assert found.classes.satisfied
            assert not {"name", "height"} & set(found.columns)
            assert ("identifiers", "still there: name, height") in found.rows()
        keyed = plan_of(**two, keep_key=True)
        table = protect(PEOPLE, plan=keyed).table
        assert verify(table, plan=keyed)
        spoilt = table.with_columns(height=pl.lit(1.0))
        assert verify(spoilt, plan=keyed).verdict == (
            "No: identifier 'height' is still in the table"
        )

    def test_an_identifier_in_the_index_is_still_there(self):
        plan = plan_of()
        table = protect(PEOPLE.to_pandas(), plan=plan).table
        assert verify(table, plan=plan)
        named = table.set_index(pd.Index(PEOPLE["name"].to_list(), name="name"))
        assert verify(named, plan=plan).verdict == "No: identifier 'name' is still in the table"

    def test_weights_are_left_out(self):
        plan = plan_of(columns={"w": {"role": "weight"}})
        release = protect(PEOPLE, plan=plan)
        found = verify(release.table, plan=plan)
        assert found
        assert "w" not in found.columns
        assert not verify(release.table, 3, sensitive="illness")

    def test_keys_are_left_out(self, saved):
        plan = plan_of(keep_key=True)
        release = protect(PEOPLE, plan=plan)
        found = verify(release.table, plan=plan)
        assert found
        assert "name" in release.table.columns
        assert "name" not in found.columns
        assert "name" not in verify(saved(plan)).columns
        assert not verify(release.table, 3, sensitive="illness")

    def test_strata_count(self, saved):
        plan = plan_of(columns={"region": {"role": "stratum"}})
        release = protect(PEOPLE, plan=plan)
        for found in (verify(release.table, plan=plan), verify(saved(plan))):
            assert found
            assert "region" in found.columns
        assert not verify(release.table.with_columns(region=pl.Series(range(N))), plan=plan)

    def test_a_column_that_the_table_does_not_have(self):
        with pytest.raises(ParameterError, match="no column 'region'"):
            verify(PEOPLE.drop("region"), plan=plan_of(columns={"region": {"role": "stratum"}}))
        with pytest.raises(ParameterError, match="no column 'illness'"):
            verify(PEOPLE.drop("illness"), plan=plan_of())
        with pytest.raises(ParameterError, match="no column 'sex'"):
            verify(PEOPLE.drop("name", "sex"), plan=plan_of())
        typed = plan_of(columns={"age": {"type": "integer"}})
        with pytest.raises(ParameterError, match="no column 'age'"):
            verify(PEOPLE.drop("name", "age"), plan=typed)


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
class TestBlocks:
    BLOCKS = (("age", "height"), ("sex",))

    @pytest.mark.parametrize("strata", [False, True], ids=["no strata", "strata"])
    def test_each_is_checked_on_its_own(self, saved, strata):
        more = {"columns": {"region": {"role": "stratum"}}} if strata else {}
        plan = plan_of(blocks=self.BLOCKS, **more)
        release = protect(PEOPLE, plan=plan)
        by_plan, by_manifest = verify(release.table, plan=plan), verify(saved(plan))
        for found in (by_plan, by_manifest):
            assert found
            assert found.verdict.startswith("Yes, in each block: every combination stands for")
            assert found.classes.smallest == release.manifest.smallest_class
        assert {frozenset(block) for block in by_plan.blocks} == {
            frozenset(block) for block in by_manifest.blocks
        }
        assert all(("region" in block) for block in by_plan.blocks) == strata
        assert not verify(release.table, 3, sensitive="illness"), "not all columns together"

    def test_the_smallest_block_decides(self):
        table = pl.DataFrame({"a": [1, 1, 1, 1], "b": [1, 1, 2, 3], "c": [5, 5, 5, 5]})
        found = verify(table, plan=Plan.of(k=2, blocks=[["a"], ["b"]]))
        assert found.blocks == (("a",), ("b",), ("c",))
        assert found.classes == Classes(2, 4, 1, 3, {1: 2})
        assert not found

    def test_a_column_of_a_block_that_is_not_there(self):
        with pytest.raises(ParameterError, match="no column 'b'"):
            verify(pl.DataFrame({"a": [1]}), plan=Plan.of(k=1, blocks=[["a", "b"]]))


class TestManifests:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_the_one_beside_says_what_to_check(self, saved, suffix):
        path = saved(plan_of(), f"out{suffix}")
        found = verify(path)
        assert found
        assert found.classes.k == 3
        assert found.columns == tuple(c for c in PEOPLE.columns if c not in ("name", "illness"))
        assert found.manifest == str(path.parent / f"out{suffix}.manifest.json")
        assert ("read from", found.manifest) in found.rows()
        assert verify(str(path), 2).classes.k == 2

    def test_named_columns_need_none(self, saved):
        path = saved(plan_of())
        with pytest.warns(ManifestWarning, match="columns are named"):
            found = verify(path, 3, sensitive="illness")
        assert found
        assert found.manifest is None
        assert verify(path, 3, quasi_identifiers="age").manifest is None
        assert verify(path, plan=plan_of()).manifest is None

    def test_requirements_are_checked_as_well(self, saved):
        path = saved(plan_of(keep_key=True, constraints=["pay + tax = total"]))
        found = verify(path, l_diversity={"illness": 1}, t_closeness={"illness": 1})
        assert found.manifest == f"{path}.manifest.json"
        assert [own["requirement"] for own in found.as_dict()["checks"]] == [
            "k records",
            "l-diversity",
            "t-closeness",
            "random keys",
            "constraints",
        ]
        assert found.classes.k == 3
        too_much = verify(path, 2, l_diversity={"illness": 4})
        assert too_much.verdict.startswith("No: there are fewer than 4 values of 'illness' in ")
        with pytest.raises(ParameterError, match="'age' has no role"):
            verify(path, l_diversity={"age": 2})

    def test_requirements_replace_its_own(self, saved):
        columns = {"illness": {"role": "sensitive", "l_diversity": 2}, "w": {"role": "drop"}}
        path = saved(plan_of(method="auto", effort="fast", columns=columns))
        assert verify(path)
        assert not verify(path, l_diversity={"illness": 4})
        by_unit = verify(path, unit="w", original=PEOPLE)
        assert [own["requirement"] for own in by_unit.as_dict()["checks"]] == [
            "k records",
            "k units",
            "l-diversity",
            "no identifiers",
        ]

    def test_how_records_were_grouped_does_not_exclude_a_requirement(self, saved):
        plan = Plan.of(
            k=3, method="fcm", random_state=0, columns={"illness": {"role": "sensitive"}}
        )
        with pytest.warns(PrivacyWarning):
            path = saved(plan, table=NUMBERS)
        assert verify(path, 1, l_diversity={"illness": 1})

    def test_one_of_another_content_does_not_belong_to_it(self, saved):
        path = saved(plan_of())
        with path.open("a") as stream:
            stream.write(path.read_text().splitlines()[-1] + "\n")
        with pytest.raises(GuaranteeError, match="has changed since it was released"):
            verify(path)
        with pytest.warns(ManifestWarning, match="is not used") as warned:
            found = verify(path, 2, constraints="pay >= 0")
        assert [own.filename for own in warned] == [__file__], "once, and of this line"
        assert found.manifest is None
        assert "illness" in found.columns

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    @pytest.mark.parametrize("make", [os.mkdir, getattr(os, "mkfifo", None)])
    def test_one_that_is_no_regular_file_is_mentioned(self, tmp_path, make):
        path = tmp_path / "a.csv"
        path.write_text("a\n1\n1\n")
        make(f"{path}.manifest.json")
        with pytest.warns(ManifestWarning, match=r"is not used: .* cannot be read"):
            assert verify(path, 2).manifest is None

    def test_nor_does_one_of_another_file(self, saved, tmp_path):
        saved(plan_of(), "one.csv")
        other = tmp_path / "two.csv"
        other.write_text("a\n1\n1\n")
        shutil.copy(tmp_path / "one.csv.manifest.json", tmp_path / "two.csv.manifest.json")
        assert verify(other, 2).manifest is None

    def test_a_csv_file_is_read_and_hashed_once(self, saved, monkeypatch):
        path = saved(plan_of(constraints=["pay + tax = total"]))
        read = []
        own = Path.read_bytes
        monkeypatch.setattr(Path, "read_bytes", lambda place: read.append(place) or own(place))
        monkeypatch.setattr(
            "microagg.plans.beside.sha256_of", lambda _: pytest.fail("hashed once more")
        )
        assert verify(path).manifest
        assert read == [path]

    def test_a_key_that_is_no_column_is_refused(self, saved):
        path = saved(plan_of(keep_key=True))
        beside = path.parent / "out.csv.manifest.json"
        beside.write_text(beside.read_text().replace('"name"', f'"{"nobody" * 100}"'))
        with pytest.raises(ParameterError, match=r"^the table has no column 'nobody.{1,40}'\."):
            verify(path)

    def test_it_moves_with_its_file(self, saved, tmp_path):
        path = saved(plan_of())
        (tmp_path / "elsewhere").mkdir()
        for name in ("out.csv", "out.csv.manifest.json"):
            shutil.move(tmp_path / name, tmp_path / "elsewhere" / name)
        assert not path.exists()
        assert verify(tmp_path / "elsewhere" / "out.csv").classes.k == 3

    def test_a_damaged_one_is_none(self, saved):
        path = saved(plan_of())
        (path.parent / "out.csv.manifest.json").write_text("{")
        with pytest.warns(ManifestWarning, match="columns are named"):
            assert verify(path, 3, sensitive="illness")
        with pytest.raises(GuaranteeError, match="is damaged"):
            verify(path)

    def test_one_of_an_earlier_version(self, saved):
        path = saved(plan_of())
        described = path.parent / "out.csv.manifest.json"
        described.write_text(described.read_text().replace('  "schema_version": 2,\n', ""))
        assert verify(path).manifest == str(described)

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    def test_what_was_drawn_may_keep_k_or_not(self, tmp_path):
        release = protect(NUMBERS, 3, sensitive="illness", method="fcm", random_state=1)
        path = release.save(tmp_path / "drawn.csv")
        assert verify(path).satisfied == (release.manifest.smallest_class >= 3)

    def test_a_table_in_memory_has_none(self, saved, tmp_path, monkeypatch):
        path = saved(plan_of())
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ParameterError, match="is missing"):
            verify(pl.read_csv(path))


class TestWords:
    def test_yes(self):
        found = verify(pl.DataFrame(PAIRS), 2, sensitive="c")
        assert found.verdict == "Yes: every combination stands for at least 2 records"
        assert str(found) == repr(found)
        lines = str(found).splitlines()
        assert lines[0] == found.verdict
        assert [line.split("  ")[0] for line in lines[2:]] == [
            "checked",
            "combinations",
            "rarest",
            "below k",
        ]
        assert "a, b" in lines[2]

    def test_no(self):
        found = verify(pl.DataFrame(PAIRS), 3, sensitive="c")
        assert found.verdict == "No: 2 of 5 records show a combination that fewer than 3 share"
        one = verify(pl.DataFrame({"a": [1, 2, 2]}), 2)
        assert one.verdict == "No: 1 of 3 records shows a combination that fewer than 2 share"

    def test_k_beyond_the_table(self):
        found = verify(pl.DataFrame({"a": [1, 1]}), 3)
        assert found.verdict == "No: k is 3, and the table has only 2 records"

    def test_k_of_one(self):
        found = verify(pl.DataFrame(PAIRS), 1)
        assert found.verdict == "Yes: k = 1 asks for no protection, so any table satisfies it"

    def test_html(self):
        odd = verify(pl.DataFrame({"<b>": [1, 1]}), 2)
        html = odd._repr_html_()
        assert html.startswith("<table>")
        assert html.endswith("</table>")
        assert odd.verdict in html
        assert "&lt;b&gt;" in html
        assert "<b>" not in html

    def test_plain_values(self):
        found = verify(pl.DataFrame(PAIRS), 3, sensitive="c", constraints="c >= 2")
        assert found.as_dict() == {
            "k": 3,
            "satisfied": False,
            "smallest_class": 2,
            "n_classes": 2,
            "n_records": 5,
            "classes_below_k": {"2": 1},
            "records_below_k": 2,
            "quasi_identifiers": ["a", "b"],
            "blocks": [],
            "records_in_violation": {"c >= 2": 1},
            "manifest": None,
            "verdict": found.verdict,
            "checks": [
                {
                    "requirement": "k records",
                    "satisfied": False,
                    "quasi_identifiers": ["a", "b"],
                    "k": 3,
                    "smallest_class": 2,
                    "n_classes": 2,
                    "n_records": 5,
                    "classes_below_k": {"2": 1},
                    "records_below_k": 2,
                },
                {
                    "requirement": "constraints",
                    "satisfied": False,
                    "records_in_violation": {"c >= 2": 1},
                },
            ],
        }

    def test_it_is_frozen(self):
        found = verify(pl.DataFrame(PAIRS), 3)
        assert isinstance(found, Verification)
        with pytest.raises(AttributeError):
            found.columns = ()


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"columns": {"region": {"role": "stratum"}}},
        {"columns": {"w": {"role": "weight"}}},
        {"blocks": [["age", "sex"], ["pay", "tax", "total"]]},
        {"constraints": ["pay + tax = total"], "scale": "rank"},
        {"keep_key": True},
    ],
    ids=["plain", "strata", "weights", "blocks", "constraints", "key"],
)
def test_a_release_and_its_file_agree(asked, tmp_path):
    plan = plan_of(**asked)
    for kind in (pd.DataFrame, pl.DataFrame, pa.table):
        release = protect(kind(PEOPLE.to_dict(as_series=False)), plan=plan)
        path = release.save(tmp_path / f"{kind.__name__}.csv", force=True)
        in_memory = verify(release.table, plan=plan)
        assert in_memory
        for other in (verify(path, plan=plan), verify(path)):
            assert other.classes == in_memory.classes
            assert other.violations == in_memory.violations
            assert set(other.columns) == set(in_memory.columns)
        assert in_memory.classes.smallest == release.manifest.smallest_class


VALUES = st.sampled_from(
    ["a", "b", " a", "A", "é", '"', "a,b", "1", "1.0", "01", "NA", "line\nend"]
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    rows=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=30),
    k=st.integers(1, 4),
    named=st.sampled_from([("x",), ("y",), ("x", "y")]),
)
def test_tables_and_files_agree_with_a_counter(rows, k, named, tmp_path):
    places = ["xy".index(name) for name in named]
    sizes = Counter(tuple(row[place] for place in places) for row in rows)
    below = Counter(size for size in sizes.values() if size < k)
    expected = Classes(k, len(rows), min(sizes.values()), len(sizes), dict(sorted(below.items())))
    columns = dict(zip("xy", map(list, zip(*rows, strict=True)), strict=True))
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("x", "y"), *rows])
    path = tmp_path / "t.csv"
    path.write_text(buffer.getvalue(), encoding="utf-8", newline="")
    for table in (*(kind(columns) for kind in KINDS), path):
        delimiter = "," if isinstance(table, Path) else None
        found = verify(table, k, quasi_identifiers=named, delimiter=delimiter)
        assert found.classes == expected
        assert found.satisfied == (min(sizes.values()) >= k)
        assert found.largest_k == min(sizes.values())


def test_a_csv_file_is_compared_as_it_is_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n1.0\n01\n")
    assert verify(path, 1).classes.count == 3
    path.write_text("a;b\n1,5;x\n1,5;x\n")
    assert verify(path, 2, delimiter=";", decimal=",", constraints="a <= 1.5")
    assert not verify(path, 2, delimiter=";", decimal=",", constraints="a <= 1")


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(ParameterError, match="does not exist"):
        verify(tmp_path / "none.csv", 2)
    with pytest.raises(ParameterError, match="files must end in"):
        verify("table.doc", 2)


def test_it_is_public():
    assert microagg.verify is verify


def test_a_release_in_memory_is_verified_by_its_table_and_plan():
    table = pl.DataFrame({"age": [34.0, 36, 61, 62, 63], "height": [1.7, 1.8, 1.6, 1.6, 1.5]})
    release = protect(table, 2, method="mdav")
    with pytest.raises(
        ParameterError, match=r"verify\(release.table, plan=release.manifest.plan\)"
    ):
        verify(release)
    assert verify(release.table, plan=release.manifest.plan).satisfied
