"""Weighted figures in the report, recomputed with a few plain lines."""

import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from microagg import protect
from microagg.report.correlations import correlations_of
from microagg.report.guarded import is_dominated, safe_quantile
from microagg.report.summaries import summary_of
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(4)
N = 400
SEX = RNG.choice(["f", "m"], N)
TABLE = pl.DataFrame(
    {
        "sex": SEX,
        "height": np.where(SEX == "f", 165.0, 178.0) + RNG.normal(0, 7, N).round(1),
        "income": (RNG.lognormal(8, 0.3, N)).round(2),
        "w": np.where(SEX == "f", 3.0, 1.0) * RNG.integers(1, 4, N),
    }
)
RELEASE = protect(
    TABLE, 5, quasi_identifiers=["sex", "height", "income"], weights="w", method="mdav"
)
W = TABLE["w"].to_numpy()


@pytest.fixture(scope="module")
def pair():
    return open_pair(
        TABLE, RELEASE.table, quasi_identifiers=["sex", "height", "income"], weights="w"
    )


def number(text):
    return float(text.replace(",", ""))


def test_means_and_deviations(pair):
    lines = {
        line.name: line
        for line in summary_of(pair.columns["height"], 5, public=False, weights=W).lines
    }
    for side, table in (("before", TABLE), ("after", RELEASE.table)):
        x = table["height"].to_numpy()
        mean = (W * x).sum() / W.sum()
        deviation = np.sqrt((W * (x - mean) ** 2).sum() / W.sum() * N / (N - 1))
        assert number(getattr(lines["mean"], side)) == pytest.approx(mean, abs=0.006)
        shown = number(getattr(lines["standard deviation"], side))
        assert shown == pytest.approx(deviation, abs=0.006)
        assert abs(x.mean() - mean) > 1  # weights matter here
        order = np.argsort(x)
        half = np.searchsorted(W[order].cumsum(), W.sum() / 2)
        assert number(getattr(lines["median"], side)) == pytest.approx(x[order][half], abs=0.6)


def test_shares_of_categories_and_bins(pair):
    bars = summary_of(pair.columns["sex"], 5, public=False, weights=W).figure
    assert bars.names == ("f", "m")
    assert bars.before[0] == pytest.approx(W[SEX == "f"].sum() / W.sum())
    assert bars.after[1] == pytest.approx(W[RELEASE.table["sex"].to_numpy() == "m"].sum() / W.sum())
    found = summary_of(pair.columns["height"], 5, public=False, weights=W).figure
    limits = [-np.inf, *found.edges, np.inf]
    for shares, table in ((found.before, TABLE), (found.after, RELEASE.table)):
        x = table["height"].to_numpy()
        held = [W[(x >= a) & (x < b)].sum() / W.sum() for a, b in pairwise(limits)]
        assert shares == pytest.approx(held)


def test_correlations(pair):
    found = correlations_of(list(pair.columns.values()), 5, public=False, weights=W)
    assert found.names == ("height", "income")
    for matrix, table in ((found.before, TABLE), (found.after, RELEASE.table)):
        cov = np.cov(table.select("height", "income").to_numpy().T, aweights=W)
        assert matrix[0, 1] == pytest.approx(cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]))


@pytest.mark.slow
def test_the_page_says_so_and_shows_the_risk_in_the_population(tmp_path):
    internal = RELEASE.report(tmp_path / "r.html").read_text()
    public = RELEASE.report(tmp_path / "p.html", public=True).read_text()
    for page in (internal, public):
        assert "Records have weights (w)" in page
        assert "are weighted (w)" in page
        assert "expected re-identifications" in page
    assert "means (weighted)" in internal
    assert "Figures marked “weighted”" in internal
    assert "before protection" in internal
    assert "before protection" not in public
    plain = protect(TABLE.drop("w"), 5, quasi_identifiers=["sex", "height", "income"])
    page = plain.report(tmp_path / "q.html").read_text()
    assert not re.search("weighted|re-identif", page)


def test_few_large_weights_hide_what_they_would_tell():
    values, weights = np.arange(100.0), np.ones(100)
    assert not is_dominated(values, 5, weights)
    weights[50] = 1000.0  # the mean would be this record's value
    assert is_dominated(values, 5, weights)
    far = np.append([-63.0, -62.0, -61.0, -60.0], values)
    assert not is_dominated(far, 5, np.ones(104))
    assert is_dominated(far, 5, np.append([5.0] * 4, np.ones(100)))  # most of the squares


def test_a_quantile_is_the_plain_mean_of_neighbours_at_a_weighted_place():
    values, weights = np.arange(101.0), np.ones(101)
    assert safe_quantile(values, 0.5, 5, weights) == pytest.approx(50.0)
    weights[80:] = 10.0
    found = safe_quantile(values, 0.5, 5, weights)
    middle = np.searchsorted(weights.cumsum(), weights.sum() / 2)
    assert found == pytest.approx(middle, abs=1)
    weights[:] = 1.0
    weights[50] = 1e6  # one record does not become the quantile
    tilted = values.copy()
    tilted[50] = 50.4
    assert safe_quantile(tilted, 0.5, 5, weights) == pytest.approx(tilted[48:53].mean())
