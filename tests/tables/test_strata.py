"""Strata: what counts as one is shown as one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import protect

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
