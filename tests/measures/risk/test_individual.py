"""The risk in the population: published figures, its definition by other means, and its limits."""

from decimal import Decimal, localcontext

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nbinom

from microagg import measure, protect
from microagg.core.errors import DataError, ParameterError
from microagg.measures.risk.individual import expected_reciprocals, individual_risk
from microagg.tables.matching import open_pair

# sdcMicro 5.7.9, reference page of indivRisk: francdat with the keys 2, 4, 5, 6 and the weights 8.
FRANCDAT_COUNTS = np.array([2, 2, 2, 1, 1, 1, 1, 2])
FRANCDAT_TOTALS = np.array([110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0])
FRANCDAT_RISKS = [
    0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426,
]  # fmt: skip


def one(f, total):
    return float(expected_reciprocals(np.array([f]), np.array([total]))[0])


def exactly(f, total):
    """By the recurrence, with so many digits that none of those it loses matters."""
    with localcontext() as context:
        context.prec = 600
        z = (Decimal(total) - f) / f
        found = (1 + z).ln() / z
        for j in range(1, f):
            found = (Decimal(1) / j - found) / z
        return float(found)


def test_figures_that_sdcmicro_prints():
    found = expected_reciprocals(FRANCDAT_COUNTS, FRANCDAT_TOTALS)
    assert found == pytest.approx(FRANCDAT_RISKS, abs=5e-9)


@pytest.mark.parametrize(
    ("f", "total", "printed"),
    [
        # An agency's report with sdcMicro, which approximates by p / (f - 1 + p) above f = 2.
        (3, 222.4450, 0.0066981),
        (5, 509.8208, 0.0024458),
        (12, 1316.701, 0.0008278),
        (42, 5343.714, 0.0001917),
    ],
)
def test_approximations_that_sdcmicro_prints_are_slightly_higher(f, total, printed):
    p = f / total
    assert p / (f - 1 + p) == pytest.approx(printed, abs=5e-6)
    assert 0.99 * printed < one(f, total) < printed * (1 + 1e-3)


@pytest.mark.parametrize("p", [0.003, 0.1, 0.5, 0.9])
def test_closed_forms_of_the_literature(p):
    q, log = 1 - p, np.log(p)
    assert one(1, 1 / p) == pytest.approx(-p / q * log, rel=1e-12)
    assert one(2, 2 / p) == pytest.approx(p / q + (p / q) ** 2 * log, rel=1e-9)
    third = p / q * (0.5 - p / q) - (p / q) ** 3 * log
    assert one(3, 3 / p) == pytest.approx(third, rel=1e-9)


@pytest.mark.parametrize("f", [1, 2, 3, 5, 12, 13, 40])
@pytest.mark.parametrize("p", [0.02, 0.2, 0.79, 0.81, 0.99])
def test_it_is_the_mean_of_one_over_the_number_in_the_population(f, p):
    failures = np.arange(100_000)
    mean = (nbinom.pmf(failures, f, p) / (f + failures)).sum()
    assert one(f, f / p) == pytest.approx(mean, rel=1e-10)
    integral, _ = quad(lambda t: t ** (f - 1) * (p / (1 - t * (1 - p))) ** f, 0, 1, epsrel=1e-11)
    assert one(f, f / p) == pytest.approx(integral, rel=1e-9)


@given(st.integers(1, 60), st.floats(-4, 12))
def test_it_is_exact_to_the_last_digits(f, exponent):
    total = f * (1.0 + 10.0**exponent)
    assert one(f, total) == pytest.approx(exactly(f, total), rel=4e-15)


@pytest.mark.parametrize("f", [1, 2, 7, 12, 13, 1000, 1_000_000])
def test_limits(f):
    assert one(f, float(f)) == 1.0 / f
    assert one(f, 0.5 * f) == 1.0 / f  # weights below 1 make no population smaller than the sample
    assert one(f, f * (1 + 1e-15)) == pytest.approx(1.0 / f, rel=1e-14)
    if f > 1:
        assert one(f, 1e15 * f) == pytest.approx(1e-15 / (f - 1), rel=1e-9)
    assert one(1, 1e300) == pytest.approx(300 * np.log(10) / 1e300)


