"""Published figures of MDAV."""

import numpy as np
import pytest

from microagg import information_loss
from microagg.partitions import MDAV

PRINTED = {
    "census": [5.692186, 7.494700, 9.088435, 10.384714, 11.597850, 12.391693, 13.291468, 14.155930],
    "tarragona": [
        *(16.932588, 19.545962, 22.461860, 26.325151),
        *(27.518393, 29.692944, 31.214607, 33.192885),
    ],
    "eia": [0.482939, 0.671345, 1.666675, 1.307756, 2.173254, 2.874260, 3.183772, 3.839670],
}
CELLS = [(name, k, il) for name, row in PRINTED.items() for k, il in zip(range(3, 11), row)]

# The 19 records of hierarchical-2018, table 5.1, and their groups by its table 5.2.
RECORDS = [
    *((2, 7), (3, 6), (1, 1), (1, 4), (2, 12), (4, 14), (5, 8), (6, 2), (7, 4), (3, 3)),
    *((5, 9), (6, 9), (1, 3), (3, 13), (6, 4), (4, 6), (3, 7), (2, 9), (4, 10)),
]
GROUPS = [0, 0, 1, 1, 2, 2, 0, 3, 3, 1, 0, 3, 1, 2, 3, 0, 0, 0, 2]


@pytest.mark.parametrize(("name", "k", "printed"), CELLS)
def test_information_loss_to_the_printed_digit(standardised, name, k, printed):
    X = standardised(name)
    assert f"{information_loss(X, MDAV(k=k).fit_predict(X)):.6f}" == f"{printed:.6f}"


def test_the_19_records():
    X = np.array(RECORDS, dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    model = MDAV(k=4).fit(X)
    assert model.labels_.tolist() == GROUPS
    assert f"{model.sse_:.4f}" == "8.2036"


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("k", [3, 5])
def test_a_billion_added_to_a_column_changes_nothing(raw_table, name, k):
    X = raw_table(name)
    X = np.round(X / X.std(axis=0) * 1e4)  # whole numbers, so that adding is exact
    labels = MDAV(k=k).fit_predict(X)
    for column in (0, X.shape[1] - 1):
        moved = X.copy()
        moved[:, column] += 1e9
        assert MDAV(k=k).fit_predict(moved).tolist() == labels.tolist()
        assert information_loss(moved, labels) == pytest.approx(
            information_loss(X, labels), rel=1e-9
        )
