"""Information loss with every unit counted once."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from microagg.measures.utility.column_loss import column_loss
from microagg.measures.utility.unit_loss import unit_loss
from microagg.tables.matching import open_pair
from tests.indicators import coordinates


def plain(pair, who, name):
    """Weights of 1 over the number of records, in plain Python, for one column."""
    weights = [0.0 if unit is None else 1.0 / who.count(unit) for unit in who]
    matrices = coordinates(replace(pair, columns={name: pair.columns[name]}))
    points, released = (matrix.tolist() for matrix in matrices)
    total = sum(weights)
    centre = [
        sum(w * point[j] for w, point in zip(weights, points, strict=True)) / total
        for j in range(len(points[0]))
    ]
    sse = sum(
        w * (a - b) ** 2
        for w, point, other in zip(weights, points, released, strict=True)
        for a, b in zip(point, other, strict=True)
    )
    sst = sum(
        w * (a - b) ** 2
        for w, point in zip(weights, points, strict=True)
        for a, b in zip(point, centre, strict=True)
    )
    return 100 * sse / sst


@pytest.mark.parametrize("seed", range(5))
def test_as_by_hand(seed):
    rng = np.random.default_rng(seed)
    n = 60
    who = [None if rng.random() < 0.1 else int(unit) for unit in rng.integers(0, 15, n)]
    before = pl.DataFrame(
        {"who": who, "x": rng.normal(size=n), "c": rng.choice(["a", "b", "c"], n)}
    )
    after = before.drop("who").with_columns(pl.col("x").round(0), c=pl.lit("a"))
    pair = open_pair(before, after, unit="who")
    found = unit_loss(pair)
    each = {name: plain(pair, who, name) for name in ("x", "c")}
    assert found.columns == pytest.approx(each)
    assert found.information_loss == pytest.approx((each["x"] + each["c"]) / 2)
    assert found.information_loss == pytest.approx(100 * found.sse / found.sst)
    assert found.information_loss != pytest.approx(column_loss(pair).information_loss)


def test_a_unit_of_many_records_counts_as_one():
    before = pl.DataFrame({"who": ["a"] * 9 + ["b"], "x": [0.0] * 9 + [10.0]})
    after = pl.DataFrame({"x": [0.0] * 9 + [5.0]})
    pair = open_pair(before, after, unit="who")
    assert unit_loss(pair).information_loss == pytest.approx(100 * 25 / (2 * 25))
    assert column_loss(pair).information_loss == pytest.approx(100 * 25 / (9 + 81))


def test_a_column_that_varies_only_in_records_without_a_unit():
    before = pl.DataFrame({"who": ["a", "b", None], "x": [0.1, 0.1, 7.0], "y": [1.0, 2.0, 3.0]})
    after = pl.DataFrame({"x": [0.2, 0.2, 7.0], "y": [1.0, 2.0, 2.5]})
    found = unit_loss(open_pair(before, after, unit="who"))
    assert found.columns == {"x": None, "y": 0.0}
    assert found.information_loss == 0.0


def test_nothing_without_units():
    table = pl.DataFrame({"x": [1.0, 2.0]})
    assert unit_loss(open_pair(table, table)) is None
