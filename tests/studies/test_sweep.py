"""sweep(): one row for each k, no loss that falls as k grows, and a bound below every loss."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg.bounds import lower_bound
from microagg.bounds.fast import neighbour_shares
from microagg.core.errors import DataError, InterruptedSearchWarning, ParameterError
from microagg.kernels.basics.group_sums import summarise
from microagg.orderings.neighbours import nearest_neighbours
from microagg.partitions import Auto, Univariate
from microagg.partitions.auto import EFFORTS
from microagg.partitions.search import regions
from microagg.partitions.search.neighbours import near_within
from microagg.studies import chains
from tests.references import best_partition, sse

X = np.random.default_rng(3).normal(size=(150, 3))
KS = range(2, 9)
AWKWARD = {
    "equal": np.zeros((40, 3)),
    "repeated": np.repeat(np.arange(8.0), 5)[:, None] * [1.0, -1.0, 0.5],
    "two points": np.tile([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], (20, 1)),
    "far off": np.random.default_rng(1).normal(size=(40, 2)) + 1e9,
    "heavy tails": np.random.default_rng(0).standard_cauchy((41, 3)) * 1e100,
    "one column": np.random.default_rng(0).normal(size=(40, 1)),
}


def figures(found):
    return [(row.k, row.sse, row.lower_bound, row.labels.tolist()) for row in found]


def check(found, records, ks):
    """What every sweep promises."""
    assert [row.k for row in found] == sorted(set(ks))
    spread = sse(records, np.zeros(len(records), dtype=int))
    for row in found:
        sizes = np.bincount(row.labels)
        assert (len(sizes), sizes.min(), sizes.max()) == (
            row.n_groups,
            row.min_group,
            row.max_group,
        )
        assert row.min_group >= row.k
        assert row.sse == pytest.approx(sse(records, row.labels), rel=1e-6, abs=1e-300)
        loss = 100 * row.sse / spread if spread else 0.0
        assert row.information_loss == pytest.approx(loss, rel=1e-9)
        assert row.lower_bound <= row.information_loss * (1 + 1e-12)
        assert row.seconds >= 0.0
    for smaller, larger in pairwise(found):
        assert smaller.sse <= larger.sse
        assert smaller.information_loss <= larger.information_loss
        assert smaller.lower_bound <= larger.lower_bound


@pytest.mark.slow
def test_rows_keep_what_is_promised():
    found = microagg.sweep(X, KS, random_state=0)
    check(found, X, KS)
    assert all(row.max_group < 2 * row.k for row in found)
    assert all(
        row.gap == pytest.approx(100 * (row.information_loss / row.lower_bound - 1))
        for row in found
    )
    assert found.seconds >= max(row.seconds for row in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_data(name):
    records, ks = AWKWARD[name], [1, 2, 3, 5, 19, 21, 40]
    found = microagg.sweep(records, ks, random_state=0)
    check(found, records, ks)
    assert (found[0].sse, found[0].n_groups) == (0.0, len(records))
    assert (found[-1].n_groups, found[-1].gap) == (1, 0.0)


def test_every_number_of_records():
    for n in (1, 2, 3, 5, 8, 13):
        check(microagg.sweep(X[:n], range(1, n + 1), random_state=0), X[:n], range(1, n + 1))


@pytest.mark.slow
def test_tiny_tables_end_at_the_optimum():
    for seed in range(6):
        records = np.random.default_rng(seed).normal(size=(9, 2))
        for row in microagg.sweep(records, [2, 3, 4], random_state=seed):
            assert row.sse == pytest.approx(best_partition(records, row.k), rel=1e-9)


def test_one_column_is_grouped_optimally():
    column = X[:, :1]
    for row in microagg.sweep(column, [2, 5, 9]):
        assert row.sse == Univariate(row.k).fit(column).sse_


@pytest.mark.slow
def test_little_is_lost_against_runs_of_their_own():
    ratios = []
    for seed in range(3):
        records = np.random.default_rng(seed).normal(size=(200, 3))
        found = microagg.sweep(records, range(3, 9), random_state=0)
        for row in found:
            ratios.append(row.sse / Auto(row.k, effort="fast", random_state=0).fit(records).sse_)
    assert np.mean(ratios) < 1.01
    assert max(ratios) < 1.04


def test_bounds_are_those_of_separate_runs_or_higher():
    for row in microagg.sweep(X, [2, 3, 7], random_state=0):
        alone = 100 * lower_bound(X, row.k) / sse(X, np.zeros(len(X), dtype=int))
        assert row.lower_bound == pytest.approx(alone, rel=1e-9)


@pytest.mark.slow
def test_chains_of_ks_meet_without_a_fall(monkeypatch):
    found = chains.MatrixSweep(X, [3, 4, 5], EFFORTS["fast"], [0, 1, 2], 1)
    found.find_groups()
    halves = np.arange(150) % 2
    for labels in (halves, np.arange(150) // 75):
        found.found[3] = summarise(X, halves)  # worse than what a larger k has
        found.found[4] = summarise(X, labels)
        found._let_none_lose_more_than_a_larger()
        assert found.found[3].sse <= found.found[4].sse <= found.found[5].sse
        assert found.found[3].sizes.min() >= 3
    monkeypatch.setattr(chains, "_LONGEST_CHAIN", 2)
    check(microagg.sweep(X, KS, random_state=0), X, KS)


def test_a_bound_for_one_k_holds_for_larger_ones(monkeypatch):
    monkeypatch.setattr(chains.MatrixSweep, "_bound", lambda _, k: {2: 1.0, 3: 0.5, 4: 2.0}[k])
    found = microagg.sweep(X, [2, 3, 4], random_state=0)
    assert found[1].lower_bound == found[0].lower_bound < found[2].lower_bound


@pytest.mark.slow
def test_tight_bounds_are_higher_and_never_fall():
    few, ks = X[:40], [1, 3, 6, 25]
    fast, tight = (
        microagg.sweep(few, ks, bound=bound, random_state=0) for bound in ("fast", "tight")
    )
    assert tight.bound == "tight"
    check(tight, few, ks)
    for low, high in zip(fast, tight, strict=True):
        assert low.labels.tolist() == high.labels.tolist()
        assert low.lower_bound <= high.lower_bound
    assert tight[1].gap < fast[1].gap / 4
    assert tight[2].gap < fast[2].gap / 4
    assert [row.lower_bound for row in tight] == sorted(row.lower_bound for row in tight)


def test_one_interrupt_ends_all_tight_bounds_and_keeps_the_best_so_far():
    heard = []

    def interrupt(task, _done, _total):
        if task.startswith("tight bound"):
            heard.append(task)
            raise KeyboardInterrupt

    with pytest.warns(InterruptedSearchWarning, match="best bound so far"):
        found = microagg.sweep(X[:40], [3, 6], bound="tight", random_state=0, progress=interrupt)
    assert len(heard) == 1
    fast = microagg.sweep(X[:40], [3, 6], random_state=0)
    assert figures(found) == figures(fast)


def test_without_bounds():
    found = microagg.sweep(X, [3, 4], bound="none", random_state=0)
    assert [(row.lower_bound, row.gap) for row in found] == [(None, None)] * 2
    assert "3" in repr(found)


@pytest.mark.slow
@pytest.mark.parametrize("most", [5000, 40])
def test_the_same_rows_on_any_number_of_threads(most, monkeypatch):
    monkeypatch.setattr(regions, "size_limit", lambda *_: most)  # one region, several
    one, two = (microagg.sweep(X, [3, 4, 6], random_state=7, n_jobs=jobs) for jobs in (1, 2))
    assert figures(one) == figures(two)
    check(one, X, [3, 4, 6])


@pytest.mark.slow
def test_ks_are_sorted_and_count_once():
    found = microagg.sweep(X, [5, 3, 5, 4], random_state=0)
    assert [row.k for row in found] == [3, 4, 5]
    assert [row.k for row in microagg.sweep(X, 3)] == [3]
    assert figures(found) == figures(microagg.sweep(X, [3, 4, 5], random_state=0))


def test_rows_are_a_sequence_that_nobody_can_change():
    found = microagg.sweep(X, [3, 4], random_state=0)
    assert (len(found), found[-1].k, [row.k for row in found[:1]]) == (2, 4, [3])
    head, rule, *rows = repr(found).split("\n\n")[0].splitlines()
    assert re.split("  +", head) == [
        "k",
        "loss %",
        "at least %",
        "gap %",
        "groups",
        "sizes",
        "seconds",
    ]
    assert set(rule) == {"-"}
    assert [row.split()[0] for row in rows] == ["3", "4"]
    with pytest.raises(ValueError, match="read-only"):
        found[0].labels[0] = 1
    with pytest.raises(AttributeError):
        found[0].sse = 0.0


def test_a_frame_of_numbers_and_the_input_stays_as_it_was():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    before = X.copy()
    assert figures(microagg.sweep(frame, [3], scale="none", random_state=0)) == figures(
        microagg.sweep(X, [3], random_state=0)
    )
    assert (before == X).all()
    assert (frame.to_numpy() == X).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ks": []}, "at least one k"),
        ({"ks": [2, 0]}, "at least 1; got 0"),
        ({"ks": [2, 151]}, "from 1 to 150"),
        ({"ks": "2-5"}, "got '2-5'"),
        ({"ks": [2.5]}, "got 2.5"),
        ({"effort": "much"}, "effort must be one of 'fast'"),
        ({"bound": "loose"}, "bound must be one of 'fast', 'tight', 'none'"),
        ({"random_state": -1}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"progress": 3}, "progress"),
    ],
)
def test_bad_requests(arguments, message):
    with pytest.raises(ParameterError, match=message):
        microagg.sweep(X, **arguments)


def test_bad_data():
    with pytest.raises(DataError, match="NaN"):
        microagg.sweep([[1.0], [np.nan], [2.0]], [2])


def test_progress_is_reported_and_an_interrupt_goes_through():
    heard = []
    microagg.sweep(X, [3, 4], random_state=0, progress=lambda *message: heard.append(message))
    assert ("sweeping", 2, 2) in heard
    assert ("bounding", 2, 2) in heard

    def interrupt(task, done, _):
        if task == "sweeping" and done == 1:
            raise KeyboardInterrupt

    for jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            microagg.sweep(X, [3, 4], n_jobs=jobs, progress=interrupt)


def test_neighbours_given_are_as_good_as_neighbours_found():
    for k in (2, 5, 10):
        given = neighbour_shares(X, k, nearest_neighbours(X, 60))
        assert given.bound == neighbour_shares(X, k).bound


def test_neighbours_within_a_region():
    near = nearest_neighbours(X, 20).rows
    rows = np.arange(0, 150, 3)
    found = near_within(near, rows)
    for place, row in enumerate(rows):
        inside = [int(np.flatnonzero(rows == other)[0]) for other in near[row] if other in rows]
        assert found[place].tolist() == (inside + [place] * 20)[:20]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_rows_as_a_table_of_the_kind_that_came_in(kind):
    table = kind({f"x{j}": X[:40, j] for j in range(3)})
    found = microagg.sweep(table, [2, 4], random_state=0)
    assert type(found.table) is type(table)
    same = pl.from_pandas(found.table) if kind is pd.DataFrame else pl.DataFrame(found.table)
    assert same.to_dicts() == found.as_dicts()
    assert same["k"].to_list() == [2, 4]
    assert "labels" not in same.columns


def test_the_rows_of_a_matrix_as_a_table():
    found = microagg.sweep(X[:40], [2, 4], bound="none", random_state=0)
    assert found.table.to_dicts() == found.as_dicts() == [row.figures() for row in found]
    assert found.table["lower_bound"].dtype == pl.Float64
