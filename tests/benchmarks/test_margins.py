"""What is counted when totals of categories are kept."""

import polars as pl
import pytest

from benchmarks.margins import moved, persons, row


def test_deviations_are_counted_by_category_and_for_rare_ones():
    before = pl.DataFrame({"degree": ["a"] * 99 + ["b"], "age": range(100)})
    after = pl.DataFrame({"degree": ["a"] * 100, "age": range(100)})
    assert moved(before, after) == (2, 1, 1)
    assert moved(before, before) == (0, 0, 1)


@pytest.mark.slow
def test_kept_totals_are_nearer_and_lose_more():
    _, k, losses, deviations, *_ = row("persons", persons(600), 5)
    assert k == 5
    plain, kept = (float(own.removesuffix(" %")) for own in losses.split(", "))
    assert plain <= kept
    _, one_record, with_totals = deviations.partition(" (")[0].split(", ")
    assert int(with_totals) <= int(one_record)
