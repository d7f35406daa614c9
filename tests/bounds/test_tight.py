"""Both parts of the tight bound together: below every partition, wherever they stop."""

import time

import numpy as np
import pytest

from microagg.bounds import bound_on, lower_bound, regions, tight
from microagg.bounds.fast import neighbour_shares
from microagg.bounds.generation import Generation
from microagg.core.errors import InterruptedSearchWarning, ParameterError
from microagg.core.progress import listening
from microagg.partitions import Auto
from tests.bounds.references import in_chunks, optimal_sse, tiny_tables


@pytest.mark.slow
def test_never_above_the_optimum_and_never_below_the_fast_one():
    for X, k in tiny_tables(150, seed=1):
        bound = lower_bound(X, k, tightness="tight", time_budget=5.0)
        assert lower_bound(X, k) <= bound <= optimal_sse(X, k), (X.tolist(), k)


def test_no_time_leaves_the_fast_bound():
    X = np.random.default_rng(4).normal(size=(150, 3))
    assert lower_bound(X, 3, tightness="tight", time_budget=0.0) == lower_bound(X, 3)


def test_column_generation_goes_on_from_proved_shares(monkeypatch):
    X = np.random.default_rng(5).normal(size=(60, 2))
    begun = []

    class Noted(Generation):
        def __init__(self, X, k, labels, shares, *more):
            begun.append(shares)
            super().__init__(X, k, labels, shares, *more)

    monkeypatch.setattr(tight, "Generation", Noted)
    plain = neighbour_shares(X, 6)
    bound = tight.tight_bound(X, 6, in_chunks(X, 6), plain, time.monotonic() + 5.0)
    (shares,) = begun
    assert plain.bound < shares.bound <= bound


def test_without_memory_column_generation_is_left(monkeypatch):
    def refuse(_n_bytes):
        raise MemoryError

    X = np.random.default_rng(6).normal(size=(60, 2))
    monkeypatch.setattr(regions, "need_room", refuse)
    bound = tight.tight_bound(X, 3, in_chunks(X, 3), neighbour_shares(X, 3))
    assert bound > neighbour_shares(X, 3).bound


def test_refusals():
    with pytest.raises(ParameterError, match="time_budget must be a finite number of at least 0"):
        lower_bound([[1.0], [2.0]], 2, tightness="tight", time_budget=-1)


@pytest.mark.slow
def test_an_interrupt_leaves_the_bound_so_far():
    X = np.random.default_rng(4).normal(size=(60, 3))

    def interrupt(task, _done, _total):
        if task.startswith("tight bound"):
            raise KeyboardInterrupt

    with listening(interrupt), pytest.warns(InterruptedSearchWarning, match="best bound so far"):
        bound = lower_bound(X, 3, tightness="tight")
    assert lower_bound(X, 3) <= bound < Auto(3, random_state=0).fit(X).sse_


def test_an_interrupt_before_the_first_proof_leaves_the_fast_bound(monkeypatch):
    def interrupt(*_arguments, **_options):
        raise KeyboardInterrupt

    X = np.random.default_rng(4).normal(size=(60, 3))
    monkeypatch.setattr(tight.Auto, "fit", interrupt)
    with pytest.warns(InterruptedSearchWarning, match="best bound so far"):
        assert lower_bound(X, 3, tightness="tight") == lower_bound(X, 3)


@pytest.mark.slow
def test_large_groups_can_begin_it():
    X = np.random.default_rng(5).normal(size=(40, 2))
    labels = np.repeat([0, 1], 20)
    bound = bound_on(X, 3, "tight", 20.0, labels)
    assert bound == pytest.approx(lower_bound(X, 3, tightness="tight"), rel=1e-3)
