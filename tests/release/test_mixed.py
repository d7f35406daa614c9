"""protect() on tables as people have them: mixed columns, holes, strata, weights, blocks."""

import datetime as dt
import json
from collections import Counter
from functools import partial

import numpy as np
import polars as pl
import pytest

import microagg
from microagg.core.errors import DataError, ParameterError, PrivacyWarning
from microagg.plans.manifest_facts import CombinationFacts

protect = partial(microagg.protect, method="mdav")
N = 60


def people(seed=0, n=N):
    rng = np.random.default_rng(seed)
    born = dt.date(1950, 1, 1)
    return pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(8, 1, n),
            "sex": rng.choice(["m", "f"], n),
            "region": rng.choice(["north", "south", "west"], n),
            "school": rng.choice(["low", "middle", "high"], n),
            "smoker": rng.random(n) < 0.3,
            "born": [born + dt.timedelta(days=int(d)) for d in rng.integers(0, 20_000, n)],
            "w": rng.integers(1, 9, n),
            "illness": rng.choice(["flu", "cold"], n),
        }
    )


ROLES = {
    "identifiers": ["name"],
    "sensitive": ["illness"],
    "quasi_identifiers": ["sex", "smoker", "born", "region"],
    "columns": {"school": {"order": ["low", "middle", "high"]}},
}
SHOWN = ["age", "income", "sex", "region", "school", "smoker", "born", "w"]


def with_holes(table, share, columns=SHOWN, seed=1):
    rng = np.random.default_rng(seed)
    holes = {c: pl.Series(rng.random(len(table)) < share) for c in columns}
    return table.with_columns(pl.when(~holes[c]).then(c).alias(c) for c in columns)


def class_sizes(table, columns=SHOWN):
    return Counter(table.select(columns).rows()).values()


def members(release):
    return [np.flatnonzero(release.labels == g) for g in range(release.labels.max() + 1)]


