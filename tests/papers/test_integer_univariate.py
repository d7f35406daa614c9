"""integer-univariate-2020: the worked example and table 3, and the optimum of Tarragona's SALES."""

import numpy as np
import pytest

from microagg import cut_path, information_loss, orderings
from microagg.partitions import Univariate
from tests.references import round_half_away, sse

SALES = 6

# k -> table -> SSE of IMHM and IMHMI for NPN, PCA and Z-score.
TABLE_3 = {
    2: {
        "tarragona": (13260893, 13260893, 17488857, 17488857, 22644761, 22644761),
        "census": (4898186, 4898186, 25127104, 25127104, 24239423, 24239423),
        "eia": (1131223, 1131187, 48503537, 48503537, 46623390, 46623386),
    },
    3: {
        "tarragona": (18979346, 18979346, 24908172, 24908172, 29258952, 29258952),
        "census": (8711694, 8711694, 34230297, 34230297, 33934143, 33934143),
        "eia": (2251231, 2251217, 69470119, 69470119, 66341938, 66341938),
    },
    4: {
        "tarragona": (23492012, 23492005, 27329082, 27329081, 33481594, 33481594),
        "census": (12568049, 12568049, 39531564, 39531564, 38419143, 38419143),
        "eia": (3097443, 3097435, 81844938, 81844938, 75242168, 75242168),
    },
    5: {
        "tarragona": (30502975, 30502975, 32186331, 32186331, 34714172, 34714172),
        "census": (15503503, 15503503, 42483280, 42483280, 41403339, 41403339),
        "eia": (4499990, 4499969, 90920522, 90920522, 81795250, 81795243),
    },
    10: {
        "tarragona": (41925425, 41925425, 40163339, 40163339, 40857047, 40857045),
        "census": (28375732, 28375732, 48900658, 48900658, 49213517, 49213517),
        "eia": (11225343, 11225342, 107512160, 107512160, 100077948, 100077946),
    },
}


@pytest.mark.parametrize("k", TABLE_3)
@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
@pytest.mark.parametrize(("ordering", "column"), [("npn", 0), ("pca", 2), ("zscore", 4)])
def test_table_3_to_the_digit(standardised, name, k, ordering, column):
    X = standardised(name)
    order = orderings.get(ordering)(X)
    whole = round_half_away(X * 100)
    rounded_real = sse(whole, cut_path(whole, order, k), integer=True)
    integer = sse(whole, cut_path(whole, order, k, integer=True), integer=True)
    assert (rounded_real, integer) == TABLE_3[k][name][column : column + 2]


def test_the_worked_example():
    column = [1, 2, 2, 3, 4, 4, 6, 6, 8, 10]
    real = Univariate(k=3).fit(column)
    assert np.bincount(real.labels_).tolist() == [3, 3, 4]
    assert f"{real.sse_:.2f}" == "12.33"
    assert sse(np.array(column, dtype=float)[:, None], real.labels_, integer=True) == 14
    integer = Univariate(k=3, integer=True).fit(column)
    assert np.bincount(integer.labels_).tolist() == [4, 3, 3]
    assert integer.sse_ == 13
    assert integer.centers_.ravel().tolist() == [2, 5, 8]


@pytest.mark.parametrize(("k", "printed"), [(3, 1.919532), (5, 4.303593), (10, 8.380475)])
def test_the_optimum_of_sales(raw_table, k, printed):
    sales = raw_table("tarragona")[:, [SALES]]
    labels = Univariate(k=k).fit_predict(sales)
    assert f"{information_loss(sales, labels):.6f}" == f"{printed:.6f}"
    np.testing.assert_array_equal(labels, Univariate(k=k).fit_predict(sales + 1e9))
