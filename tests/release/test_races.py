"""Of two processes that save to one name without `force`, exactly one succeeds."""

import hashlib
import json
import os
import random
import subprocess
import sys

import pytest

from tests.manifests import manifest
from tests.release.races import race

N_ROUNDS = int(os.environ.get("MICROAGG_RACES", "20"))


@pytest.mark.slow
def test_of_two_processes_exactly_one_saves(tmp_path):
    assert len(race(tmp_path, N_ROUNDS, manifest().model_dump_json())) == N_ROUNDS


@pytest.mark.slow
def test_of_two_commands_exactly_one_writes(tmp_path):
    chance = random.Random(2)
    rows = "".join(f"{chance.randint(18, 90)},{chance.randint(0, 9999)}\n" for _ in range(60))
    (tmp_path / "t.csv").write_text(f"age,pay\n{rows}")
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "microagg", "protect", "t.csv", "-k", k, "--method", "mdav"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for k in ("3", "4")
    ]
    said = [run.communicate(timeout=300) for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 2]
    ((out, err),) = (told for run, told in zip(runs, said, strict=True) if run.returncode)
    assert out == ""
    assert "already exists" in err
    assert err.count("\n") == 1
    told = json.loads((tmp_path / "t-protected.csv.manifest.json").read_text())
    data = (tmp_path / "t-protected.csv").read_bytes()
    assert told["output"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert sorted(os.listdir(tmp_path)) == [
        "t-protected.csv",
        "t-protected.csv.manifest.json",
        "t.csv",
    ]
