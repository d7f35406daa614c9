"""Cramér's V and the correlation ratio, against SciPy and plain sums."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats.contingency import association

from microagg import measure
from microagg.measures.utility.associations import associations
from microagg.tables.matching import open_pair


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    place = rng.normal(size=n)
    return pl.DataFrame(
        {
            "job": np.array(["a", "b", "c", "d"])[
                np.clip(place + rng.normal(size=n) + 2, 0, 3).astype(int)
            ],
            "sex": np.where(place + rng.normal(size=n) > 0, "f", "m"),
            "pay": place * 10 + rng.normal(size=n),
        }
    )


def shuffled(before, seed=1):
    return before.with_columns(pl.col("job").shuffle(seed), pl.col("sex"), pl.col("pay") * 0.5)


def pair_of(before, after):
    return open_pair(before, after, quasi_identifiers=before.columns)


def slow_eta(categories, numbers):
    numbers = list(numbers)
    means = {
        c: np.mean([x for k, x in zip(categories, numbers) if k == c]) for c in set(categories)
    }
    whole = np.mean(numbers)
    between = sum((means[c] - whole) ** 2 for c in categories)
    return (between / sum((x - whole) ** 2 for x in numbers)) ** 0.5


def test_cramers_v_is_that_of_scipy():
    before = table()
    after = shuffled(before)
    (found,) = associations(pair_of(before, after)).cramers_v
    assert found.columns == ("job", "sex")
    for side, figure in ((before, found.before), (after, found.after)):
        counts = side.pivot("sex", index="job", values="pay", aggregate_function="len").fill_null(0)
        wanted = association(counts.drop("job").to_numpy().astype(int), method="cramer")
        assert figure == pytest.approx(wanted, abs=1e-12)


def test_eta_is_the_share_of_the_spread_between_categories():
    before = table()
    after = shuffled(before)
    found = {own.columns: own for own in associations(pair_of(before, after)).eta}
    assert found.keys() == {("job", "pay"), ("sex", "pay")}
    for (category, _), own in found.items():
        assert own.before == pytest.approx(slow_eta(before[category].to_list(), before["pay"]))
        assert own.after == pytest.approx(slow_eta(after[category].to_list(), after["pay"]))


def test_only_records_with_both_values_count():
    before = table()
    gaps = before.with_columns(
        pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise(pl.col("job")).alias("job"),
        pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise(pl.col("pay")).alias("pay"),
    )
    found = associations(pair_of(gaps, before))
    both = gaps.drop_nulls("job")
    counts = both.group_by("job", "sex").len().pivot("sex", index="job", values="len").fill_null(0)
    wanted = association(counts.drop("job").to_numpy().astype(int), method="cramer")
    assert found.cramers_v[0].before == pytest.approx(wanted)
    both = gaps.drop_nulls(["job", "pay"])
    assert found.eta[0].before == pytest.approx(slow_eta(both["job"].to_list(), both["pay"]))


def test_a_weight_of_two_counts_twice():
    before = table(60)
    weights = np.random.default_rng(3).integers(1, 4, 60)
    twice = before[np.repeat(np.arange(60), weights)]
    weighted = replace(pair_of(before, shuffled(before)), weights=weights.astype(float))
    found = associations(weighted)
    whole = associations(pair_of(twice, shuffled(before)[np.repeat(np.arange(60), weights)]))
    for own, wanted in zip(
        (*found.cramers_v, *found.eta), (*whole.cramers_v, *whole.eta), strict=True
    ):
        assert own.before == pytest.approx(wanted.before)
        assert own.after == pytest.approx(wanted.after)


def test_a_column_that_does_not_vary_has_no_association():
    before = table().with_columns(one=pl.lit("x"))
    after = before.with_columns(sex=pl.lit("f"), pay=pl.lit(1.0))
    found = associations(pair_of(before, after))
    figures = {own.columns: (own.before, own.after) for own in (*found.cramers_v, *found.eta)}
    assert figures["job", "one"] == figures["one", "pay"] == (None, None)
    assert figures["job", "sex"][0] is not None
    assert figures["job", "sex"][1] is None
    assert figures["sex", "pay"][1] is figures["job", "pay"][1] is None
    assert found.largest_change is found.mean_change is found.most_changed is None


def test_the_largest_change_is_named():
    before = table()
    after = before.with_columns(pl.col("job").shuffle(1), pl.col("pay") + 1)
    found = associations(pair_of(before, after))
    changes = {own.columns: abs(own.change) for own in (*found.cramers_v, *found.eta)}
    assert found.largest_change == max(changes.values()) == changes[found.most_changed]
    assert found.mean_change == pytest.approx(np.mean(list(changes.values())))


def test_is_part_of_what_is_measured():
    before = table()
    found = measure(before, shuffled(before)).utility
    assert found.as_dict()["associations"]["largest_change"] == found.associations.largest_change
    (row,) = (row for row in found.rows() if row.measure == "associations")
    assert not row.public
    assert "Cramér" in row.meaning
