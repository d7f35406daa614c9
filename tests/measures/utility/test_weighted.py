"""A record of weight 3 counts as three records in every figure that describes the population."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from microagg.measures.utility.distributions import distributions
from microagg.measures.utility.moments import moments
from microagg.measures.utility.weighted import quantiles, ranks, shares_below
from microagg.measures.utility.wording import category_rows, distribution_rows, moment_rows
from microagg.tables.matching import open_pair


def tables(seed, n=60, share=0.15):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    before = pl.DataFrame(
        {
            "x": x.round(2),
            "y": (x + y).round(2),
            "z": rng.integers(0, 30, n),
            "c": rng.choice(list("abc"), n),
            "w": rng.integers(1, 6, n),
        }
    )
    after = before.with_columns(
        x=pl.Series(x.round(0)),
        y=pl.Series((y + rng.normal(size=n)).round(1)),
        z=pl.Series(rng.integers(0, 25, n)),
        c=pl.Series(rng.choice(list("abc"), n)),
    )
    gone = pl.Series(rng.random(n) < share)
    before = before.with_columns(x=pl.when(~gone).then(pl.col("x")))
    return before, after


def paired(before, after, weights=None):
    types = {"z": "integer", "c": "nominal"}
    from microagg.tables.columns import ColumnOptions, ColumnType

    options = {name: ColumnOptions(type=ColumnType(kind)) for name, kind in types.items()}
    return open_pair(
        before, after, quasi_identifiers=["x", "y", "z", "c"], column_options=options,
        weights=weights,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_weights_count_as_repeated_records(seed):
    before, after = tables(seed)
    again = np.repeat(np.arange(len(before)), before["w"].to_numpy())
    weighted, spelled_out = paired(before, after, "w"), paired(before[again], after[again])
    n, m = len(before), len(again)
    found, expected = moments(weighted), moments(spelled_out)
    for name, own in found.columns.items():
        other = expected.columns[name]
        assert own.mean_before == pytest.approx(other.mean_before)
        assert own.mean_after == pytest.approx(other.mean_after)
        # Deviations have n - 1 records in the denominator, not their weights.
        counts = [
            (k / (k - 1)) / (r / (r - 1))
            for k, r in ((own.n_before, other.n_before), (own.n_after, other.n_after))
        ]
        assert own.variance_before == pytest.approx(other.variance_before * counts[0])
        assert own.variance_after == pytest.approx(other.variance_after * counts[1])
    assert n < m
    for kind in ("pearson", "spearman"):
        own, other = getattr(found, kind), getattr(expected, kind)
        assert own.mean == pytest.approx(other.mean)
        assert own.largest == pytest.approx(other.largest)
        assert own.most_changed == other.most_changed
    own, other = distributions(weighted), distributions(spelled_out)
    assert own.largest_kolmogorov_smirnov == pytest.approx(other.largest_kolmogorov_smirnov)
    assert own.largest_total_variation == pytest.approx(other.largest_total_variation)
    for name in ("x", "y", "z"):
        ratio = expected.columns[name].sd_before / found.columns[name].sd_before
        assert own.columns[name].wasserstein == pytest.approx(
            other.columns[name].wasserstein * ratio
        )


def test_figures_are_those_of_a_few_plain_lines():
    before, after = tables(9, share=0.0)
    w = before["w"].to_numpy().astype(float)
    x, z = before["x"].to_numpy(), after["x"].to_numpy()
    found = moments(paired(before, after, "w"))
    own = found.columns["x"]
    mean = (w * x).sum() / w.sum()
    sd = np.sqrt((w * (x - mean) ** 2).sum() / w.sum() * len(x) / (len(x) - 1))
    assert (own.mean_before, own.sd_before) == pytest.approx((mean, sd))
    assert own.mean_change == pytest.approx(((w * z).sum() / w.sum() - mean) / sd)
    cov = np.cov(np.stack([x, before["y"].to_numpy()]), aweights=w)
    r_before = cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1])
    cov = np.cov(np.stack([z, after["y"].to_numpy()]), aweights=w)
    r_after = cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1])
    if found.pearson.most_changed == ("x", "y"):
        assert (found.pearson.before, found.pearson.after) == pytest.approx((r_before, r_after))
    assert found.pearson.largest >= abs(r_after - r_before) - 1e-12
    distance = stats.wasserstein_distance(x, z, w, w) / sd
    shown = distributions(paired(before, after, "w")).columns["x"]
    assert shown.wasserstein == pytest.approx(distance)


@pytest.mark.parametrize("weight", [1, 7, 0.001])
def test_equal_weights_change_nothing(weight):
    before, after = (t.with_columns(w=pl.lit(float(weight))) for t in tables(5))
    plain, weighted = paired(before, after), paired(before, after, "w")
    one, other = moments(plain), moments(weighted)
    for name, own in one.columns.items():
        found = other.columns[name]
        assert found.sd_before == pytest.approx(own.sd_before)
        assert found.quantiles_before == pytest.approx(own.quantiles_before)
        assert found.largest_quantile_change == pytest.approx(own.largest_quantile_change)
    assert other.spearman.largest == pytest.approx(one.spearman.largest)
    assert distributions(weighted).largest_wasserstein == pytest.approx(
        distributions(plain).largest_wasserstein
    )


def test_rows_say_that_they_are_weighted():
    before, after = tables(2)
    for weights, suffix in (("w", " (weighted)"), (None, "")):
        pair = paired(before, after, weights)
        found = distributions(pair)
        rows = [*moment_rows(moments(pair)), *distribution_rows(found), *category_rows(found)]
        assert {row.measure for row in rows} == {
            f"{name}{suffix}"
            for name in (
                "means", "variances", "correlations", "Kolmogorov-Smirnov", "Wasserstein",
                "total variation",
            )
        }  # fmt: skip


def test_quantiles_and_ranks():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=40), rng.lognormal(size=40)
    shares = [0.0, 0.05, 0.5, 1.0]
    assert quantiles(values, np.ones(40), shares) == pytest.approx(np.quantile(values, shares))
    found = quantiles(values, weights, shares)
    assert (found[0], found[-1]) == (values.min(), values.max())
    assert quantiles(values, 100 * weights, shares) == pytest.approx(found)
    order = rng.permutation(40)
    assert quantiles(values[order], weights[order], shares) == pytest.approx(found)
    # Weights pull the median to where they are.
    assert quantiles(values, np.exp(5 * values), [0.5]) > np.median(values) + 0.5
    assert shares_below(np.array([3.0])).tolist() == [0.0]
    tied = np.array([2.0, 1.0, 2.0, 5.0])
    assert ranks(tied, np.ones(4)) + 0.5 == pytest.approx(stats.rankdata(tied))
