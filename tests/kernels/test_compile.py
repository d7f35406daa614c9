"""Compiled kernels are stored on disk, where they may be damaged."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from microagg.kernels.paths.cuts import label_windows
labels = np.empty(4, dtype=np.intp)
label_windows(np.arange(4), np.array([0, 0, 2, 0, 2], dtype=np.int32), labels)
print(labels.tolist())
"""


def run(folder):
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", SCRIPT],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".nbi", lambda _: b""),
        (".nbc", lambda stored: stored[: len(stored) // 2]),
        (".nbc", lambda stored: bytes([*stored[:-2000], stored[-2000] ^ 1, *stored[-1999:]])),
    ],
    ids=["no index", "half of it", "one bit"],
)
def test_what_is_damaged_is_compiled_again_and_said(tmp_path, suffix, damage):
    assert "damaged" not in run(tmp_path).stderr
    stored = list(tmp_path.rglob(f"*{suffix}"))
    assert stored
    for file in stored:
        file.write_bytes(damage(file.read_bytes()))
    again = run(tmp_path)
    assert again.stdout == "[1, 1, 0, 0]\n"
    assert "DamagedCacheWarning: compiled code that microagg had stored was damaged" in again.stderr
    assert "damaged" not in run(tmp_path).stderr


@pytest.mark.parametrize("threads", ["0", "-3", "four", "1.5", ""])
@pytest.mark.parametrize(
    ("variable", "module"),
    [("NUMBA_NUM_THREADS", "kernels.compile"), ("POLARS_MAX_THREADS", "files.room")],
)
def test_a_number_of_threads_that_a_library_refuses_is_one_sentence(variable, module, threads):
    done = subprocess.run(
        [sys.executable, "-c", f"import microagg.{module}"],
        env={**os.environ, variable: threads},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{variable} must be a whole number of at least 1; got {threads!r}." in done.stderr
    assert "RuntimeWarning" not in done.stderr
