"""Random small datasets in random files: the promise is counted on the finished folder."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from microagg import protect_dataset
from microagg.scale import protect
from microagg.scale.checks import checking
from microagg.scale.sources import spans
from microagg.scale.steps import names
from tests.scale.datasets import digests, read_files, sizes_of_classes, write_files

SCALES = ["standardise", "robust", "rank", "log", "none"]


@st.composite
def cases(draw):
    n = draw(st.integers(20, 400))
    k = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    few = draw(st.booleans())  # many equal records
    columns = {
        "z": np.round(rng.normal(size=n), 0) if few else rng.normal(size=n),
        "price": rng.lognormal(3.0, 1.0, n).round(2),
        "count": rng.integers(0, draw(st.sampled_from([3, 1000])), n),
        "kind": rng.choice(["a", "b", "c", "d"], n),
        "flag": rng.random(n) < 0.3,
        "told": rng.choice(["x", "y"], n),
        "area": rng.integers(0, draw(st.integers(1, 3)), n),
        "weight": rng.integers(1, 5, n).astype(float),
    }
    table = pl.DataFrame(columns)
    asked = {
        "k": k,
        "quasi_identifiers": ["kind", "flag"],
        "sensitive": "told",
        "strata": "area",
        "small_strata": "merge",
        "scale": draw(st.sampled_from(SCALES)),
        "method": draw(st.sampled_from(["mdav", "auto", "v-mdav"])),
    }
    if asked["method"] == "auto":
        asked |= {"effort": "fast", "random_state": 1}
    if draw(st.booleans()):
        holes = pl.Series(rng.random(n) < 0.15)
        table = table.with_columns(
            pl.when(holes).then(None).otherwise(name).alias(name) for name in ("price", "kind")
        )
        asked["missing"] = draw(st.sampled_from(["value", "impute"]))
    if draw(st.booleans()):
        asked["weights"] = "weight"
    else:
        asked["publish"] = "weight"
    n_cuts = draw(st.integers(0, 4))
    cuts = sorted(draw(st.lists(st.integers(0, n), min_size=n_cuts, max_size=n_cuts)))
    sizes = {
        "region": draw(st.integers(10, 80)),
        "part": draw(st.integers(5, 100)),
        "rows": draw(st.integers(1, 60)),
    }
    return table, asked, cuts, sizes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
@settings(max_examples=25)
@given(case=cases(), again=st.booleans())
def test_the_promise_holds_for_the_folder(case, again):
    table, asked, cuts, sizes = case
    folder = Path(tempfile.mkdtemp())
    source = write_files(table, folder / "in", cuts, rows=sizes["rows"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protect, "REGION_RECORDS", sizes["region"])
        patch.setattr(spans, "PART_ROWS", sizes["part"])
        patch.setattr(checking, "BUCKET_ROWS", sizes["region"])
        patch.setattr(names, "_BUCKET", sizes["part"])
        done = protect_dataset(source, folder / "out", **asked)
        if again:
            protect_dataset(source, folder / "again", memory="1GB", **asked)
            assert digests(folder / "out") == digests(folder / "again")
    after = read_files(folder / "out")
    shown = [*done.quasi_identifiers, "area"]
    assert sizes_of_classes(after, shown)[0] >= asked["k"]
    assert after["told"].to_list() == table["told"].to_list()
    assert after["weight"].to_list() == table["weight"].to_list()
    assert after.schema == table.schema
    check_means(table, after, shown, weighted="weights" in asked)
    check_loss(table, after, done, asked)


def check_means(before, after, shown, *, weighted):
    """Records that are released alike have the mean of what they were, as nothing was rounded."""
    if (before["z"] == before["z"].round(0)).all():
        return
    weight = before["weight"] if weighted else pl.Series(np.ones(len(before)))
    both = after.select(shown).with_columns(was=before["z"] * weight, by=weight)
    means = both.group_by(shown).agg((pl.col("was").sum() / pl.col("by").sum()).alias("mean"))
    assert (means["mean"] - means["z"]).abs().max() < 1e-9


def check_loss(before, after, done, asked):
    """The loss is that of all rows together, as `measure` finds it."""
    columns = {name: {"type": str(own.type)} for name, own in done.columns.items()}
    found = microagg.measure(
        before,
        after,
        quasi_identifiers=list(done.quasi_identifiers),
        sensitive=["told"],
        weights=asked.get("weights"),
        columns=columns,
    ).utility.loss
    assert done.information_loss == pytest.approx(found.information_loss, rel=1e-9, abs=1e-9)