def test_every_type_is_released_as_its_aggregate():
    table = people()
    release = protect(table, 4, **ROLES, valid_combinations=False)
    assert release.table.schema == table.drop("name").schema
    assert min(class_sizes(release.table)) >= 4
    assert release.table["illness"].equals(table["illness"])
    order = {"low": 0, "middle": 1, "high": 2}
    for rows in members(release):
        own, out = table[rows], release.table[rows]
        assert {out["age"][0]} == set(out["age"])
        assert out["age"][0] == int(np.floor(own["age"].mean() + 0.5))
        assert out["income"][0] == pytest.approx(own["income"].mean())
        counts = Counter(own["sex"])
        assert counts[out["sex"][0]] == max(counts.values())
        places = sorted(order[value] for value in own["school"])
        assert order[out["school"][0]] == places[(len(places) - 1) // 2]
        smokers = own["smoker"].sum()
        assert smokers * 2 == len(own) or out["smoker"][0] == (smokers * 2 > len(own))
        days = (own["born"] - dt.date(1970, 1, 1)).dt.total_days().mean()
        assert abs((out["born"][0] - dt.date(1970, 1, 1)).days - days) <= 0.5


def test_a_median_instead_of_a_mean():
    said = {**ROLES["columns"], "income": {"aggregate": "median"}, "born": {"aggregate": "median"}}
    table = people()
    release = protect(table, 4, **{**ROLES, "columns": said})
    for rows in members(release):
        assert release.table["income"][int(rows[0])] == pytest.approx(
            table["income"][rows].median()
        )
    assert release.manifest.columns["born"].aggregate == "median"


def test_a_column_without_weight_decides_nothing():
    table = people()
    said = {name: {"weight": 0} for name in SHOWN if name != "age"}
    said["school"] |= ROLES["columns"]["school"]
    release = protect(table, 4, **{**ROLES, "columns": said})
    alone = protect(table.select("age"), 4)
    assert np.array_equal(release.labels, alone.labels)


def test_new_combinations_are_counted_and_can_be_avoided():
    rng = np.random.default_rng(5)
    # Four of eight combinations exist.
    a, b = rng.integers(0, 2, 80), rng.integers(0, 2, 80)
    table = pl.DataFrame({"a": a, "b": b, "c": a ^ b}).cast(pl.String)
    table = table.with_columns(x=pl.Series(rng.normal(size=80)))
    existing = set(table.select("a", "b", "c").rows())
    # What tells records apart is x: groups are of all combinations.
    asked = {"quasi_identifiers": ["a", "b", "c"], "columns": {"x": {"weight": 50}}}
    release = protect(table, 5, **asked, valid_combinations=False)
    shown = release.table.select("a", "b", "c").rows()
    new = release.manifest.new_combinations
    assert new.combinations == len(set(shown) - existing) > 0
    assert new.records == sum(row not in existing for row in shown)
    valid = protect(table, 5, **asked)
    assert set(valid.table.select("a", "b", "c").rows()) <= existing
    assert valid.manifest.new_combinations == CombinationFacts(combinations=0, records=0)
    for rows in members(valid):
        own = set(table[rows].select("a", "b", "c").rows())
        assert valid.table[rows].select("a", "b", "c").row(0) in own


class TestMissing:
    def test_is_refused_with_columns_counts_and_choices(self):
        table = with_holes(people(), 0.2, ["age", "sex"])
        with pytest.raises(DataError) as refused:
            protect(table, 3, **ROLES)
        message = str(refused.value)
        for name in ("age", "sex"):
            assert f"'{name}' ({table[name].null_count()})" in message
        assert "missing='value' or 'impute'" in message

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6])
    @pytest.mark.parametrize("mode", ["value", "impute"])
    @pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
    def test_k_holds_with_missing_values(self, share, mode, kind):
        table = with_holes(people(), share)
        given = {"polars": table, "pandas": table.to_pandas(), "arrow": table.to_arrow()}[kind]
        released = protect(given, 4, **ROLES, missing=mode).table
        assert type(released) is type(given)
        back = released if kind == "polars" else pl.DataFrame(released)
        back = back.with_columns(pl.selectors.float().fill_nan(None))
        assert min(class_sizes(back)) >= 4
        if mode == "impute":
            assert sum(back.select(SHOWN).null_count().row(0)) == 0

    def test_a_group_releases_a_missing_value_if_most_of_it_miss_it(self):
        table = with_holes(people(), 0.5)
        release = protect(table, 4, **ROLES, missing="value", valid_combinations=False)
        for name in SHOWN:
            for rows in members(release):
                absent = table[name][rows].null_count()
                out = release.table[name][rows]
                assert out.null_count() == (len(rows) if absent * 2 > len(rows) else 0)
                if name == "sex" and not out.null_count():
                    assert out[0] in table[name][rows].to_list()

    def test_a_missing_value_is_imputed_from_its_group(self):
        table = with_holes(people(), 0.3, ["income"])
        release = protect(table, 4, **ROLES, missing="impute")
        for rows in members(release):
            own = table["income"][rows].drop_nulls()
            mean = own.mean() if len(own) else table["income"].mean()
            assert release.table["income"][int(rows[0])] == pytest.approx(mean)
        facts = release.manifest.missing_values
        assert facts.treatment == "impute"
        assert facts.before == {"income": table["income"].null_count()}
        assert facts.after == {"income": 0}

    def test_minus_999_is_a_number(self):
        table = pl.DataFrame({"a": [-999.0, -999.0, 1.0, 3.0]})
        assert protect(table, 2, missing="value").table["a"].to_list() == [-999.0, -999.0, 2.0, 2.0]


