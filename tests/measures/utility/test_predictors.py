"""Columns as predictors."""

import numpy as np
import polars as pl

from microagg.measures.utility.predictors import common_categories, pooled, predictors
from microagg.tables.matching import open_pair
from microagg.tables.sides import ColumnSide


def of(before, after, squares=False):
    pair = open_pair(before, after, quasi_identifiers=before.columns)
    return predictors(pair.columns.values(), squares=squares)


def test_numbers_with_squares_and_an_indicator_of_what_is_missing():
    before = pl.DataFrame({"x": [1.0, 3.0, None]})
    X, Z = of(before, pl.DataFrame({"x": [2.0, None, 4.0]}), squares=True)
    r = np.sqrt(0.5)
    np.testing.assert_allclose(X, [[-r, 0.5, 0], [r, 0.5, 0], [0, 0, 1]])
    np.testing.assert_allclose(Z, [[0, 0, 0], [0, 0, 1], [2 * r, 2, 0]])


def test_categories_but_the_commonest_others_and_missing():
    before = pl.DataFrame({"c": ["b", "a", "b", None]})
    X, Z = of(before, pl.DataFrame({"c": ["b", "a", "a", "b"]}))
    indicators = [X[:, j].tolist() for j in range(X.shape[1])]
    assert indicators == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert Z[:, 0].tolist() == [0, 1, 1, 0]


def test_rare_categories_are_pooled():
    codes = np.array([7] * 150 + [3] * 200 + [9] + [5] * 30)
    common = common_categories(codes, 10)
    assert common.tolist() == [3, 7, 5]
    assert common_categories(codes, 2).tolist() == [3, 7]
    values = ColumnSide(np.array([7, 3, 9, 5, 0, 100]), np.array([0, 0, 0, 0, 1, 0], dtype=bool))
    assert pooled(values, common).tolist() == [1, 0, 3, 2, -1, 3]
    assert pooled(values, common[:0]).tolist() == [0, 0, 0, 0, -1, 0]


def test_a_constant_column_is_no_predictor():
    constant = pl.DataFrame({"x": [1, 1]})
    assert of(constant, constant)[0].shape == (2, 0)
