"""What works on a table works on a dataset: every kind of column and requirement."""

import warnings
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import protect_dataset
from microagg.core.errors import ConstraintWarning, DataError, ParameterError, PrivacyWarning
from tests.scale.datasets import (
    ROLES,
    arrow_files,
    people,
    read_files,
    sizes_of_classes,
    write_files,
)

N = 1_200
SHOWN = ["age", "income", "height", "job"]
MDAV = {"method": "mdav"}
NO_ID = {"quasi_identifiers": ["job"], "sensitive": "disease"}


def protected(table, tmp_path, *, cuts=(300, 800), suffix="parquet", k=4, **asked):
    """Protect a table in files; return the rows before and after, and the manifest."""
    source = write_files(table, tmp_path / "in", cuts, suffix)
    done = protect_dataset(source, tmp_path / "out", k=k, **{**ROLES, **MDAV, **asked})
    return read_files(source), read_files(tmp_path / "out"), done


def check_loss(before, after, done, **weights):
    """The loss is what `measure` says of all rows together."""
    names = list(done.quasi_identifiers)
    dropped = [name for name in done.dropped if name in before.columns]
    types = {name: {"type": str(own.type)} for name, own in done.columns.items()}
    found = microagg.measure(
        before.drop(dropped), after, quasi_identifiers=names, columns=types, **weights
    )
    assert done.information_loss == pytest.approx(found.utility.loss.information_loss, rel=1e-9)


class TestStrata:
    @pytest.fixture
    def table(self):
        rng = np.random.default_rng(1)
        large, small = ["north"] * 700, rng.choice(["east", "south", None], N - 700).tolist()
        return people(N).with_columns(
            region=pl.Series(large + small).sample(N, shuffle=True, seed=1)
        )

    def test_only_records_of_a_stratum_share_a_group(self, table, tmp_path):
        before, after, done = protected(table, tmp_path, strata="region")
        assert before["region"].to_list() == after["region"].to_list()
        assert sizes_of_classes(after, [*SHOWN, "region"])[0] >= 4
        assert done.strata_found.count == 4
        counts = before["region"].value_counts()["count"]
        assert done.strata_found.smallest == counts.min()
        means = pl.col("height").mean()
        both = [t.group_by("region").agg(means).sort("region")["height"] for t in (before, after)]
        assert both[0].to_list() == pytest.approx(both[1].to_list())
        check_loss(before.drop("region"), after.drop("region"), done)

    def test_small_ones_are_refused(self, table, tmp_path):
        few = table.with_columns(
            region=pl.when(pl.int_range(N) < 2).then(pl.lit("west")).otherwise("region")
        )
        with pytest.raises(DataError, match="stratum 5 holds 2"):
            protected(few, tmp_path, strata="region")
        assert [path.name for path in tmp_path.iterdir()] == ["in"]

    def test_or_merged_as_those_of_a_table(self, table, tmp_path):
        few = table.with_columns(
            region=pl.when(pl.int_range(N) < 2).then(pl.lit("west")).otherwise("region")
        )
        asked = {"strata": "region", "small_strata": "merge"}
        _, after, done = protected(few, tmp_path, **asked)
        alike = microagg.protect(few, 4, **ROLES, **MDAV, **asked)
        assert after["region"].to_list() == alike.table["region"].to_list()
        assert done.strata_found == alike.manifest.strata_found
        assert sizes_of_classes(after, [*SHOWN, "region"])[0] >= 4

    @pytest.mark.filterwarnings("ignore:records of the same")
    def test_or_merged_by_their_units(self, tmp_path):
        """Of 30 areas some have many records of few people, and two share most of theirs."""
        rng = np.random.default_rng(7)
        area = rng.integers(0, 30, N)
        few, many = area // 2 * 7 + rng.integers(0, 2, N), rng.integers(100, 400, N)
        person = np.where(area < 4, few, many)
        table = (
            people(N)
            .drop("id")
            .with_columns(area=pl.Series(area), person=pl.Series(person).cast(pl.String))
        )
        asked = {"unit": "person", "strata": "area", "small_strata": "merge", "identifiers": ()}
        before, after, done = protected(table, tmp_path, **asked)
        alike = microagg.protect(table, 4, **{**ROLES, **asked}, **MDAV)
        assert after["area"].to_list() == alike.table["area"].to_list()
        assert done.strata_found == alike.manifest.strata_found
        assert done.strata_found.merged >= 4
        whom = after.with_columns(before["person"]).group_by([*SHOWN, "area"])
        assert whom.agg(pl.col("person").n_unique())["person"].min() >= 4

    def test_many_small_ones_are_grouped_as_in_a_table(self, tmp_path):
        table = people(N).with_columns(area=pl.int_range(N) % 40)
        _, after, _ = protected(table, tmp_path, strata="area")
        alike = microagg.protect(table, 4, **ROLES, **MDAV, strata="area")
        same = [name for name in after.columns if name != "job"]  # ties are settled by region
        assert after.select(same).equals(alike.table.select(same))


