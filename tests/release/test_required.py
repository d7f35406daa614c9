"""l-diversity, t-closeness, p per cent and dominance in tables: met, refused, and the best."""

import re
from collections import defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import compare, protect, sweep
from microagg.core.errors import DataError, ParameterError
from tests.partitions.test_requirements import partitions
from tests.requirements.asked import ASKED, keywords, meets

ROLES = {"sensitive": ["s", "v"], "quasi_identifiers": ["x", "z"]}


def records_of(seed, n, areas=1):
    rng = np.random.default_rng(seed)
    return [
        {
            "who": f"p{rng.integers(max(2, n // 2))}",
            "s": "abc"[rng.integers(3)],
            "v": int(rng.integers(6)),
            "x": round(float(rng.lognormal(sigma=1.2)), 2),
            "z": int(rng.integers(9)),
            "area": "nsw"[rng.integers(areas)],
        }
        for _ in range(n)
    ]


def release_of(records, k, wanted, **more):
    asked = {**ROLES, **keywords(wanted), **more}
    asked["drop"] = [
        *([] if "unit" in asked else ["who"]),
        *([] if "strata" in asked else ["area"]),
    ]
    return protect(pl.DataFrame(records), k, **asked)


def groups_of(labels):
    found = defaultdict(list)
    for at, label in enumerate(labels.tolist()):
        found[label].append(at)
    return list(found.values())


PAIRS = [*combinations(ASKED, 2)]
PAIRS.remove(("distinct", "entropy"))  # of one column
OF_ONE = [((name, value),) for name, (_, _, values) in ASKED.items() for value in values[-2:]]
OF_TWO = [tuple((name, ASKED[name][2][-2:][0]) for name in pair) for pair in PAIRS]


def called(wanted):
    return "+".join(f"{name}-{value}" for name, value in wanted)


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [*OF_ONE, *OF_TWO], ids=called)
@pytest.mark.parametrize(("n", "k"), [(7, 2), (9, 3)])
def test_the_best_of_all_partitions_is_found(wanted, n, k):
    records = records_of(n * 31 + k, n)
    X = np.array([[row["x"], row["z"]] for row in records])
    errors = {}

    def error(group):
        """The squared error of a group; infinite if it is not as asked for."""
        if group not in errors:
            own = X[list(group)]
            is_good = meets(wanted, records, group, k)
            errors[group] = float(((own - own.mean(axis=0)) ** 2).sum()) if is_good else np.inf
        return errors[group]

    best = min(
        sum(error(tuple(group)) for group in partition) for partition in partitions(list(range(n)))
    )
    if best == np.inf:
        with pytest.raises(ParameterError, match="no groups can meet a requirement"):
            release_of(records, k, wanted)
        return
    found = release_of(records, k, wanted, scale="none", effort="best", random_state=0)
    assert found.manifest.sse == pytest.approx(best)
    assert found.manifest.lower_bound is None or (
        found.manifest.lower_bound <= found.manifest.grouping_loss + 1e-9
    )
    for group in groups_of(found.labels):
        assert meets(wanted, records, group, k)


