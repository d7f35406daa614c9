"""Releases whose records draw a centre: what they say, what they promise, what strict_k keeps."""

import json

import numpy as np
import polars as pl
import pytest

from microagg import compare, protect
from microagg.core.errors import DataError, ParameterError, PrivacyWarning

RNG = np.random.default_rng(0)
N = 120
TABLE = pl.DataFrame({"a": RNG.normal(size=N), "b": RNG.integers(0, 99, N)})
METHODS = ["fcm", "efcm"]
FLAT = {"fcm": {"m2": 1e12}, "efcm": {"lambda2": 0.0}}

# Most draws here promise nothing, and say so.
pytestmark = pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")


def distinct(table):
    return table.group_by(table.columns).len()["len"].to_numpy()


@pytest.mark.parametrize("method", METHODS)
def test_every_record_gets_a_centre_and_the_manifest_counts_them(method):
    with pytest.warns(PrivacyWarning, match=f"'{method}' draws values at random and does not"):
        release = protect(TABLE, 5, method=method, random_state=3)
    assert "promises nothing" in repr(release)
    facts, draw = release.manifest, release.manifest.draw
    assert release.table.schema == TABLE.schema
    assert draw.n_centers == len(draw.expected_sizes) == len(draw.realised_sizes) <= 24
    assert sum(draw.expected_sizes) == pytest.approx(N)
    realised = np.bincount(release.labels, minlength=draw.n_centers)
    assert draw.realised_sizes == tuple(realised.tolist())
    assert draw.n_realised_below_k == np.count_nonzero(realised[realised > 0] < 5)
    expected = np.array(draw.expected_sizes)
    assert draw.n_expected_below_k == np.count_nonzero(expected < 5 * (1 - 1e-9))
    assert facts.random_state == 3
    assert list(draw.fuzziness) == (["m1", "m2"] if method == "fcm" else ["lambda1", "lambda2"])
    assert all(value > 0 for value in draw.fuzziness.values())
    assert 0 < draw.doubt < np.log2(draw.n_centers)
    assert facts.smallest_class == distinct(release.table).min()
    json.dumps(facts.as_dict())


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_draws_the_same_and_another_does_not(method):
    first, same, other = (
        protect(TABLE, 5, method=method, random_state=seed).labels.tolist() for seed in (1, 1, 2)
    )
    assert first == same != other


@pytest.mark.parametrize("method", METHODS)
def test_the_loss_is_that_of_the_drawn_centres(method):
    floats = TABLE.with_columns(pl.col("b") + 0.25)  # whole numbers are rounded
    release = protect(floats, 5, method=method, random_state=0, digits="all")
    original, released = floats.to_numpy(), release.table.to_numpy()
    spread = original.std(axis=0, ddof=1)
    lost = (((original - released) / spread) ** 2).sum()
    total = (((original - original.mean(axis=0)) / spread) ** 2).sum()
    assert release.information_loss == pytest.approx(100 * lost / total, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_strict_k_keeps_k_and_says_so(method):
    release = protect(TABLE, 5, method=method, strict_k=True, random_state=0)
    assert distinct(release.table).min() >= 5
    assert release.manifest.promise == "k-anonymity"
    assert release.manifest.draw.n_realised_below_k == 0


@pytest.mark.parametrize("method", METHODS)
def test_probabilistic_k_anonymity_is_promised_only_where_every_centre_expects_k(method):
    near = protect(TABLE, 5, method=method, random_state=0).manifest.as_dict()
    assert near["draw"]["n_expected_below_k"] > 0
    assert near["promise"] == "none"
    assert "anonymity" not in json.dumps(near)
    flat = protect(
        TABLE, 5, method=method, method_options=FLAT[method], random_state=0
    ).manifest.as_dict()
    assert flat["draw"]["n_expected_below_k"] == 0
    assert flat["promise"] == "probabilistic k-anonymity"
    few = protect(
        TABLE, 5, method=method, method_options={**FLAT[method], "n_clusters": 10}, random_state=0
    ).manifest.as_dict()
    assert few["promise"] == "probabilistic k-anonymity"
    assert few["draw"]["n_expected_below_k"] == 0


def test_strict_k_is_for_draws_only():
    with pytest.raises(ParameterError, match="'auto' guarantees k anyway"):
        protect(TABLE, 5, strict_k=True)
    with pytest.raises(ParameterError, match="strict_k must be True or False"):
        protect(TABLE, 5, method="fcm", strict_k="yes")


@pytest.mark.parametrize("option", ["constraints", "strict_k", "initial_centers"])
def test_what_is_given_elsewhere_is_no_option(option):
    with pytest.raises(ParameterError, match=f"{option} is not an option of a method"):
        protect(TABLE, 5, method="fcm", method_options={option: None})


@pytest.mark.slow
def test_draws_are_compared_when_they_are_named():
    found = compare(TABLE, 5, ["mdav", "fcm"], random_state=3)
    assert all(row.error is None for row in found)
    loss = protect(TABLE, 5, method="fcm", random_state=3).information_loss
    assert [row.information_loss for row in found if row.method == "fcm"] == [loss]
    assert "fcm" not in {row.method for row in compare(TABLE, 5, "all", random_state=3)}


def test_groups_that_were_drawn_are_no_start_for_other_methods():
    with pytest.raises(ParameterError, match="initial must be one of"):
        protect(TABLE, 5, method="icsm", method_options={"initial": "fcm"})


def test_a_huge_lambda_is_recorded_as_it_was_given():
    huge = pl.DataFrame({"a": RNG.normal(size=N) * 1e10})
    options = {"lambda1": 1e300, "lambda2": 1e300}
    release = protect(huge, 5, method="efcm", scale="none", method_options=options, random_state=0)
    assert release.manifest.draw.fuzziness == options
    assert json.dumps(release.manifest.as_dict(), allow_nan=False)


@pytest.mark.parametrize("strict_k", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_constraints_beyond_all_records_are_refused(method, strict_k):
    tiny = pl.DataFrame({"c0": [1e-310, 0.0]})
    with pytest.raises(DataError, match="too far from the records to compare"):
        protect(tiny, 2, method=method, strict_k=strict_k, constraints=["c0 = 2"], random_state=0)
