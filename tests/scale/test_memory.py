"""The memory that was given is kept, as the peak of the resident set."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