# What to ask for instead, as it is written in the message and as `protect` takes it.
INSTEAD = {
    "unit": lambda text, _: {"k": int(text)},
    "distinct": lambda text, _: {"l_diversity": {"s": int(text)}},
    "entropy": lambda text, _: {"l_diversity": {"s": f"entropy:{text}"}},
    "equal": lambda text, _: {"t_closeness": {"s": float(text)}},
    "ordered": lambda text, _: {"t_closeness": {"v": float(text)}},
    "p": lambda text, _: {"p_percent": {"x": float(text)}},
    "dominance": lambda text, value: {"dominance": {"x": (value[0], float(text))}},
}
TOO_MUCH = {
    "unit": None,
    "distinct": 4,
    "entropy": "entropy:2.9",
    "equal": 0.05,
    "ordered": 0.02,
    "p": 95.0,
    "dominance": (1, 20.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_cannot_be_met_is_refused_with_the_nearest_that_can(name, strata):
    n_refused = 0
    for seed in range(8):
        records = records_of(seed, 12, areas=3 if strata else 1)
        wanted, k = [(name, TOO_MUCH[name])], 8 if name == "unit" else 1
        more = {"strata": "area"} if strata else {}
        if strata and name == "unit":
            more["small_strata"] = "merge"  # units of a stratum are counted before
        areas = defaultdict(list)
        for at, row in enumerate(records):
            areas[row["area"] if strata and name != "unit" else "all"].append(at)
        if all(meets(wanted, records, group, k) for group in areas.values()):
            release_of(records, k, wanted, method="mdav", **more)
            continue
        n_refused += 1
        with pytest.raises(ParameterError, match="no groups can meet a requirement") as refused:
            release_of(records, k, wanted, method="mdav", **more)
        told = str(refused.value)
        assert ("each taken as one group" in told) == (len(areas) > 1)
        if name == "p":
            told = told.replace("Leave it out", "Ask for 0 or less")
        pattern = r"(?:Ask for|Use k =) ([\d.]+) or (less|more)(, or use coarser)?"
        text, direction, coarser = re.search(pattern, told).groups()
        assert bool(coarser) == (len(areas) > 1)
        instead = {"k": k, **keywords(wanted), **INSTEAD[name](text.rstrip("."), TOO_MUCH[name])}
        k_then = instead.pop("k")
        release_of(records, k_then, [], method="mdav", **more, **instead)
        figure = float(text.rstrip("."))
        if name not in ("unit", "distinct"):
            beyond = figure + (-0.001 if direction == "more" else 0.001)
            limits = keywords([(name, TOO_MUCH[name])])
            limits |= INSTEAD[name](f"{beyond:.4f}", TOO_MUCH[name])
            with pytest.raises(ParameterError, match=r"no groups can meet|must be"):
                release_of(records, 1, [], method="mdav", **more, **limits)
    if name in ("equal", "ordered") and not strata:
        assert n_refused == 0, "without strata, no t is out of reach"
    else:
        assert n_refused > 0


def test_what_no_group_can_hide():
    table = pl.DataFrame({"x": [5.0, 3.0, 0.0, 0.0], "z": range(4)})
    match = "'x' is known within 5 % in all records together. Leave it out."
    with pytest.raises(ParameterError, match=match):
        protect(table, 2, p_percent={"x": 5})


RECORDS = records_of(3, 90, areas=2)
STRONG = [("distinct", 2), ("ordered", 0.3), ("dominance", (1, 80.0))]


class TestTogether:
    def check(self, release, wanted=STRONG, shown=("x", "z"), k=3):
        behind = defaultdict(list)
        for at, row in enumerate(release.table.select(shown).iter_rows()):
            behind[row].append(at)
        for group in behind.values():
            assert meets(wanted, RECORDS, group, k)

    @pytest.mark.parametrize("unit", [[], [("unit", None)]])
    def test_in_strata(self, unit):
        wanted = [*STRONG, *unit]
        release = release_of(RECORDS, 3, wanted, method="mdav", strata="area")
        self.check(release, wanted, ("x", "z", "area"))
        assert len(release.manifest.requirements) == len(wanted)

    def test_with_weights(self):
        weights = pl.Series([1.0, 40.0] * 45)
        table = pl.DataFrame(RECORDS).with_columns(w=weights)
        release = protect(
            table, 3, weights="w", drop=["who", "area"], method="mdav", **ROLES, **keywords(STRONG)
        )
        self.check(release)

    def test_in_every_block(self):
        with pytest.warns(match="block"):
            release = release_of(RECORDS, 3, STRONG, method="mdav", blocks=[["x"]])
        for shown in (["x"], ["z"]):
            self.check(release, shown=shown)
        assert len(release.manifest.requirements) == len(STRONG)

    @pytest.mark.parametrize("missing", ["value", "impute"])
    def test_with_missing_values(self, missing):
        holes = [
            {**row, "x": None if at % 7 == 0 else row["x"], "s": None if at % 5 == 0 else row["s"]}
            for at, row in enumerate(RECORDS)
        ]
        release = release_of(holes, 3, STRONG, method="mdav", missing=missing)
        behind = defaultdict(list)
        for at, row in enumerate(release.table.select("x", "z").iter_rows()):
            behind[row].append(at)
        assert all(meets(STRONG, holes, group, 3) for group in behind.values())

    def test_the_manifest_says_what_was_found(self):
        release = release_of(RECORDS, 3, STRONG, method="mdav")
        found = {one.requirement: one for one in release.manifest.requirements}
        assert set(found) == {"l-diversity", "t-closeness", "dominance"}
        assert found["l-diversity"].worst >= 2
        assert found["t-closeness"].worst <= 0.3
        assert found["dominance"].worst is None  # it would give a contribution away
        assert found["dominance"].checkable
        assert all(one.checkable and not one.combinations_failing for one in found.values())
        again = protect(pl.DataFrame(RECORDS), plan=release.manifest.plan)
        assert again.labels.tolist() == release.labels.tolist()

    def test_studies(self):
        table = pl.DataFrame(RECORDS)
        asked = {**ROLES, "drop": ["who", "area"], **keywords(STRONG)}
        (row,) = compare(table, 3, "mdav", **asked)
        assert (
            row.information_loss == release_of(RECORDS, 3, STRONG, method="mdav").information_loss
        )
        rows = list(sweep(table, [2, 3, 4], random_state=0, **asked))
        losses = [swept.grouping_loss for swept in rows]
        assert losses == sorted(losses)
        for swept in rows:
            for group in groups_of(swept.labels):
                assert meets(STRONG, RECORDS, group, swept.k)


class TestValues:
    """What counts as one value."""

    @pytest.mark.parametrize(
        ("values", "n"),
        [
            (["a", "a ", " a", "b"], 2),
            (["1", "1.0", "01", "2"], 4),  # a leading zero makes them codes
            (["1", "1.0", "1e0", "2"], 2),
            (["", " ", None, "x"], 2),
            (["9007199254740993", "9007199254740992", "1", "2"], 4),
            ([0.0, -0.0, None, float("nan")], 2),
            ([True, False, None, True], 3),
            ([1, 2, 3, 2], 3),
        ],
    )
    @pytest.mark.parametrize("kind", [pl.DataFrame, pl.DataFrame.to_pandas])
    def test_in_a_table(self, values, n, kind):
        table = kind(pl.DataFrame({"x": range(24), "^s$": values * 6}, strict=False))
        found = protect(table, 3, sensitive="^s$", l_diversity={"^s$": n}, method="mdav")
        assert found.manifest.requirements[0].worst == n
        with pytest.raises(ParameterError, match=f"Ask for {n} or less"):
            protect(table, 3, sensitive="^s$", l_diversity={"^s$": n + 1}, method="mdav")
        protect(table, 3, sensitive="^s$", t_closeness={"^s$": 0.3}, method="mdav")

    def test_orders(self):
        values = ["low", "high", "mid", "low"] * 6
        order = ["low", "mid", "high"]
        table = pl.DataFrame({"x": range(24), "s": values})
        far = table.with_columns(s=pl.Series(sorted(values)))
        asked = {"sensitive": "s", "t_closeness": {"s": 0.2}, "method": "mdav"}
        for own in (table, far):
            told = protect(own, 3, columns={"s": {"order": order}}, **asked)
            assert told.manifest.plan.columns["s"].order == tuple(order)
            ranks = own.with_columns(s=pl.Series([order.index(value) for value in own["s"]]))
            assert protect(ranks, 3, **asked).labels.tolist() == told.labels.tolist()

    @pytest.mark.parametrize("order", [("S", "L", "never"), (3, 1, 99), (2.5, 0.1, 99.5)])
    def test_an_order_lists_only_categories_that_some_record_has(self, order):
        small, large, never = order
        sizes = pd.Categorical([small, large] * 10, [small, never, large], ordered=True)
        table = pd.DataFrame({"x": np.arange(20.0), "s": sizes})
        release = protect(table, 4, sensitive="s", t_closeness={"s": 0.5}, method="mdav")
        assert release.manifest.plan.columns["s"].order == (small, large)
        assert f"{never}" not in str(release.manifest.plan)

    def test_dates_as_text_are_refused(self):
        table = pl.DataFrame({"x": range(6), "day": ["2001-01-01"] * 6})
        with pytest.raises(DataError, match="needs the dates in 'day' as dates, not as text"):
            protect(
                table,
                3,
                sensitive="day",
                t_closeness={"day": 0.2},
                columns={"day": {"type": "date"}},
            )

    @pytest.mark.parametrize("asked", [{"l_diversity": {"s": 2}}, {"t_closeness": {"s": 0.3}}])
    def test_an_index_is_refused(self, asked):
        table = pl.DataFrame({"x": range(6), "s": list("abcabc")}).to_pandas().set_index("s")
        with pytest.raises(DataError, match="'s' is the table's index"):
            protect(table, 3, sensitive="s", method="mdav", **asked)

    def test_lists_are_refused(self):
        table = pl.DataFrame({"x": range(6), "list": [[1], [2]] * 3})
        with pytest.raises(DataError, match="numbers, text, categories and dates"):
            protect(table, 3, sensitive="list", l_diversity={"list": 2})


TABLE = pl.DataFrame(RECORDS).drop("who", "area")


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"l_diversity": {"x": 2}}, r"is for sensitive columns.*'x' has the role quasi-identifier"),
        ({"t_closeness": {"z": 0.2}}, "is for sensitive columns"),
        ({"l_diversity": {"nothing": 2}}, "is for sensitive columns.*'nothing' has no role"),
        ({"l_diversity": {"s": 0}}, "l_diversity must be"),
        ({"l_diversity": {"s": "x"}}, "l_diversity must be"),
        ({"l_diversity": 3}, "l_diversity must be a mapping"),
        ({"l_diversity": {"s": 4}}, "Ask for 3 or less"),
        ({"t_closeness": {"v": 1.5}}, "t_closeness must be"),
        ({"t_closeness": {"v": -0.1}}, "t_closeness must be"),
        ({"t_closeness": {"v": "near"}}, "t_closeness must be"),
        ({"p_percent": {"x": 101}}, "p_percent must be"),
        ({"p_percent": {"x": -1}}, "p_percent must be"),
        ({"p_percent": {"s": 5}}, "released as means; 's' has the role sensitive"),
        ({"dominance": {"x": 85}}, "such as 2:85"),
        ({"dominance": {"v": (1, 80)}}, "released as means; 'v' has the role sensitive"),
        (
            {"p_percent": {"x": 5}, "columns": {"x": {"aggregate": "median"}}},
            "'x' has the aggregate 'median'",
        ),
        (
            {"dominance": {"x": (1, 80)}, "columns": {"x": {"type": "ordinal"}}},
            "'x' is of the type 'ordinal'",
        ),
        ({"l_diversity": {"s": 2}, "columns": {"s": {"l_diversity": 3}}}, "is given twice"),
        ({"l_diversity": {"s": 2}, "method": "fcm"}, "at random and cannot take requirements"),
    ],
)
def test_what_is_refused_before_grouping(asked, match, monkeypatch):
    monkeypatch.setattr("microagg.partitions.mdav.MDAV.fit", lambda *_, **__: pytest.fail("run"))
    with pytest.raises(ParameterError, match=match) as refused:
        protect(TABLE, 3, **{"method": "mdav", **ROLES, **asked})
    assert "\n" not in str(refused.value)


