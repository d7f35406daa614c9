"""Correlations against NumPy's, pair by pair."""

import numpy as np
import polars as pl
import pytest

from microagg.report.correlations import correlations_of, most_notable, safe_correlations
from microagg.tables.matching import open_pair


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4)) + 1e6
    return pl.DataFrame({name: X[:, at] for at, name in enumerate("abcd")})


def columns_of(table):
    return list(open_pair(table, table, quasi_identifiers=table.columns).columns.values())


def test_as_numpy_has_them(table):
    found = safe_correlations(columns_of(table), "before", 5)
    assert found == pytest.approx(np.corrcoef(table.to_numpy(), rowvar=False), abs=1e-9)


def test_missing_values_pair_by_pair(table):
    holes = table.with_columns(
        a=pl.when(pl.Series(np.arange(80) % 3 == 0)).then(None).otherwise(pl.col("a")),
        b=pl.when(pl.Series(np.arange(80) % 5 == 0)).then(None).otherwise(pl.col("b")),
    )
    found = safe_correlations(columns_of(holes), "before", 5)
    both = holes.drop_nulls().to_numpy()
    assert found[0, 1] == pytest.approx(np.corrcoef(both[:, 0], both[:, 1])[0, 1], abs=1e-9)


def test_what_has_none_is_left_out(table):
    few = table.with_columns(
        a=pl.when(pl.Series(np.arange(80) < 4)).then(pl.col("a")),
        b=pl.lit(3.0),
    )
    found = safe_correlations(columns_of(few), "before", 5)
    assert np.isnan(found[0, 2])
    assert np.isnan(found[1, 2])
    assert np.isfinite(found[2, 3])


def test_the_largest_changes_come_first(table):
    after = table.with_columns(a=pl.Series(np.random.default_rng(0).normal(size=80)))
    pair = open_pair(table, after, quasi_identifiers=table.columns)
    found = correlations_of(list(pair.columns.values()), 5, public=False)
    pairs = most_notable(found, 3)
    assert all(one.first == "a" for one in pairs)
    changes = [abs(one.after - one.before) for one in pairs]
    assert changes == sorted(changes, reverse=True)
    assert found.largest_change == pytest.approx(changes[0])


def test_public_ones_have_no_before(table):
    found = correlations_of(columns_of(table), 5, public=True)
    assert found.before is None
    assert all(one.before is None for one in most_notable(found, 3))


def test_one_column_has_none(table):
    assert correlations_of(columns_of(table.select("a")), 5, public=False) is None
    words = pl.DataFrame({"u": ["a", "b"] * 20, "v": ["c", "d"] * 20})
    assert correlations_of(columns_of(words), 5, public=False) is None


def test_a_column_that_one_record_dominates_has_none_before():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=100), rng.normal(size=100)
    x[17] = 12_345.0
    before = pl.DataFrame({"x": x, "y": y})
    after = pl.DataFrame({"x": np.zeros(100) + (np.arange(100) < 50), "y": y.round(1)})
    columns = list(open_pair(before, after).columns.values())
    found = correlations_of(columns, 5, public=False)
    assert np.isnan(found.before[0, 1])
    assert np.isfinite(found.after[0, 1])


def test_a_public_page_tells_no_changes():
    rng = np.random.default_rng(4)
    before = pl.DataFrame(rng.normal(size=(60, 3)), schema=list("abc"))
    after = before.with_columns(pl.col("a").round(0))
    columns = list(open_pair(before, after, quasi_identifiers=list("abc")).columns.values())
    found = correlations_of(columns, 5, public=True)
    assert found.before is found.mean_change is found.largest_change is None


def test_domination_counts_among_the_records_that_have_both_values():
    rng = np.random.default_rng(6)
    b, c = rng.normal(size=60), rng.normal(size=60)
    c[:30] = 5.0
    c[7] = 777.5
    c[30:] = rng.normal(scale=500, size=30)
    before = pl.DataFrame({"b": b, "c": c}).with_columns(
        b=pl.when(pl.int_range(60) < 30).then("b").otherwise(None)
    )
    columns = list(open_pair(before, before).columns.values())
    assert np.isnan(safe_correlations(columns, "before", 5)[0, 1])
    assert np.isfinite(safe_correlations(columns, "after", 5)[0, 1])
