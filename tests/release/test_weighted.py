"""A record of weight 3 is three records: weights release what the table spelled out would."""

import numpy as np
import polars as pl
import pytest
from pandas.testing import assert_frame_equal

from microagg import protect
from microagg.core.errors import DataError
from tests.fakes import fakes as fakes

WHOLE = {"type": "integer"}  # few values: not codes
KINDS = {
    "mean": {"height": {}, "age": WHOLE, "born": {}},
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
        drop=others,
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


@pytest.mark.slow
@pytest.mark.usefixtures("fakes")
def test_means_that_are_halves_are_rounded_as_if_spelled_out():
    rng = np.random.default_rng(13)
    for _ in range(40):
        _, shown, repeated = both(rng, 40, {"age": WHOLE}, 0.0)
        assert shown.equals(repeated.table)


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("constraints", [(), ("height >= 171",)])
def test_squared_errors_are_those_of_repeated_records(constraints):
    rng = np.random.default_rng(14)
    for _ in range(5):
        options = {"scale": "none", "constraints": constraints}
        weighted, _, repeated = both(rng, 30, {"height": {}, "age": WHOLE}, 0.0, **options)
        assert weighted.manifest.sse == pytest.approx(repeated.manifest.sse, rel=1e-9)
        assert weighted.manifest.sst == pytest.approx(repeated.manifest.sst, rel=1e-9)
        if constraints:
            added, expected = (
                one.manifest.constraints.added_information_loss for one in (weighted, repeated)
            )
            assert added == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("factor", [1e-60, 0.3, 1.0, 7.0, 1e60])
def test_errors_are_in_units_of_the_weights_and_the_loss_is_not(factor):
    rng = np.random.default_rng(15)
    table = pl.DataFrame({"x": rng.normal(size=20), "y": rng.normal(size=20)})
    weights = rng.uniform(1, 9, 20)
    one, two = (
        protect(table.with_columns(w=weights * f), 3, weights="w", method="mdav")
        for f in (1.0, factor)
    )
    assert two.manifest.sse == pytest.approx(factor * one.manifest.sse)
    assert two.manifest.sst == pytest.approx(factor * one.manifest.sst)
    assert two.information_loss == pytest.approx(one.information_loss)
    means = [one.table[name].to_numpy() for name in ("x", "y")]
    by_hand = sum(
        weights @ np.square(table[n].to_numpy() - m) / scale**2
        for n, m, scale in zip(("x", "y"), means, _deviations(table, weights), strict=True)
    )
    assert one.manifest.sse == pytest.approx(by_hand)


def _deviations(table, weights):
    """Weighted standard deviations with ddof = 1, in records."""
    n = len(weights)
    for name in table.columns:
        values = table[name].to_numpy()
        variance = np.cov(values, aweights=weights, ddof=0)
        yield np.sqrt(variance * n / (n - 1))


@pytest.mark.parametrize(
    ("value", "weight", "message"),
    [
        (1.0, 1e200, "from 1e-100 to 1e"),
        (1.0, 1e-200, "from 1e-100 to 1e"),
        (1e124, 1e99, "add up"),
    ],
)
def test_weights_beyond_what_sums_can_hold(value, weight, message):
    table = pl.DataFrame({"x": [value, -value, value, -value], "w": [weight] * 4})
    with pytest.raises(DataError, match=message):
        protect(table, 2, weights="w", scale="none", method="mdav")