def test_contributions_of_text_are_refused():
    table = TABLE.with_columns(name=pl.lit("a"))
    with pytest.raises(ParameterError, match="numbers that are released as means; 'name' has"):
        protect(table, 3, quasi_identifiers="name", sensitive=["s", "v"], p_percent={"name": 5})


@pytest.mark.parametrize("method", ["auto", "mdav", "hac"])
def test_what_any_group_meets_changes_nothing(method):
    effort = {"effort": "fast", "random_state": 0} if method == "auto" else {}
    bare = protect(TABLE, 3, method=method, **ROLES, **effort)
    weak = {"l_diversity": {"s": 1}, "t_closeness": {"v": 1}, "p_percent": {"x": 0}}
    own = protect(TABLE, 3, method=method, dominance={"x": (1, 100)}, **ROLES, **weak, **effort)
    assert own.labels.tolist() == bare.labels.tolist()
    assert own.information_loss == bare.information_loss
    assert len(own.manifest.requirements) == 4


def test_amounts_that_vanish_beside_others_are_refused():
    table = pl.DataFrame({"a": [3e10, 5e-324, 5e-324, 3e10, 3e10, 0.0]})
    with pytest.raises(DataError, match=r"1e300 times smaller than the largest\. Round it to zero"):
        protect(table, 2, method="mdav", unit="rows", p_percent={"a": 0.1})
