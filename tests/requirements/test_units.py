"""k units behind every combination, counted one by one."""

import polars as pl
import pytest

from microagg.requirements.base import Evidence
from microagg.requirements.units import KUnits
from tests.requirements import slow_rules as slow
from tests.requirements.small_tables import KINDS, check_finding, evidence_of, picked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_units_are_counted_as_by_hand(kind, k):
    for seed in range(25):
        evidence, groups, plain = evidence_of(seed, who=kind)
        # Text is not read as numbers here: 7,5 and 7,50 are two names.
        names = plain["who"]
        if kind == "written":
            fields = evidence.unpublished["who"].to_list()
            names = [field.strip() or None for field in fields]
        figures = [slow.distinct(picked(names, rows)) for rows in groups]
        found = KUnits("who", k).judge(evidence)
        check_finding(found, figures, groups, k, most=False)


def test_what_it_says():
    table = pl.DataFrame({"a": [1, 1, 2, 2, 2]})
    units = pl.DataFrame({"no": ["x", " x", "y", "z", ""]})
    found = KUnits("no", 2).judge(Evidence(table, ("a",), units))
    assert found.verdict == "fewer than 2 different units ('no') are behind 1 of 2 combinations"
    assert found.complaint == f"in the finished table, {found.verdict}"
    assert found.nearest == "1 or less"
    assert found.rows() == [
        ("k units", "at least 2 different units ('no'): 1 at worst; 1 of 2 combinations fail")
    ]
    assert found.as_dict() == {
        "requirement": "k units",
        "column": "no",
        "asked": "at least 2 different units ('no')",
        "checkable": True,
        "worst": 1.0,
        "combinations_failing": 1,
        "records_failing": 2,
    }
    kept = KUnits("no", 1).judge(Evidence(table, ("a",), units))
    assert kept.verdict == "every combination stands for at least 1 unit ('no')"
    assert kept.rows() == [("k units", "at least 1 unit ('no'): 1 at worst")]


@pytest.mark.parametrize("unpublished", [None, pl.DataFrame({"other": [1, 2]})])
def test_without_the_units_nothing_can_be_told(unpublished):
    found = KUnits("no", 2).judge(Evidence(pl.DataFrame({"a": [1, 1]}), ("a",), unpublished))
    assert found.satisfied is None
    assert found.verdict == "at least 2 different units ('no')"
    assert found.rows() == [
        ("k units", "at least 2 different units ('no'): not checkable, as 'no' is not published")
    ]
    assert found.as_dict()["checkable"] is False
