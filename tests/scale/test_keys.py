"""Random keys of a dataset: each number once in the folder, and nothing to tell rows by."""

import numpy as np
import polars as pl
import pytest

import microagg
from microagg import protect_dataset
from microagg.core.errors import GuaranteeError
from microagg.scale.steps.keys import keys_of, new_secret
from microagg.scale.steps.writing import write_file
from tests.scale.datasets import ROLES, people, read_files, write_files

ASKED = {"k": 4, "method": "mdav", "keep_key": True, **ROLES}
N = 1_900


class TestThePermutation:
    @pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 16, 17, 99, 100, 101, 4_999, 65_536])
    def test_each_number_once(self, n):
        for secret in (b"", b"one", new_secret()):
            assert sorted(keys_of(np.arange(n), n, secret).tolist()) == list(range(1, n + 1))

    def test_any_part_is_found_alone(self):
        whole = keys_of(np.arange(1_000), 1_000, b"s")
        chosen = np.array([999, 3, 500, 4])
        assert keys_of(chosen, 1_000, b"s").tolist() == whole[chosen].tolist()

    def test_another_secret_gives_another_order(self):
        one, other = (keys_of(np.arange(10_000), 10_000, secret) for secret in (b"a", b"b"))
        assert np.count_nonzero(one == other) < 10

    def test_nothing_is_left_of_the_order(self):
        """Positions and keys, neighbours' keys, and rows of the rectangle are unrelated."""
        n = 250_000
        found = keys_of(np.arange(n), n, b"secret").astype(float)
        noise = 5.0 / np.sqrt(n)
        assert abs(np.corrcoef(np.arange(n), found)[0, 1]) < noise
        for lag in (1, 2, 499, 500, 501):
            assert abs(np.corrcoef(found[lag:], found[:-lag])[0, 1]) < noise
        ascends = np.count_nonzero(np.diff(found) > 0) / (n - 1)
        assert ascends == pytest.approx(0.5, abs=0.005)
        cells = np.histogram2d(np.arange(n), found, bins=20)[0]
        assert ((cells - n / 400) ** 2 / (n / 400)).sum() < 400 + 5 * np.sqrt(800)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_the_folder_holds_each_key_once(tmp_path, suffix):
    table = people(N).with_columns(other=pl.int_range(N).reverse())
    if suffix == "csv":
        source = tmp_path / "in"
        source.mkdir()
        for at, part in enumerate((table[:700], table[700:])):
            part.write_csv(source / f"{at}.csv")
    else:
        source = write_files(table, tmp_path / "in", (0, 700), suffix)
    asked = {**ASKED, "identifiers": ["other", "id"]}
    done = protect_dataset(source, tmp_path / "out", **asked)
    if suffix == "csv":
        after = pl.concat([pl.read_csv(path) for path in sorted((tmp_path / "out").iterdir())])
    else:
        after = read_files(tmp_path / "out")
    assert after.columns == [name for name in table.columns if name != "other"]
    assert after["id"].dtype == pl.Int64
    assert sorted(after["id"]) == list(range(1, N + 1))
    assert abs(np.corrcoef(after["id"], np.arange(N))[0, 1]) < 0.2
    assert (done.key, done.dropped) == ("id", ("other",))
    assert "--keep-key" in done.command


@pytest.mark.slow
def test_no_two_runs_have_the_same_keys_though_the_seed_is_the_same(tmp_path):
    source = write_files(people(N), tmp_path / "in", (700,))
    asked = {**ASKED, "method": "auto", "effort": "fast", "random_state": 7}
    found = []
    for name in ("a", "b"):
        protect_dataset(source, tmp_path / name, **asked)
        found.append(read_files(tmp_path / name))
    assert found[0].drop("id").equals(found[1].drop("id"))
    assert (found[0]["id"] == found[1]["id"]).sum() < 20


def test_a_run_that_is_resumed_keeps_its_keys(tmp_path, monkeypatch):
    source = write_files(people(N), tmp_path / "in", (700,))
    drawn = [b"the first", b"another"]
    monkeypatch.setattr("microagg.scale.protect.new_secret", lambda: drawn.pop(0))
    with monkeypatch.context() as patch:
        patch.setattr("microagg.scale.driving.write_file", _one_file_only)
        with pytest.raises(KeyboardInterrupt):
            protect_dataset(source, tmp_path / "out", **ASKED)
    protect_dataset(source, tmp_path / "out", resume=True, **ASKED)
    expected = keys_of(np.arange(N), N, b"the first")
    assert read_files(tmp_path / "out")["id"].to_list() == expected.tolist()


def _one_file_only(work, number):
    if number:
        raise KeyboardInterrupt
    return write_file(work, number)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda at, _: at + 1, "in ascending order"),
        (lambda at, n: n - at, "in descending order"),
        (lambda at, n: (at * 7) % n, "does not hold each number"),
        (lambda at, n: (at * 7) % (n - 1) + 1, "does not hold each number"),
        (lambda at, n: (at * 7) % n + 2, "does not hold each number"),
    ],
)
def test_other_keys_are_found_out(tmp_path, monkeypatch, wrong, words):
    source = write_files(people(N), tmp_path / "in", (700,))
    monkeypatch.setattr("microagg.scale.steps.writing.keys_of", lambda at, n, _: wrong(at, n))
    with pytest.raises(GuaranteeError, match=words):
        protect_dataset(source, tmp_path / "out", **ASKED)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_the_manifest_does_not_tell_the_secret(tmp_path, monkeypatch):
    monkeypatch.setattr("microagg.scale.protect.new_secret", lambda: b"tell nobody of this")
    source = write_files(people(N), tmp_path / "in", (700,))
    protect_dataset(source, tmp_path / "out", **ASKED)
    text = (tmp_path / "out.manifest.json").read_bytes()
    assert b"tell nobody" not in text
    assert microagg.Manifest.load(tmp_path / "out.manifest.json").key == "id"
