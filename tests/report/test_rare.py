"""Rare values are merged, columns without others left out, and figures rounded to safe steps."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.measures.utility.column_loss import column_loss
from microagg.report.categories import category_table
from microagg.report.loss import loss_step
from microagg.report.rare import safe_columns, without_rare
from microagg.report.steps import Steps
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.matching import open_pair

LEAST = 5


def pair_of(before, after=None, kind="nominal"):
    sides = [pl.DataFrame({"x": pl.Series(own)}) for own in (before, after or before)]
    types = {"x": ColumnOptions(type=ColumnType(kind))}
    return open_pair(*sides, quasi_identifiers=["x"], column_options=types)


def merged(before, after=None, kind="nominal"):
    return without_rare(pair_of(before, after, kind).columns["x"], LEAST)


def shown(side, categories):
    values = [categories[code] for code in side.numbers]
    return [None if gone else own for own, gone in zip(values, ~side.is_present, strict=True)]


def test_rare_categories_join_the_largest_that_hides_them_on_both_sides():
    before = ["a"] * 30 + ["b"] * 12 + ["c"] * 3 + [None] * 2
    found = merged(before, ["a"] * 40 + ["c"] * 7)
    names = found.categories
    assert shown(found.before, names) == ["a"] * 30 + ["b"] * 17
    assert shown(found.after, names) == ["a"] * 40 + ["b"] * 7


def test_rare_numbers_become_the_nearest_and_few_missing_ones_the_most_frequent():
    found = merged([1] * 20 + [5] * 9 + [4] * 2 + [None] * 3, kind="integer")
    assert found.before.numbers.tolist() == [1] * 20 + [5] * 11 + [1] * 3
    assert found.before.n_missing == 0


def test_many_missing_values_take_in_all_that_are_rare():
    found = merged([None] * 20 + [1.5, 2.5], kind="continuous")
    assert found.before.n_missing == 22


@pytest.mark.parametrize(
    "values", [["a", "b"] * 10, ["a"] * 9 + list("bcdef"), ["a"] * 9 + ["b"] * 5]
)
def test_columns_without_rare_values_or_with_many_stay_as_they_are(values):
    column = pair_of(values).columns["x"]
    assert without_rare(column, LEAST) is column


def test_what_is_left_out_and_why():
    table = pl.DataFrame(
        {
            "constant": [1.5] * 40,
            "one differs": ["a"] * 39 + ["b"],
            "outlier": [*np.linspace(0.0, 1.0, 39), 1e6],
            "fine": ["a"] * 20 + ["b"] * 20,
            "number": np.arange(40) * 1.5,
        }
    )
    found = safe_columns(open_pair(table, table, quasi_identifiers=table.columns), LEAST)
    assert found.left_out == ("constant", "one differs", "outlier")
    assert found.constant == {"constant"}
    assert found.uncountable == {"outlier", "number"}
    assert set(found.varying) == {"outlier", "fine", "number"}


@given(st.lists(st.integers(1, 14), min_size=2, max_size=6))
def test_whatever_the_table_of_categories_counts_stays_apart(counts):
    """The categories that are counted exactly are not merged: no difference tells the others."""
    values = [f"c{place}" for place, count in enumerate(counts) for _ in range(count)]
    column = pair_of(values).columns["x"]
    table = category_table(column, LEAST, public=False)
    found = without_rare(column, LEAST)
    exact = {row.name for row in table.rows if row.before.isdigit()}
    moved = set(column.before.numbers[column.before.numbers != found.before.numbers].tolist())
    names = {str(column.categories[code]) for code in moved}
    rare = {f"c{place}" for place, count in enumerate(counts) if count < LEAST}
    assert names.isdisjoint(exact - rare)


@given(st.integers(5, 200), st.integers(5, 200), st.integers(0, 60), st.integers(3, 9))
def test_a_step_of_the_loss_holds_so_many_records(large, small, changed, least):
    """Another category in `least` more records raises the loss by a step at most."""
    before = ["a"] * large + ["b"] * small
    losses = [
        column_loss(pair_of(before, ["b"] * min(large, m) + before[min(large, m) :]))
        for m in (changed, changed + least)
    ]
    step = loss_step(pair_of(before).columns.values(), least)
    risen = losses[1].information_loss - losses[0].information_loss
    assert step == 100.0 or risen <= step * (1 + 1e-9)


@given(st.floats(0.0, 1.0), st.integers(3, 9), st.integers(9, 10**6))
def test_steps_are_round_and_never_below_so_many_records(value, least, n):
    steps = Steps.of(least, n)
    assert least / n * (1 - 1e-9) <= steps.size <= 2.5 * least / n
    assert value - 1e-9 <= steps.up(value) <= value + steps.size * (1 + 1e-9)
    assert value - steps.size * (1 + 1e-9) <= steps.down(value) <= value + 1e-12
    assert steps.share(0.0) == steps.share(1 / n) == steps.share((least - 1) / n)


def test_a_share_is_not_rounded_above_its_limit():
    steps = Steps(0.05)
    assert steps.share(0.32, most=1 / 3) == 1 / 3
    assert steps.share(0.34, most=1 / 3) == 0.35
    assert steps.share(0.99) == 1.0
