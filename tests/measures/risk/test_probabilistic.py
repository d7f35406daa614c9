"""Probabilistic linkage against all pairs, one by one."""

import math
import warnings
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

from microagg import protect
from microagg.core.errors import ParameterError, PrivacyWarning
from microagg.core.progress import listening
from microagg.kernels.attacks.agreement import count_better, patterns_of, tally_patterns
from microagg.measures.risk.probabilistic import _codes, class_edges, estimate, probabilistic
from microagg.tables.matching import open_pair


def mixed(n=60, seed=0):
    """A table of every kind of column, with missing values, and a distorted copy."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    before = pl.DataFrame(
        {
            "x": [None if rng.random() < 0.1 else float(v) for v in x],
            "age": rng.integers(20, 25, n),
            "sex": rng.choice(["f", "m"], n),
            "job": [None if rng.random() < 0.2 else v for v in rng.choice(list("abcdef"), n)],
            "own": rng.random(n) < 0.5,
        }
    )
    after = before.with_columns(
        pl.col("x") + 0.3,
        pl.col("age") + 0.4,
        pl.col("sex").sort(),
        pl.when(pl.int_range(n) % 4 == 0).then(None).otherwise(pl.col("job")).alias("job"),
        pl.col("own").reverse(),
    )
    return open_pair(before, after, quasi_identifiers=before.columns)


def slow_patterns(pair, n_classes):
    """For every pair of records, on which columns they agree."""
    sides = [_codes(column, n_classes) for column in pair.columns.values()]
    n = pair.n_records
    return [
        [tuple(before[i] == after[r] for before, after in sides) for r in range(n)]
        for i in range(n)
    ]


def slow_em(patterns, n, known_share):
    """EM as it is written in books, pair by pair."""
    pairs = [pattern for row in patterns for pattern in row]
    d = len(pairs[0])

    def inside(share):
        return min(max(share, 1e-6), 1 - 1e-6)

    m, p = [0.9] * d, 1 / n
    u = [inside(sum(a[j] for a in pairs) / len(pairs)) for j in range(d)]
    for _ in range(1000):
        chances = []
        for agrees in pairs:
            match = p * math.prod(m[j] if agrees[j] else 1 - m[j] for j in range(d))
            other = (1 - p) * math.prod(u[j] if agrees[j] else 1 - u[j] for j in range(d))
            chances.append(match / (match + other))
        total, old = sum(chances), [*m, *u, p]
        hits = [sum(g for g, a in zip(chances, pairs) if a[j]) for j in range(d)]
        misses = [sum(1 - g for g, a in zip(chances, pairs) if a[j]) for j in range(d)]
        m = [inside(hit / total) for hit in hits]
        u = [inside(miss / (len(pairs) - total)) for miss in misses]
        if not known_share:
            p = total / len(pairs)
        if max(abs(a - b) for a, b in zip(old, [*m, *u, p])) <= 1e-8:
            break
    return m, u, p


def slow_within(patterns, columns, j):
    """Share of records that are among their j best, ties shared in equal parts."""
    weights = {}
    total = 0.0
    for i, row in enumerate(patterns):
        for agrees in row:
            weights[agrees] = round(
                sum(c.agreement if a else c.disagreement for a, c in zip(agrees, columns)), 9
            )
        own = weights[row[i]]
        better = sum(weights[a] > own for a in row)
        equal = sum(weights[a] == own for a in row)
        total += min(max((j - better) / equal, 0.0), 1.0)
    return total / len(patterns)


@pytest.mark.parametrize("knowing", ["size", "nothing", "matches"])
@pytest.mark.parametrize("seed", [0, 1])
def test_shares_are_those_of_all_pairs(knowing, seed):
    pair = mixed(seed=seed)
    found = probabilistic(pair, knowing=knowing, n_classes=5)
    patterns = slow_patterns(pair, 5)
    for j in (1, 2, 5, 10):
        assert found.linked[j] == pytest.approx(slow_within(patterns, found.columns.values(), j))
    assert found.guessed == {1: 1 / 60, 2: 2 / 60, 5: 5 / 60, 10: 10 / 60}
    assert found.standard_errors == dict.fromkeys((1, 2, 5, 10), 0.0)
    assert found.n_sampled == found.n_records == 60


@pytest.mark.parametrize("known_share", [True, False])
def test_em_is_that_of_books(known_share):
    pair = mixed(n=14)
    m, u, p = slow_em(slow_patterns(pair, 8), 14, known_share)
    found = probabilistic(pair, knowing="size" if known_share else "nothing")
    assert [c.m for c in found.columns.values()] == pytest.approx(m, abs=1e-6)
    assert [c.u for c in found.columns.values()] == pytest.approx(u, abs=1e-6)
    assert found.share_of_matches == pytest.approx(p, abs=1e-6)


def test_em_finds_what_made_the_pairs():
    rng = np.random.default_rng(0)
    m, u, share = np.array([0.95, 0.9, 0.85, 0.8]), np.array([0.1, 0.2, 0.3, 0.15]), 0.1
    match = rng.random(400_000) < share
    agrees = rng.random((len(match), 4)) < np.where(match[:, None], m, u)
    counts = np.bincount(agrees @ (1 << np.arange(4)), minlength=16)
    found = estimate(counts, 20, known_share=False)
    assert found.m == pytest.approx(m, abs=0.01)
    assert found.u == pytest.approx(u, abs=0.01)
    assert found.share == pytest.approx(share, abs=0.01)


def test_true_matches_have_the_shares_that_are_counted():
    pair = mixed()
    patterns = slow_patterns(pair, 8)
    found = probabilistic(pair, knowing="matches")
    for j, column in enumerate(found.columns.values()):
        own = sum(row[i][j] for i, row in enumerate(patterns))
        all_pairs = sum(agrees[j] for row in patterns for agrees in row)
        assert column.m == pytest.approx(np.clip(own / 60, 1e-6, 1 - 1e-6))
        assert column.u == pytest.approx((all_pairs - own) / (60 * 59))
        assert column.agreement == pytest.approx(math.log2(column.m / column.u))
        assert column.disagreement == pytest.approx(math.log2((1 - column.m) / (1 - column.u)))


@pytest.mark.parametrize("knowing", ["size", "nothing"])
def test_identical_tables_link_completely(knowing):
    rows = [(a, b, c) for a in range(6) for b in "uvwxyz" for c in range(5)]
    table = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    found = probabilistic(open_pair(table, table), knowing=knowing)
    assert found.linked[1] == 1.0


def test_a_constant_release_leaves_guessing():
    pair = mixed(n=40)
    table = pl.DataFrame({n: c.before.numbers.astype(float) for n, c in pair.columns.items()})
    found = probabilistic(open_pair(table, table.select(pl.all().mean())[[0] * 40]))
    for j in (1, 2, 5, 10):
        assert found.linked[j] == pytest.approx(found.guessed[j])


def test_groups_of_k_share_the_link():
    x = np.repeat(np.arange(8.0), 3)
    jitter = np.tile([-0.1, 0.0, 0.1], 8)
    before = pl.DataFrame({"x": x + jitter, "y": x[::-1] + jitter})
    after = pl.DataFrame({"x": x, "y": x[::-1]})
    found = probabilistic(open_pair(before, after))
    assert found.linked[1] == pytest.approx(1 / 3)
    assert found.linked[2] == pytest.approx(2 / 3)
    assert found.linked[5] == 1.0


def test_both_missing_agree_and_one_missing_does_not():
    before = pl.DataFrame({"c": ["a", None, "b", None]})
    after = pl.DataFrame({"c": [None, None, "b", "a"]})
    first, second = _codes(open_pair(before, after).columns["c"], 8)
    agree = first[:, None] == second[None, :]
    assert agree.astype(int).tolist() == [[0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0]]


def test_classes_hold_about_as_many_records_each():
    numbers = np.random.default_rng(0).exponential(size=1000)
    edges = class_edges(numbers, 8)
    assert len(edges) == 7
    sizes = np.bincount(np.searchsorted(edges, numbers, side="right"))
    assert abs(sizes - 125).max() <= 1
    assert class_edges(np.full(5, 2.0), 8).tolist() == []
    assert class_edges(np.array([]), 8).tolist() == []


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr("microagg.measures.risk.probabilistic._BLOCK_PAIRS", 500)
    pair = mixed(n=300)
    one, three = (asdict(probabilistic(pair, n_jobs=jobs)) for jobs in (1, 3))
    assert one == three


def test_a_sample_is_near_the_whole_and_says_how_near(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    names = list("abcd")
    noisy = pl.DataFrame(X + 0.2 * rng.normal(size=X.shape), schema=names)
    pair = open_pair(pl.DataFrame(X, schema=names), noisy)
    whole = probabilistic(pair)
    part = probabilistic(pair, most=200, seed=1)
    assert part.n_sampled == 200
    assert part.n_records == 400
    for j in (1, 2, 5, 10):
        assert 0 < part.standard_errors[j] < 0.05
        assert abs(part.linked[j] - whole.linked[j]) < 4 * part.standard_errors[j]
    assert part == probabilistic(pair, most=200, seed=1)
    monkeypatch.setattr("microagg.measures.sampling.MOST_RECORDS", 100)
    monkeypatch.setattr("microagg.measures.sampling._FEWEST", 10)
    assert probabilistic(pair).n_sampled == 25


def test_of_many_columns_the_most_telling_are_used():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": rng.integers(0, 2 + j, 50).astype(str) for j in range(18)})
    found = probabilistic(open_pair(table, table))
    assert found.left_out == ("c0", "c1")
    assert len(found.columns) == 16
    assert found.linked[1] == 1.0


@pytest.mark.parametrize("n", [1, 2])
def test_small_and_constant_tables(n):
    table = pl.DataFrame({"x": [1.0, 2.0][:n], "c": ["a"] * n})
    found = probabilistic(open_pair(table, table.with_columns(x=1.5), quasi_identifiers=["x", "c"]))
    assert found.linked[1] == pytest.approx(1 / n)
    assert found.linked[10] == 1.0
    missing = table.with_columns(x=pl.lit(None, dtype=pl.Float64))
    assert probabilistic(open_pair(table, missing)).linked[1] == pytest.approx(1 / n)


@pytest.mark.parametrize(("dtype", "d"), [("uint8", 1), ("uint8", 16), ("uint16", 9)])
@pytest.mark.slow
def test_kernels_count_what_a_double_loop_counts(dtype, d):
    rng = np.random.default_rng(d)
    some = np.array([0, 1, np.iinfo(dtype).max], dtype=dtype)
    queries, released = rng.choice(some, (d, 7)), rng.choice(some, (d, 11))
    weights = [rng.integers(1, 5, size) for size in (7, 11)]
    patterns = (queries.T[:, None] == released.T[None]) @ (1 << np.arange(d))
    expected = np.bincount(patterns.ravel(), np.outer(*weights).ravel(), minlength=2**d)
    ranks = rng.integers(0, 5, 2**d).astype(np.int32)
    own = ranks[patterns[:, 0]]
    for run in ("compiled", "source"):
        tally = tally_patterns if run == "compiled" else tally_patterns.py_func
        count = count_better if run == "compiled" else count_better.py_func
        counts = np.zeros(2**d, dtype=np.int64)
        tally(queries, weights[0], released, weights[1], counts)
        assert (counts == expected).all()
        better, equal = np.zeros(7, dtype=np.int64), np.zeros(7, dtype=np.int64)
        count(queries, own, released, weights[1], ranks, better, equal)
        assert (better == ((ranks[patterns] > own[:, None]) * weights[1]).sum(axis=1)).all()
        assert (equal == ((ranks[patterns] == own[:, None]) * weights[1]).sum(axis=1)).all()


def test_source_of_the_patterns():
    released = np.array([[1, 2, 1], [0, 0, 5]], dtype=np.uint8)
    for run in (patterns_of, patterns_of.py_func):
        out = np.empty(2, dtype=np.uint16)
        run(np.array([1, 5], dtype=np.uint8), released, 1, out)
        assert out.tolist() == [0, 3]


@pytest.mark.slow
def test_more_categories_than_a_byte_holds():
    names = [f"n{i}" for i in range(300)]
    before = pl.DataFrame({"name": names, "x": [float(i % 7) for i in range(300)]})
    after = before.with_columns(pl.Series("name", [names[i ^ 1] for i in range(300)]))
    assert probabilistic(open_pair(before, before)).linked[1] == 1.0
    assert probabilistic(open_pair(before, after, quasi_identifiers="name")).linked[1] == 0.0


def test_progress_is_reported():
    heard = []
    with listening(lambda *message: heard.append(message)):
        probabilistic(mixed(n=10))
    assert {task for task, _, _ in heard} == {
        "tallying agreement",
        "estimating weights",
        "linking records",
    }


def test_extreme_numbers():
    table = pl.DataFrame({"x": [-1.7e308, 0.0, 1.7e308]})
    assert probabilistic(open_pair(table, table)).linked[1] == 1.0


@pytest.mark.parametrize(("method", "linked"), [("mdav", 0.078), ("univariate", 0.981)])
def test_figures_of_the_page(benchmark_file, method, linked):
    table = pl.read_csv(benchmark_file("tarragona"))
    blocks = [[name] for name in table.columns] if method == "univariate" else ()
    with warnings.catch_warnings(action="ignore", category=PrivacyWarning):
        release = protect(table, 3, method=method, blocks=blocks, bound="none")
    found = probabilistic(open_pair(table, release.table))
    assert found.linked[1] == pytest.approx(linked, abs=0.001)


@pytest.mark.parametrize(
    "options", [{"knowing": "everything"}, {"n_classes": 1}, {"most": 0}, {"n_jobs": 0}]
)
def test_what_makes_no_sense_is_refused(options):
    with pytest.raises(ParameterError):
        probabilistic(mixed(n=5), **options)
