"""The p per cent rule and dominance, added up one contribution at a time."""

import math

import polars as pl
import pytest

from microagg.core.errors import ParameterError
from microagg.requirements.base import Evidence
from microagg.requirements.contributions import Dominance, PPercent, as_dominance
from tests.requirements import slow_rules as slow
from tests.requirements.small_tables import check_finding, evidence_of, picked

AMOUNTS = ("whole", "numbers", "written")
SIZES = {"whole": lambda v: v, "numbers": lambda v: v / 4, "written": lambda v: v + 7.5}


def contributions(kind, plain, rows, *, by_unit):
    amounts = [0.0 if v is None else SIZES[kind](v) for v in picked(plain["x"], rows)]
    return slow.contributions(amounts, picked(plain["who"], rows) if by_unit else rows)


@pytest.mark.parametrize("kind", AMOUNTS)
@pytest.mark.parametrize("by_unit", [False, True])
@pytest.mark.parametrize("p", [0.0, 20.0, 100.0])
def test_p_percent_as_by_hand(kind, by_unit, p):
    for seed in range(25):
        evidence, groups, plain = evidence_of(seed, x=kind, who="text")
        given = [contributions(kind, plain, rows, by_unit=by_unit) for rows in groups]
        figures = [100 * sum(own[2:]) / own[0] if own[0] else math.inf for own in given]
        found = PPercent("x", p, "who" if by_unit else None).judge(evidence)
        check_finding(found, figures, groups, p, most=False)


@pytest.mark.parametrize("kind", AMOUNTS)
@pytest.mark.parametrize("by_unit", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_dominance_as_by_hand(kind, by_unit, n):
    for seed in range(25):
        evidence, groups, plain = evidence_of(seed, x=kind, who="text")
        given = [contributions(kind, plain, rows, by_unit=by_unit) for rows in groups]
        figures = [100 * sum(own[:n]) / sum(own) if sum(own) else 0.0 for own in given]
        found = Dominance("x", n, 70.0, "who" if by_unit else None).judge(evidence)
        check_finding(found, figures, groups, 70.0, most=True)


def test_signs_do_not_count():
    table = pl.DataFrame({"a": [1] * 4})
    amounts = pl.DataFrame({"x": [-60.0, 20.0, -10.0, 10.0]})
    assert PPercent("x", 50).judge(Evidence(table, ("a",), amounts)).worst == pytest.approx(100 / 3)
    assert Dominance("x", 1, 50).judge(Evidence(table, ("a",), amounts)).worst == 60.0


@pytest.mark.parametrize("largest", [5e-324, 1e-310, 1.0, 1e308])
@pytest.mark.parametrize("weights", [None, "w"])
def test_amounts_of_any_size_are_compared_exactly(largest, weights):
    table = pl.DataFrame({"a": [1] * 4, "w": [1e-9] * 4})
    amounts = pl.DataFrame({"x": [largest] * 4})
    evidence = Evidence(table, ("a",), amounts)
    assert PPercent("x", 50, weights=weights).judge(evidence).worst == 200.0
    assert Dominance("x", 1, 50, weights=weights).judge(evidence).worst == 25.0


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("unit", [None, "who"])
def test_small_amounts_do_not_vanish_beside_large_ones(weights, unit):
    """Of the second combination, one record has everything, next to nothing though it is."""
    table = pl.DataFrame({"a": [1] * 4 + [2] * 4, "w": [1e-300, 1.0] * 4})
    amounts = pl.DataFrame({"x": [1e300] * 4 + [1e-30, 0.0, 0.0, None], "who": list(range(8))})
    evidence = Evidence(table, ("a",), amounts)
    found = PPercent("x", 10, unit, weights).judge(evidence)
    assert (found.worst, found.satisfied) == (0.0, False)
    assert Dominance("x", 1, 90, unit, weights).judge(evidence).worst == 100.0


def test_amounts_of_zero_have_no_largest():
    evidence = Evidence(pl.DataFrame({"a": [1, 1]}), ("a",), pl.DataFrame({"x": [0.0, None]}))
    assert PPercent("x", 50).judge(evidence).satisfied
    assert Dominance("x", 1, 50).judge(evidence).satisfied


def test_what_they_say():
    table, amounts = pl.DataFrame({"a": [1] * 3}), pl.DataFrame({"x": [90.0, 5, 5]})
    evidence = Evidence(table, ("a",), amounts)
    found = PPercent("x", 10).judge(evidence)
    assert found.verdict == (
        "the largest contribution to 'x' is known within 10 % in 1 of 1 combinations"
    )
    assert found.nearest == "5.5555 or less"
    assert PPercent("x", 5).judge(evidence).verdict == (
        "no contribution to 'x' can be estimated within 5 %"
    )
    found = Dominance("x", 1, 85).judge(evidence)
    assert found.verdict == (
        "the largest contributor makes up more than 85 % of 'x' in 1 of 1 combinations"
    )
    assert found.nearest == "90 or more"
    assert Dominance("x", 2, 95).judge(evidence).verdict == (
        "the 2 largest contributors make up at most 95 % of 'x' in every combination"
    )


@pytest.mark.parametrize("rule", [PPercent("x", 5, "no"), Dominance("x", 1, 90, "no")])
@pytest.mark.parametrize(
    "unpublished", [None, pl.DataFrame({"no": [1, 2]}), pl.DataFrame({"x": [1, 2]})]
)
def test_without_originals_nothing_can_be_told(rule, unpublished):
    table = pl.DataFrame({"a": [1, 1], "x": [1.5, 1.5]})
    found = rule.judge(Evidence(table, ("a", "x"), unpublished))
    assert found.satisfied is None
    assert found.verdict == rule.wording.asked
    ((_, told),) = found.rows()
    assert told.endswith("not checkable, as the original 'x' by 'no' is not published")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("85", "such as 2:85"),
        (85, "such as 2:85"),
        ((1, 2, 3), "such as 2:85"),
        ("x:85", "number of contributors of dominance must be"),
        ("0:85", "number of contributors of dominance must be"),
        ("1.5:85", "number of contributors of dominance must be"),
        ("2:101", "share of dominance must be"),
        ("2:-1", "share of dominance must be"),
        ((2, "many"), "share of dominance must be"),
    ],
)
def test_other_values_of_dominance_are_refused(given, match):
    with pytest.raises(ParameterError, match=match):
        as_dominance(given)
