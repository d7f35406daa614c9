"""The memory that was given is kept, as the peak of the resident set."""

import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg.scale.checks import checking
from microagg.scale.sources import spans
from microagg.scale.sources.listing import find_files, list_files
from microagg.scale.sources.spans import PART_BYTES
from tests.scale.datasets import write_files

N, COLUMNS, LIMIT = 500_000, 12, 650 * 10**6
# A process of its own, whose peak is that of the run; getrusage() would count its parent's, too.
RUN = """
import sys
from pathlib import Path
import microagg
microagg.protect_dataset(*sys.argv[1:3], k=10, method="zscore-mhm", memory=int(sys.argv[3]))
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak like that")
def test_the_peak_is_below_the_limit(tmp_path):
    """The rows alone take half of what the libraries leave."""
    rng = np.random.default_rng(0)
    (tmp_path / "in").mkdir()
    for at in range(2):
        columns = {f"x{j}": rng.normal(size=N // 2) for j in range(COLUMNS)}
        pq.write_table(pa.table(columns), tmp_path / "in" / f"{at}.parquet")
    words = [str(tmp_path / "in"), str(tmp_path / "out"), str(LIMIT)]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words], check=True, capture_output=True, text=True
    )
    assert int(done.stdout.split()[-1]) * 1024 < LIMIT


@pytest.mark.slow
def test_text_that_repeats_is_as_wide_as_in_memory(tmp_path, monkeypatch):
    """It takes next to nothing in a Parquet file."""
    monkeypatch.setattr(spans, "PART_ROWS", 131_072)
    monkeypatch.setattr(checking, "BUCKET_ROWS", 131_072)
    long = pl.DataFrame({"x": range(40_000), "note": ["n" * 4_000] * 40_000})
    source = write_files(long, tmp_path / "in", rows=40_000)
    listing = list_files(find_files(source))
    assert listing.width >= 4_000
    assert len(listing.parts) >= 40_000 * 4_000 / PART_BYTES
    batches = [table.num_rows for _, table in listing.read(0, ["x", "note"])]
    assert max(batches) * 4_000 <= PART_BYTES
    assert checking.n_buckets_of(listing) >= 3
