"""Keys, requirements and units of random small datasets: the same bytes on every engine.

What was promised is counted on the finished folder, by hand.
"""

import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import protect_dataset
from microagg.scale import protect
from microagg.scale.checks import checking
from microagg.scale.sources import spans
from microagg.scale.steps import names
from tests.scale.datasets import digests, farthest, read_files, sizes_of_classes, write_files

pytestmark = pytest.mark.slow
ENGINES = ("one thread", "processes", "Dask")
SHOWN = ["x", "y", "kind", "area"]


@pytest.fixture(scope="module")
def engines():
    """One of each, for all cases: workers take seconds to start."""
    with ExitStack() as stack:
        found = {
            "one thread": stack.enter_context(ThreadPoolExecutor(1)),
            "processes": stack.enter_context(ProcessPoolExecutor(2, get_context("spawn"))),
        }
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            pass
        else:
            cluster = LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            )
            found["Dask"] = stack.enter_context(Client(stack.enter_context(cluster)))
        yield found


@st.composite
def cases(draw):
    n = draw(st.integers(60, 350))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.normal(size=n).round(3)
    sick = rng.choice(["flu", "cold", "none"], n)
    if draw(st.booleans()):  # what is sensitive goes with what is shown
        sick = np.where(x < -0.4, "flu", np.where(x < 0.4, "cold", "none"))
    table = pl.DataFrame(
        {
            "name": [f"n{at}" for at in rng.permutation(n)],
            "x": x,
            "y": rng.integers(0, 50, n),
            "kind": rng.choice(["a", "b", "c"], n),
            "area": rng.integers(0, draw(st.integers(1, 6)), n),
            "sick": sick,
            "grade": np.clip(np.round(x * 2 + rng.normal(size=n)), -3, 3),
            "person": rng.integers(0, max(8, n // 3), n),
        }
    )
    asked = {
        "k": draw(st.integers(2, 4)),
        "quasi_identifiers": ["x", "y", "kind"],
        "sensitive": ["sick", "grade"],
        "method": draw(st.sampled_from(["mdav", "auto"])),
    }
    if asked["method"] == "auto":
        asked |= {"effort": "fast", "random_state": 1}
    if draw(st.booleans()):
        asked |= {"unit": "person", "drop": "name", "strata": "area", "small_strata": "merge"}
    else:
        asked |= {"identifiers": "name", "keep_key": True, "drop": "person", "publish": "area"}
        wanted = draw(st.sampled_from(["sick", "grade", "both", "none"]))
        asked["t_closeness"] = {
            name: draw(st.sampled_from([0.25, 0.4]))
            for name in ("sick", "grade")
            if wanted in (name, "both")
        }
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=3)))
    sizes = {name: draw(st.integers(10, 90)) for name in ("region", "part", "rows")}
    return table, asked, cuts, sizes


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
@settings(max_examples=12, deadline=None)
@given(case=cases(), engine=st.sampled_from(ENGINES))
def test_each_engine_gives_the_same_bytes(engines, case, engine):
    if engine not in engines:
        pytest.skip("Dask is not installed")
    with tempfile.TemporaryDirectory() as name:
        check_case(Path(name), case, engines[engine])


def check_case(folder, case, engine):
    """Protect a dataset twice, on threads and on an engine, and check what became of it."""
    table, asked, cuts, sizes = case
    source = write_files(table, folder / "in", cuts, rows=sizes["rows"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protect, "REGION_RECORDS", sizes["region"])
        patch.setattr(spans, "PART_ROWS", sizes["part"])
        patch.setattr(checking, "BUCKET_ROWS", sizes["region"])
        patch.setattr(names, "_BUCKET", sizes["part"])
        patch.setattr(protect, "new_secret", lambda: b"one for all runs of this case")
        protect_dataset(source, folder / "out", **asked)
        protect_dataset(source, folder / "again", engine=engine, **asked)
    assert digests(folder / "out") == digests(folder / "again")
    check(table, read_files(folder / "out"), asked)


def check(before, after, asked):
    """Count everything that was asked for."""
    k = asked["k"]
    combination = SHOWN if "strata" in asked else SHOWN[:3]
    assert sizes_of_classes(after, combination)[0] >= k
    for name in asked["sensitive"]:
        assert after[name].to_list() == before[name].to_list()
    if "keep_key" in asked:
        assert sorted(after["name"]) == list(range(1, len(before) + 1))
        assert after["name"].to_list() != sorted(after["name"])
        assert after["name"].to_list() != sorted(after["name"], reverse=True)
        assert after.columns == [name for name in before.columns if name != "person"]
    else:
        whom: dict[tuple, set] = {}
        for shown, person in zip(after.select(combination).rows(), before["person"], strict=True):
            whom.setdefault(shown, set()).add(person)
        assert min(map(len, whom.values())) >= k
    for name, t in asked.get("t_closeness", {}).items():
        assert farthest(after, name, combination, ordered=name == "grade") <= t + 1e-9
