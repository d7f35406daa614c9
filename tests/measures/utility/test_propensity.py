"""Telling released records from original ones."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

from microagg.measures.utility.propensity import propensity
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(4)


def pair_of(X, Z):
    names = [f"x{i}" for i in range(X.shape[1])]
    return open_pair(
        pl.DataFrame(X, schema=names), pl.DataFrame(Z, schema=names), quasi_identifiers=names
    )


def test_by_maximising_the_likelihood():
    X = RNG.normal(size=(80, 2))
    Z = 0.7 * X + 0.4
    S = np.vstack((X, Z)) - X.mean(axis=0)
    design = np.column_stack((np.ones(160), S, S**2))
    t = np.repeat([0, 1], 80)

    def loss(b):
        return np.logaddexp(0, design @ b).sum() - t @ (design @ b)

    p = 1 / (1 + np.exp(-design @ minimize(loss, np.zeros(5), options={"gtol": 1e-9}).x))
    result = propensity(pair_of(X, Z))
    assert result.pmse == pytest.approx(np.mean((p - 0.5) ** 2), rel=1e-4)
    assert result.n_parameters == 5
    assert result.expected == pytest.approx(4 * 0.5**2 * 0.5 / 160)
    assert result.standard_deviation == pytest.approx(np.sqrt(8) * 0.125 / 160)
    assert result.ratio == pytest.approx(result.pmse / result.expected)
    assert result.converged


def test_the_ends_of_the_scale():
    X = RNG.normal(size=(200, 3))
    assert propensity(pair_of(X, X)).pmse == pytest.approx(0, abs=1e-12)
    apart = propensity(pair_of(X, X + 20))
    assert apart.pmse == pytest.approx(0.25, abs=1e-4)


@pytest.mark.slow
def test_the_null_of_the_paper_and_that_of_two_samples():
    """Data drawn from the model fitted to the original: ratio 1. Two samples of one law: 2."""
    fitted, drawn = [], []
    for _ in range(150):
        x = RNG.normal(size=(100, 1))
        fitted.append(propensity(pair_of(x, RNG.normal(x.mean(), x.std(), (100, 1)))).ratio)
        drawn.append(propensity(pair_of(x, RNG.normal(size=(100, 1)))).ratio)
    assert np.mean(fitted) == pytest.approx(1, abs=0.25)
    assert np.mean(drawn) == pytest.approx(2, abs=0.45)


def test_means_of_groups_are_seen_by_their_smaller_variance():
    x = np.sort(RNG.normal(size=3000))
    fine, coarse = (x.reshape(-1, k).mean(axis=1).repeat(k)[:, None] for k in (3, 1000))
    assert propensity(pair_of(x[:, None], fine)).pmse < 1e-6
    assert propensity(pair_of(x[:, None], coarse)).pmse > 1e-4


def test_what_depends_on_others_is_no_parameter():
    X = RNG.normal(size=(60, 1))
    assert (
        propensity(pair_of(np.hstack((X, 2 * X + 1)), np.hstack((X, 2 * X + 1)))).n_parameters == 3
    )
    flags = RNG.integers(0, 2, (60, 1))
    assert propensity(pair_of(flags, 1 - flags)).n_parameters == 2


def test_categories_and_missing_values_tell_tables_apart():
    n = 300
    before = pl.DataFrame({"c": RNG.choice(list("abc"), n), "x": RNG.normal(size=n)})
    swapped = before.with_columns(c=before["c"].replace("a", "b"))
    gone = before.with_columns(x=pl.when(pl.col("c") == "a").then(None).otherwise(pl.col("x")))
    for after in (swapped, gone):
        result = propensity(open_pair(before, after, quasi_identifiers=["c", "x"]))
        assert result.standardised > 5
    rare = pl.DataFrame({"c": [f"v{i}" for i in range(n)]})
    assert propensity(open_pair(rare, rare)).n_parameters == 1


def test_two_indicators_by_hand():
    """Released are 1 of 4 with a, before 3 of 4: p is the share of released among equal ones."""
    before, after = pl.DataFrame({"c": list("aaab")}), pl.DataFrame({"c": list("abbb")})
    assert propensity(open_pair(before, after)).pmse == pytest.approx(0.25**2, rel=1e-5)


@pytest.mark.parametrize("values", [[1.0, 1.0], [None, None], [0.0, 1.0], ["a", "b"]])
def test_tiny_tables(values):
    table = pl.DataFrame({"x": pl.Series(values, dtype=None if values[0] else pl.Float64)})
    result = propensity(open_pair(table, table))
    assert result.pmse == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_a_sample_is_seeded_and_says_so():
    X = RNG.normal(size=(4000, 2))
    pair = pair_of(X, 0.6 * X)
    full = propensity(pair)
    assert (full.n_sampled, full.sampling_error) == (4000, None)
    samples = [propensity(pair, most_records=500, seed=seed) for seed in range(40)]
    assert samples[0] == propensity(pair, most_records=500, seed=0)
    assert {sample.n_sampled for sample in samples} == {500}
    spread = np.std([sample.pmse for sample in samples])
    assert np.mean([sample.sampling_error for sample in samples]) == pytest.approx(spread, rel=0.3)
    assert np.mean([s.pmse for s in samples]) == pytest.approx(full.pmse, rel=0.15)