class TestStrata:
    def test_groups_stay_within_their_stratum(self):
        table = people()
        roles = {**ROLES, "quasi_identifiers": ["sex", "smoker", "born"]}
        release = protect(table, 4, strata="region", **roles)
        assert release.table["region"].equals(table["region"])
        for rows in members(release):
            assert table["region"][rows].n_unique() == 1
        assert min(class_sizes(release.table)) >= 4
        assert release.manifest.strata_found.count == 3

    def test_each_stratum_is_grouped_as_on_its_own_but_for_the_scale(self):
        table = people().select("age", "income", "region")
        release = protect(table, 4, strata="region", scale="none")
        for region in ("north", "south", "west"):
            rows = np.flatnonzero((table["region"] == region).to_numpy())
            alone = protect(table[rows].drop("region"), 4, scale="none")
            assert release.table[rows].drop("region").equals(alone.table)

    def test_small_strata_are_named_by_place_and_size(self):
        table = people().with_columns(region=pl.Series(["rare"] * 2 + ["b"] * 30 + ["z"] * 28))
        roles = {**ROLES, "quasi_identifiers": ["sex", "smoker", "born"]}
        with pytest.raises(DataError) as refused:
            protect(table, 4, strata="region", **roles)
        assert "1 of the 3 strata by 'region' does not: stratum 2 holds 2 (numb" in str(
            refused.value
        )
        assert "rare" not in str(refused.value)

    def test_small_strata_join_the_nearest(self):
        table = pl.DataFrame(
            {
                "x": [0.0, 0.1, 0.2, 0.3, 9.0, 9.1, 9.2, 9.3, 8.0, 8.1],
                "place": ["a"] * 4 + ["b"] * 4 + ["c"] * 2,
            }
        )
        release = protect(table, 3, strata="place", small_strata="merge", columns={"place": {}})
        assert release.table["place"].to_list() == ["a"] * 4 + ["b"] * 6
        assert release.manifest.strata_found.merged == 1

    def test_a_missing_value_is_a_stratum(self):
        table = pl.DataFrame({"x": range(8), "place": ["a"] * 4 + [None] * 4})
        release = protect(table, 4, strata="place")
        assert release.labels.tolist() == [0] * 4 + [1] * 4

    def test_a_bound_is_the_sum_of_those_of_the_strata(self):
        table = people().select("age", "income", "region")
        release = protect(table, 4, strata="region", bound="fast")
        assert 0 < release.lower_bound < release.grouping_loss


class TestWeights:
    def test_means_modes_and_loss_count_a_record_by_its_weight(self):
        table = people()
        release = protect(table, 4, weights="w", **ROLES)
        assert release.table["w"].equals(table["w"])
        assert release.lower_bound is None
        for rows in members(release):
            w, own = table["w"][rows].to_numpy(), table[rows]
            mean = np.average(own["income"], weights=w)
            assert release.table["income"][int(rows[0])] == pytest.approx(mean)
            repeated = Counter(np.repeat(own["sex"].to_numpy(), w))
            most = max(repeated.values())
            mode = min(value for value in repeated if repeated[value] == most)
            assert release.table["sex"][int(rows[0])] == mode

    @pytest.mark.parametrize("bad", [0.0, -1.0, None, float("inf"), float("nan")])
    def test_weights_are_above_zero(self, bad):
        table = pl.DataFrame({"x": [1.0, 2.0], "w": [1.0, bad]})
        with pytest.raises(DataError, match="1 of 2 are not"):
            protect(table, 2, weights="w")

    def test_only_the_ratios_of_weights_count(self):
        table = people()
        large = table.with_columns(w=pl.col("w") * 2.0**300)
        one, two = (protect(t, 4, weights="w", **ROLES) for t in (table, large))
        assert one.table.drop("w").equals(two.table.drop("w"))
        assert one.information_loss == pytest.approx(two.information_loss)

    def test_no_bound_with_weights(self):
        with pytest.raises(ParameterError, match=r"bound .* is for records without weights"):
            protect(people(), 4, weights="w", bound="fast", **ROLES)


