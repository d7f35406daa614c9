"""Promises in words: each is said, and no more than it."""

import tomllib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from microagg import protect
from microagg.core.words import at_least, at_most
from microagg.measures.utility.wording import propensity_rows
from microagg.plans.manifest_facts import Promise
from microagg.plans.plan import Plan
from microagg.plans.required import WHY_LOST
from microagg.report import wording
from microagg.report.loss_words import loss_sentences
from microagg.report.plan_text import names_values, plan_text
from microagg.report.steps import coarse_utility
from tests.manifests import DRAW, manifest

DONE = {"min_group": 2, "blocks": [["a", "b"], ["c"]]}


def said(**changes):
    found = wording.verdict(manifest(**DONE | changes))
    return found, " ".join([found.title, *found.paragraphs])


def test_k_anonymity():
    found, text = said()
    assert found.strong
    assert "kept and verified" in text
    assert "at least 5 of its records" in text


def test_k_anonymity_that_nobody_verified():
    found, text = said(verified=False)
    assert not found.strong
    assert "not verified" in text


def test_blocks_are_weaker():
    found, text = said(promise=Promise.BLOCKWISE)
    assert not found.strong
    assert "not k-anonymity of the whole table" in text
    assert "a and b; c" in text


@pytest.mark.parametrize("promise", [Promise.PROBABILISTIC, Promise.NOTHING])
def test_draws_are_weaker(promise):
    found, text = said(promise=promise, verified=False, draw=DRAW)
    assert not found.strong
    assert "verified:" not in text
    assert "3 of 8 groups hold fewer than 5" in text
    summary = wording.what_was_done(manifest(**DONE | {"promise": promise, "draw": DRAW}), 3)
    assert "at least 5 records that fit" not in summary


def test_k_of_one_protects_nobody():
    found, text = said(k=1)
    assert not found.strong
    assert "No protection" in text
    assert "protects nobody" in wording.what_was_done(manifest(**DONE | {"k": 1}), 3)


def test_why_there_is_no_bound():
    assert "No bound was computed, so" in loss_sentences(manifest())[-1]
    weighted = loss_sentences(manifest(weights="w"))[-1]
    assert "No bound takes weights into account" in weighted
    wide = loss_sentences(manifest(why_no_bound="'city' has 900 categories"))[-1]
    assert "No bound was computed ('city' has 900 categories), so" in wide


def test_both_losses_are_told_apart():
    done = manifest(
        information_loss=31.5, grouping_loss=20.25, worst_columns={"a": 40.0, "b": 23.0}
    )
    first, worst, groups = loss_sentences(done)
    assert "the released values differ from the original ones by at most 31.5 %" in first
    assert worst == "The columns that lose most, and how much at most: a 40 %, b 23 %."
    assert groups.startswith(
        "Groups that release their exact means would lose at most 20.25 % (grouping loss)."
    )
    assert "(grouping loss, of all protected columns)" in loss_sentences(done, without=["c"])[-1]
    assert worst not in loss_sentences(done, public=True)
    ranked = loss_sentences(manifest(scale="rank"))[-1]
    assert "(grouping loss, by rank)" in ranked
    unknown = loss_sentences(manifest(information_loss=None))
    assert unknown[0] == "It is not known what the released values lose."


def test_two_sentences():
    for promise in (Promise.K_ANONYMITY, Promise.BLOCKWISE):
        text = wording.what_was_done(manifest(**DONE | {"promise": promise}), 3)
        assert text.count(". ") == 1


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"lower_bound": None}, "No bound was computed"),
        ({"lower_bound": 20.0, "proved_optimal": True, "gap": 0.0}, "optimal"),
        (
            {"lower_bound": 13.20499, "gap": 51.4587},
            "less than 13.2 %. Before rounding, their loss is at most 52 %",
        ),
        ({"lower_bound": 0.0, "gap": None}, "less than 0 %"),
    ],
)
def test_how_near_to_the_best(facts, words):
    assert words in loss_sentences(manifest(**DONE | facts))[-1]


def test_limits_are_rounded_to_the_safe_side():
    for value in (0.0123456, 1.23456, 13.99999, 99.987, 162.3, 4321.7):
        down = float(at_least(value).rstrip(" %").replace(",", ""))
        up = float(at_most(value).rstrip(" %").replace(",", ""))
        assert down <= value <= up


def test_a_plan_names_no_values():
    plan = Plan.of(
        k=5,
        method="pca-mhm",
        random_state=7,
        constraints=["a <= b"],
        method_options={"tour": True},
        columns={
            "size": {"type": "ordinal", "order": ["rare one", "large"]},
            "who": {"role": "identifier"},
        },
    )
    inside, outside = (plan_text(plan, public=public) for public in (False, True))
    assert "rare one" not in inside + outside
    assert "2 values, not shown" in inside
    assert "random_state = 7" in inside
    assert "random_state" not in outside
    assert "who" not in outside
    assert "method_options = { tour = true }" in inside
    unsaid = Plan.of(k=5, method="v-mdav", method_options={"gain": None})
    text = plan_text(unsaid, public=True)
    assert tomllib.loads(text) == {"k": 5, "method": "v-mdav", "method_options": {}}
    assert text.endswith("# The option gain is None, which a plan file cannot say.")
    assert names_values(plan)


def test_columns_of_which_next_to_nothing_is_left_are_named_internally():
    lost = {"information_loss": 70.0, "worst_columns": {"town": 129.3, "age": 10.0}}
    done = manifest(**lost, identifiers=["name"])
    (caution,) = wording.cautions(done, public=False)
    assert caution.startswith("Released values are no closer to the true ones")
    assert caution.endswith("average: town. " + WHY_LOST)
    assert wording.cautions(done, public=True) == []


def test_a_rounded_pmse_is_not_compared_with_its_expected_value():
    table = pl.DataFrame({"x": np.random.default_rng(5).normal(size=60)})
    utility = protect(table, 5, method="mdav").utility()
    (exact,) = propensity_rows(utility.propensity)
    (rounded,) = propensity_rows(coarse_utility(utility, 5, 60).propensity)
    assert "times the expected value" in exact.figure
    assert float(rounded.figure) >= utility.propensity.pmse


def test_rounded_distances_stay_within_their_range():
    x = np.random.default_rng(5).normal(size=60)
    table = pl.DataFrame({"x": x, "y": np.where(x > 0, "a", "b")})
    utility = protect(table, 30, quasi_identifiers=["x", "y"], method="mdav").utility()
    found = replace(
        utility,
        propensity=replace(utility.propensity, pmse=0.249),
        distributions=replace(
            utility.distributions,
            largest_kolmogorov_smirnov=0.9,
            largest_total_variation=0.9,
        ),
    )
    rounded = coarse_utility(found, 50, 60)
    assert rounded.propensity.pmse == 0.25
    assert rounded.distributions.largest_kolmogorov_smirnov == 1.0
    assert rounded.distributions.largest_total_variation == 1.0
    assert 0 < coarse_utility(found, 1, 60).propensity.pmse <= 0.25
