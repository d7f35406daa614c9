"""A record of weight 3 is three records: weights release what the table spelled out would."""

import numpy as np
import polars as pl
import pytest
from pandas.testing import assert_frame_equal

from microagg import protect
from tests.fakes import fakes as fakes

KINDS = {
    "mean": {"height": {}, "age": {}, "born": {}},
    "median": {name: {"aggregate": "median"} for name in ("height", "age", "born")},
    "mode": {
        "school": {"order": ["none", "some", "high"], "aggregate": "mode"},
        "city": {},
        "works": {},
    },
    "lower median": {"school": {"order": ["none", "some", "high"]}},
}


def table_of(rng: np.random.Generator, n: int, share: float) -> pl.DataFrame:
    table = pl.DataFrame(
        {
            "height": rng.normal(170, 10, n).round(1),
            "age": rng.integers(0, 6, n),
            "born": pl.Series(rng.integers(-9000, 9000, n), dtype=pl.Int32).cast(pl.Date),
            "school": rng.choice(["none", "some", "high"], n),
            "city": rng.choice(["Aachen", "Bonn", "Celle", "Düren"], n),
            "works": rng.random(n) < 0.5,
            "weight": rng.integers(1, 5, n),
        }
    )
    gaps = {name: pl.Series(rng.random(n) < share) for name in table.columns[:-1]}
    return table.with_columns(
        pl.when(~gone).then(pl.col(name)).alias(name) for name, gone in gaps.items()
    )


def released(table, labels, columns, **options):
    said = {name: {"role": "quasi-identifier", **more} for name, more in columns.items()}
    others = [name for name in table.columns if name not in columns and name != "weight"]
    return protect(
        table,
        1,
        columns=said,
        identifiers=others,
        method="shuffled",
        method_options={"initial": labels},
        **options,
    )


def both(rng, n, columns, share, **options):
    """The release with weights, record by record as often as it counts, and the other one."""
    table = table_of(rng, n, share)
    labels = rng.integers(0, max(1, n // 4), n)
    labels = np.unique(labels, return_inverse=True)[1]
    again = np.repeat(np.arange(n), table["weight"].to_numpy())
    weighted = released(table, labels, columns, weights="weight", **options)
    spelled_out = table[again].drop("weight")
    repeated = released(spelled_out, labels[again], columns, **options)
    return weighted, weighted.table.drop("weight")[again], repeated


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("missing", ["error", "value", "impute"])
@pytest.mark.parametrize("columns", KINDS.values(), ids=KINDS)
@pytest.mark.slow
def test_weights_count_as_repeated_records(columns, missing):
    rng = np.random.default_rng(11)
    for n in [2, 5, *[30] * 15]:
        share = 0.0 if missing == "error" else 0.25 if n == 30 else 0.1
        weighted, shown, repeated = both(rng, n, columns, share, missing=missing)
        # Tolerances have different names in different versions of polars.
        before, after = shown.to_pandas(), repeated.table.to_pandas()
        assert_frame_equal(before, after, rtol=1e-12, atol=0.0)
        if share == 0.0:
            assert weighted.information_loss == pytest.approx(repeated.information_loss, rel=1e-9)


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("scale", ["standardise", "robust", "rank", "log"])
def test_scales_count_weights_as_repeated_records(scale):
    rng = np.random.default_rng(12)
    for _ in range(10):
        weighted, _, repeated = both(rng, 30, KINDS["mean"], 0.0, scale=scale)
        assert weighted.information_loss == pytest.approx(repeated.information_loss, rel=1e-9)


@pytest.mark.usefixtures("fakes")
def test_means_that_are_halves_are_rounded_as_if_spelled_out():
    rng = np.random.default_rng(13)
    for _ in range(40):
        _, shown, repeated = both(rng, 40, {"age": {}}, 0.0)
        assert shown.equals(repeated.table)
