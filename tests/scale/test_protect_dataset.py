"""From a folder of Parquet files to a folder of protected ones."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import Manifest, protect_dataset
from microagg.core.progress import announcing
from tests.scale.datasets import (
    ROLES,
    arrow_files,
    digests,
    people,
    read_files,
    sizes_of_classes,
    write_files,
)

SHOWN = ["age", "income", "height", "job"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_files(people(2_400), tmp_path_factory.mktemp("data") / "in", (700, 700, 1_900))


@pytest.fixture(scope="module")
def done(source, tmp_path_factory):
    """A finished run of every test of this file: module scoped, so the patches are its own."""
    from microagg.scale import protect
    from microagg.scale.checks import checking
    from microagg.scale.sources import spans
    from microagg.scale.steps import names

    target = tmp_path_factory.mktemp("out") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protect, "REGION_RECORDS", 250)
        patch.setattr(spans, "PART_ROWS", 1_000)
        patch.setattr(checking, "BUCKET_ROWS", 400)
        patch.setattr(names, "_BUCKET", 900)
        manifest = protect_dataset(source, target, k=5, effort="fast", random_state=3, **ROLES)
    return target, manifest


class TestTheFiles:
    def test_they_mirror_those_of_the_input(self, source, done):
        before, after = arrow_files(source), arrow_files(done[0])
        assert sorted(os.listdir(source)) == sorted(os.listdir(done[0]))
        for own, other in zip(before, after, strict=True):
            assert own.num_rows == other.num_rows
            expected = pa.schema([field for field in own.schema if field.name != "id"])
            assert other.schema == expected

    def test_every_combination_stands_for_k_records(self, done):
        assert sizes_of_classes(read_files(done[0]), SHOWN)[0] >= 5

    def test_other_columns_and_the_order_stay(self, source, done):
        before, after = read_files(source), read_files(done[0])
        assert before["disease"].to_list() == after["disease"].to_list()

    def test_groups_keep_means_but_for_rounding(self, source, done):
        before, after = read_files(source), read_files(done[0])
        assert after["height"].mean() == pytest.approx(before["height"].mean(), abs=1e-9)
        assert after["age"].mean() == pytest.approx(before["age"].mean(), abs=0.05)

    def test_decimals_are_those_of_the_column(self, done):
        after = read_files(done[0])["income"]
        assert (after.round(2) == after).all()

    def test_nothing_else_is_left(self, done):
        assert sorted(os.listdir(done[0].parent)) == ["out", "out.manifest.json"]
        assert stat.S_IMODE(done[0].stat().st_mode) & 0o700 == 0o700


class TestTheManifest:
    def test_it_is_beside_the_folder(self, done):
        assert Manifest.load(f"{done[0]}.manifest.json") == done[1]

    def test_the_loss_is_what_measure_says(self, source, done):
        before, after = read_files(source), read_files(done[0])
        found = microagg.measure(before.drop("id"), after, quasi_identifiers=SHOWN)
        assert done[1].information_loss == pytest.approx(found.utility.loss.information_loss)
        known = found.utility.loss.columns
        assert done[1].worst_columns == pytest.approx({n: known[n] for n in done[1].worst_columns})

    def test_what_was_counted(self, done):
        after, manifest = read_files(done[0]), done[1]
        sizes = sizes_of_classes(after, SHOWN)
        assert manifest.n_records == len(after)
        assert (manifest.smallest_class, manifest.n_classes) == (sizes[0], len(sizes))
        assert sum(int(size) * n for size, n in manifest.group_sizes.items()) == len(after)
        assert manifest.max_group <= 9
        assert manifest.random_state == manifest.plan.random_state == 3
        assert manifest.dropped == ("id",)
        assert manifest.verified

    def test_shared_values(self, done):
        of_combination = read_files(done[0]).group_by(SHOWN).agg(pl.col("disease").n_unique())
        found = done[1].shared_values["disease"]
        assert found.combinations == len(of_combination)
        assert found.shared == (of_combination["disease"] == 1).sum()

    def test_files_and_regions(self, source, done):
        found = done[1].dataset
        assert [file.name for file in found.files] == sorted(os.listdir(source))
        assert {file.name: file.input_sha256 for file in found.files} == digests(source)
        assert {file.name: file.output_sha256 for file in found.files} == digests(done[0])
        assert len(found.regions) == 3
        assert min(found.regions) >= 10

    def test_no_values(self, done):
        text = json.dumps(done[1].as_dict())
        assert not any(word in text for word in ("baker", "nurse", "flu", "p000001"))

    def test_it_loses_less_than_mdav_on_the_whole_table(self, source, done):
        """Although a region has a tenth of the records: groups are regrouped across the seams."""
        own = microagg.protect(read_files(source), 5, method="mdav", **ROLES)
        assert done[1].information_loss < own.information_loss


@pytest.mark.slow
class TestTheSameBytes:
    """Nothing but the files, the plan and the seed decides."""

    def again(self, source, tmp_path, **options):
        target = tmp_path / "out"
        asked = {"k": 5, "effort": "fast", "random_state": 3, **ROLES}
        protect_dataset(source, target, **asked, **options)
        return digests(target)

    def test_with_little_memory(self, source, done, tmp_path):
        assert self.again(source, tmp_path, memory="700MB") == digests(done[0])

    def test_on_one_thread_of_an_executor(self, source, done, tmp_path):
        with ThreadPoolExecutor(1) as pool:
            assert self.again(source, tmp_path, engine=pool) == digests(done[0])

    def test_elsewhere(self, source, done, tmp_path):
        (tmp_path / "work").mkdir()
        told = []
        with announcing(told.append):
            found = self.again(source, tmp_path, work_dir=tmp_path / "work", keep_work=True)
        assert found == digests(done[0])
        (kept,) = (tmp_path / "work").iterdir()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o700
        assert told[-1] == f"the work folder {str(kept)!r} was kept; it holds original values"


@pytest.mark.slow
def test_a_seed_is_drawn_and_repeats_the_run(source, tmp_path):
    first = protect_dataset(source, tmp_path / "a", k=5, effort="fast", **ROLES)
    protect_dataset(source, tmp_path / "b", plan=first.plan)
    assert digests(tmp_path / "a") == digests(tmp_path / "b")


def test_one_file(source, tmp_path):
    path = source / "part-002.parquet"
    found = protect_dataset(path, tmp_path / "safe.parquet", k=5, method="mdav", **ROLES)
    after = pl.read_parquet(tmp_path / "safe.parquet")
    assert sizes_of_classes(after, SHOWN)[0] >= 5
    assert found.output.sha256 == digests(tmp_path)["safe.parquet"]
    assert microagg.verify(tmp_path / "safe.parquet").satisfied
    assert sorted(os.listdir(tmp_path)) == ["safe.parquet", "safe.parquet.manifest.json"]
