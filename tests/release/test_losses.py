"""What a release says it loses, against a plain recomputation from the two tables."""

import json

import numpy as np
import polars as pl
import pytest

from microagg import compare, information_loss, measure, protect, sweep
from microagg.release.release import Release

K = 4


def people(n=160, seed=0, *, cities=60):
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10, 0.6, n)
    return pl.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, income),
            "age": rng.integers(18, 90, n),
            "height": rng.normal(170, 9, n),
            "city": [
                None if u < 0.05 else f"c{int(c)}"
                for u, c in zip(rng.random(n), rng.zipf(1.4, n) % cities, strict=True)
            ],
            "weight": rng.integers(1, 9, n).astype(float),
        }
    ).with_columns(pl.col("income").fill_nan(None))


def plain_loss(before: list, after: list, weights: np.ndarray, *, nominal: bool) -> float:
    """Per cent of a column's variation that is lost, on axes that are written out."""
    if nominal:
        every = sorted({*before, *after}, key=str)
        X, Z = (
            np.array([[v == c for c in every] for v in side], float) for side in (before, after)
        )
    else:
        there = np.array([v is not None for v in before])
        still = np.array([v is not None for v in after])
        x = np.array([0.0 if v is None else v for v in before])
        z = np.array([0.0 if v is None else v for v in after])
        mean = np.average(x[there], weights=weights[there])
        spread = np.average((x[there] - mean) ** 2, weights=weights[there])
        apart = np.sqrt(2 * spread * there.sum() / (there.sum() - 1))
        X = np.column_stack((np.where(there, x - mean, 0.0), apart * ~there))
        Z = np.column_stack((np.where(still, z - mean, 0.0), apart * ~still))
    center = np.average(X, axis=0, weights=weights)
    sse, sst = (float(weights @ np.square(D).sum(axis=1)) for D in (X - Z, X - center))
    return 100 * sse / sst


def recomputed(before, after, columns, *, weights=None, column_weights=None, nominal=("city",)):
    """Return the loss of each column, and their average."""
    w = np.ones(len(before)) if weights is None else before[weights].to_numpy()
    each = {
        name: plain_loss(before[name].to_list(), after[name].to_list(), w, nominal=name in nominal)
        for name in columns
    }
    counts = [(column_weights or {}).get(name, 1.0) for name in columns]
    return each, float(np.average(list(each.values()), weights=counts))


CASES = {
    "plain": {},
    "weights": {"weights": "weight"},
    "column weights": {"columns": {"age": {"weight": 3}, "city": {"weight": 0.5}}},
    "imputed": {"missing": "impute"},
    "rank": {"scale": "rank"},
    "medians": {"columns": {"age": {"aggregate": "median"}, "height": {"aggregate": "median"}}},
    "blocks": {"blocks": [["age", "city"]]},
    "valid combinations": {"valid_combinations": True},
}


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
@pytest.mark.parametrize("case", CASES)
def test_the_loss_of_released_values_is_that_of_a_plain_recomputation(case, tmp_path):
    table, asked = people(), {"missing": "value", **CASES[case]}
    if "weights" not in asked:
        table = table.drop("weight")
    columns = ["income", "age", "height", "city"]
    release = protect(table, K, method="mdav", quasi_identifiers=columns, **asked)
    weights = {name: own.get("weight", 1.0) for name, own in asked.get("columns", {}).items()}
    each, wanted = recomputed(
        table, release.table, columns, weights=asked.get("weights"), column_weights=weights
    )
    assert release.information_loss == pytest.approx(wanted, rel=1e-9)
    assert release.utility().loss.information_loss == pytest.approx(wanted, rel=1e-9)
    worst = sorted(each, key=lambda name: -each[name])
    assert list(release.manifest.worst_columns) == worst
    assert release.manifest.worst_columns == pytest.approx(each)
    # As whoever has the files measures it.
    table.write_parquet(tmp_path / "before.parquet")
    release.save(tmp_path / "after.parquet")
    found = measure(tmp_path / "before.parquet", tmp_path / "after.parquet")
    assert found.as_dict()["information_loss"] == pytest.approx(wanted, rel=1e-9)


def test_unrounded_means_lose_what_the_groups_lose():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    release = protect(pl.DataFrame(X, schema=list("abc")), 5, method="mdav")
    standardised = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    assert release.grouping_loss == pytest.approx(information_loss(standardised, release.labels))
    assert release.information_loss == pytest.approx(release.grouping_loss, rel=1e-12)


@pytest.mark.parametrize("scale", ["rank", "log", "robust", "none"])
def test_the_headline_does_not_depend_on_the_space_of_comparison(scale):
    X = np.random.default_rng(2).lognormal(size=(80, 2)).round(2)
    table = pl.DataFrame(X, schema=["a", "b"])
    release = protect(table, 4, method="mdav", scale=scale)
    _, wanted = recomputed(table, release.table, ["a", "b"])
    assert release.information_loss == pytest.approx(wanted)
    assert release.grouping_loss != pytest.approx(wanted)


@pytest.mark.parametrize("n_cities", [40, 90, 150])
def test_groups_are_measured_by_exact_distances(n_cities):
    """However many categories there are, and whatever axes groups are searched on."""
    rng = np.random.default_rng(n_cities)
    n = 600
    table = pl.DataFrame(
        {"x": rng.normal(size=n), "c": [f"c{i % n_cities}" for i in rng.integers(0, 9999, n)]}
    )
    release = protect(
        table, 3, quasi_identifiers=["x", "c"], random_state=0, effort="fast", bound="fast"
    )
    indicators = table["c"].to_dummies().to_numpy().astype(float)
    unit = np.sqrt(indicators.var(axis=0, ddof=1).sum())
    x = table["x"].to_numpy()
    X = np.column_stack(((x - x.mean()) / x.std(ddof=1), indicators / unit))
    assert release.grouping_loss == pytest.approx(information_loss(X, release.labels))
    assert release.manifest.sst == pytest.approx(2 * (n - 1))
    assert 0 < release.lower_bound < release.grouping_loss < release.information_loss


