"""The words of a summary."""

import pytest

from microagg.cli.summary import outcome, table_rows
from microagg.plans.required import WHY_LOST
from tests.manifests import manifest


@pytest.mark.parametrize(
    ("merged", "words"),
    [
        (0, "3 by region, the smallest of 5 records"),
        (1, "3 by region, the smallest of 5 records, after 1 small one was merged"),
        (2, "3 by region, the smallest of 5 records, after 2 small ones were merged"),
    ],
)
def test_merged_strata_are_counted(merged, words):
    strata = {"columns": ["region"], "count": 3, "smallest": 5, "merged": merged}
    assert ("strata", words) in table_rows(manifest(strata_found=strata))


def test_groups_without_a_complete_record_are_counted():
    chosen = {"valid_combinations": True, "incomplete_groups": 1}
    words = "1 group has no complete record; it releases each column on its own"
    assert ("categories", words) in table_rows(manifest(categories=chosen))
    words = "2 groups have no complete record; they release each column on its own"
    chosen["incomplete_groups"] = 2
    assert ("categories", words) in table_rows(manifest(categories=chosen))


def test_margins_are_told_with_their_bound():
    margins = {
        "deviation": 40.0,
        "least_loss_deviation": 1220.0,
        "lower_bound": 2.84,
        "extra_loss": 9.92,
    }
    chosen = {"valid_combinations": True, "margins": margins}
    words = (
        "totals of categories differ by 40 records in all, not by 1,220 (lower bound 2.84); the "
        "categories lose 9.9 % more"
    )
    assert ("margins", words) in table_rows(manifest(categories=chosen))


def test_what_avoids_new_combinations_is_named_where_it_would():
    new = {"combinations": 2, "records": 9}
    free = manifest(new_combinations=new, categories={"valid_combinations": False})
    (row,) = (words for name, words in table_rows(free) if name == "new combinations")
    assert row.endswith("did not exist before; --valid-combinations avoids it")
    held = manifest(new_combinations=new, categories={"valid_combinations": True})
    (row,) = (words for name, words in table_rows(held) if name == "new combinations")
    assert row.endswith("did not exist before")


@pytest.mark.parametrize(
    ("loss", "worst", "words"),
    [
        (40.0, {"town": 129.3, "age": 99.9}, "town: {} its overall average"),
        (110.0, {"town": 129.3, "age": 100.0}, "town, age: {} their overall averages"),
        (99.9, {}, None),
    ],
)
def test_columns_that_say_next_to_nothing_are_warned_of(loss, worst, words):
    columns = list(worst) or ["age"]
    done = manifest(information_loss=loss, worst_columns=worst, quasi_identifiers=columns)
    rows = dict(outcome(done))
    told = "released values no closer to the true ones than"
    assert rows.get("caution") == (words and f"{words.format(told)}. {WHY_LOST}")


def test_a_manifest_lists_a_handful_of_columns():
    names = [f"q{j}" for j in range(9)]
    worst = dict.fromkeys(names[:5], 120.0)
    done = manifest(information_loss=110.0, worst_columns=worst, quasi_identifiers=names)
    assert dict(outcome(done))["caution"].startswith("q0, q1, q2, q3, q4 and possibly others: ")


def test_a_table_of_one_column_may_be_lost_as_well():
    done = manifest(information_loss=100.0, worst_columns={}, n_groups=1)
    rows = dict(outcome(done))
    assert rows["caution"].startswith(f"{done.quasi_identifiers[0]}: released values")
    assert not rows["groups"].endswith("each")