class TestMissing:
    @pytest.fixture
    def table(self):
        rng = np.random.default_rng(2)
        hole = pl.Series(rng.random(N) < 0.1)
        return people(N).with_columns(
            pl.when(hole).then(None).otherwise("income").alias("income"),
            pl.when(hole.reverse()).then(None).otherwise("job").alias("job"),
        )

    def test_refused_by_default(self, table, tmp_path):
        n = table["income"].null_count()
        with pytest.raises(DataError, match=rf"'income' \({n}\)"):
            protected(table, tmp_path)

    @pytest.mark.parametrize("missing", ["value", "impute"])
    def test_kept_or_filled_in(self, table, tmp_path, missing):
        before, after, done = protected(table, tmp_path, missing=missing)
        assert sizes_of_classes(after, SHOWN)[0] >= 4
        assert done.missing_values.before == {
            name: before[name].null_count() for name in ("income", "job")
        }
        assert done.missing_values.after == {
            name: after[name].null_count() for name in ("income", "job")
        }
        assert (after["income"].null_count() == 0) == (missing == "impute")
        check_loss(before, after, done)

    def test_regions_and_groups_without_any_value(self, tmp_path):
        """They are filled in with what all records together would release."""
        table = people(N).with_columns(
            area=pl.int_range(N) // 400,
            job=pl.when(pl.int_range(N) < 400).then(None).otherwise(pl.lit("cook")),
            income=pl.when(pl.int_range(N) < 400).then(None).otherwise("income"),
        )
        before, after, _ = protected(table, tmp_path, strata="area", missing="impute")
        assert after["job"].to_list() == ["cook"] * N
        assert after["income"][:400].to_list() == [round(before["income"].mean(), 2)] * 400

    def test_markers(self, tmp_path):
        table = people(N).with_columns(
            pl.when(pl.int_range(N) % 9 == 0).then(-1).otherwise("age").alias("age")
        )
        _, after, done = protected(table, tmp_path, na=["-1"], missing="impute")
        assert after["age"].min() >= 18
        assert done.markers == {"age": (N + 8) // 9}


def test_weights(tmp_path):
    rng = np.random.default_rng(3)
    table = people(N).with_columns(w=pl.Series(rng.integers(1, 4, N)).cast(pl.Float64))
    before, after, done = protected(table, tmp_path, weights="w")
    for name in ("height", "age"):
        means = [float((t[name] * t["w"]).sum() / t["w"].sum()) for t in (before, after)]
        assert means[0] == pytest.approx(means[1], rel=2e-3)
    assert before["w"].to_list() == after["w"].to_list()
    alike = microagg.measure(
        before.drop("id"), after, quasi_identifiers=SHOWN, weights="w", sensitive=["disease"]
    )
    assert done.information_loss == pytest.approx(alike.utility.loss.information_loss, rel=1e-9)


@pytest.mark.parametrize("scale", ["standardise", "robust", "rank", "log", "none"])
def test_every_scale(scale, tmp_path):
    before, after, done = protected(people(N), tmp_path, scale=scale)
    assert sizes_of_classes(after, SHOWN)[0] >= 4
    alike = microagg.protect(before, 4, scale=scale, **ROLES, **MDAV)
    assert done.sst == pytest.approx(alike.manifest.sst, rel=1e-6)
    assert done.grouping_loss < 1.5 * alike.grouping_loss
    check_loss(before, after, done)


class TestRequirements:
    @pytest.fixture
    def table(self):
        return people(N).with_columns(owner=(pl.int_range(N) // 3).cast(pl.String))

    @pytest.mark.filterwarnings("ignore:records of the same")
    def test_units(self, table, tmp_path):
        before, after, done = protected(
            table.drop("id"), tmp_path, identifiers=(), unit="owner", k=3
        )
        units = after.with_columns(before["owner"]).group_by(SHOWN).agg(pl.col("owner").n_unique())
        assert units["owner"].min() >= 3
        assert done.units.fewest == units["owner"].min()
        assert (done.units.count, done.units.records_without) == (N // 3, 0)

    @pytest.mark.slow
    def test_the_order_shows_units(self, table, tmp_path):
        with pytest.warns(PrivacyWarning, match="records of the same 'owner' follow each other"):
            protected(table.drop("id"), tmp_path, identifiers=(), unit="owner", k=3)
        with warnings.catch_warnings():
            warnings.simplefilter("error", PrivacyWarning)
            shuffled = table.drop("id").sample(N, shuffle=True, seed=1)
            protected(shuffled, tmp_path / "2", identifiers=(), unit="owner", k=3)

    @pytest.mark.filterwarnings("ignore:records of the same")
    def test_units_that_lie_together(self, tmp_path):
        """Most records of a region are of one unit, so that regions have to be joined."""
        rng = np.random.default_rng(5)
        owner = np.repeat(np.arange(6), N // 6)
        x = owner * 50.0 + rng.normal(size=N)
        table = pl.DataFrame({"x": x, "y": rng.normal(size=N), "owner": owner})
        source = write_files(table, tmp_path / "in", (500,))
        done = protect_dataset(source, tmp_path / "out", k=4, unit="owner", **MDAV)
        after = read_files(tmp_path / "out").with_columns(owner=read_files(source)["owner"])
        assert after.group_by("x", "y").agg(pl.col("owner").n_unique())["owner"].min() >= 4
        assert done.units.count == 6

    def test_too_few_units(self, table, tmp_path):
        few = table.drop("id").with_columns(owner=pl.int_range(N) % 2)
        with pytest.raises(ParameterError, match="no groups can meet a requirement"):
            protected(few, tmp_path, identifiers=(), unit="owner", k=3)
        assert [path.name for path in tmp_path.iterdir()] == ["in"]

    @pytest.mark.parametrize("size", [40, 400], ids=["small", "cut"])
    def test_a_stratum_that_cannot_meet_a_requirement(self, table, tmp_path, size):
        own = table.drop("owner").with_columns(
            area=pl.int_range(N) // size,
            disease=pl.when(pl.int_range(N) < size).then(pl.lit("flu")).otherwise("disease"),
        )
        with pytest.raises(ParameterError, match="no groups can meet a requirement"):
            protected(own, tmp_path, strata="area", l_diversity={"disease": 2})
        assert [path.name for path in tmp_path.iterdir()] == ["in"]

    def test_l_diversity(self, table, tmp_path):
        _, after, done = protected(table.drop("owner"), tmp_path, l_diversity={"disease": 2})
        assert after.group_by(SHOWN).agg(pl.col("disease").n_unique())["disease"].min() >= 2
        assert done.requirements[0].worst == 2
        assert done.shared_values["disease"].shared == 0

    @pytest.mark.slow
    def test_the_search_obeys_in_every_round(self, table, tmp_path):
        """Diseases lie apart, so that few groups of near records have two of them."""
        own = (
            table.drop("owner")
            .sort("income")
            .with_columns(
                disease=pl.when(pl.int_range(N) < N // 2)
                .then(pl.lit("flu"))
                .otherwise(pl.lit("cold"))
            )
        )
        asked = {"method": "auto", "effort": "fast", "random_state": 1}
        _, after, done = protected(own, tmp_path, l_diversity={"disease": 2}, **asked)
        assert after.group_by(SHOWN).agg(pl.col("disease").n_unique())["disease"].min() == 2
        assert len(done.dataset.regions) == 3

    @pytest.mark.parametrize(
        "required", [{"p_percent": {"income": 5.0}}, {"dominance": {"income": (1, 60.0)}}]
    )
    def test_contributions(self, table, tmp_path, required):
        before, after, done = protected(table.drop("owner"), tmp_path, k=5, **required)
        keyed = after.with_columns(amount=before["income"])
        for amounts in keyed.group_by(SHOWN).agg("amount")["amount"].to_list():
            ordered = sorted(amounts, reverse=True)
            if "dominance" in required:
                assert ordered[0] <= 0.6 * sum(ordered) + 1e-6
            else:
                assert sum(ordered[2:]) >= 0.05 * ordered[0] - 1e-6
        assert len(done.requirements) == 1

    def test_constraints(self, tmp_path):
        rng = np.random.default_rng(6)
        net, tax = rng.integers(100, 900, N), rng.integers(10, 90, N)
        table = pl.DataFrame({"net": net, "tax": tax, "gross": net + tax, "age": people(N)["age"]})
        source = write_files(table, tmp_path / "in", (200,))
        done = protect_dataset(
            source, tmp_path / "out", k=4, constraints="net + tax = gross", **MDAV
        )
        after = read_files(tmp_path / "out")
        assert (after["net"] + after["tax"] == after["gross"]).all()
        assert done.constraints.records_in_violation == {"net + tax = gross": 0}
        assert sizes_of_classes(after, after.columns)[0] >= 4

    def test_a_constraint_that_most_records_violate(self, tmp_path):
        with pytest.warns(ConstraintWarning, match="1,200 of 1,200"):
            protected(people(N), tmp_path, constraints="height <= 20")


class TestColumns:
    def test_categories_of_which_no_file_has_all(self, tmp_path):
        letters = [chr(97 + at * 20 // N) for at in range(N)]  # in their order
        table = people(N).with_columns(job=pl.Series(letters))
        before, after, done = protected(table, tmp_path)
        assert set(after["job"]) <= set(letters)
        assert sizes_of_classes(after, SHOWN)[0] >= 4
        check_loss(before, after, done)

    def test_codes_are_judged_by_all_files(self, tmp_path):
        table = people(N).with_columns(age=pl.int_range(N) % 5, height=pl.int_range(N) * 1.0)
        _, _, done = protected(table, tmp_path)
        assert done.columns["age"].type == "nominal"
        assert done.columns["height"].type == "integer"
        alike = microagg.protect(table, 4, **ROLES, **MDAV).manifest
        assert {n: own.why for n, own in done.columns.items()} == {
            n: own.why for n, own in alike.columns.items()
        }

    def test_decimals_of_the_finest_file(self, tmp_path):
        coarse = people(N)["income"].round(0)
        table = people(N).with_columns(
            income=pl.when(pl.int_range(N) == 1_100).then(coarse + 0.125).otherwise(coarse)
        )
        _, after, done = protected(table, tmp_path)
        assert done.columns["income"].digits == 3
        assert (after["income"].round(3) == after["income"]).all()

    def test_dates(self, tmp_path):
        rng = np.random.default_rng(8)
        days = [date(1950, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 20_000, N)]
        times = [datetime(2024, 1, 1, 6) + timedelta(hours=int(h)) for h in rng.integers(0, 999, N)]
        table = people(N).with_columns(
            born=pl.Series(days),
            seen=pl.Series(times),
            text=pl.Series([f"{d:%d/%m/%Y}" for d in days]),
        )
        _, after, done = protected(
            table, tmp_path, quasi_identifiers=["job", "born", "seen", "text"]
        )
        shown = [*SHOWN, "born", "seen", "text"]
        assert sizes_of_classes(after, shown)[0] >= 4
        assert done.columns["text"].type == "date"
        assert after["seen"].dt.minute().max() == 0
        assert after["text"].str.to_date("%d/%m/%Y").null_count() == 0
        alike = microagg.protect(table, 4, **{**ROLES, "quasi_identifiers": shown[3:]}, **MDAV)
        assert {n: (own.type, own.why, own.written) for n, own in done.columns.items()} == {
            n: (own.type, own.why, own.written) for n, own in alike.manifest.columns.items()
        }

    def test_dates_in_months(self, tmp_path):
        days = [date(1990, 1, 1) + timedelta(at * 7 % 4000) for at in range(N)]
        table = people(N).with_columns(born=pl.Series(days))
        before, after, done = protected(
            table,
            tmp_path,
            quasi_identifiers=["job", "born"],
            columns={"born": {"resolution": "month"}},
        )
        assert set(after["born"].dt.day()) == {1}
        found = microagg.measure(
            before.drop("id"), after, quasi_identifiers=[*SHOWN, "born"], sensitive=["disease"]
        )
        assert done.information_loss == pytest.approx(found.utility.loss.information_loss)

    def test_types_stay(self, tmp_path):
        rng = np.random.default_rng(9)
        table = pa.table(
            {
                "small": pa.array(rng.integers(0, 100, N), pa.int8()),
                "narrow": pa.array(rng.normal(size=N), pa.float32()),
                "flag": pa.array(rng.random(N) < 0.5),
                "kind": pa.array(rng.choice(["a", "b", "c"], N)).dictionary_encode(),
                "long": pa.array(rng.choice(["a", "b"], N).tolist(), pa.large_string()),
                "when": pa.array(rng.integers(0, 10**9, N), pa.timestamp("s", "Europe/Berlin")),
                "far": pa.array(rng.integers(0, 10**9, N), pa.timestamp("s", "+05:30")),
                "list": pa.array([[1, 2]] * N),
                "bytes": pa.array([b"\xff\x00", b"\x80"] * (N // 2)),
                "cents": pa.array([Decimal("1.25"), Decimal("2.50")] * (N // 2)),
                "gone": pa.nulls(N),
                "note": pa.array(rng.choice(["x", "y"], N)).dictionary_encode(),
            }
        )
        source = write_files(table, tmp_path / "in", (100, 700))
        quasi = ["flag", "kind", "long", "when", "far"]
        kept = ["list", "note", "bytes", "cents", "gone"]
        protect_dataset(
            source, tmp_path / "out", k=3, quasi_identifiers=quasi, publish=kept, **MDAV
        )
        for own, other in zip(arrow_files(source), arrow_files(tmp_path / "out"), strict=True):
            assert own.schema.remove_metadata() == other.schema.remove_metadata()
            for name in kept:
                assert other[name].to_pylist() == own[name].to_pylist()

    def test_a_dictionary_lists_only_what_is_released(self, tmp_path):
        kinds = ["rare"] + ["common"] * (N - 1)
        table = pa.table({"x": np.arange(N) * 1.0, "kind": pa.array(kinds).dictionary_encode()})
        for suffix in ("parquet", "arrow"):
            folder = tmp_path / suffix
            source = write_files(table, folder / "in", suffix=suffix)
            protect_dataset(source, folder / "out", k=3, quasi_identifiers="kind", **MDAV)
            (path,) = (folder / "out").iterdir()
            assert b"rare" not in path.read_bytes()

    @pytest.mark.parametrize("role", ["quasi_identifiers", "strata"])
    def test_a_dictionary_keeps_its_order(self, tmp_path, role):
        sizes = ["small", "medium", "large"]
        places = pa.array(np.arange(N)[::-1] % 3, pa.int8())
        column = pa.DictionaryArray.from_arrays(places, pa.array(sizes), ordered=True)
        table = pa.table({"x": np.arange(N) // 9 * 1.0, "size": column})
        for suffix in ("parquet", "arrow"):
            folder = tmp_path / suffix
            source = write_files(table, folder / "in", (700,), suffix=suffix)
            protect_dataset(source, folder / "out", k=3, **{role: "size"}, **MDAV)
            for after in arrow_files(folder / "out"):
                assert after.schema.field("size").type == column.type
                for chunk in after["size"].chunks:
                    assert chunk.dictionary.to_pylist() == sizes


def test_arrow_files(tmp_path):
    _, after, done = protected(people(N), tmp_path, suffix="arrow")
    assert sizes_of_classes(after, SHOWN)[0] >= 4
    assert done.dataset.format == "Arrow"
    assert sorted(p.name for p in (tmp_path / "out").iterdir())[0] == "part-000.arrow"


def test_arrow_files_that_polars_wrote(tmp_path):
    """Their text is in views, also that of categories, which Arrow cannot cast."""
    table = people(N).with_columns(pl.col("job", "disease").cast(pl.Categorical))
    (tmp_path / "in").mkdir()
    table.write_ipc(tmp_path / "in" / "all.arrow")
    assert "string_view" in str(arrow_files(tmp_path / "in")[0].schema)
    protect_dataset(tmp_path / "in", tmp_path / "out", k=4, **ROLES, **MDAV)
    after = pl.read_ipc(tmp_path / "out" / "all.arrow")
    assert after.schema == table.drop("id").schema
    assert sizes_of_classes(after, SHOWN)[0] >= 4


class TestOneValueInEachFile:
    def warned(self, tmp_path, years, rows=500):
        table = people(N).with_columns(years.alias("the year"))
        source = write_files(table, tmp_path / "in", (700,), rows=rows)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            protect_dataset(source, tmp_path / "out", k=4, **ROLES, **MDAV)
        return [str(own.message) for own in heard]

    def test_files_tell_it(self, tmp_path):
        years = pl.Series(2023 + (np.arange(N) >= 700))
        (said,) = self.warned(tmp_path, years)
        assert "all records of a file have the same 'the year'" in said
        assert "(--strata 'the year', or" in said
        assert "2023" not in said

    def test_not_if_it_is_the_same_in_all(self, tmp_path):
        assert not self.warned(tmp_path, pl.Series([2023] * N))

    def test_nor_if_one_record_has_another(self, tmp_path):
        assert not self.warned(tmp_path, pl.Series(2023 + (np.arange(N) >= 699)))


def test_a_column_that_names_records(tmp_path):
    with pytest.warns(PrivacyWarning, match="'id' is published unchanged"):
        protected(people(N), tmp_path, identifiers=(), publish="id")


def test_identifiers_that_repeat(tmp_path):
    table = people(N).with_columns(id=pl.int_range(N) // 2)
    with pytest.raises(DataError, match=r"identifier 'id' repeats: 600 of its values"):
        protected(table, tmp_path)


def test_equal_records_by_the_thousand(tmp_path):
    """Trees cannot cut them, so that they are shared out by their rows."""
    table = pl.DataFrame({"x": [1.0] * 1_000 + [2.0] * 195 + [3.0] * 5, "y": [7] * N})
    source = write_files(table, tmp_path / "in", (999,))
    done = protect_dataset(source, tmp_path / "out", k=5, **MDAV)
    assert done.information_loss == 0.0
    assert read_files(tmp_path / "out").equals(read_files(source))


class TestFolders:
    @pytest.fixture
    def source(self, tmp_path):
        for at, (year, part) in enumerate([(2023, 0), (2023, 1), (2024, 0)]):
            folder = tmp_path / "in" / f"year={year}" / "half=a%2Fb"
            folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(people(300, seed=at).drop("id").to_arrow(), folder / f"{part}.parquet")
        (tmp_path / "in" / "_SUCCESS").touch()
        (tmp_path / "in" / ".hidden.parquet").touch()
        return tmp_path / "in"

    def test_as_strata_or_published(self, source, tmp_path):
        done = protect_dataset(
            source, tmp_path / "out", k=4, strata="year", publish="half", **NO_ID, **MDAV
        )
        names = [
            p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")
        ]
        assert sorted(names) == [
            "year=2023/half=a%2Fb/0.parquet",
            "year=2023/half=a%2Fb/1.parquet",
            "year=2024/half=a%2Fb/0.parquet",
        ]
        assert done.dataset.in_folders == ("year", "half")
        assert done.strata_found.count == 2
        for year in (2023, 2024):
            after = read_files(tmp_path / "out" / f"year={year}")
            assert after.columns == people(1).drop("id").columns
            assert sizes_of_classes(after, SHOWN)[0] >= 4

    @pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "identifiers", "drop"])
    def test_other_roles_are_refused(self, source, tmp_path, role):
        asked = {**NO_ID, "publish": "half"}
        asked[role] = [
            *([asked[role]] if isinstance(asked.get(role), str) else asked.get(role, [])),
            "year",
        ]
        with pytest.raises(ParameterError, match="the folders are named by values of 'year'"):
            protect_dataset(source, tmp_path / "out", k=4, **asked, **MDAV)

    def test_no_role(self, source, tmp_path):
        with pytest.raises(ParameterError, match="the folders are named by values of 'year'"):
            protect_dataset(source, tmp_path / "out", k=4, publish="half", **NO_ID)
