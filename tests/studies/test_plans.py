"""compare and sweep on tables with roles, strata, weights, blocks and constraints: as protect."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import Plan, compare, protect, sweep
from microagg.core.errors import DataError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")

RNG = np.random.default_rng(17)
N = 60
NET, TAX = RNG.integers(1000, 5000, N), RNG.integers(0, 900, N)
TABLE = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(N)],
        "age": RNG.integers(18, 90, N),
        "sex": [("f", "m")[i] for i in RNG.integers(0, 2, N)],
        "net": NET,
        "tax": TAX,
        "gross": NET + TAX + RNG.integers(-50, 50, N),
        "w": RNG.integers(1, 6, N),
        "region": [("n", "s", "w")[i] for i in RNG.integers(0, 3, N)],
        "illness": [("flu", "cold")[i] for i in RNG.integers(0, 2, N)],
    }
)
ROLES = {"identifiers": "name", "sensitive": "illness", "quasi_identifiers": ["sex"]}
CASES = {
    "roles": {"sensitive": ["illness", "region", "w"]},
    "types": {
        "sensitive": ["illness", "region", "w"],
        "columns": {"age": {"weight": 2}, "sex": {"type": "nominal"}},
        "scale": "rank",
    },
    "strata": {"strata": "region", "sensitive": ["illness", "w"]},
    "weights": {"weights": "w", "sensitive": ["illness", "region"]},
    "blocks": {"blocks": [["age", "sex"]], "sensitive": ["illness", "region", "w"]},
    "constraints": {
        "constraints": ["net + tax = gross", "tax >= 100"],
        "sensitive": ["illness", "region", "w"],
    },
    "all of them": {
        "strata": "region",
        "weights": "w",
        "blocks": [["age", "sex"]],
        "constraints": "net + tax = gross",
    },
}
EACH_CASE = pytest.mark.parametrize("case", CASES)


def asked(case):
    return {**ROLES, **CASES[case]}


def plan_of(case, **more):
    """The plan that a release by these arguments records."""
    release = protect(TABLE, 3, method="mdav", bound="none", **asked(case))
    return release.manifest.plan.replace(**more)


def without_seconds(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


@cache
def compared(case):
    return compare(TABLE, [3, 5], ["mdav", "reporder"], random_state=4, **asked(case))


@cache
def swept(case):
    return sweep(TABLE, [3, 6], random_state=4, **asked(case))


def scaled_columns(case):
    """The matrices of all blocks, as a release scales them, and the rows of all strata."""
    from microagg.release.records import open_records
    from microagg.release.source import Source

    records = open_records(Source.of(TABLE), plan_of(case))
    rows = [np.arange(N)] if records.strata is None else records.strata.rows()
    weights = TABLE["w"].to_numpy() if "weights" in asked(case) else None
    return [block.X for block in records.blocks], rows, weights


class TestCompare:
    @pytest.mark.slow
    @EACH_CASE
    def test_figures_are_those_of_releases(self, case):
        assert len(compared(case)) == 4
        for row in compared(case):
            release = protect(
                TABLE, row.k, method=row.method, random_state=4, bound="none", **asked(case)
            )
            done = release.manifest
            assert row.error is None
            assert row.information_loss == pytest.approx(done.information_loss)
            assert row.grouping_loss == done.grouping_loss
            assert row.sse == done.sse
            assert (row.n_groups, row.min_group, row.max_group) == (
                done.n_groups,
                done.min_group,
                done.max_group,
            )
            assert row.seed == done.random_state
            added = None if done.constraints is None else done.constraints.added_information_loss
            assert row.added_by_constraints == pytest.approx(added)
            linked = release.risk().linkage.linked[1]
            assert row.linkage == pytest.approx(100 * linked)

    @pytest.mark.slow
    @EACH_CASE
    def test_a_plan_says_the_same(self, case):
        plan = plan_of(case, random_state=4)
        found = compare(TABLE, [3, 5], ["mdav", "reporder"], plan=plan)
        assert without_seconds(found.as_dicts()) == without_seconds(compared(case).as_dicts())
        assert found.roles == compared(case).roles

    def test_k_comes_from_the_plan_unless_given(self):
        found = compare(TABLE, methods="mdav", plan=plan_of("roles", k=7))
        assert [row.k for row in found] == [7]
        found = compare(TABLE, 4, "mdav", plan=plan_of("roles", k=7))
        assert [row.k for row in found] == [4]
        with pytest.raises(ParameterError, match="ks, the values of k to compare, are missing"):
            compare(TABLE, methods="mdav", **asked("roles"))

    def test_options_of_its_method_go_to_its_method(self):
        plan = plan_of("roles", method_options={"leftover": "nearest"})
        found = compare(TABLE, 7, ["mdav", "cbfs"], plan=plan)
        release = protect(TABLE, plan=plan.replace(k=7))
        assert found[0].information_loss == release.information_loss
        assert found[1].error is None

    def test_what_only_releases_need_is_left_out(self):
        plan = plan_of("roles", keep_key=True, bound="tight", time_budget=0)
        found = compare(TABLE, 3, "mdav", plan=plan)
        assert found[0].error is None
        assert {*found.setting.unused} == {"keep_key", "bound", "time_budget"}
        plan = plan_of("roles", method_options={"leftover": "nearest"})
        assert compare(TABLE, 3, "mdav", plan=plan).setting.unused == ()
        found = compare(TABLE, 3, "cbfs", plan=plan)
        assert {*found.setting.unused} == {"method", "method_options"}
        for shown in (str(found), found._repr_html_()):
            assert "not used: method, method_options (without effect here)" in shown

    @pytest.mark.slow
    def test_methods_that_all_leaves_out_use_no_options(self):
        drawn = {"method": "fcm", "method_options": {"m1": 1.5}, "strict_k": True}
        found = compare(TABLE, 3, plan=plan_of("roles", **drawn))
        assert "fcm" in found.left_out
        assert {"method", "method_options", "strict_k"} <= {*found.setting.unused}

    def test_constraints_are_checked_once_before_anything_runs(self, monkeypatch):
        monkeypatch.setattr(
            "microagg.partitions.mdav.MDAV.fit", lambda *_: pytest.fail("a method was run")
        )
        more = {**asked("roles"), "constraints": "nett >= 0"}
        with pytest.raises(ParameterError, match="'nett'"):
            compare(TABLE, 3, "mdav", **more)

    @pytest.mark.slow
    def test_with_blocks_k_holds_in_each_only(self):
        words = "k holds within each block of columns only"
        for found in (compared("blocks"), swept("blocks")):
            assert words in str(found)
            assert words in found._repr_html_()
        assert words not in str(compared("roles"))
        assert words not in str(swept("roles"))

    def test_nothing_else_beside_a_plan(self):
        with pytest.raises(ParameterError, match="strata is given in addition to a plan"):
            compare(TABLE, 3, "mdav", strata="region", plan=plan_of("roles"))
        with pytest.raises(ParameterError, match="does not exist"):
            compare(TABLE, 3, "mdav", plan="plan.toml")

    def test_the_effort_of_a_plan_is_for_auto(self):
        plan = plan_of("roles", method="auto", effort="fast")
        found = compare(TABLE, 3, "mdav", plan=plan)
        assert found[0].error is None
        assert found.setting.unused == ("effort",)
        with pytest.raises(ParameterError, match="which is not among the methods"):
            compare(TABLE, 3, "mdav", effort="fast", **asked("roles"))

    def test_strata_of_fewer_than_some_k(self):
        small = TABLE.with_columns(region=pl.Series(["n"] * 4 + ["s"] * 20 + ["w"] * (N - 24)))
        found = compare(small, [3, 5], "mdav", **asked("strata"))
        release = protect(small, 3, method="mdav", bound="none", **asked("strata"))
        assert found[0].information_loss == release.information_loss
        assert "every stratum must hold at least k=5 records" in found[1].error
        assert found.exit_code == 0
        assert "failed at k = 5: every stratum" in str(found)
        assert "failed at k = 5: every stratum" in found._repr_html_()
        assert compare(small, 5, "mdav", **asked("strata")).exit_code == DataError.exit_code
        found = compare(small, [3, 5], "mdav", small_strata="merge", **asked("strata"))
        for row in found:
            release = protect(
                small, row.k, method="mdav", small_strata="merge", bound="none", **asked("strata")
            )
            assert row.information_loss == release.information_loss
        assert found[0].error is None

    def test_draws_say_what_they_do_not_take(self):
        found = compare(TABLE, 3, ["fcm", "mdav"], **asked("strata"))
        assert "does not work with strata" in found[0].error
        assert found[1].error is None


class TestSweep:
    @pytest.mark.slow
    @EACH_CASE
    def test_loss_and_groups_are_of_the_table_as_protect_sees_it(self, case):
        matrices, strata, weights = scaled_columns(case)
        counts = np.ones(N) if weights is None else weights
        for row in swept(case):
            labels = row.labels.reshape(N, -1).T
            sse = sst = 0.0
            for X, own in zip(matrices, labels, strict=True):
                for group in range(own.max() + 1):
                    inside = own == group
                    share = counts[inside] / counts[inside].sum()
                    centre = share @ X[inside]
                    sse += counts[inside] @ np.square(X[inside] - centre).sum(axis=1)
                    assert sum(inside[rows].any() for rows in strata) == 1, "within one stratum"
                    assert inside.sum() >= row.k
                mean = counts @ X / counts.sum()
                sst += counts @ np.square(X - mean).sum(axis=1)
            assert row.sse == pytest.approx(sse)
            assert row.grouping_loss == pytest.approx(100 * sse / sst)
            assert row.n_groups == sum(own.max() + 1 for own in labels)

    @EACH_CASE
    def test_bounds_add_up_and_are_those_of_releases(self, case):
        if "weights" in asked(case):
            assert [(row.lower_bound, row.gap) for row in swept(case)] == [(None, None)] * 2
            return
        matrices, strata, _ = scaled_columns(case)
        row = swept(case)[0]
        parts = sum(
            microagg.lower_bound(np.ascontiguousarray(X[rows]), 3)
            for X in matrices
            for rows in strata
        )
        sst = sum(np.square(X - X.mean(axis=0)).sum() for X in matrices)
        assert row.lower_bound == pytest.approx(100 * parts / sst)
        release = protect(TABLE, 3, method="mdav", bound="fast", **asked(case))
        assert row.lower_bound == pytest.approx(release.lower_bound)
        assert row.lower_bound <= row.grouping_loss <= release.grouping_loss * (1 + 1e-9)

    @pytest.mark.parametrize("case", ["constraints", "all of them"])
    def test_what_constraints_add(self, case):
        for row in swept(case):
            assert row.added_by_constraints is not None
        assert swept("roles")[0].added_by_constraints is None
        one = TABLE.select("net", "tax", "gross")
        found = sweep(one.select("net"), [4], constraints="net >= 3000")[0]
        release = protect(one.select("net"), 4, constraints="net >= 3000")
        assert found.information_loss == release.information_loss, "one column: both are optimal"
        assert found.added_by_constraints == pytest.approx(
            release.manifest.constraints.added_information_loss
        )

    @pytest.mark.parametrize("more", [{}, {"strata": "region"}], ids=["whole", "strata"])
    def test_one_column_is_grouped_as_by_protect(self, more):
        table = TABLE.select("net", *more.values())
        for row in sweep(table, [2, 5], **more):
            release = protect(table, row.k, **more)
            assert row.labels.tolist() == release.labels.tolist()
            assert row.information_loss == pytest.approx(release.information_loss)
            assert row.lower_bound == pytest.approx(release.lower_bound)

    @pytest.mark.slow
    @EACH_CASE
    def test_a_plan_says_the_same(self, case):
        found = sweep(TABLE, [3, 6], plan=plan_of(case, random_state=4, bound="auto"))
        assert without_seconds(r.figures() for r in found) == without_seconds(
            r.figures() for r in swept(case)
        )
        for one, two in zip(found, swept(case), strict=True):
            assert one.labels.tolist() == two.labels.tolist()
        assert found.roles == swept(case).roles
        assert found.seed == 4

    @pytest.mark.slow
    def test_nothing_but_effort_and_bound_beside_a_plan(self):
        found = sweep(TABLE, 3, plan=plan_of("roles"), effort="balanced", bound="none")
        assert found[0].lower_bound is None
        with pytest.raises(ParameterError, match="weights is given in addition to a plan"):
            sweep(TABLE, 3, plan=plan_of("roles"), weights="w")

    @pytest.mark.slow
    def test_effort_and_bound_of_a_plan(self):
        plan = plan_of("roles", method="auto", bound="auto")
        found = sweep(TABLE, 3, plan=plan)
        assert (found.effort, found.bound) == ("fast", "fast")
        found = sweep(TABLE, 3, plan=plan.replace(effort="balanced", bound="none"))
        assert (found.effort, found.bound) == ("fast", "none"), "as an equal plan that says less"
        assert sweep(TABLE, 3, plan=plan.replace(effort="best")).effort == "best"
        assert sweep(TABLE, 3, plan=plan, effort="balanced").effort == "balanced"
        found = sweep(TABLE, 3, plan=plan, bound="none")
        assert found[0].lower_bound is None
        plan = plan.replace(effort="best", bound="none")
        found = sweep(TABLE, 3, plan=plan, effort="fast", bound="fast")
        assert (found.effort, found.bound) == ("fast", "fast")
        assert found[0].lower_bound is not None

    def test_options_of_a_plan_without_effect_are_named(self):
        drawn = {"method": "fcm", "method_options": {"m1": 1.5}, "strict_k": True}
        plan = plan_of("roles", **drawn, bound="tight", keep_key=True, time_budget=5)
        found = sweep(TABLE, 3, plan=plan.replace(valid_combinations=False, keep_margins=True))
        assert {*found.setting.unused} == {
            *("method", "method_options", "strict_k", "bound", "keep_key", "time_budget"),
            "valid_combinations",  # one column of categories has no combinations
        }
        numbers = Plan.of(k=3, valid_combinations=False, keep_margins=True)
        found = sweep(TABLE.select("net", "tax"), 3, plan=numbers)
        assert found.setting.unused == ("valid_combinations", "keep_margins")
        assert swept("roles").setting.unused == ()
        weighted = plan_of("weights", method="auto", bound="fast")
        assert sweep(TABLE, 3, plan=weighted).setting.unused == ("bound",)

    def test_no_bound_with_weights(self):
        assert swept("weights").bound == "none"
        with pytest.raises(ParameterError, match="is for records without weights"):
            sweep(TABLE, 3, bound="fast", **asked("weights"))

    @pytest.mark.slow
    def test_tables_are_standardised_and_matrices_are_not(self):
        X = RNG.normal(size=(40, 2)) * [1.0, 1000.0]
        Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        for kind in (pd.DataFrame, pl.DataFrame, pa.table):
            table = kind({"a": X[:, 0], "b": X[:, 1]})
            as_table = sweep(table, 3, random_state=1)[0]
            as_matrix = sweep(Z, 3, random_state=1)[0]
            assert as_table.labels.tolist() == as_matrix.labels.tolist()
            raw = sweep(table, 3, random_state=1, scale="none")[0]
            assert raw.sse == pytest.approx(sweep(X, 3, random_state=1)[0].sse)

    def test_matrices_have_no_roles(self):
        X = RNG.normal(size=(10, 2))
        for name in ("quasi_identifiers", "identifiers", "sensitive", "strata", "weights"):
            with pytest.raises(ParameterError, match=f"Leave {name} out, or give a DataFrame"):
                sweep(X, 2, **{name: "a"})
        with pytest.raises(ParameterError, match="Leave columns out"):
            sweep(X, 2, columns={"a": {"type": "nominal"}})
        with pytest.raises(ParameterError, match="Leave scale out"):
            sweep(X, 2, scale="rank")
        with pytest.raises(ParameterError, match="Leave the plan out"):
            sweep(X, 2, plan=Plan.of(k=2))
        for name, values in {"quasi_identifiers": ["a"], "constraints": ["a >= 0"]}.items():
            with pytest.raises(ParameterError, match=f"Leave {name} out"):
                sweep(X, 2, **{name: iter(values)})

    @pytest.mark.parametrize("path", ["p.csv", Path("p.csv")], ids=["text", "path"])
    def test_files_are_read_first(self, path):
        with pytest.raises(ParameterError, match="Read the file first"):
            sweep(path)

    @pytest.mark.slow
    def test_a_generator_draws_one_seed(self):
        X = RNG.normal(size=(20, 2))
        expected = int(np.random.default_rng(3).integers(2**32))
        assert sweep(X, 2, random_state=np.random.default_rng(3)).seed == expected
        table = pl.DataFrame(X, schema=["a", "b"])
        assert sweep(table, 2, random_state=np.random.default_rng(3)).seed == expected
        assert sweep(X, 2).seed != sweep(X, 2).seed

    @pytest.mark.slow
    def test_small_strata_are_merged_at_each_k_as_by_protect(self):
        sizes = {"a": 3, "b": 5, "c": 8, "d": 14, "e": 30}
        small = TABLE.with_columns(
            region=pl.Series([r for r, n in sizes.items() for _ in range(n)])
        )
        more = {**asked("strata"), "small_strata": "merge"}
        found = sweep(small, [2, 4, 5, 7, 12], random_state=4, **more)
        assert "small ones merged" in dict(found.setting.rows())["strata"]
        for row in found:
            merged = protect(small, row.k, method="mdav", bound="fast", **more)
            strata = merged.table["region"].to_numpy()
            assert row.min_group >= row.k
            for group in range(row.n_groups):
                assert len({*strata[row.labels == group]}) == 1, "within one stratum"
            assert row.grouping_loss <= merged.grouping_loss * (1 + 1e-9)
            assert row.lower_bound == pytest.approx(merged.lower_bound)
        plan = Plan.of(
            k=2,
            random_state=4,
            small_strata="merge",
            columns=plan_of("strata").columns,
        )
        again = sweep(small, [2, 4, 5, 7, 12], plan=plan)
        assert [row.labels.tolist() for row in again] == [row.labels.tolist() for row in found]

    def test_small_strata_are_refused_unless_merged(self):
        with pytest.raises(DataError, match="small_strata='merge'"):
            sweep(TABLE, [3, 30], **asked("strata"))
        with pytest.raises(ParameterError, match="there are none"):
            sweep(TABLE, [3], small_strata="merge", **asked("roles"))

    @pytest.mark.parametrize("case", ["strata", "all of them"])
    @pytest.mark.slow
    def test_strata_side_by_side_get_the_groups_that_they_get_one_by_one(self, case):
        one, two = (
            sweep(TABLE, [2, 3, 6], random_state=4, n_jobs=jobs, **asked(case)) for jobs in (1, 2)
        )
        assert without_seconds(r.figures() for r in one) == without_seconds(
            r.figures() for r in two
        )
        for here, there in zip(one, two, strict=True):
            assert here.labels.tolist() == there.labels.tolist()

    @pytest.mark.slow
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_progress_counts_the_ks_of_all_strata_and_an_interrupt_ends_them(self, jobs):
        heard = []
        options = {"n_jobs": jobs, "random_state": 4, **asked("strata")}
        sweep(TABLE, [2, 3, 6], progress=lambda *message: heard.append(message), **options)
        for task in ("sweeping", "bounding"):
            counts = [(done, total) for own, done, total in heard if own == task]
            assert {total for _, total in counts} == {9}
            assert counts == sorted(counts)
            assert counts[-1] == (9, 9)

        def interrupt(task, *_):
            if task == "sweeping":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            sweep(TABLE, [2, 3, 6], progress=interrupt, **options)

    @pytest.mark.slow
    def test_with_weights_the_loss_never_falls_either(self):
        taken_over = 0
        for seed in range(8):
            rng = np.random.default_rng(seed)
            table = pl.DataFrame(
                {
                    "x": rng.normal(size=24),
                    "y": rng.normal(size=24),
                    "w": 10 ** rng.uniform(0, 4, 24),
                }
            )
            found = sweep(table, range(2, 9), weights="w", random_state=0)
            losses = [row.grouping_loss for row in found]
            assert losses == sorted(losses)
            assert all(row.min_group >= row.k for row in found)
            taken_over += sum((one.labels == two.labels).all() for one, two in pairwise(found))
        assert taken_over, "otherwise these tables test nothing"

    def test_ks_by_default(self):
        assert [row.k for row in sweep(TABLE.select("net"))] == list(range(2, 21))
        assert [row.k for row in sweep(TABLE.select("net")[:6])] == list(range(2, 7))
        parts = TABLE.select("net", part=pl.Series(["a"] * 5 + ["b"] * (N - 5)))
        assert [row.k for row in sweep(parts, strata="part")] == list(range(2, 6))
        merged = sweep(parts, strata="part", small_strata="merge")
        assert [row.k for row in merged] == list(range(2, 21))
        with pytest.raises(DataError, match="at least k=2 records"):
            sweep(parts[4:], strata="part")


class TestPrinted:
    @pytest.mark.parametrize("case", ["roles", "constraints"])
    def test_a_comparison(self, case):
        found = compared(case)
        text = str(found)
        assert repr(found) == text
        heads = [line for line in text.splitlines() if line.startswith("k = ")]
        assert [head.split()[2] for head in heads] == ["3", "5"]
        assert all("grouping %" in head for head in heads)
        assert "grouping: of the groups about their means\n" in f"{text}\n"
        assert text.count("mdav") == text.count("reporder") == 2
        assert "* least information loss at this k" in text
        assert all(len(line) <= 100 for line in text.splitlines())

    def test_a_comparison_in_a_notebook(self):
        html = compared("roles")._repr_html_()
        assert html.count("<table>") == html.count("</table>") == 2
        assert html.count("mdav") == 2
        assert "<p>* least information loss at this k</p>" in html
        failed = compare(TABLE, 3, ["univariate", "mdav"], **asked("roles"))
        assert "failed" in failed._repr_html_()
        assert "failed" in str(failed)

    @pytest.mark.parametrize("case", ["roles", "weights", "constraints"])
    def test_a_sweep(self, case):
        found = swept(case)
        head, rule, *lines = str(found).splitlines()
        assert repr(found) == str(found)
        assert ("at least %" in head) == ("gap %" in head) == (case != "weights")
        assert "grouping %" in head
        assert set(rule) == {"-"}
        assert [line.split()[0] for line in lines[:2]] == ["3", "6"]
        assert ("gap: grouping is at most this far above the least possible" in lines[-1]) == (
            case != "weights"
        )

    def test_bars_are_those_of_the_released_values(self, monkeypatch):
        monkeypatch.setenv("COLUMNS", "100")
        small, large = swept("constraints")[:2]
        rows = (
            replace(small, information_loss=10.0, grouping_loss=5.0),
            replace(large, information_loss=6.0, grouping_loss=6.0),
        )
        found = replace(swept("constraints"), rows=rows)
        bars = [line.count("#") for line in str(found).splitlines()[2:4]]
        assert bars == [20, 12]

    def test_a_sweep_in_a_notebook(self):
        html = swept("roles")._repr_html_()
        assert html.startswith("<table>")
        assert "#" not in html, "no bars"
        assert html.count("<tr>") == 3
        assert "gap: grouping is at most this far above the least possible" in html

    def test_the_rows_of_a_comparison_as_a_table(self):
        for kind in (pd.DataFrame, pl.DataFrame, pa.table):
            table = kind(TABLE.select("age", "net").to_dict(as_series=False))
            found = compare(table, 3, "mdav")
            assert type(found.table) is type(table)
            assert len(found.table) == len(found) == 1


@pytest.mark.parametrize(("asked", "expected"), [({}, []), ({"l_diversity": {"ill": 2}}, [True])])
def test_what_a_sweep_needs_is_compiled_before_its_seconds_count(asked, expected, monkeypatch):
    """Under requirements, too, which another search meets."""
    compiled = []
    monkeypatch.setattr(
        "microagg.studies.chains.compile_ahead", lambda _, under_rules: compiled.append(under_rules)
    )
    table = pl.DataFrame({"age": [*range(12)], "wage": [*range(12)], "ill": ["no", "yes"] * 6})
    said = {"quasi_identifiers": ["age", "wage"], "sensitive": ["ill"]}
    microagg.sweep(table, ks=[3], bound="none", random_state=0, **said, **asked)
    assert compiled == expected
