"""Utility in words: rounding errors are no changes."""

import polars as pl

from microagg import measure

COLUMN = "x"


def words(before, after):
    found = measure(pl.DataFrame({COLUMN: before}), pl.DataFrame({COLUMN: after}))
    return {row.measure: (row.figure, row.meaning) for row in found.utility.rows()}


def test_a_rounding_error_is_no_change():
    x = [0.1, 0.2, 0.7, 0.9, 1.3]
    found = words(x, [value + 1e-13 * (-1) ** i for i, value in enumerate(x)])
    assert found["loss of released values"][0] == "0 %"
    assert found["variances"] == ("unchanged", "Every variance is preserved.")


def test_large_figures_are_written_in_full():
    assert words([1.0, 2, 3, 4], [10.0, 20, 30, 40])["variances"][0] == "+9,900 %"


def test_a_change_is_told_with_its_column():
    figure, meaning = words([1.0, 2, 3, 4], [1.5, 1.5, 3.5, 3.5])["variances"]
    assert figure == "-20 %"
    assert meaning == "Largest change of a variance, in 'x'. Averages vary less than records."
