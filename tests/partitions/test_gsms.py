"""GSMS against a slow reference, with the second phase of TFRP behind it."""

import pytest

from microagg.kernels.neighbours import blocks
from microagg.partitions import GSMS, candidates
from tests.partitions import candidate_references as references
from tests.references import (
    close_with_nearest_and_split,
    dissolve_and_shrink,
    error,
    number_by_first_record,
)


@pytest.fixture(params=["one block", "many blocks", "short lists"], autouse=True)
def layout(request, monkeypatch):
    """Small tables are one block; neither blocks nor the length of lists may change a group."""
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)
    if request.param == "short lists":
        monkeypatch.setattr(candidates, "_LISTED", 1)


def first_phase(X, k, criterion="rest"):
    def score(candidate, rest):
        left = [row for row in rest if row not in candidate]
        own = error(X, candidate)
        if len(left) < 2:
            return (0.0, -own)
        return (-error(X, left) - (own if criterion == "total" else 0.0), 0.0)

    return close_with_nearest_and_split(X, k, references.by_candidates(X, k, score))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["rest", "total"])
def test_the_first_phase_label_for_label(criterion):
    for X, k in references.cases(24):
        expected = number_by_first_record(first_phase(X, k, criterion))
        labels = GSMS(k=k, criterion=criterion, refine=False).fit_predict(X)
        assert labels.tolist() == expected


@pytest.mark.slow
def test_both_phases_label_for_label():
    dissolved = 0
    for X, k in references.cases(24):
        first = number_by_first_record(first_phase(X, k))
        expected = dissolve_and_shrink(X, first, k, shrinks=False)
        assert GSMS(k=k).fit_predict(X).tolist() == expected
        dissolved += expected != first
    assert dissolved > 3


def test_the_second_phase_is_never_worse():
    for X, k in references.cases(40):
        first, both = GSMS(k=k, refine=False).fit(X), GSMS(k=k).fit(X)
        assert both.sse_ <= first.sse_ * (1 + 1e-12)