class TestBlocks:
    def test_each_block_is_grouped_on_its_own(self):
        table = people()
        blocks = [["age", "income"], ["sex", "school"]]
        with pytest.warns(PrivacyWarning, match="grouped in 3 blocks"):
            release = protect(table, 4, blocks=blocks, **ROLES)
        assert release.labels.shape == (N, 3)
        for names in [*blocks, ["region", "smoker", "born", "w"]]:
            assert min(class_sizes(release.table, names)) >= 4
        alone = protect(table.select("age", "income"), 4)
        assert release.table.select("age", "income").equals(alone.table)
        assert "block" in release.manifest.promise
        assert release.manifest.blocks[2] == ("region", "smoker", "born", "w")

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    def test_a_constraint_stays_within_a_block(self):
        table = pl.DataFrame({"a": [1, 2, 3, 4], "b": [2, 3, 4, 5], "c": [0, 1, 0, 1]})
        release = protect(table, 2, blocks=[["a", "b"]], constraints=["a <= b"])
        assert release.manifest.constraints.groups_moved == 0
        with pytest.raises(
            ParameterError, match=r"'c' are in different ones. Put them into the same"
        ):
            protect(table, 2, blocks=[["a", "b"]], constraints=["a <= c"])

    @pytest.mark.parametrize(
        ("blocks", "match"),
        [
            ([["age"], ["age"]], "one block only"),
            ([["illness"]], "blocks consist of quasi-identifiers"),
        ],
    )
    def test_bad_blocks(self, blocks, match):
        with pytest.raises(ParameterError, match=match):
            protect(people(), 4, blocks=blocks, **ROLES)


class TestKeys:
    def test_an_identifier_becomes_a_random_number(self):
        table = people()
        one, two = (protect(table, 4, keep_key=True, **ROLES) for _ in range(2))
        assert one.table.columns == table.columns
        assert sorted(one.table["name"]) == list(range(1, N + 1))
        assert one.table["name"].to_list() != two.table["name"].to_list()
        assert (one.manifest.key, one.manifest.dropped) == ("name", ())

    def test_equal_plans_replace_the_same_identifier(self):
        table = people().with_columns(number=pl.Series([f"n{i}" for i in range(N)]))
        own = {name: {"role": "identifier"} for name in ("name", "number")}
        rest = {"illness": {"role": "sensitive"}, "age": {"role": "quasi-identifier"}}
        table = table.select(*own, *rest)
        plans = [
            microagg.Plan.of(k=4, method="mdav", keep_key=True, columns={**columns, **rest})
            for columns in (own, dict(reversed(own.items())))
        ]
        assert plans[0] == plans[1]
        for plan in plans:
            release = microagg.protect(table, plan=plan)
            assert (release.manifest.key, release.manifest.dropped) == ("name", ("number",))
            assert microagg.verify(release.table, plan=plan)

    def test_there_must_be_one(self):
        with pytest.raises(ParameterError, match="no identifier to replace"):
            protect(people().drop("name"), 4, keep_key=True, **{**ROLES, "identifiers": ()})

    def test_keys_of_pandas_do_not_depend_on_the_index(self):
        table = people().to_pandas()
        table.index = range(100, 100 + N)
        released = protect(table, 4, keep_key=True, **ROLES).table
        assert released.index.tolist() == list(range(N))
        assert sorted(released["name"]) == list(range(1, N + 1))


DRAWN = {"method": "fcm", "strict_k": True, "random_state": 1}


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"strata": "region"}, "strata"),
        ({"weights": "w"}, "weights"),
        ({"scale": "rank"}, "the scale 'rank'"),
        ({"quasi_identifiers": ["sex"]}, "quasi-identifiers other than numbers"),
        ({"columns": {"age": {"aggregate": "median"}}}, "medians"),
        ({"columns": {"age": {"weight": 2}}}, "column weights"),
    ],
)
def test_methods_that_draw_take_numbers_only(more, match):
    table = people().select("age", "income", "region", "sex", "w")
    roles = {"sensitive": [c for c in ("region", "sex") if c not in str(more)]}
    with pytest.raises(ParameterError, match=rf"does not work with {match}\. Use another"):
        protect(table, 4, **{**DRAWN, **roles, **more})


