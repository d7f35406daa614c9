"""Reports where records are about units, and where more than k records is required."""

import re

import numpy as np
import polars as pl
import pytest

from microagg import protect
from microagg.plans.manifest_facts import Promise
from microagg.plans.plan import Plan
from microagg.plans.required import required_rows
from microagg.report import wording
from microagg.report.loss_words import loss_sentences
from microagg.report.plan_text import plan_text
from microagg.report.summaries import least_of
from microagg.tables.units import Units
from tests.manifests import manifest

UNITS = {"column": "patient", "count": 20, "records_without": 0, "fewest": 6}
DONE = {"unit": "patient", "units": UNITS, "dropped": ["patient"], "smallest_class": 7}


def fact(name, column, asked, worst, **changes):
    counts = {"checkable": True, "combinations_failing": 0, "records_failing": 0}
    own = {"requirement": name, "column": column, "asked": asked, "worst": worst}
    return {**own, **counts, **changes}


def said(**changes):
    found = wording.verdict(manifest(**DONE | changes))
    return found, " ".join([found.title, *found.paragraphs])


def test_the_guarantee_is_about_units():
    found, text = said()
    assert found.strong
    assert found.title == "k-anonymity with k = 5 different units ('patient'): kept and verified"
    assert "stands for records of at least 5 different units ('patient')" in text
    assert "fewer than 6 different units ('patient'), or 7 records" in text
    assert "more than 1 in 5" in text
    assert "at least 5 of its records" not in text
    one_each = said(units={**UNITS, "count": 40})[1]
    assert "more than 1 in 5" not in one_each


def test_blocks_of_units():
    found, text = said(promise=Promise.BLOCKWISE, blocks=[["a"], ["b"]])
    assert not found.strong
    assert "k = 5 different units ('patient') within each of 2 blocks" in text
    assert "within a block stands for records of at least 5 different units ('patient')" in text


@pytest.mark.parametrize("promise", [Promise.K_ANONYMITY, Promise.BLOCKWISE])
def test_what_was_done_is_worded_for_people(promise):
    text = wording.what_was_done(manifest(**DONE | {"promise": promise}), 3)
    assert "The 40 records of 20 different units ('patient') were put" in text
    assert "finds records of at least 5 different units ('patient') that fit" in text
    assert text.count(". ") == 1


def test_what_remains_open_with_diverse_groups():
    diverse = fact("l-diversity", "ill", "at least 2 values of 'ill'", 2.0)
    caveat = "What this does not guarantee"
    assert caveat in said(unchanged=["ill"])[1]
    assert caveat not in said(unchanged=["ill"], requirements=[diverse])[1]
    both = said(unchanged=["ill", "cost"], requirements=[diverse])[1]
    assert "knows that value. This concerns cost." in both
    assert caveat in said(unchanged=["ill"], requirements=[{**diverse, "worst": 1.0}])[1]


def test_requirements_are_listed_with_what_was_found():
    done = manifest(
        requirements=[
            fact("t-closeness", "cost", "'cost' at most 0.3", 0.123456),
            fact("p per cent", "pay", "no contribution to 'pay' known within 10 %", 44.4),
            fact("dominance", "pay", "the 2 largest at most 85 %", None),
            fact("k units", "who", "at least 5", None, checkable=False),
        ]
    )
    assert [row.found for row in required_rows(done)] == [
        "0.1235 at worst",
        "44.4 % at worst",
        "met",
        "not checked",
    ]
    inside, outside = (wording.required(done, public=public) for public in (False, True))
    assert inside == required_rows(done)
    assert outside[0] == inside[0]
    assert not re.search(r"\d", "".join(row.asked + row.found for row in outside[1:3]))


def test_every_block_has_its_figure():
    own = [fact("l-diversity", "ill", "at least 2", worst) for worst in (3.0, 2.0, 4.0)]
    (row,) = required_rows(manifest(requirements=own))
    assert row.found == "3, 2 and 4 at worst, block by block"


