"""Every cell of compare is a release of its own, and every k of a sweep is one that protect grants.

The tables have columns of all types, missing values, strata and weights.
"""

import numpy as np
import polars as pl
import pytest

from microagg import compare, protect, sweep
from microagg.studies import compare as compare_module
from tests.fakes import fakes as fakes

RNG = np.random.default_rng(23)
N = 64
METHODS = ("mdav", "tsp-mhm", "v-mdav", "hac")


def with_gaps(values, share=0.15):
    gone = RNG.random(N) < share
    return [None if is_gone else value for value, is_gone in zip(values, gone, strict=True)]


WHOLE = pl.DataFrame(
    {
        "age": RNG.integers(18, 90, N),
        "income": RNG.lognormal(10, 1, N).round(2),
        "sex": RNG.choice(["f", "m"], N),
        "school": RNG.choice(["none", "some", "high"], N),
        "born": pl.Series(RNG.integers(-9000, 9000, N), dtype=pl.Int32).cast(pl.Date),
        "works": RNG.random(N) < 0.5,
        "region": ["n"] * 5 + ["e"] * 9 + ["s"] * 20 + ["w"] * 30,
        "w": RNG.uniform(0.5, 40.0, N),
    }
)
TYPES = {"columns": {"school": {"order": ["none", "some", "high"]}, "age": {"weight": 2}}}
MIXED = {**TYPES, "quasi_identifiers": ["sex", "works", "born"]}
GAPS = WHOLE.with_columns(
    pl.Series(name, with_gaps(WHOLE[name].to_list()), dtype=WHOLE[name].dtype)
    for name in ("age", "income", "sex", "school", "born")
)
REST = {"sensitive": ["region", "w"]}
CASES = {
    "mixed": (WHOLE, REST),
    "missing values": (GAPS, {**REST, "missing": "value"}),
    "imputed values": (GAPS, {**REST, "missing": "impute"}),
    "strata": (WHOLE, {"strata": "region", "sensitive": "w"}),
    "merged strata": (WHOLE, {"strata": "region", "sensitive": "w", "small_strata": "merge"}),
    "weights": (WHOLE, {"weights": "w", "sensitive": "region"}),
    "ranks": (GAPS, {**REST, "missing": "value", "scale": "rank"}),
    "everything": (
        GAPS,
        {"strata": "region", "weights": "w", "missing": "impute", "small_strata": "merge"},
    ),
}
EACH_CASE = pytest.mark.parametrize("case", CASES)
KS = (2, 4, 7)


@pytest.fixture
def labels_of_runs(monkeypatch):
    """The labels of every run of compare, by method and k."""
    found = {}

    def remembering(records, plan, systems, rules):
        groups = group(records, plan, systems, rules)
        found[plan.method, plan.k] = groups.labels_as_array()
        return groups

    group = compare_module.group
    monkeypatch.setattr(compare_module, "group", remembering)
    return found


@pytest.mark.slow
@EACH_CASE
def test_every_cell_of_compare_is_a_release_of_its_own(case, labels_of_runs):
    table, more = CASES[case]
    rows = compare(table, KS, METHODS, random_state=3, **MIXED, **more)
    assert len(rows) == len(KS) * len(METHODS)
    for row in rows:
        if case == "strata" and row.k == 7:
            assert "at least k=7" in row.error
            continue
        alone = protect(
            table, row.k, method=row.method, random_state=3, bound="none", **MIXED, **more
        )
        assert (labels_of_runs[row.method, row.k] == alone.labels).all()
        done = alone.manifest
        assert (row.grouping_loss, row.sse) == (done.grouping_loss, done.sse)
        assert row.information_loss == pytest.approx(done.information_loss)
        assert row.linkage == pytest.approx(100 * alone.risk().linkage.linked[1])


def strata_at(table, k, more):
    """The stratum of every record, as protect releases it."""
    if "strata" not in more:
        return ["all"] * N
    return protect(table, k, method="mdav", bound="none", **MIXED, **more).table["region"].to_list()


@pytest.mark.slow
@pytest.mark.usefixtures("fakes")
@EACH_CASE
def test_every_k_of_a_sweep_is_a_release_that_loses_what_is_printed(case):
    table, more = CASES[case]
    ks = KS[:2] if case == "strata" else KS
    for row in sweep(table, ks, random_state=3, **MIXED, **more):
        strata = strata_at(table, row.k, more)
        for group in range(row.n_groups):
            members = np.flatnonzero(row.labels == group)
            assert len(members) >= row.k
            assert len({strata[record] for record in members}) == 1
        # Strata decide who may be grouped, not what groups lose.
        asked = {name: value for name, value in more.items() if "strata" not in name}
        asked["sensitive"] = ["region"] if "weights" in asked else ["region", "w"]
        release = protect(
            table,
            row.k,
            method="shuffled",
            method_options={"initial": row.labels},
            **MIXED,
            **asked,
        )
        assert release.manifest.sse == pytest.approx(row.sse, rel=1e-9)
        assert release.information_loss == pytest.approx(row.information_loss, rel=1e-9)
        assert (release.manifest.n_groups, release.manifest.min_group) == (
            row.n_groups,
            row.min_group,
        )


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, "w"])
def test_losses_by_hand(weights):
    names = ["age", "income"]
    table = WHOLE.select(*names, "w", "region")
    more = {"weights": weights, "strata": "region", "sensitive": [] if weights else "w"}
    X = table.select(names).to_numpy().astype(float)
    counts = table["w"].to_numpy() if weights else np.ones(N)
    X = (X - np.average(X, axis=0, weights=counts)) / np.sqrt(
        np.diag(np.cov(X.T, aweights=counts, ddof=0)) * N / (N - 1)
    )
    spread = counts @ np.square(X).sum(axis=1)
    for row in sweep(table, [2, 3, 5], random_state=3, **more):
        lost = 0.0
        for group in range(row.n_groups):
            own, count = X[row.labels == group], counts[row.labels == group]
            lost += count @ np.square(own - count @ own / count.sum()).sum(axis=1)
        assert row.sse == pytest.approx(lost)
        assert row.grouping_loss == pytest.approx(100 * lost / spread)
