"""Trees of cuts: regions of about the same size, and every record in one of them."""

import numpy as np
import polars as pl
import pytest

from microagg.scale.sources.spans import part_sizes, runs_of
from microagg.scale.steps.layout import Layout
from microagg.scale.steps.regions import joined_regions
from microagg.scale.steps.trees import along, grow
from microagg.scale.storage.hashing import hashed, hashed_rows, mixed
from microagg.scale.storage.shuffle import Slices, Sources


@pytest.fixture(name="X")
def points():
    return np.random.default_rng(0).normal(size=(4_000, 3))


class TestTrees:
    def test_regions_are_nearly_equal(self, X):
        tree = grow(X[:1_000], 4.0, 300, np.random.default_rng(1))
        sizes = np.bincount(tree.route(X, np.arange(len(X))), minlength=tree.n_regions)
        assert len(sizes) == tree.n_regions == 16
        assert sizes.sum() == len(X)
        assert 150 < sizes.min() <= sizes.max() < 350

    def test_other_seeds_cut_elsewhere(self, X):
        rows = np.arange(len(X))
        one, other = (grow(X, 1.0, 2_000, np.random.default_rng(seed)) for seed in (1, 2))
        both = np.stack((one.route(X, rows), other.route(X, rows)))
        assert len(np.unique(both, axis=1).T) == 4

    def test_a_record_goes_where_it_would_go_alone(self, X):
        tree = grow(X, 1.0, 500, np.random.default_rng(1))
        rows = np.arange(len(X))
        some = np.array([5, 17, 3_999])
        assert tree.route(X[some], some).tolist() == tree.route(X, rows)[some].tolist()

    def test_equal_records_are_shared_out(self):
        X = np.vstack((np.zeros((900, 2)), np.ones((100, 2))))
        tree = grow(X, 1.0, 300, np.random.default_rng(1))
        regions = tree.route(X, np.arange(len(X)))
        assert set(regions[:900]).isdisjoint(regions[900:])
        assert np.bincount(regions[:900]).max() < 400

    def test_one_column_of_two_values(self):
        X = np.array([[0.0]] * 10 + [[1.0]] * 990)
        regions = grow(X, 1.0, 500, np.random.default_rng(1)).route(X, np.arange(1_000))
        assert set(regions[:10]).isdisjoint(regions[10:])

    def test_an_empty_sample_is_one_region(self):
        tree = grow(np.zeros((0, 2)), 1.0, 10, np.random.default_rng(1))
        assert tree.route(np.ones((5, 2)), np.arange(5)).tolist() == [0] * 5

    def test_families_are_nested_and_end_with_all(self, X):
        tree = grow(X, 1.0, 600, np.random.default_rng(1))
        families = [set(own) for own in tree.families()]
        assert families[-1] == set(range(tree.n_regions))
        for one in families:
            for other in families:
                assert one <= other or other <= one or not one & other

    def test_along(self, X):
        direction = np.array([1.0, -2.0, 0.5])
        assert along(X, direction) == pytest.approx(X @ direction)


class TestJoining:
    def test_the_smallest_family_that_is_larger(self, X):
        tree = grow(X, 1.0, 600, np.random.default_rng(1))
        layout = Layout(np.array([-1]), {0: (0, tree)}, tree.n_regions)
        tried = [(at,) for at in range(tree.n_regions)]
        larger, replaced = joined_regions(layout, tried, [3])
        assert len(larger) == 1
        assert 3 in larger[0]
        assert [tried[at][0] for at in replaced] == list(larger[0])
        assert not layout.is_whole(larger[0])
        assert layout.is_whole(range(tree.n_regions))

    def test_until_all_are_one(self, X):
        tree = grow(X, 1.0, 1_000, np.random.default_rng(1))
        layout = Layout(np.array([-1]), {0: (0, tree)}, tree.n_regions)
        tried, steps = [(at,) for at in range(tree.n_regions)], 0
        while len(tried) > 1:
            larger, replaced = joined_regions(layout, tried, [0])
            tried = [own for at, own in enumerate(tried) if at not in replaced]
            tried = [*larger, *tried]
            steps += 1
        assert layout.is_whole(tried[0])
        assert steps == 2


class TestHashes:
    def test_equal_values_have_equal_hashes(self):
        floats = hashed(pl.Series([0.0, -0.0, float("nan"), None, 1.5]))
        assert floats[0] == floats[1]
        assert len({*floats.tolist()}) == 4
        assert hashed(pl.Series([1.5], dtype=pl.Float32)) == floats[4]

    def test_texts_do_not_depend_on_the_others(self):
        assert hashed(pl.Series(["b", "a", None]))[0] == hashed(pl.Series(["b"]))[0]
        categories = pl.Series(["b", "a"], dtype=pl.Categorical)
        assert hashed(categories)[0] == hashed(pl.Series(["b"]))[0]

    def test_combinations(self):
        one, other = pl.Series([1, 1, 2]), pl.Series(["a", "b", "a"])
        assert len(set(hashed_rows([one, other]).tolist())) == 3
        assert hashed_rows([one, other])[0] != hashed_rows([other, one])[0]

    def test_they_spread(self):
        shares = np.bincount((mixed(np.arange(100_000)) % np.uint64(10)).astype(int)) / 1e5
        assert shares == pytest.approx(np.full(10, 0.1), abs=0.005)


def test_sources_list_every_slice():
    slices = [
        ("a", Slices(np.array([0, 2]), np.array([3, 2]))),
        ("b", Slices(np.array([1, 2]), np.array([1, 3]))),
    ]
    sources = Sources.of(slices, 4)
    assert sources.sizes.tolist() == [3, 1, 5, 0]
    assert sources.begins.tolist() == [0, 1, 2, 4, 4]
    assert sources.batches.tolist() == [0, 0, 1, 1]
    assert sources.counts.tolist() == [3, 1, 2, 3]


@pytest.mark.parametrize("n", [1, 999, 1_000, 1_001, 5_000])
def test_parts_add_up(n):
    sizes = part_sizes(n, 8.0)
    assert sum(sizes) == n
    assert max(sizes) <= 1_000


def test_runs_keep_the_order():
    assert [run.where for run in runs_of([0, 900, 0, 1_500, 10])] == [(0, 3), (3, 5)]
    assert runs_of([]) == ()
