"""The steps that are timed are those of the stages as they are called today."""

import pytest

from benchmarks.tables_speed import STEPS, row


@pytest.mark.slow
def test_every_step_of_protecting_a_file_is_timed():
    records, *seconds, share, memory = row(2000)
    assert records == "2,000"
    assert len(seconds) == len(STEPS)
    assert all(taken > 0.0 for taken in seconds)
    assert share.endswith(" %")
    assert float(memory) > 0.0
