"""t-closeness: every combination is compared with the whole dataset, not with its own part."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import microagg
from microagg import protect_dataset
from microagg.core.errors import DataError, GuaranteeError, ParameterError
from microagg.scale.steps import distributions
from tests.scale.datasets import (
    ROLES,
    farthest,
    people,
    read_files,
    sizes_of_classes,
    write_files,
)

N = 1_500
SHOWN = ["age", "income", "height", "job"]
ASKED = {"k": 4, "method": "mdav", **ROLES}


def columns(n: int = N) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    table = people(n)
    # What is sensitive goes with what is shown, so that near records are alike in it.
    near = (table["height"].rank("ordinal") * 6 // n).clip(0, 5)
    return table.with_columns(
        kind=near.cast(pl.Int64).replace_strict(dict(enumerate("abcdef")), return_dtype=pl.String),
        size=pl.when(pl.Series(rng.random(n) < 0.05)).then(None).otherwise(near.cast(pl.Float64)),
        day=pl.Series([date(2020, 1, 1) + timedelta(int(d)) for d in near]),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "ordered"), [("kind", False), ("size", True), ("day", True)], ids=str
)
@pytest.mark.parametrize(
    "method", [{"method": "mdav"}, {"method": "auto", "effort": "fast", "random_state": 2}]
)
def test_every_combination_is_close_to_the_whole(tmp_path, column, ordered, method):
    others = [name for name in ("kind", "size", "day") if name != column]
    table = columns().drop(others)
    source = write_files(table, tmp_path / "in", (300, 900))
    asked = {**ASKED, **method, "sensitive": ["disease", column]}
    done = protect_dataset(source, tmp_path / "out", t_closeness={column: 0.3}, **asked)
    after = read_files(tmp_path / "out")
    found = farthest(after, column, SHOWN, ordered=ordered)
    assert found <= 0.3 + 1e-9
    assert done.requirements[0].worst == pytest.approx(found)
    assert sizes_of_classes(after, SHOWN)[0] >= 4
    without = protect_dataset(source, tmp_path / "without", **asked)
    assert farthest(read_files(tmp_path / "without"), column, SHOWN, ordered=ordered) > 0.4
    assert without.information_loss < done.information_loss


@pytest.mark.slow
def test_the_manifest_says_what_that_of_a_table_says(tmp_path):
    table = columns().drop("size", "day")
    source = write_files(table, tmp_path / "in", (300, 900))
    asked = {**ASKED, "sensitive": ["disease", "kind"], "t_closeness": {"kind": 0.3}}
    done = protect_dataset(source, tmp_path / "out", **asked)
    alike = microagg.protect(table, **asked).manifest
    assert done.plan.columns["kind"] == alike.plan.columns["kind"]
    one, other = (found.requirements[0].model_dump() for found in (done, alike))
    assert {n: one[n] for n in one if n != "worst"} == {n: other[n] for n in one if n != "worst"}


def test_regions_that_are_unlike_the_whole_are_joined(tmp_path):
    """One value lies on one side: no region alone is close to the dataset."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    table = pl.DataFrame({"x": x, "y": rng.normal(size=N), "ill": (x > 0).astype(int)})
    source = write_files(table, tmp_path / "in", (700,))
    asked = {"k": 3, "sensitive": "ill", "t_closeness": {"ill": 0.1}, "method": "mdav"}
    protect_dataset(source, tmp_path / "out", **asked)
    after = read_files(tmp_path / "out")
    assert farthest(after, "ill", ["x", "y"], ordered=False) <= 0.1 + 1e-9
    assert sizes_of_classes(after, ["x", "y"])[0] >= 3


class TestStrata:
    def table(self):
        return columns().drop("size", "day").with_columns(area=pl.int_range(N) // 500)

    @pytest.mark.slow
    def test_the_reference_is_the_dataset_as_for_a_table(self, tmp_path):
        source = write_files(self.table(), tmp_path / "in", (300, 900))
        asked = {"sensitive": ["disease", "kind"], "strata": "area", "t_closeness": {"kind": 0.3}}
        protect_dataset(source, tmp_path / "out", **{**ASKED, **asked})
        after = read_files(tmp_path / "out")
        assert farthest(after, "kind", [*SHOWN, "area"], ordered=False) <= 0.3 + 1e-9

    def test_a_stratum_that_is_too_far_from_it(self, tmp_path):
        table = self.table().with_columns(
            kind=pl.when(pl.col("area") == 1).then(pl.lit("a")).otherwise("kind")
        )
        source = write_files(table, tmp_path / "in", (300, 900))
        asked = {"sensitive": ["disease", "kind"], "strata": "area", "t_closeness": {"kind": 0.1}}
        with pytest.raises(ParameterError, match="no groups can meet a requirement"):
            protect_dataset(source, tmp_path / "out", **{**ASKED, **asked})
        assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.slow
def test_text_is_numbers_only_if_all_files_say_so(tmp_path):
    """In a CSV file numbers have an order; a code in the last file makes all of it text."""
    table = columns().drop("size", "day").with_columns(grade=(pl.int_range(N) % 7).cast(pl.String))
    for name, grades in (("numbers", table), ("codes", None)):
        own = grades
        if own is None:
            last = pl.int_range(N) == N - 1
            own = table.with_columns(grade=pl.when(last).then(pl.lit("x")).otherwise("grade"))
        folder = tmp_path / name
        (folder / "in").mkdir(parents=True)
        for at, part in enumerate((own[:700], own[700:])):
            part.write_csv(folder / "in" / f"{at}.csv")
        asked = {**ASKED, "sensitive": ["disease", "grade"], "drop": "kind"}
        protect_dataset(folder / "in", folder / "out", t_closeness={"grade": 0.25}, **asked)
        parts = [
            pl.read_csv(path, schema_overrides={"grade": pl.String})
            for path in sorted((folder / "out").iterdir())
        ]
        after = pl.concat(parts)
        ordered = name == "numbers"
        assert farthest(after, "grade", SHOWN, ordered=ordered) <= 0.25 + 1e-9
        (whole,) = (microagg.Manifest.load(f"{folder / 'out'}.manifest.json").requirements,)
        assert ("by rank" in whole[0].asked) == ordered


def test_very_many_values_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(distributions, "MOST_VALUES", 100)
    source = write_files(people(N), tmp_path / "in", (700,))
    asked = {"k": 4, "identifiers": "id", "sensitive": "income", "quasi_identifiers": "job"}
    with pytest.raises(DataError, match="more than 100 different ones"):
        protect_dataset(
            source, tmp_path / "out", t_closeness={"income": 0.3}, drop="disease", **asked
        )
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_the_judge_counts_for_itself(tmp_path, monkeypatch):
    """Groups that were made without the rule are found out on the finished folder."""
    monkeypatch.setattr("microagg.scale.steps.regions.rules_for", lambda *_: ())
    table = columns().drop("size", "day")
    source = write_files(table, tmp_path / "in", (700,))
    asked = {**ASKED, "sensitive": ["disease", "kind"]}
    with pytest.raises(GuaranteeError, match=r"more than 0\.3 from its overall distribution"):
        protect_dataset(source, tmp_path / "out", t_closeness={"kind": 0.3}, **asked)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
