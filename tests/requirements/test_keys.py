"""A column that passes as one of random keys holds the numbers 1 to n, and not in order."""

import hashlib
import json

import numpy as np
import polars as pl
import pytest

from microagg import Plan, protect, verify
from microagg.core.errors import GuaranteeError
from microagg.files.formats import write_table
from microagg.requirements.base import Evidence
from microagg.requirements.keys import RandomKeys

N = 48
NAMES = [f"person {i}" for i in range(N)]
PEOPLE = pl.DataFrame({"name": NAMES, "age": np.random.default_rng(3).integers(18, 90, N)})
PLAN = Plan.of(k=3, method="mdav", columns={"name": {"role": "identifier"}}, keep_key=True)


@pytest.mark.slow
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
    described = path.parent / f"out{suffix}.manifest.json"
    told_of = json.loads(described.read_text())
    told_of["output"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    described.write_text(json.dumps(told_of))
    assert verify(path).verdict == found.verdict


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.String])
@pytest.mark.parametrize(
    ("keys", "order"),
    [
        (range(1, 10), "ascending"),
        (range(9, 0, -1), "descending"),
        ([1, 2, 3, 4, 5, 6, 7, 9, 8], ""),
        ([9, 2, 3, 4, 5, 6, 7, 8, 1], ""),
        (range(1, 13), "ascending"),  # as text, 10 would come before 2
        (range(1, 9), ""),
        ([1], ""),
    ],
)
def test_serial_numbers_are_not_random_keys(keys, order, kind):
    table = pl.DataFrame({"id": pl.Series(list(keys)).cast(kind)})
    found = RandomKeys("id").judge(Evidence(table, ("id",)))
    assert found.is_permutation
    assert (found.order, found.satisfied) == (order, not order)
    if order:
        assert found.verdict == (
            f"'id' holds the numbers from 1 to {len(table)} in {order} order, as serial numbers in "
            "the original order would be, so it may identify records"
        )


@pytest.mark.parametrize(
    ("keys", "match"),
    [(range(1, N + 1), "in ascending order"), (range(N), "does not hold each number")],
)
def test_the_keys_of_a_release_are_judged(monkeypatch, keys, match):
    monkeypatch.setattr(
        "microagg.release.verification.random_keys", lambda *_: pl.Series("name", list(keys))
    )
    with pytest.raises(GuaranteeError, match=rf"{match}.*; nothing was released"):
        protect(PEOPLE, plan=PLAN)


def test_a_key_that_replaces_the_index():
    table = PEOPLE.to_pandas().set_index("name")
    assert protect(table, plan=PLAN).manifest.key == "name"
