"""What is timed is written alike by both."""

import polars as pl
import pytest

from benchmarks.wide_tables import TEXTS, row, table
from microagg.files.formats import write_table


def test_both_write_the_same_bytes(tmp_path):
    wide = table(20)
    write_table(wide, str(tmp_path / "ours.csv"))
    wide.write_csv(tmp_path / "theirs.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    assert wide.dtypes.count(pl.String) == TEXTS


@pytest.mark.slow
def test_every_figure_is_there():
    columns, *figures = row(50)
    assert columns == "50"
    assert all(figure > 0.0 for figure in figures)
