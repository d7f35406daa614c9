"""A column that passes as one of random keys holds nothing else."""

import hashlib
import json

import numpy as np
import polars as pl
import pytest

from microagg import Plan, protect, verify
from microagg.files.formats import write_table

N = 48
NAMES = [f"person {i}" for i in range(N)]
PEOPLE = pl.DataFrame({"name": NAMES, "age": np.random.default_rng(3).integers(18, 90, N)})
PLAN = Plan.of(k=3, method="mdav", columns={"name": {"role": "identifier"}}, keep_key=True)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".arrow"])
@pytest.mark.parametrize(
    "keys",
    [range(N), [1, *range(1, N)], [*range(1, N), None], NAMES, [0.5, *range(2, N + 1)]],
    ids=["from 0", "one twice", "missing", "names", "not whole"],
)
def test_keys_that_are_not_random_ones(tmp_path, suffix, keys):
    release = protect(PEOPLE, plan=PLAN)
    told = "No: 'name' does not hold each number from 1 to 48 once, as random keys do, so it "
    path = release.save(tmp_path / f"out{suffix}")
    for found in (verify(path), verify(path, plan=PLAN), verify(release.table, plan=PLAN)):
        assert found
        assert ("keys", "name: each from 1 to 48 once") in found.rows()
    spoilt = release.table.with_columns(name=pl.Series(keys, strict=False))
    found = verify(spoilt, plan=PLAN)
    assert not found
    assert found.verdict == f"{told}may identify records"
    assert found.as_dict()["checks"][-1] == {
        "requirement": "random keys",
        "column": "name",
        "satisfied": False,
    }
    write_table(spoilt, str(path), force=True)
    assert verify(path, plan=PLAN).verdict == found.verdict
    described = path.parent / "out.manifest.json"
    told_of = json.loads(described.read_text())
    told_of["output"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    described.write_text(json.dumps(told_of))
    assert verify(path).verdict == found.verdict