@given(st.integers(1, 50), st.floats(1.0, 1e6), st.floats(1.01, 10.0))
def test_more_in_the_population_or_in_the_sample_is_less_risk(f, ratio, factor):
    total = f * ratio
    assert one(f, total * factor) < one(f, total) <= 1.0 / f
    assert one(f + 1, total + 1.0) < one(f, total)


BEFORE = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "m", "f"],
        "age": [30, 31, 50, 50, 51, 31],
        "w": [10.0, 20.0, 5.0, 7.0, 9.0, 2.5],
    }
)
AFTER = BEFORE.with_columns(age=pl.Series([31, 31, 50, 50, 50, 31]))


def test_combinations_are_counted_before_and_after():
    pair = open_pair(BEFORE, AFTER, quasi_identifiers=["sex", "age"], weights="w")
    found = individual_risk(pair)
    after = [one(3, 32.5), one(3, 21.0)]
    before = [one(1, 10.0), one(2, 22.5), one(2, 12.0), one(1, 9.0)]
    assert found.after.expected == pytest.approx(3 * after[0] + 3 * after[1])
    assert found.before.expected == pytest.approx(np.dot(before, [1, 2, 2, 1]))
    assert found.after.share == found.after.expected / 6
    assert found.after.largest == max(after)
    assert found.before.largest == max(before)
    assert found.population == 53.5


def test_without_weights_it_is_not_shown():
    found = measure(BEFORE, AFTER, quasi_identifiers=["sex", "age"]).risk
    assert found.individual is None
    assert not [row for row in found.rows() if "re-identif" in row.measure]


def test_weights_come_from_an_argument_a_plan_or_a_release():
    given = measure(BEFORE, AFTER, quasi_identifiers=["sex", "age"], weights="w")
    rows = {row.measure: row for row in given.risk.rows()}
    assert rows["expected re-identifications"].figure == "0.323 (5.38 %)"
    assert "stand for 54 in the population" in rows["expected re-identifications"].meaning
    assert not rows["the same, before protection"].public
    assert given.weights == "w"
    assert "w" in given.sensitive  # it is published
    release = protect(BEFORE, 3, quasi_identifiers=["sex", "age"], weights="w", method="mdav")
    own = release.risk().individual
    measured = measure(BEFORE, release.table, plan=release.manifest.plan).risk.individual
    assert own == measured
    assert own.population == 53.5


def test_large_figures_are_written_in_full():
    n = 1_500
    table = pl.DataFrame({"age": range(n), "w": [1.0] * n})
    rows = measure(table, table, quasi_identifiers=["age"], weights="w").risk.rows()
    figures = {row.measure: row.figure for row in rows}
    assert figures["expected re-identifications"] == "1,500 (100 %)"


def test_weights_need_not_be_published():
    found = measure(BEFORE, AFTER.drop("w"), quasi_identifiers=["sex", "age"], weights="w")
    assert found.risk.individual.population == 53.5
    assert found.sensitive == ()


def test_weights_that_add_up_to_no_population_say_so():
    tables = [table.with_columns(w=pl.col("w") / 100) for table in (BEFORE, AFTER)]
    rows = measure(*tables, quasi_identifiers=["sex", "age"], weights="w").risk.rows()
    row = next(row for row in rows if row.measure == "expected re-identifications")
    assert row.figure == "2 (33.3 %)"  # two groups of three
    assert "taken for the whole population" in row.meaning


def test_bad_weights_are_refused():
    roles = {"quasi_identifiers": ["sex", "age"]}
    with pytest.raises(ParameterError, match="no column 'ww'"):
        measure(BEFORE, AFTER, weights="ww", **roles)
    with pytest.raises(ParameterError, match="named as a quasi-identifier and as a weight"):
        measure(BEFORE, AFTER, weights="age", **roles)
    with pytest.raises(DataError, match="must be numbers"):
        measure(BEFORE, AFTER, weights="sex", quasi_identifiers=["age"])
    zero = BEFORE.with_columns(w=pl.Series([0.0, 1, 1, 1, 1, 1]))
    with pytest.raises(DataError, match="above 0; 1 of 6"):
        measure(zero, AFTER, weights="w", **roles)
