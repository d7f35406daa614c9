"""Strata: what counts as one is shown as one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import protect
from microagg.core.errors import DataError

ONE = {
    "zeros": pl.Series([0.0, -0.0, 0.0, 1.0, 1.0]),
    "missing": pl.Series([None, np.nan, None, 1.0, 1.0]),
    "zeros of Arrow": pd.Series([0.0, -0.0, 0.0, 1.0, 1.0], dtype="float[pyarrow]"),
    "objects": pd.Series([None, np.nan, None, "x", "x"], dtype=object),
}


@pytest.mark.parametrize("stratum", ONE.values(), ids=ONE)
def test_values_that_count_as_equal_are_shown_as_one(stratum, tmp_path):
    kind = pl.DataFrame if isinstance(stratum, pl.Series) else pd.DataFrame
    release = protect(kind({"part": stratum, "x": [1.0, 2.0, 3.0, 4.0, 5.0]}), 2, strata="part")
    lines = release.save(tmp_path / "out.csv").read_text().splitlines()[1:]
    assert sorted(lines.count(line) for line in set(lines)) == [2, 3]


def test_of_many_small_strata_five_are_listed():
    table = pl.DataFrame({"part": [*range(7), *[9] * 3], "x": [float(x) for x in range(10)]})
    with pytest.raises(DataError) as refused:
        protect(table, 2, strata="part")
    message = str(refused.value)
    assert "7 of the 8 strata by 'part' do not: stratum 1 holds 1, stratum 2 holds 1" in message
    assert "stratum 5 holds 1, and 2 others are too small (numbered in the order of" in message
