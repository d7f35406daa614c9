"""hierarchical-2018: SSE of census, and its 19 records."""

import numpy as np
import pytest

from microagg.partitions import HAC
from tests.papers.test_mdav import RECORDS

KS = (3, 4, 5, 10)
CHAPTER_6 = {"max_size": "2k-1"}
PRIORITY = {"priority": True}

EXACT = [
    *((CHAPTER_6, 3, "1284.95"), (CHAPTER_6, 5, "2154.53"), (CHAPTER_6, 10, "3469.41")),
    *((PRIORITY, 3, "877.39"), (PRIORITY, 4, "1338.52"), (PRIORITY, 10, "2802.90")),
]
REPAIRED = {
    "single": (1038.30, 1363.40, 1664.50, 2379.23),
    "complete": (1908.67, 2196.23, 3852.33, 4771.50),
    "centroid": (1703.30, 1679.70, 1979.91, 3112.41),
}


@pytest.mark.parametrize(("options", "k", "printed"), EXACT)
def test_cells_without_repair_to_the_printed_digit(standardised, options, k, printed):
    assert f"{HAC(k, **options).fit(standardised('census')).sse_:.2f}" == printed


def test_a_cell_that_differs_in_the_last_digit(standardised):
    """Priority at k = 5 is printed as 1624.83."""
    assert f"{HAC(5, priority=True).fit(standardised('census')).sse_:.4f}" == "1624.8373"


def test_chapter_6_at_4_is_better_than_printed(standardised):
    assert HAC(4, **CHAPTER_6).fit(standardised("census")).sse_ < 1730.31 < 1919.07


@pytest.mark.parametrize("linkage", REPAIRED)
@pytest.mark.parametrize("at", range(4))
def test_cells_with_repair_are_beaten(standardised, linkage, at):
    model = HAC(KS[at], linkage=linkage).fit(standardised("census"))
    assert model.sse_ < REPAIRED[linkage][at]


def test_the_19_records():
    """Chapter 6 prints groups of 7, 6 and 6 records with SSE 20.56."""
    X = np.array(RECORDS, dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    model = HAC(4, **CHAPTER_6).fit(X)
    assert f"{model.sse_:.2f}" == "20.56"
    assert sorted(np.bincount(model.labels_)) == [6, 6, 7]
    assert HAC(4).fit(X).n_groups_ == 4
