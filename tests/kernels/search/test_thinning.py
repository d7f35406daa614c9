"""Groups dissolved so that others can spare a record."""

import numpy as np
import pytest

from microagg.kernels.search.thinning import dissolve_groups
from microagg.partitions import MDAV
from microagg.partitions.search.neighbours import near_lists
from microagg.partitions.search.region import thin_out

X = np.random.default_rng(0).normal(size=(400, 3))


@pytest.mark.parametrize("dissolve", [dissolve_groups, dissolve_groups.py_func])
def test_members_join_the_group_of_their_nearest_neighbour_with_room(dissolve):
    near = np.array([[4, 2], [4, 2], [3, 0], [2, 0], [5, 0], [4, 0]])
    labels, sizes = np.array([0, 0, 1, 1, 2, 2]), np.array([2, 2, 2])
    chosen = np.array([True, False, False])
    arguments = (near, 2, np.array([0]), chosen, np.arange(6), np.array([0, 2, 4, 6]))
    assert dissolve(*arguments, labels, sizes) == 1
    assert labels.tolist() == [2, 1, 1, 1, 2, 2]  # group 2 is full after the first
    assert sizes.tolist() == [0, 3, 3]


@pytest.mark.parametrize("dissolve", [dissolve_groups, dissolve_groups.py_func])
def test_a_group_stays_if_a_member_finds_no_room(dissolve):
    near = np.array([[4, 5], [4, 5], [3, 0], [2, 0], [5, 0], [4, 0]])
    labels, sizes = np.array([0, 0, 1, 1, 2, 2]), np.array([2, 2, 2])
    chosen = np.array([True, True, False])
    arguments = (near, 2, np.array([0, 1]), chosen, np.arange(6), np.array([0, 2, 4, 6]))
    assert dissolve(*arguments, labels, sizes) == 0
    assert labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert sizes.tolist() == [2, 2, 2]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.0])
def test_groups_keep_k_to_2k_minus_1_records(share):
    labels = MDAV(4).fit_predict(X)
    rng = np.random.default_rng(1)
    thinned = thin_out(X, labels, near_lists(X, 15), 4, share, rng)
    sizes = np.bincount(thinned)
    assert 4 <= sizes.min() <= sizes.max() <= 7
    assert len(sizes) < 100 or share in (0.0, 1.0)


def test_groups_that_straddle_clusters_are_dissolved():
    """Two clusters of ten records: with k = 4, whoever is left over joins the own cluster."""
    clusters = np.repeat([0.0, 100.0], 10)
    records = clusters[:, None] + np.random.default_rng(2).normal(size=(20, 2))
    labels = np.r_[[0] * 4, [1] * 4, [4] * 2, [2] * 4, [3] * 4, [4] * 2]
    rng = np.random.default_rng(0)
    thinned = thin_out(records, labels, near_lists(records, 9), 4, 0.0, rng)
    assert thinned.max() == 3
    assert all(len(set(clusters[thinned == group])) == 1 for group in range(4))
