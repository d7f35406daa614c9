"""Ordered methods: what they order, what they cut, and that options matter."""

import numpy as np
import pytest

import microagg
from microagg import cut_path, information_loss, orderings, partitions
from microagg.core.errors import ParameterError
from microagg.partitions import MDAV, MDAVMHM, TSPMHM
from tests.references import sse

RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 3))


@pytest.mark.parametrize("name", ["npn", "pca", "zscore"])
@pytest.mark.parametrize("tour", [False, True])
def test_a_method_is_its_ordering_and_the_cut(name, tour):
    model = partitions.get(f"{name}-mhm")(k=4, tour=tour).fit(X)
    expected = cut_path(X, orderings.get(name)(X), 4, tour=tour)
    assert model.labels_.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["mdav", "md", "cbfs"])
def test_a_group_method_visits_the_groups(name):
    groups = partitions.get(name)(k=4).fit_predict(X)
    order = orderings.get("by_groups")(X, groups)
    model = partitions.get(f"{name}-mhm")(k=4).fit(X)
    assert model.labels_.tolist() == cut_path(X, order, 4).tolist()


def test_cutting_along_groups_is_never_worse_than_the_groups():
    for seed in range(10):
        points = np.random.default_rng(seed).normal(size=(80, 2))
        assert MDAVMHM(k=3).fit(points).sse_ <= MDAV(k=3).fit(points).sse_ + 1e-9


def test_more_tours_are_never_worse():
    losses = [information_loss(X, TSPMHM(k=4, n_starts=n).fit_predict(X)) for n in (1, 2, 5, 200)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


def test_a_closed_tour_is_never_worse():
    for name in ("npn-mhm", "tsp-mhm", "cbfs-mhm"):
        method = partitions.get(name)
        assert method(k=4, tour=True).fit(X).sse_ <= method(k=4).fit(X).sse_ + 1e-9


def test_integer_cost_of_an_ordered_method():
    whole = np.round(X * 10)
    model = partitions.get("pca-mhm")(k=4, integer=True).fit(whole)
    assert model.centers_.dtype == np.int64
    plain = partitions.get("pca-mhm")(k=4).fit(whole)
    assert model.sse_ >= plain.sse_
    assert model.sse_ <= sse(whole, plain.labels_, integer=True)


class TestCutPath:
    def test_another_matrix_may_be_ordered(self):
        order = orderings.get("pca")(X)
        labels = microagg.cut_path(X * [5, 0, 1], order, 3)
        runs = labels[order]
        assert (np.diff(np.flatnonzero(np.diff(runs))) >= 3).all()

    @pytest.mark.parametrize(
        "order", [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], [[0, 1, 2]], [0.0, 1.0, 2.0], 3]
    )
    def test_an_order_that_is_none(self, order):
        with pytest.raises(ParameterError, match="order must contain each row number from 0 to 2"):
            cut_path(np.zeros((3, 1)), order, 1)

    def test_flags_are_flags(self):
        with pytest.raises(ParameterError, match="tour must be True or False"):
            cut_path(np.zeros((3, 1)), [0, 1, 2], 1, tour="no")
        with pytest.raises(ParameterError, match="integer must be True or False"):
            cut_path(np.zeros((3, 1)), [0, 1, 2], 1, integer=1)


def test_unknown_names_come_with_a_suggestion():
    with pytest.raises(ParameterError, match="Did you mean 'npn-mhm'"):
        partitions.get("npn_mhm")
    with pytest.raises(ParameterError, match="Did you mean 'zscore'"):
        orderings.get("z-score")


def test_a_tour_of_almost_equal_records_and_one_far_away_ends():
    """What a move frees is then the rounding of the two long edges, which is no gain."""
    near = -0.3333333333332776
    column = np.array([*[near] * 6, -0.33333333333377885, near, 3.0, near])
    labels = TSPMHM(k=2).fit_predict(column[:, None])
    assert np.bincount(labels).min() >= 2
