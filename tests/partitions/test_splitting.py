"""Groups of 2k or more are split; the others stay as they are."""

import numpy as np
import pytest

from microagg.core.progress import listening
from microagg.partitions import CBFS, MD, MDAV
from microagg.partitions.splitting import split_large
from tests.references import number_by_first_record, sse


@pytest.mark.parametrize("method", [MDAV, MD, CBFS])
def test_large_groups_are_split_by_the_method(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    labels = rng.permutation(np.repeat([0, 1, 2, 3], [5, 30, 6, 19]))
    split = split_large(X, labels, 3, method)
    assert np.bincount(number_by_first_record(split)).max() <= 5
    assert split.max() < 60
    for group in range(4):
        rows = np.flatnonzero(labels == group)
        expected = method(k=3).fit_predict(X[rows]) if len(rows) >= 6 else np.zeros(len(rows))
        assert number_by_first_record(split[rows]) == number_by_first_record(expected)
    assert sse(X, split) < sse(X, labels)


def test_nothing_to_split():
    labels = np.array([0, 1, 0, 1, 1])
    assert split_large(np.zeros((5, 1)), labels, 2).tolist() == labels.tolist()


def test_a_group_too_small_in_value_to_stand_alone():
    X = np.r_[np.full(4, 1.0), np.arange(1.0, 9.0) * 1e-150][:, None]
    split = split_large(X, np.repeat([0, 1], [4, 8]), 3)
    assert np.bincount(number_by_first_record(split)).tolist() == [4, 4, 4] or (
        sorted(np.bincount(number_by_first_record(split))) == [3, 4, 5]
    )


def test_progress_is_reported():
    heard = []
    with listening(lambda *message: heard.append(message)):
        split_large(np.random.default_rng(0).normal(size=(40, 2)), np.zeros(40, dtype=np.intp), 3)
    assert ("splitting", 40, 40) in heard
