"""compare(): the figures are those of protect, failures are rows, and nothing hangs."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import Plan, protect
from microagg.core import registry
from microagg.core.errors import DataError, ParameterError
from microagg.measures.risk.linkage import distance_linkage
from microagg.studies.comparison import Comparison, Row, marked
from microagg.studies.setting import StudySetting
from microagg.tables import sides
from microagg.tables.frames import open_frame
from microagg.tables.roles import Roles
from microagg.tables.scaling import scaling
from tests.fakes import Endless, Faulty, Shuffled, fakes, interrupt_once_started  # noqa: F401

RNG = np.random.default_rng(5)
N = 80
FIGURES = ["information_loss", "grouping_loss", "sse", "n_groups", "min_group", "max_group"]
RISK = ["linkage", "linkage_error", "efficient", "guarantees_k"]
ADDED = "added_by_constraints"
NAMES = ["method", "k", *FIGURES[:3], ADDED, *RISK, *FIGURES[3:], "seconds", "seed", "error"]
SEVERAL = [
    name for name, m in registry.METHODS.items() if not (m.single_column or m.draws or m.needs)
]


def columns():
    return {"a": RNG.normal(size=N), "b": RNG.integers(0, 99, N), "c": RNG.normal(size=N) * 1e3}


DATA = columns()
TABLE = pl.DataFrame(DATA)


def compare(*arguments, **options):
    return microagg.compare(*arguments, **options).table


def as_rows(found):
    return found.select("method", "k", *FIGURES, "error").rows(named=True)


@pytest.mark.slow
def test_every_method_and_k_gets_the_figures_of_protect():
    found = compare(TABLE, [3, 7], random_state=4)
    assert found.columns == NAMES
    assert found.select("method", "k").rows() == [(m, k) for m in SEVERAL for k in (3, 7)]
    assert found["error"].null_count() == len(found)
    assert found["seconds"].min() > 0
    for row in found.rows(named=True):
        release = protect(TABLE, row["k"], method=row["method"], random_state=4)
        facts = release.manifest.as_dict()
        linked = distance_linkage(release._origin.pair).linked[1]
        assert row["linkage"] == pytest.approx(100 * linked)
        assert {name: row[name] for name in FIGURES} == {name: facts[name] for name in FIGURES}
        uses_randomness = row["method"] in ("auto", "reporder")
        assert row["seed"] == facts["random_state"] == (4 if uses_randomness else None)


def test_what_no_other_beats_on_both_is_marked():
    found = compare(TABLE, [3, 7], "mdav,cbfs,zscore-mhm,kmeans")
    points = found.select("information_loss", "linkage").rows()
    for (loss, linkage), efficient in zip(points, found["efficient"], strict=True):
        beaten = any(a <= loss and b <= linkage and (a, b) != (loss, linkage) for a, b in points)
        assert efficient == (not beaten)
    assert 1 <= found["efficient"].sum() < len(found)


@pytest.mark.slow
def test_names_may_be_parted_by_commas_and_all_may_be_among_them():
    assert compare(TABLE, 3, "md, mdav,md")["method"].to_list() == ["md", "mdav"]
    found = compare(TABLE, 3, "univariate,all", random_state=0)
    assert found["method"].to_list() == ["univariate", *SEVERAL]
    assert found["error"].is_not_null().to_list() == [True] + [False] * len(SEVERAL)


def test_scale_and_roles_are_those_of_protect():
    options = {"scale": "none", "drop": "c", "sensitive": ["b"]}
    found = compare(TABLE, 4, "univariate", **options)
    facts = protect(TABLE, 4, method="univariate", **options).manifest.as_dict()
    assert found["sse"].to_list() == [facts["sse"]]
    text = TABLE.with_columns(who=pl.lit("Sentinella"))
    with pytest.raises(DataError, match="'who'"):
        compare(text, 3)
    assert len(compare(text, 3, "mdav", identifiers=["who"], unit="rows")) == 1


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_kind_of_table_comes_back_with_the_same_types_whatever_fails(kind):
    table = kind(DATA)
    for methods in (["mdav", "univariate"], "mdav", "univariate"):
        found = compare(table, 3, methods)
        assert type(found) is type(table)
        same = pl.from_pandas(found) if kind is pd.DataFrame else pl.DataFrame(found)
        numbers = [same.schema[name] for name in NAMES[1:-1]]
        whole, real = pl.Int64, pl.Float64
        assert numbers == [
            *(whole, real, real, real, real, real, real, pl.Boolean, pl.Boolean),
            *(whole, whole, whole, real, whole),
        ]
        missing = [method == "univariate" for method in same["method"]]
        for name in (*FIGURES, "seconds"):
            assert same[name].is_null().to_list() == missing
        assert same["error"].is_not_null().to_list() == missing


@pytest.mark.slow
def test_all_leaves_out_what_cannot_serve_the_table_and_a_name_does_not():
    assert "univariate" not in compare(TABLE, 3)["method"]
    assert "univariate" in compare(TABLE, 3, quasi_identifiers="a", sensitive=["b", "c"])["method"]
    (row,) = compare(TABLE, 3, ["univariate"]).rows(named=True)
    assert "takes exactly one quasi-identifier; got 3" in row["error"]


def test_repetitions_count_once_and_the_order_is_as_asked():
    found = compare(TABLE, [7, 3, 7], ["md", "mdav", "md"])
    assert found.select("method", "k").rows() == [("md", 7), ("md", 3), ("mdav", 7), ("mdav", 3)]
    assert len(compare(TABLE, np.array([3, 3]), ("mdav",))) == 1


@pytest.mark.slow
def test_the_number_of_runs_side_by_side_changes_nothing():
    alone, several = (compare(TABLE, [2, 5], random_state=0, n_jobs=jobs) for jobs in (1, 3))
    assert as_rows(alone) == as_rows(several)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((TABLE, 0), "k must be a whole number of at least 1; got 0"),
        ((TABLE, "3,5"), "got '3,5'"),
        ((TABLE, [3, 2.5]), "got 2.5"),
        ((TABLE, []), "at least one k"),
        ((TABLE, None), "ks, the values of k to compare, are missing"),
        ((TABLE, [3, N + 1]), f"from 1 to {N}"),
        ((TABLE, 3, "mdaw"), r"Did you mean 'mdav'\?"),
        ((TABLE, 3, ["mdav", "mdaw"]), r"Did you mean 'mdav'\?"),
        ((TABLE, 3, []), "at least one method"),
        ((TABLE, 3, " ,"), "at least one method"),
        ((TABLE, 3, None), "methods must be one of 'all', 'auto', 'mdav'"),
        ((TABLE, 3, [["mdav"]]), "methods must be one of 'all', 'auto', 'mdav'"),
        ((object(), 3), "table must be a DataFrame"),
    ],
)
def test_bad_requests_run_nothing(monkeypatch, arguments, words):
    monkeypatch.setattr(
        "microagg.partitions.mdav.MDAV.fit", lambda *_: pytest.fail("a method was run")
    )
    with pytest.raises(ParameterError, match=words):
        compare(*arguments)


@pytest.mark.parametrize(
    "option",
    [
        {"scale": "logs"},
        {"random_state": -1},
        {"effort": "much"},
        {"effort": "fast"},  # none of the methods makes an effort
        {"n_jobs": 0},
        {"progress": "yes"},
    ],
)
def test_bad_options(option):
    with pytest.raises(ParameterError, match=next(iter(option))):
        compare(object(), 3, "mdav", **option)


@pytest.mark.slow
def test_effort_is_that_of_auto():
    found = compare(TABLE, 3, "mdav,auto", random_state=4, effort="fast")
    facts = protect(TABLE, 3, random_state=4, effort="fast").manifest.as_dict()
    assert found["sse"].to_list()[1] == facts["sse"]


@pytest.mark.usefixtures("fakes")
class TestFailures:
    @pytest.mark.parametrize(
        ("failure", "words"),
        [
            (ValueError("987654321 is no good"), "unexpected ValueError"),
            (MemoryError(), "not enough memory"),
            (DataError("the data are odd."), "the data are odd."),
        ],
    )
    def test_one_failure_is_a_row_and_the_others_go_on(self, monkeypatch, failure, words):
        monkeypatch.setattr(Faulty, "failure", failure)
        found = compare(TABLE, [3, 4], ["faulty", "mdav"])
        assert found["error"].is_null().to_list() == [False, False, True, True]
        assert words in found["error"][0]
        assert "987654321" not in found["error"][0]

    def test_a_broken_promise_is_a_failure(self):
        (row,) = compare(TABLE, 3, "lonely").rows(named=True)
        assert row["error"].startswith("80 of 80 groups hold fewer than k records")
        assert row["information_loss"] is None

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_an_interrupt_ends_everything(self, jobs):
        interrupt_once_started()
        with pytest.raises(KeyboardInterrupt):
            compare(TABLE, [3, 4, 5], ["endless", "mdav"], n_jobs=jobs)
        assert Endless.ended.wait(60)

    def test_a_listener_that_fails_ends_everything(self):
        def fail(task, done, _total):
            if task == "comparing" and done:
                assert Endless.started.wait(60)
                raise ValueError("enough")

        with pytest.raises(ValueError, match="enough"):
            compare(TABLE, 3, ["endless", "mdav"], n_jobs=2, progress=fail)
        assert Endless.ended.wait(60)

    def test_an_interrupt_inside_a_run_ends_everything(self, monkeypatch):
        monkeypatch.setattr(Faulty, "failure", KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            compare(TABLE, 3, ["endless", "faulty"], n_jobs=2)

    def test_same_seed_for_all_who_draw(self):
        first = compare(TABLE, [3, 4], ["shuffled", "mdav"], random_state=7)
        assert {run["random_state"] for run in Shuffled.seen} == {7}
        assert as_rows(compare(TABLE, [3, 4], ["shuffled", "mdav"], random_state=7)) == as_rows(
            first
        )
        other = compare(TABLE, [3, 4], ["shuffled"], random_state=8)
        assert other["sse"][0] != first["sse"][0]
        facts = protect(TABLE, 3, method="shuffled", random_state=7).manifest.as_dict()
        assert facts["sse"] == first["sse"][0]

    def test_a_seed_is_drawn_once(self):
        compare(TABLE, [3, 4, 5], "shuffled")
        (seed,) = {run["random_state"] for run in Shuffled.seen}
        assert isinstance(seed, int)

    def test_runs_side_by_side_take_one_core_each(self):
        compare(TABLE, [3, 4], "shuffled", n_jobs=2)
        assert {run["n_jobs"] for run in Shuffled.seen} == {1}
        Shuffled.seen.clear()
        compare(TABLE, 3, "shuffled", n_jobs=2)
        assert {run["n_jobs"] for run in Shuffled.seen} == {2}

    def test_a_trial_on_few_records_comes_first(self):
        compare(TABLE, [3, 60], "shuffled", n_jobs=1)
        assert [(run["n"], run["k"]) for run in Shuffled.seen] == [(50, 3), (N, 3), (N, 60)]
        Shuffled.seen.clear()
        compare(pl.DataFrame({"a": [1.0, 2.0]}), 2, "shuffled")
        assert [(run["n"], run["k"]) for run in Shuffled.seen] == [(2, 2), (2, 2)]
        Shuffled.seen.clear()
        compare(pl.DataFrame({"a": RNG.normal(size=3000)}), 3, "shuffled")
        assert [run["n"] for run in Shuffled.seen] == [1300, 3000]


def test_progress_counts_finished_runs_and_nothing_else():
    heard = []
    compare(TABLE, [3, 4], ["mdav", "tsp-mhm"], progress=lambda *message: heard.append(message))
    assert {task for task, _, _ in heard} == {"preparing", "comparing"}
    compared = [(done, total) for task, done, total in heard if task == "comparing"]
    assert compared == [(done, 4) for done in range(5)]


def test_a_table_without_records():
    with pytest.raises(DataError, match="no records"):
        microagg.compare(TABLE.clear(), 1)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_map_shows_every_method_and_names_those_that_none_beats(kind):
    found = microagg.compare(kind(DATA), [3, 7], "mdav,univariate,zscore-mhm,kmeans")
    drawn = microagg.risk_utility_map(found)
    ElementTree.fromstring(drawn)
    for row in found:
        assert (f">{row.method} {row.k}<" in drawn) == (row.efficient is True)
    assert "k = 3" in drawn
    assert "information loss in %" in drawn


def rows(*given):
    """Rows of (method, loss, that of groups, linkage, guarantees_k), marked."""
    names = ("method", "information_loss", "grouping_loss", "linkage", "guarantees_k")
    sizes = {"k": 3, "n_groups": 9, "min_group": 3, "max_group": 5, "seconds": 1.0}
    return marked([Row(**dict(zip(names, own, strict=True)), **sizes) for own in given])


def comparison(found):
    facts = {"seed": None, "left_out": (), "drawn": (), "exit_code": 0}
    return Comparison(
        rows=tuple(found), like=open_frame(TABLE), setting=StudySetting(roles=Roles()), **facts
    )


def test_rows_are_ranked_by_the_loss_of_released_values():
    found = rows(("a", 9.0, 4.0, 10.0, True), ("b", 7.0, 6.0, 10.0, True))
    assert [row.efficient for row in found] == [False, True]
    shown = comparison(found)
    ends = {line.split()[0]: line.split()[-1] for line in str(shown).splitlines() if line}
    assert (ends["a"], ends["b"]) == ("1.000", "*+")
    assert "grouping %" in str(shown)
    assert "* least information loss at this k\n" in str(shown)
    drawn = microagg.risk_utility_map(shown)
    assert ">b 3<" in drawn
    assert ">a 3<" not in drawn


def test_luck_guarantees_nothing():
    table = pl.DataFrame({"a": np.repeat([0.0, 100.0], 20), "b": np.repeat([0.0, 90.0], 20)})
    lucky = microagg.compare(table, 2, "fcm", random_state=1)[0]
    assert lucky.min_group >= 2
    assert (lucky.guarantees_k, lucky.efficient) == (False, False)
    strict = Plan.of(k=2, method="fcm", strict_k=True)
    assert microagg.compare(table, methods="fcm", plan=strict)[0].guarantees_k
    found = comparison(rows(("fcm", 4.0, None, 1.0, False), ("b", 6.0, None, 10.0, True)))
    assert [row.efficient for row in found] == [False, True]
    assert "! k is not guaranteed" in str(found)


def test_only_what_compare_returned_can_be_drawn():
    with pytest.raises(ParameterError, match="compare"):
        microagg.risk_utility_map(TABLE)
    with pytest.raises(ParameterError, match="every method failed"):
        microagg.risk_utility_map(microagg.compare(TABLE, 3, "univariate"))


def test_the_original_is_scaled_once_for_all_runs(monkeypatch):
    calls = []

    def counting(values, weights=None):
        calls.append(values)
        return scaling(values, weights)

    monkeypatch.setattr(sides, "scaling", counting)
    table = pl.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), schema=["a", "b"])
    found = compare(table, [2, 3], ["mdav", "cbfs"], n_jobs=1)
    assert found["linkage"].null_count() == 0
    assert len(calls) == 2


def test_the_legend_says_across_which_rows_one_counts_as_dominated():
    one, several = (str(microagg.compare(pl.DataFrame(DATA), ks, "mdav")) for ks in (3, [3, 4]))
    assert "+ not dominated in loss and linkage by another row\n" in f"{one}\n"
    assert "+ not dominated in loss and linkage by another row, at any k\n" in f"{several}\n"
