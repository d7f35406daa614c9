import numpy as np
import pytest

from microagg import orderings
from microagg.core.errors import ParameterError
from microagg.kernels.paths.walks import (
    LARGE,
    begin_insertion,
    insert_more,
    room_for_insertion,
    write_path,
)

RNG = np.random.default_rng(3)


def farthest_from_mean(X):
    return int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax())


def slow_npn(X):
    left = list(range(len(X)))
    path = [farthest_from_mean(X)]
    left.remove(path[0])
    while left:
        distances = ((X[left] - X[path[-1]]) ** 2).sum(axis=1)
        path.append(left.pop(int(distances.argmin())))
    return path


@pytest.mark.parametrize("name", orderings.ORDERINGS)
@pytest.mark.parametrize("n", [1, 2, 3, 12, 200])
def test_every_record_once(name, n):
    X = RNG.normal(size=(n, 3))
    arguments = (X, np.arange(n) // 3) if name == "by_groups" else (X,)
    assert sorted(orderings.get(name)(*arguments).tolist()) == list(range(n))


@pytest.mark.parametrize("n", [3, 50, 700, 5000])
@pytest.mark.slow
def test_npn_walks_to_the_nearest(n):
    X = RNG.normal(size=(n, 2))
    assert orderings.npn(X).tolist() == slow_npn(X)


@pytest.mark.parametrize("n", [150, 1500])
def test_npn_with_ties_takes_the_lower_row(n):
    X = RNG.integers(0, 4, (n, 2)).astype(float)
    assert orderings.npn(X).tolist() == slow_npn(X)


def test_pca_follows_the_first_component():
    line = RNG.normal(size=100)
    X = np.outer(line, [3.0, -2.0, 1.0]) + RNG.normal(size=(100, 3)) * 1e-6
    assert orderings.pca(X).tolist() == np.argsort(line).tolist()
    assert orderings.pca(X * 1e120).tolist() == np.argsort(line).tolist()


def test_zscore_sums_the_standardised_columns():
    X = RNG.normal(size=(100, 3)) * [1.0, 1e6, 1e-6] + [0, 0, 7]
    sums = ((X - X.mean(axis=0)) / X.std(axis=0)).sum(axis=1)
    assert orderings.zscore(X).tolist() == np.argsort(sums).tolist()
    with_constant = np.c_[X, np.full(100, 0.1)]
    assert orderings.zscore(with_constant).tolist() == np.argsort(sums).tolist()


def test_tsp_starts_at_the_farthest_record_and_is_short():
    X = RNG.normal(size=(300, 2))
    order = orderings.tsp(X)
    assert order[0] == farthest_from_mean(X)

    def length(path):
        return np.sqrt(((X[path] - X[np.roll(path, -1)]) ** 2).sum(axis=1)).sum()

    assert length(order) < 0.95 * length(orderings.npn(X))


class TestByGroups:
    X = RNG.normal(size=(200, 2))
    labels = RNG.permutation(np.arange(200) // 4)

    def test_groups_stay_together(self):
        visited = self.labels[orderings.by_groups(self.X, self.labels)]
        assert len(np.flatnonzero(np.diff(visited))) == 49

    def test_a_group_is_entered_at_the_record_nearest_to_the_last(self):
        order = orderings.by_groups(self.X, self.labels)
        assert order[0] == farthest_from_mean(self.X)
        for start in range(4, 200, 4):
            rest = order[start:]
            distances = ((self.X[rest] - self.X[order[start - 1]]) ** 2).sum(axis=1)
            assert distances.argmin() == 0

    def test_a_group_is_left_at_the_member_farthest_from_its_entry(self):
        order = orderings.by_groups(self.X, self.labels)
        for start in range(0, 200, 4):
            group = self.X[order[start : start + 4]]
            assert ((group - group[0]) ** 2).sum(axis=1).argmax() == 3

    def test_a_large_group_is_walked_as_a_small_one_only_in_parts(self):
        X = RNG.normal(size=(LARGE + 300, 2))
        labels = np.r_[np.zeros(LARGE + 200, dtype=int), np.repeat(np.arange(1, 11), 10)]
        order = orderings.by_groups(X, labels)
        own = order[labels[order] == 0]
        whole = np.empty_like(own)
        members = np.flatnonzero(labels == 0)
        insertion = room_for_insertion(len(own), 2)
        begin_insertion(X, insertion, members, own[0])
        insert_more(X, insertion, len(own))
        write_path(insertion, whole)
        assert own.tolist() == whole.tolist()
        assert sorted(order) == list(range(len(X)))
        assert len(np.flatnonzero(np.diff(labels[order]))) == 10

    def test_labels_that_are_none(self):
        with pytest.raises(ParameterError, match="one number for each of the 200 records"):
            orderings.by_groups(self.X, self.labels[:-1])
        with pytest.raises(ParameterError, match="must be whole numbers"):
            orderings.by_groups(self.X, self.labels * 0.5)
