"""MDAV, MD and CBFS against references of ten lines."""

from functools import cache, partial

import numpy as np
import pytest

from microagg.core.progress import listening
from microagg.kernels.neighbours import blocks
from microagg.partitions import CBFS, MD, MDAV
from tests import references

KINDS = ("random", "repeated", "ties", "one decimal", "heavy tails")


def data(kind, n, d, rng):
    return {
        "random": lambda: rng.normal(size=(n, d)),
        "repeated": lambda: rng.normal(size=(-(-n // 4), d)).repeat(4, axis=0)[:n],
        "ties": lambda: rng.integers(0, 3, (n, d)).astype(float),
        "one decimal": lambda: rng.normal(size=(n, d)).round(1),
        "heavy tails": lambda: rng.standard_cauchy((n, d)),
    }[kind]()


@cache
def cases(kind, count, largest, reference):
    """Tables, k, and the labels that the reference gives: the same for both layouts."""
    rng = np.random.default_rng(KINDS.index(kind))
    found = []
    for _ in range(count):
        n, d = int(rng.integers(1, largest)), int(rng.integers(1, 14))
        k = int(rng.integers(1, min(n, 12) + 1))
        X = data(kind, n, d, rng)
        found.append((X, k, reference(X, k)))
    return found


nearest_leftovers = partial(references.mdav, leftover="nearest")


@pytest.fixture(params=["one block", "many blocks"], autouse=True)
def layout(request, monkeypatch):
    """Small tables are one block; with many, skipping blocks must change nothing."""
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_mdav_label_for_label(kind):
    for X, k, expected in cases(kind, 100, 250, references.mdav):
        assert MDAV(k=k).fit_predict(X).tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_mdav_with_leftovers_to_the_nearest_group(kind):
    for X, k, expected in cases(kind, 60, 250, nearest_leftovers):
        assert MDAV(k=k, leftover="nearest").fit_predict(X).tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_cbfs_label_for_label(kind):
    for X, k, expected in cases(kind, 60, 250, references.cbfs):
        assert CBFS(k=k).fit_predict(X).tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_md_label_for_label(kind):
    for X, k, expected in cases(kind, 40, 90, references.md):
        assert MD(k=k).fit_predict(X).tolist() == expected


@pytest.mark.parametrize("kind", ["random", "ties", "one decimal"])
@pytest.mark.slow
def test_mdav_laid_out_anew_several_times(kind):
    X = data(kind, 4000, 3, np.random.default_rng(0))
    assert MDAV(k=4).fit_predict(X).tolist() == references.mdav(X, 4)


def test_progress_is_reported_to_the_end():
    heard = []
    with listening(lambda task, done, total: heard.append((task, done, total))):
        MDAV(k=3).fit(np.random.default_rng(0).normal(size=(3000, 3)))
    assert {task for task, _, _ in heard} == {"grouping"}
    done = [done for _, done, _ in heard]
    assert done == sorted(done)
    assert done[-1] >= 3000 - 9
    assert {total for _, _, total in heard} == {3000}
