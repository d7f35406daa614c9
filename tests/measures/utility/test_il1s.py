"""IL1s, with the figures of sdcMicro."""

import numpy as np
import polars as pl
import pytest

from microagg.measures.utility.il1s import il1s
from microagg.partitions import MDAV
from microagg.tables.matching import open_pair


@pytest.mark.parametrize(
    ("name", "k", "figure"),
    [("census", 3, "1607.940"), ("tarragona", 3, "1092.096"), ("eia", 5, "1375.847")],
)
def test_figures_of_mdav(raw_table, standardised, name, k, figure):
    X, labels = raw_table(name), MDAV(k=k).fit_predict(standardised(name))
    sizes = np.bincount(labels)
    Z = np.column_stack([(np.bincount(labels, weights=x) / sizes)[labels] for x in X.T])
    loss = il1s(open_pair(pl.DataFrame(X), pl.DataFrame(Z)))
    assert f"{loss.total:.3f}" == figure
    assert loss.mean == pytest.approx(loss.total / X.size)
    assert loss.n_cells == X.size
    assert np.mean(list(loss.columns.values())) == pytest.approx(loss.mean)


def test_by_the_definition_with_missing_cells():
    rng = np.random.default_rng(0)
    x, z = rng.normal(1e8, 5, 40), rng.normal(1e8, 5, 40)
    gone_x, gone_z = rng.random(40) < 0.2, rng.random(40) < 0.2
    before = pl.DataFrame({"x": [None if g else v for v, g in zip(x.tolist(), gone_x)]})
    after = pl.DataFrame({"x": [None if g else v for v, g in zip(z.tolist(), gone_z)]})
    cells = [abs(a - b) for a, b, g, h in zip(x, z, gone_x, gone_z) if not g and not h]
    loss = il1s(open_pair(before, after))
    assert loss.total == pytest.approx(sum(cells) / np.sqrt(2) / np.std(x[~gone_x], ddof=1))
    assert (loss.n_cells, loss.n_missing) == (len(cells), 40 - len(cells))


def test_constant_and_nominal_columns_are_left_out():
    before = pl.DataFrame({"c": [5, 5, 5], "s": ["a", "b", "b"], "x": [1, 2, 3]})
    after = pl.DataFrame({"c": [5, 5, 9], "s": ["b", "b", "b"], "x": [2, 2, 2]})
    loss = il1s(open_pair(before, after))
    assert loss.constant == ("c",)
    assert list(loss.columns) == ["x"]
    assert loss.total == pytest.approx(2 / np.sqrt(2))
    nothing = il1s(open_pair(before, after, quasi_identifiers=["c", "s"]))
    assert (nothing.total, nothing.mean, nothing.n_cells) == (0, None, 0)
