"""Categories of one record of each group, and totals that are kept."""

import json
from itertools import product

import numpy as np
import polars as pl
import pytest

from microagg import Manifest, Microaggregator, Plan, protect
from microagg.core.errors import ParameterError
from microagg.plans.commands import command_line

NAMES = ["job", "town", "size"]
SIZES = ["small", "medium", "large"]
ASKED = {
    "quasi_identifiers": NAMES,
    "columns": {"size": {"order": SIZES}, "x": {"weight": 20}},
    "method": "mdav",
    "bound": "none",
}


def people(n=300, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    place = rng.normal(size=n)

    def kind(codes, spread):
        at = np.clip((place + spread * rng.normal(size=n) + 2) / 4 * codes, 0, codes - 1)
        return at.astype(int)

    table = pl.DataFrame(
        {
            "job": np.array(["clerk", "cook", "smith", "vet"])[kind(4, 1.0)],
            "town": np.array(["north", "south", "west"])[kind(3, 2.0)],
            "size": np.array(SIZES)[kind(3, 1.0)],
            "x": place,
        }
    )
    holes = [pl.Series(name, rng.random(n) < gaps) for name in NAMES]
    return table.with_columns(
        pl.when(hole).then(None).otherwise(pl.col(hole.name)).alias(hole.name) for hole in holes
    )


def members(release):
    return [np.flatnonzero(release.labels == g) for g in range(release.labels.max() + 1)]


def shown(table, rows):
    return table[rows].select(NAMES).row(0)


def deviation(before, after, weights=None):
    """The sum over columns and categories of |total after - total before|."""
    w = pl.Series("w", np.ones(len(before)) if weights is None else weights)
    total = 0.0
    for name in NAMES:
        one, two = (
            dict(side.select(name, w).group_by(name).agg(pl.col("w").sum()).rows())
            for side in (before, after)
        )
        total += sum(abs(one.get(v, 0) - two.get(v, 0)) for v in {*one, *two})
    return total


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("missing", ["error", "value", "impute"])
def test_every_group_releases_the_categories_of_one_of_its_records(missing, keep):
    table = people(gaps=0.0 if missing == "error" else 0.25)
    release = protect(table, 4, **ASKED, missing=missing, keep_margins=keep)
    incomplete = 0
    for rows in members(release):
        own = {
            row
            for row in table[rows].select(NAMES).rows()
            if missing != "impute" or None not in row
        }
        incomplete += not own
        assert not own or shown(release.table, rows) in own
        assert release.table[rows].select(NAMES).n_unique() == 1
    assert release.manifest.categories.incomplete_groups == incomplete
    assert (missing == "impute") == (incomplete > 0)
    assert (release.manifest.categories.margins is not None) == keep


def test_it_is_the_record_that_loses_least():
    table = people(60)
    release = protect(table, 5, **ASKED)
    place = np.array([SIZES.index(size) for size in table["size"]])
    spread = np.square(place - place.mean()).sum()
    mixed = {
        n: len(table) - table[n].value_counts()["count"].pow(2).sum() / len(table) for n in NAMES
    }

    def loss(rows, kinds):
        own = table[rows]
        lost = sum(2 * (own[n] != kinds[NAMES.index(n)]).sum() / mixed[n] for n in ("job", "town"))
        return lost + np.square(place[rows] - SIZES.index(kinds[2])).sum() / spread

    for rows in members(release):
        least = min(loss(rows, row) for row in table[rows].select(NAMES).rows())
        assert loss(rows, shown(release.table, rows)) == pytest.approx(least)


def test_a_group_without_a_complete_record_releases_each_column_on_its_own():
    table = pl.DataFrame(
        {
            "job": ["cook", "cook", None, "vet", "vet", "vet"],
            "town": [None, None, "west", "west", "west", "east"],
            "x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2],
        }
    )
    asked = {**ASKED, "quasi_identifiers": ["job", "town"], "columns": {"x": {"weight": 20}}}
    release = protect(table, 3, **asked, missing="impute")
    assert release.table["job"].to_list() == ["cook"] * 3 + ["vet"] * 3
    assert release.table["town"].to_list() == ["west"] * 6
    assert release.manifest.categories.incomplete_groups == 1


def test_a_table_without_a_complete_record_is_released_column_by_column():
    table = pl.DataFrame({"job": ["cook", None] * 4, "town": [None, "west"] * 4, "x": range(8)})
    asked = {**ASKED, "quasi_identifiers": ["job", "town"], "columns": {}}
    for keep in (False, True):
        release = protect(table, 2, **asked, missing="impute", keep_margins=keep)
        assert release.table.select("job", "town").unique().rows() == [("cook", "west")]
        assert release.manifest.categories.incomplete_groups == release.manifest.n_groups
        assert (release.manifest.categories.margins is not None) == keep


def test_one_column_releases_its_median_or_most_frequent_value():
    table = people(60)
    for name, said in (("job", {}), ("size", {"size": {"order": SIZES}})):
        asked = {**ASKED, "quasi_identifiers": [name], "columns": {"x": {"weight": 20}, **said}}
        one = protect(table.select(name, "x"), 5, **asked)
        other = protect(table.select(name, "x"), 5, **asked, valid_combinations=False)
        assert one.table.equals(other.table)


def test_a_column_of_weight_0_still_counts_between_equals():
    table = pl.DataFrame(
        {"job": ["a"] * 4, "town": ["w", "e", "e", "e"], "x": [1.0, 2.0, 3.0, 4.0]}
    )
    said = {"town": {"weight": 0}, "job": {"type": "nominal"}}
    release = protect(table, 4, quasi_identifiers=["job", "town"], columns=said, method="mdav")
    assert release.table["town"].unique().to_list() == ["e"]


class TestMargins:
    def test_totals_come_nearer_and_the_manifest_says_how_near(self):
        table = people(600)
        plain = protect(table, 5, **ASKED)
        kept = protect(table, 5, **ASKED, keep_margins=True)
        found = kept.manifest.categories.margins
        assert found.deviation == deviation(table, kept.table)
        assert found.least_loss_deviation == deviation(table, plain.table)
        assert found.deviation < 0.4 * found.least_loss_deviation
        assert 0.0 <= found.lower_bound <= found.deviation
        assert 0.0 < found.extra_loss <= 10.0
        assert np.array_equal(plain.labels, kept.labels)

    @pytest.mark.slow
    def test_lies_between_the_best_of_all_choices_and_what_loses_least(self):
        for seed in range(4):
            table = people(16, seed)
            release = protect(table, 4, **ASKED, keep_margins=True)
            nearest = min(
                deviation(
                    table, pl.DataFrame([own[g] for g in release.labels], NAMES, orient="row")
                )
                for own in product(
                    *({*table[rows].select(NAMES).rows()} for rows in members(release))
                )
            )
            found = release.manifest.categories.margins
            assert nearest <= found.deviation <= found.least_loss_deviation

    def test_weights_count(self):
        table = people(400).with_columns(w=pl.Series(np.random.default_rng(2).integers(1, 30, 400)))
        kept = protect(table, 5, **ASKED, weights="w", keep_margins=True)
        found = kept.manifest.categories.margins
        assert found.deviation == pytest.approx(deviation(table, kept.table, table["w"]))
        plain = protect(table, 5, **ASKED, weights="w")
        assert found.least_loss_deviation == pytest.approx(
            deviation(table, plain.table, table["w"])
        )
        assert found.deviation < 0.4 * found.least_loss_deviation

    def test_missing_is_a_value_with_a_total(self):
        table = people(400, gaps=0.1)
        kept = protect(table, 5, **ASKED, missing="value", keep_margins=True)
        found = kept.manifest.categories.margins
        assert found.deviation == deviation(table, kept.table) < 0.4 * found.least_loss_deviation

    def test_columns_on_their_own_keep_theirs(self):
        table = people(400)
        kept = protect(table, 5, **ASKED, keep_margins=True, valid_combinations=False)
        found = kept.manifest.categories.margins
        assert found.deviation == deviation(table, kept.table) < 0.3 * found.least_loss_deviation
        for rows in members(kept):
            for name in NAMES:
                assert kept.table[name][int(rows[0])] in {*table[name][rows]}

    def test_strata_and_blocks(self):
        table = people(400).with_columns(land=pl.Series(["a", "b"] * 200))
        release = protect(table, 5, **ASKED, strata="land", keep_margins=True)
        found = release.manifest.categories.margins
        assert found.deviation == deviation(table, release.table)
        blocks = protect(
            table.drop("land"), 5, **ASKED, blocks=[["job", "size"]], keep_margins=True
        )
        found = blocks.manifest.categories.margins
        assert found.deviation == deviation(table, blocks.table) < found.least_loss_deviation
        assert {*blocks.table.select("job", "size").rows()} <= {*table.select("job", "size").rows()}

    def test_the_same_table_gives_the_same_release(self):
        table = people(400)
        first, second = (protect(table, 5, **ASKED, keep_margins=True) for _ in range(2))
        assert first.table.equals(second.table)

    def test_the_transformer_has_it(self):
        table = people(400)
        said = {"size": {"order": SIZES}, "x": {"weight": 20}}
        made = Microaggregator(5, method="mdav", columns=said, keep_margins=True, bound="none")
        assert made.fit_transform(table).equals(protect(table, 5, **ASKED, keep_margins=True).table)

    def test_hybrid_records_have_no_categories_to_keep(self):
        with pytest.raises(ParameterError, match="does not work with keep_margins"):
            Plan(k=5, hybrid=True, keep_margins=True)


def test_the_command_turns_off_what_is_on_by_default():
    said = command_line(Plan(k=5, valid_combinations=False), source="a.csv", target="b.csv")
    assert "--no-valid-combinations" in said.split()
    assert "valid" not in command_line(Plan(k=5), source="a.csv", target="b.csv")


def test_manifests_of_earlier_versions_keep_what_was_the_default(tmp_path):
    release = protect(people(40), 4, **ASKED)
    facts = release.manifest.as_dict()
    assert facts["categories"]["valid_combinations"]
    path = tmp_path / "m.json"
    path.write_text(str(release.manifest))
    assert Manifest.load(path).plan.valid_combinations
    del facts["categories"]
    path.write_text(json.dumps({**facts, "schema_version": 3}))
    assert not Manifest.load(path).plan.valid_combinations