@pytest.mark.parametrize(
    ("constraint", "more", "match"),
    [
        ("sex >= 0", {}, "'sex' is of the type 'nominal'"),
        ("age >= 0", {"columns": {"age": {"aggregate": "median"}}}, "constraints start from means"),
    ],
)
def test_constraints_are_on_means_of_numbers(constraint, more, match):
    table = people().select("age", "income", "sex")
    with pytest.raises(ParameterError, match=match):
        protect(table, 4, constraints=[constraint], quasi_identifiers=["sex"], **more)


def test_constraints_with_missing_values_need_them_imputed():
    table = with_holes(people().select("age", "income"), 0.2, ["age"])
    with pytest.raises(DataError, match="are missing and cannot satisfy it"):
        protect(table, 4, constraints=["age >= 40"], missing="value")
    release = protect(table, 4, constraints=["age >= 40"], missing="impute")
    assert release.table["age"].min() >= 40
    young = (table["age"] < 40).sum()
    assert release.manifest.constraints.records_in_violation == {"age >= 40": young}


def test_a_plan_and_its_arguments_are_the_same():
    table = people()
    release = protect(
        table,
        4,
        strata="region",
        weights="w",
        **{**ROLES, "quasi_identifiers": ["sex", "smoker", "born"]},
    )
    again = microagg.protect(table, plan=release.manifest.plan)
    assert again.table.equals(release.table)
    assert again.manifest.plan == release.manifest.plan


def test_the_call_that_repeats_it_does():
    table = people()
    release = protect(table, 4, random_state=3, **ROLES)
    again = eval(release.manifest.command)
    assert again.table.equals(release.table)


def test_the_manifest_is_json_and_holds_no_values():
    table = people().with_columns(name=pl.lit("Sentinella"), illness=pl.lit("Sentinella"))
    text = json.dumps(protect(table, 4, unit="rows", **ROLES).manifest.as_dict(), allow_nan=False)
    assert "Sentinella" not in text
    assert "north" not in text


@pytest.mark.parametrize("blocks", [5, None, "ab", ["a", "b"], {"a": 1}, [["age"], "income"]])
def test_blocks_are_lists_of_lists(blocks):
    with pytest.raises(ParameterError, match="blocks must be a list of lists of columns"):
        protect(people(), 4, blocks=blocks, **ROLES)


def test_what_is_said_of_a_column_counts_or_is_refused():
    said = {"illness": {"role": "sensitive", "type": "nominal"}}
    with pytest.raises(ParameterError, match="'illness' is given the role sensitive"):
        protect(people(), 4, identifiers="name", columns=said)
    with pytest.raises(ParameterError, match="is for strata, and there are none"):
        protect(people(), 4, small_strata="merge", **ROLES)


def test_weights_that_would_be_lost_are_refused():
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0], "w": [1e300, 1e-300, 1.0]})
    with pytest.raises(DataError, match="differ by a factor of more than"):
        protect(table, 3, weights="w")


def test_equal_weights_count_for_nothing():
    said = {**ROLES["columns"], "income": {"aggregate": "median"}}
    table = people(n=200)
    for weight in (0.1, 0.3, 0.7):
        weighted = table.with_columns(w=pl.lit(weight))
        with_them = protect(weighted, 4, weights="w", **{**ROLES, "columns": said})
        without = protect(weighted, 4, **{**ROLES, "columns": said, "sensitive": ["illness", "w"]})
        for name in ("income", "sex", "school", "smoker"):
            assert with_them.table[name].equals(without.table[name])


def test_a_published_column_that_differs_in_every_record_is_warned_of():
    table = people()
    with pytest.warns(PrivacyWarning, match="column 'name' is published unchanged"):
        protect(table, 4, **{**ROLES, "identifiers": (), "sensitive": ["name", "illness"]})