def test_the_bound_holds_with_requirements():
    bound = {"lower_bound": 13.2, "gap": 51.0}
    required = [fact("l-diversity", "ill", "at least 2 values of 'ill'", 2.0)]
    plain = loss_sentences(manifest(**bound))[-1]
    told = loss_sentences(manifest(**bound, requirements=required))[-1]
    assert told.startswith(plain)
    assert "only rule some groups out" in told
    assert "only rule some groups out" not in plain


def test_any_so_many_records_are_of_k_units():
    rng = np.random.default_rng(0)
    for _ in range(50):
        units = Units("who", rng.permutation(np.repeat(np.arange(12), rng.integers(1, 9, 12))))
        codes = np.where(rng.random(len(units.of_record)) < 0.1, -1, units.of_record)
        units = Units("who", codes).take(np.arange(len(codes)))
        k = int(rng.integers(2, 7))
        least = least_of(k, units)
        largest = np.argsort(units.sizes)[::-1][: max(k, 3) - 1]
        worst = np.isin(units.of_record, [-1, *largest])  # as many records of few units as can be
        assert worst.sum() < least
        assert str(least).strip("0") in ("1", "2", "5", "3", "4", "6")
    assert least_of(5, Units("who", np.arange(30))) == 5


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(150), rng.integers(1, 4, 150))
    n = len(who)
    table = pl.DataFrame(
        {
            "secret number": range(n),
            "patient": [f"p{unit}" for unit in who],
            "age": rng.integers(1, 90, 150)[who],
            "pay": rng.gamma(9.0, 100.0, n).round(2),
            "ill": rng.choice(["no", "flu", "cold"], n),
        }
    )
    return protect(
        table,
        4,
        method="mdav",
        unit="patient",
        drop="secret number",
        sensitive="ill",
        l_diversity={"ill": 2},
        p_percent={"pay": 7.5},
    )


@pytest.fixture(scope="module")
def pages(release, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    return [
        release.report(folder / f"{public}.html", public=public).read_text("utf-8")
        for public in (False, True)
    ]


def test_both_reports_speak_of_units(pages):
    for page in pages:
        assert "k = 4 different units (&#39;patient&#39;): kept and verified" in page
        assert "<dt>patient</dt><dd>150</dd>" in page
        assert "at least 2 values of &#39;ill&#39;" in page
        assert "linked units" in page
        assert "and so on at least 4 different units (&#39;patient&#39;)" in page
        assert "unit: k counts its values" in page


def test_the_public_one_keeps_the_rest_to_itself(pages):
    inside, outside = pages
    assert ">secret number<" in inside
    assert "left out" in inside
    assert "known within 7.5 %" in inside
    assert "largest share of a unit" in inside
    assert "the same, by unit" in inside
    for sign in (
        "secret number",
        "largest share",
        "by unit",
        "unique units",
        "fewest units",
    ):
        assert sign not in outside
    assert "7.5" not in re.sub("<svg.*?</svg>", "", outside, flags=re.DOTALL)
    assert "1 column that could name a person was removed" in outside
    assert "1 column was left out" in outside


def test_a_public_plan_has_the_unit_but_no_limits_of_estimates():
    plan = Plan.of(
        k=5,
        unit="who",
        columns={
            "pay": {"p_percent": 10},
            "tax": {"type": "integer", "dominance": [2, 85]},
            "visit": {"role": "drop"},
        },
    )
    text = plan_text(plan, public=True)
    assert 'who = { role = "unit" }' in text
    assert 'tax = { type = "integer" }' in text
    assert "pay" not in text
    assert "visit" not in text
    assert "p_percent = 10" in plan_text(plan, public=False)


def test_the_release_prints_what_k_counts(release):
    assert "k = 4 different units ('patient'), mdav" in repr(release)


@pytest.mark.parametrize("public", [True, False])
def test_where_nothing_says_whom_records_are_about_that_is_a_caution(public):
    def warns(**changes):
        said = wording.cautions(manifest(**changes), public=public)
        return any("k counts records" in caution for caution in said)

    assert warns()
    assert not warns(identifiers=["name"])  # in which no value repeats
    assert not warns(plan={"k": 5, "unit": "rows"})
    assert not warns(**DONE)
    assert not warns(promise=Promise.NOTHING, verified=False)
