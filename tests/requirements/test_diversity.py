"""l-diversity, distinct and by entropy, counted one by one."""

import polars as pl
import pytest

from microagg.core.errors import ParameterError
from microagg.requirements.base import Context, Evidence
from microagg.requirements.diversity import LDiversity, as_diversity
from tests.requirements import slow_rules as slow
from tests.requirements.small_tables import KINDS, check_finding, evidence_of, picked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("least", [1, 2, 3])
def test_values_are_counted_as_by_hand(kind, least):
    for seed in range(25):
        evidence, groups, plain = evidence_of(seed, s=kind)
        behind = [picked(plain["s"], rows) for rows in groups]
        figures = [len(set(values)) for values in behind]  # a missing value is a value
        found = LDiversity("s", least).judge(evidence)
        check_finding(found, figures, groups, least, most=False)
        figures = [slow.entropy_l(values) for values in behind]
        found = LDiversity("s", least - 0.5, entropy=True).judge(evidence)
        check_finding(found, figures, groups, least - 0.5, most=False)


def test_equal_shares_have_the_entropy_of_their_number():
    """Rounding does not fail what is exactly as asked for."""
    for count in range(1, 30):
        table = pl.DataFrame({"a": [0] * count * 3, "s": [*range(count)] * 3})
        found = LDiversity("s", count, entropy=True).judge(Evidence(table, ("a",)))
        assert found.satisfied
        assert found.nearest == f"{count} or less"


def test_what_it_says():
    table = pl.DataFrame({"a": [1, 1, 2, 2, 2], "s": ["x", "x", "x", "y", None]})
    found = LDiversity("s", 2).judge(Evidence(table, ("a",)))
    assert found.verdict == "there are fewer than 2 values of 's' in 1 of 2 combinations"
    assert found.rows() == [
        ("l-diversity", "at least 2 values of 's': 1 at worst; 1 of 2 combinations fail")
    ]
    assert LDiversity("s", 1).judge(Evidence(table, ("a",))).verdict == (
        "every combination has at least 1 value of 's'"
    )
    found = LDiversity.of("s", "entropy:2.5", Context()).judge(Evidence(table, ("a",)))
    assert found.verdict == (
        "'s' is less diverse than 2.5 equally frequent values in 1 of 2 combinations"
    )
    assert found.as_dict()["requirement"] == "entropy l-diversity"


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (0, "l_diversity must be"),
        (-1, "l_diversity must be"),
        (2.5, "l_diversity must be"),
        (True, "l_diversity must be"),
        (None, "l_diversity must be"),
        ("three", "a whole number of values such as 3, or entropy:3"),
        ("3", "a whole number of values such as 3, or entropy:3"),
        ("entropy:", "a whole number of values such as 3, or entropy:3"),
        ("entropy:x", "entropy l_diversity must be"),
        ("entropy:0.5", "entropy l_diversity must be"),
        ("entropy:nan", "entropy l_diversity must be"),
        ("entropy:inf", "entropy l_diversity must be"),
    ],
)
def test_other_values_are_refused(given, match):
    with pytest.raises(ParameterError, match=match):
        as_diversity(given)
