"""Both phases of DBA against slow references."""

import numpy as np
import pytest

from microagg.core.progress import listening
from microagg.kernels.neighbours import blocks
from microagg.partitions import DBA, candidates
from microagg.partitions.dba import merge_backwards
from tests.partitions import candidate_references as references
from tests.references import close_with_nearest_and_split, error, number_by_first_record, sse


@pytest.fixture(params=["one block", "many blocks", "short lists"])
def layout(request, monkeypatch):
    """Small tables are one block; neither blocks nor the length of lists may change a group."""
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)
    if request.param == "short lists":
        monkeypatch.setattr(candidates, "_LISTED", 1)


def first_phase(X, k, preprocess=0):
    def score(candidate, rest):
        formed = (len(X) - len(rest)) // k
        return error(X, candidate) * (1 if formed < preprocess else -1)

    return references.by_candidates(X, k, score)


def split(X, k, labels):
    return number_by_first_record(close_with_nearest_and_split(X, k, labels))


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("preprocess", [0, 2])
def test_the_first_phase_label_for_label(preprocess):
    for X, k in references.cases(24):
        labels = DBA(k=k, preprocess=preprocess, refine=False).fit_predict(X)
        assert labels.tolist() == split(X, k, first_phase(X, k, preprocess))


@pytest.mark.slow
@pytest.mark.usefixtures("layout")
def test_both_phases_label_for_label():
    merged = 0
    for X, k in references.cases(24):
        first = first_phase(X, k)
        both = references.merge_backwards(X, first)
        assert DBA(k=k).fit_predict(X).tolist() == split(X, k, both)
        merged += both.tolist() != first.tolist()
    assert merged > 5


def test_the_second_phase_alone_on_many_groups(monkeypatch):
    monkeypatch.setattr(blocks, "ONE_BLOCK", 0)
    X = np.random.default_rng(0).normal(size=(240, 2))
    labels = np.random.default_rng(1).permutation(240) // 3
    labels[:80] = np.argsort(X[:80, 0]) % 80
    labels = np.unique(labels, return_inverse=True)[1]
    expected = references.merge_backwards(X, labels)
    before = labels.copy()
    assert merge_backwards(X, labels, int(np.bincount(labels).min())).tolist() == expected.tolist()
    assert labels.tolist() == before.tolist()


def test_more_groups_around_sparse_records_than_there_are():
    X = np.random.default_rng(0).normal(size=(50, 2))
    all_sparse = DBA(k=4, preprocess=12).fit_predict(X).tolist()
    assert DBA(k=4, preprocess=10**9).fit_predict(X).tolist() == all_sparse


def test_equal_records_share_groups():
    X = np.repeat(np.arange(6.0), 40)[:, None]  # more copies than a list of neighbours holds
    labels = DBA(k=4).fit_predict(X)
    assert sse(X, labels) == 0.0


def test_progress_is_reported():
    heard = []
    with listening(lambda *message: heard.append(message)):
        DBA(k=3).fit(np.random.default_rng(0).normal(size=(200, 2)))
    assert {"finding neighbours", "grouping", "refining"} <= {task for task, _, _ in heard}
    assert ("grouping", 198, 200) in heard