@pytest.mark.slow
def test_a_bound_that_would_need_too_many_axes_is_not_given(monkeypatch):
    monkeypatch.setattr("microagg.release.grouping._MOST_BY_DEFAULT", 1000)
    table = pl.DataFrame({"c": [f"c{i % 90}" for i in range(400)], "x": np.arange(400) / 7})
    release = protect(table, 3, quasi_identifiers=["x", "c"], random_state=0, effort="fast")
    assert release.lower_bound is None
    assert "'c' has 90 categories" in release.manifest.why_no_bound
    assert "--bound fast" in release.manifest.why_no_bound
    found = sweep(table, [3], quasi_identifiers=["x", "c"], effort="fast")
    assert found[0].lower_bound is None
    assert "'c' has 90 categories" in found.why_no_bound
    assert "no bound: 'c' has 90 categories" in str(found)


def test_strata_do_not_count(tmp_path):
    table = people().with_columns(sex=pl.Series(["f", "m"] * 80)).drop("weight")
    release = protect(
        table,
        K,
        method="mdav",
        strata="sex",
        missing="value",
        quasi_identifiers=["income", "age", "height", "city"],
    )
    _, wanted = recomputed(table, release.table, ["income", "age", "height", "city"])
    assert release.information_loss == pytest.approx(wanted)
    assert release.utility().loss.information_loss == pytest.approx(wanted)
    table.write_csv(tmp_path / "before.csv")
    release.save(tmp_path / "after.csv")
    found = measure(tmp_path / "before.csv", tmp_path / "after.csv")
    assert found.utility.loss.information_loss == pytest.approx(wanted)
    assert found.utility.loss.columns["sex"] == 0.0


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
def test_hybrid_and_drawn_records():
    table = pl.DataFrame(np.random.default_rng(3).normal(size=(120, 2)), schema=["a", "b"])
    for options in ({"method": "mdav", "hybrid": True}, {"method": "fcm"}):
        release: Release = protect(table, 5, random_state=0, **options)
        _, wanted = recomputed(table, release.table, ["a", "b"])
        assert release.information_loss == pytest.approx(wanted)
        assert release.utility().loss.information_loss == pytest.approx(wanted)
        assert "information_loss" not in (release.manifest.as_dict().get("hybrid") or {})


def test_studies_report_the_losses_of_releases():
    table = people().drop("weight")
    asked = {"quasi_identifiers": ["income", "age", "height", "city"], "missing": "value"}
    release = protect(table, K, method="mdav", bound="fast", **asked)
    (row,) = compare(table, K, "mdav", **asked)
    assert row.information_loss == pytest.approx(release.information_loss)
    assert row.grouping_loss == pytest.approx(release.grouping_loss)
    (swept,) = sweep(table, K, random_state=0, **asked)
    assert swept.grouping_loss <= release.grouping_loss * 1.02
    assert swept.lower_bound <= swept.grouping_loss <= swept.information_loss
    json.dumps(swept.figures(), allow_nan=False)


@pytest.mark.parametrize("resolution", ["year", "quarter", "month", "day"])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_coarse_resolution_is_a_loss(resolution, as_text, tmp_path):
    rng = np.random.default_rng(3)
    seconds = 1_546_300_800 + rng.integers(0, 10**8, 60)
    times = pl.Series(seconds * 1_000_000).cast(pl.Datetime("us"))
    own = times.dt.strftime("%m/%d/%Y") if as_text else times
    table = pl.DataFrame({"seen": own, "x": rng.normal(size=60)})
    said = {"seen": {"resolution": resolution}}
    release = protect(table, 3, quasi_identifiers="seen", columns=said, method="mdav")

    def moments(column):
        dates = column.str.to_date("%m/%d/%Y") if as_text else column
        return dates.dt.timestamp().cast(float).to_numpy()

    before, after = moments(table["seen"]), moments(release.table["seen"])
    lost = 100 * np.square(before - after).sum() / np.square(before - before.mean()).sum()
    found = release.utility().loss
    assert release.manifest.worst_columns["seen"] == pytest.approx(lost)
    assert found.columns["seen"] == pytest.approx(lost)
    assert found.information_loss == release.information_loss
    path = release.save(tmp_path / "released.parquet")
    table.write_parquet(tmp_path / "before.parquet")
    measured = measure(tmp_path / "before.parquet", path).utility.loss
    assert measured.information_loss == pytest.approx(release.information_loss)
    (row,) = compare(table, 3, "mdav", plan=release.manifest.plan.replace(method="auto")).rows
    assert row.information_loss == pytest.approx(release.information_loss)


def test_a_loss_without_a_unit_is_not_defined():
    table = pl.DataFrame({"x": [1.0] * 6})
    release = protect(table, 3, constraints=["x >= 2"], method="mdav")
    assert release.manifest.information_loss is None
    assert np.isnan(release.information_loss)
    assert repr(release).endswith("information loss not defined>")
    (row,) = compare(table, 3, "mdav", constraints=["x >= 2"]).rows
    assert row.information_loss is None
