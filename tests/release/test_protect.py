"""protect(): from a DataFrame to one that is safe to publish."""

import json
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import Release
from microagg.core import registry
from microagg.core.errors import DataError, GuaranteeError, ParameterError, PrivacyWarning
from microagg.partitions.mdav import MDAV
from microagg.release.facts import plain_options
from tests.fakes import fakes  # noqa: F401

# What any method leaves as it is; the default and its bound are in test_bounded_release.py.
protect = partial(microagg.protect, method="mdav")

RNG = np.random.default_rng(2)
N = 40


def columns(n=N):
    return {
        "id": [f"Sentinella {i}" for i in range(n)],
        "age": RNG.integers(18, 90, n).astype(np.int16),
        "height": RNG.normal(170, 10, n),
        "weight": RNG.normal(70, 10, n).astype(np.float32),
        "illness": [f"{i // 2:05d}" for i in range(n)],
    }


ROLES = {"identifiers": ["id"], "sensitive": ["illness"]}
PROTECTED = ["age", "height", "weight"]


@pytest.fixture(params=[pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def table(request):
    return request.param(columns())


def as_polars(table):
    return pl.from_dataframe(table) if not isinstance(table, pl.DataFrame) else table


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
def test_every_combination_stands_for_at_least_k(table):
    for k in (1, 2, 3, 7, 20, N):
        released = as_polars(protect(table, k, **ROLES).table)
        assert released.group_by(PROTECTED).len()["len"].min() >= k


def test_kind_order_and_types_stay(table):
    release = protect(table, 4, **ROLES)
    assert type(release.table) is type(table)
    before, after = as_polars(table), as_polars(release.table)
    assert after.schema == {n: t for n, t in before.schema.items() if n != "id"}
    assert after["illness"].to_list() == before["illness"].to_list()


def test_released_values_are_the_means_of_the_groups(table):
    release = protect(table, 4, **ROLES)
    before, after = as_polars(table), as_polars(release.table)
    for group in range(release.labels.max() + 1):
        members = np.flatnonzero(release.labels == group)
        for name in ("height", "weight"):
            mean = before[name].to_numpy()[members].astype(float).mean()
            np.testing.assert_allclose(after[name].to_numpy()[members], mean, rtol=1e-6)
        mean = before["age"].to_numpy()[members].mean()
        assert set(after["age"].to_numpy()[members]) == {int(np.floor(mean + 0.5))}


def test_input_is_not_changed(table):
    before = as_polars(table).clone()
    protect(table, 4, **ROLES)
    assert as_polars(table).equals(before)


def test_kinds_agree():
    data = columns()
    releases = [protect(kind(data), 5, **ROLES) for kind in (pd.DataFrame, pl.DataFrame, pa.table)]
    for other in releases[1:]:
        assert (other.labels == releases[0].labels).all()
        assert as_polars(other.table).rows() == as_polars(releases[0].table).rows()


def test_labels_are_those_of_the_method_on_standardised_columns():
    X = RNG.normal(size=(N, 3)) * [1, 100, 1e-3]
    release = protect(pl.DataFrame(X, schema=["a", "b", "c"]), 3)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    expected = MDAV(k=3).fit_predict(Z)
    assert (release.labels == expected).all()
    assert release.grouping_loss == pytest.approx(microagg.information_loss(Z, expected))
    assert release.information_loss == pytest.approx(release.grouping_loss)


def test_scale_none_compares_the_columns_as_they_are():
    X = RNG.normal(size=(N, 2)) * [1, 1000]
    release = protect(pl.DataFrame(X, schema=["a", "b"]), 3, scale="none")
    assert (release.labels == MDAV(k=3).fit_predict(X)).all()
    assert release.manifest.sst == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


def test_rounding_is_part_of_the_loss_but_not_of_that_of_the_groups():
    whole = pl.DataFrame({"a": [0, 1, 10, 11]})
    release = protect(whole, 2)
    assert release.table["a"].to_list() == [1, 1, 11, 11]
    assert release.grouping_loss == pytest.approx(100 / 101)
    assert release.information_loss == pytest.approx(100 * 2 / 101)


def test_an_offset_of_a_billion_changes_nothing():
    X = RNG.integers(0, 10_000, (60, 2))
    plain = protect(pl.DataFrame(X, schema=["a", "b"]), 3)
    moved = protect(pl.DataFrame(X + np.array([10**9, 0]), schema=["a", "b"]), 3)
    assert (plain.labels == moved.labels).all()
    assert moved.table["a"].to_list() == [value + 10**9 for value in plain.table["a"].to_list()]


def test_two_groups_may_release_the_same_combination():
    release = protect(pl.DataFrame({"a": [1] * 7}), 2)
    assert release.manifest.n_groups == 3
    assert release.manifest.n_classes == 1
    assert release.manifest.smallest_class == 7
    assert release.information_loss == 0


def test_manifest_is_plain_complete_and_free_of_values(table):
    release = protect(table, 6, **ROLES, quasi_identifiers=["age"])
    text = json.dumps(release.manifest.as_dict(), allow_nan=False)
    facts = json.loads(text)
    assert facts == release.manifest.as_dict()
    assert "Sentinella" not in text
    assert facts["microagg_version"] == microagg.__version__
    assert facts["method"] == "mdav"
    assert facts["options"] == {"leftover": "group"}
    assert (facts["k"], facts["scale"], facts["n_records"]) == (6, "standardise", N)
    assert facts["quasi_identifiers"] == PROTECTED
    assert facts["assumed_quasi_identifiers"] == ["height", "weight"]
    assert facts["identifiers"] == ["id"]
    assert facts["sensitive"] == ["illness"]
    sizes = np.bincount(release.labels)
    assert (facts["min_group"], facts["max_group"]) == (sizes.min(), sizes.max())
    assert facts["n_groups"] == len(sizes)
    assert sum(int(size) * count for size, count in facts["group_sizes"].items()) == N
    assert facts["smallest_class"] >= 6
    assert facts["sst"] == pytest.approx(3 * (N - 1))
    assert facts["information_loss"] == release.information_loss
    assert facts["grouping_loss"] == release.grouping_loss
    assert facts["grouping_loss"] == pytest.approx(100 * facts["sse"] / facts["sst"])
    assert facts["lower_bound"] == release.lower_bound
    assert 0 < facts["lower_bound"] < facts["grouping_loss"]
    assert facts["seconds"] > 0


def test_release_is_frozen_and_its_labels_read_only(table):
    release = protect(table, 6, **ROLES)
    with pytest.raises(AttributeError):
        release.information_loss = 0
    with pytest.raises(ValueError, match="read-only"):
        release.labels[0] = 5
    assert isinstance(release, Release)


def test_repr_is_short(table):
    text = repr(protect(table, 6, **ROLES))
    assert text.startswith(
        "<Release of 40 records in 6 groups of 6 to 10: k = 6, mdav, information"
    )
    assert "\n" not in text


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", True, np.float64(3)])
def test_k_must_be_a_whole_number(table, k):
    with pytest.raises(ParameterError, match="k must be a whole number of at least 1"):
        protect(table, k, **ROLES)


def test_k_must_be_given(table):
    with pytest.raises(ParameterError, match=r"k, .* is missing\. Give k, or a plan"):
        protect(table, **ROLES)


def test_k_of_one_warns_the_caller(table):
    with pytest.warns(PrivacyWarning, match="k = 1 protects nobody") as heard:
        protect(table, 1, **ROLES)
    assert len(heard) == 1
    assert heard[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        protect(table, 2, **ROLES)


def test_k_may_be_a_numpy_integer(table):
    assert protect(table, np.int8(3), **ROLES).manifest.k == 3


def test_k_beyond_the_table(table):
    with pytest.raises(ParameterError, match="from 1 to 40"):
        protect(table, 41, **ROLES)


def test_requests_are_checked_before_the_table_is_looked_at():
    nothing = object()
    with pytest.raises(ParameterError, match=r"Did you mean 'mdav'\?"):
        protect(nothing, 3, method="mdaw")
    with pytest.raises(ParameterError, match="k must be"):
        protect(nothing, 0)
    with pytest.raises(ParameterError, match="scale must be"):
        protect(nothing, 3, scale="logs")
    with pytest.raises(ParameterError, match="progress must be"):
        protect(nothing, 3, progress="yes")
    with pytest.raises(ParameterError, match="table must be a DataFrame"):
        protect(nothing, 3)


@pytest.mark.parametrize("method", [None, 3, MDAV, ["mdav"]])
def test_method_must_be_a_name(table, method):
    with pytest.raises(ParameterError, match="method must be one of"):
        protect(table, 3, method=method)


def test_options_of_the_method(table):
    release = protect(table, 3, **ROLES, method_options={"leftover": "nearest"})
    assert release.manifest.options == {"leftover": "nearest"}
    with pytest.raises(
        ParameterError, match=r"has no option 'leftovr'; .* 'leftover'\. Did you mean 'leftover'\?"
    ):
        protect(table, 3, **ROLES, method_options={"leftovr": "group"})
    with pytest.raises(ParameterError, match="has no option 'k'"):
        protect(table, 3, **ROLES, method_options={"k": 4})
    with pytest.raises(ParameterError, match="leftover must be one of"):
        protect(table, 3, **ROLES, method_options={"leftover": "x"})
    with pytest.raises(ParameterError, match="method_options must be a mapping"):
        protect(table, 3, **ROLES, method_options=["leftover"])


@pytest.mark.usefixtures("fakes")
class TestSeeds:
    def test_a_seed_is_drawn_recorded_and_repeats_the_release(self):
        data = pl.DataFrame(columns()).drop("id", "illness")
        drawn, other = (protect(data, 3, method="shuffled") for _ in range(2))
        seed = drawn.manifest.random_state
        assert type(seed) is int
        assert 0 <= seed < 2**32
        assert seed != other.manifest.random_state
        assert "random_state" not in drawn.manifest.options
        again = protect(data, 3, method="shuffled", random_state=seed)
        assert again.labels.tolist() == drawn.labels.tolist()
        assert again.manifest.random_state == seed
        assert other.labels.tolist() != drawn.labels.tolist()

    def test_as_an_option_of_the_method(self, table):
        seeded = protect(table, 3, **ROLES, method="shuffled", random_state=5)
        option = {"random_state": 5}
        same = protect(table, 3, **ROLES, method="shuffled", method_options=option)
        assert same.labels.tolist() == seeded.labels.tolist()
        assert same.manifest.random_state == 5
        with pytest.raises(ParameterError, match="the seed is given twice"):
            protect(table, 3, method="shuffled", random_state=5, method_options=option)
        with pytest.raises(ParameterError, match="'mdav' has no option 'random_state'"):
            protect(table, 3, method_options=option)

    def test_a_generator_draws_the_seed(self, table):
        one, two = (
            protect(table, 3, **ROLES, method="shuffled", random_state=np.random.default_rng(1))
            for _ in range(2)
        )
        assert one.manifest.random_state == two.manifest.random_state
        assert type(one.manifest.random_state) is int

    def test_methods_without_chance_need_none(self, table):
        release = protect(table, 3, **ROLES, random_state=3)
        assert release.manifest.random_state is None
        for bad in (-1, 2**32, 1.5, "7", True):
            with pytest.raises(ParameterError, match="random_state must be"):
                protect(table, 3, **ROLES, random_state=bad)

    @pytest.mark.parametrize("kind", [np.array, list, pd.Series, pl.Series])
    def test_labels_as_an_option_are_counted_only(self, table, kind):
        labels = kind([i % 4 for i in range(N)])
        release = protect(table, 3, **ROLES, method="shuffled", method_options={"initial": labels})
        assert release.labels.tolist() == [i % 4 for i in range(N)]
        assert release.manifest.options == {"initial": f"labels of {N} records", "n_jobs": None}
        json.dumps(release.manifest.as_dict())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (np.int64(3), 3),
        (np.bool_(True), True),
        ("group", "group"),
        (("mdav", "cbfs"), ["mdav", "cbfs"]),
        (np.full(1080, 987654321), "labels of 1,080 records"),
        (["x"] * 1080, "labels of 1,080 records"),
        ([987654321, 2], "2 values"),
        (np.array(987654321), "ndarray"),
        ({987654321: 1}, "1 values"),
        (MDAV(), "MDAV"),
    ],
)
def test_options_in_the_manifest_show_no_values(value, shown):
    assert plain_options({"initial": value}, 1080) == {"initial": shown}


def test_methods_for_one_column(table):
    with pytest.raises(
        ParameterError, match="'univariate' takes exactly one quasi-identifier; got 3"
    ):
        protect(table, 3, method="univariate", **ROLES)
    one = pl.DataFrame({"a": [1, 2, 3, 10, 11, 12]})
    assert protect(one, 3, method="univariate").labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_integer_costs_need_unscaled_columns():
    one = pl.DataFrame({"a": [1, 2, 2, 3, 4, 4, 6, 6, 8, 10]})
    with pytest.raises(ParameterError, match="scale='none'"):
        protect(one, 3, method="univariate", method_options={"integer": True})
    release = protect(one, 3, method="univariate", method_options={"integer": True}, scale="none")
    assert np.bincount(release.labels).tolist() == [4, 3, 3]


@pytest.mark.parametrize("method", [n for n, m in registry.METHODS.items() if not m.needs])
def test_every_registered_method_makes_a_release(method):
    width = 1 if registry.METHODS[method].single_column else 3
    data = pl.DataFrame(RNG.normal(size=(30, width)), schema=[f"c{i}" for i in range(width)])
    strict = registry.METHODS[method].draws
    release = protect(data, 4, method=method, strict_k=strict)
    assert release.manifest.smallest_class >= 4
    assert release.manifest.promise == "k-anonymity"
    assert release.manifest.method == method
    json.dumps(release.manifest.as_dict())


@pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
@pytest.mark.parametrize(
    "options",
    [{}, {"blocks": [["a"]]}, {"method": "fcm"}, {"method": "fcm", "strict_k": True}],
    ids=["plain", "blocks", "drawn", "strict"],
)
def test_at_k_of_one_nothing_is_promised(options, tmp_path):
    data = pl.DataFrame(RNG.normal(size=(12, 2)), schema=["a", "b"])
    release = protect(data, 1, **{"method": "mdav", **options})
    facts = release.manifest
    assert (facts.promise, facts.verified) == ("none", False)
    assert "promises nothing" in repr(release)
    if "method" not in options:
        assert (facts.lower_bound, facts.proved_optimal) == (0.0, True)
    page = release.report(tmp_path / "report.html").read_text("utf-8")
    assert "No protection: k = 1" in page
    assert "k-anonymity with" not in page


def test_a_broken_promise_releases_nothing(table, monkeypatch):
    monkeypatch.setattr(MDAV, "_group", lambda _self, X, _k: np.arange(len(X)))
    with pytest.raises(GuaranteeError, match="nothing was released"):
        protect(table, 2, **ROLES)


def test_progress_goes_to_the_function():
    heard = []
    big = pl.DataFrame(RNG.normal(size=(3000, 2)), schema=["a", "b"])
    protect(big, 3, progress=lambda *message: heard.append(message))
    assert heard
    task, done, total = heard[-1]
    assert isinstance(task, str)
    assert 0 <= done <= total


def test_progress_bar_is_silent_without_a_terminal(table, capfd):
    protect(table, 3, **ROLES, progress=True)
    assert capfd.readouterr() == ("", "")


def test_tables_without_records_or_columns():
    with pytest.raises(DataError, match="no records"):
        protect(pl.DataFrame({"a": []}, schema={"a": pl.Int64}), 1)
    with pytest.raises(DataError, match="no records"):
        protect(pd.DataFrame(), 1)


def test_missing_values_are_refused_by_count():
    table = pd.DataFrame({"a": [1.0, None, 987654.0]})
    with pytest.raises(DataError, match=r"missing in 'a' \(1\)") as refused:
        protect(table, 1)
    assert "987654" not in str(refused.value)
    kept = pd.DataFrame({"a": [1, 2], "b": [None, 1.5]})
    assert protect(kept, 2, sensitive=["b"]).table["b"].isna().tolist() == [True, False]


class TestPandasIndex:
    def test_row_numbers_begin_anew_and_other_labels_need_a_name(self):
        table = pd.DataFrame({"a": [1, 2, 3, 4]}, index=[900101175, 7, -1, 0])
        released = protect(table, 2).table
        assert released.index.tolist() == [0, 1, 2, 3]
        assert released["a"].tolist() == [2, 2, 4, 4]
        assert table.index.tolist() == [900101175, 7, -1, 0]
        with pytest.raises(DataError, match=r"Name it .* role, or call reset_index\(drop=True\)"):
            protect(table.set_axis(list("wxyz")), 2)

    def test_a_name_that_only_looks_like_the_one_given_a_role(self):
        table = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["u", "v"], name=0))
        with pytest.raises(DataError, match="must be text"):
            protect(table, 2, identifiers=["0"])

    def test_an_index_with_a_name_follows_its_role(self):
        table = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["u", "v"], name="who"))
        with pytest.raises(DataError, match="index 'who' has no role"):
            protect(table, 2)
        dropped = protect(table, 2, identifiers=["who"])
        assert dropped.table.index.tolist() == [0, 1]
        assert dropped.table.index.name is None
        assert dropped.manifest.identifiers == ("who",)
        kept = protect(table, 2, sensitive=["who"])
        assert kept.table.index.tolist() == ["u", "v"]

    def test_levels_are_dropped_one_by_one(self):
        table = pd.DataFrame({"who": ["u", "v"], "day": [1, 2], "a": [1, 2]})
        release = protect(table.set_index(["who", "day"]), 2, identifiers="who", sensitive="day")
        assert release.table.index.names == ["day"]

    def test_only_an_index_with_a_name_is_saved(self, tmp_path):
        table = pd.DataFrame({"a": [1, 3]}, index=[5, 6])
        protect(table, 2).save(tmp_path / "one.csv")
        assert (tmp_path / "one.csv").read_text() == "a\n2\n2\n"
        named = table.set_axis(["u", "v"]).rename_axis("who")
        protect(named, 2, sensitive="who").save(tmp_path / "two.csv")
        assert (tmp_path / "two.csv").read_text() == "who,a\nu,2\nv,2\n"


class TestSave:
    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
    def test_what_was_released_is_saved(self, table, tmp_path, suffix):
        release = protect(table, 4, **ROLES)
        path = release.save(tmp_path / f"out{suffix}")
        assert path == tmp_path / f"out{suffix}"
        after = as_polars(release.table)
        overrides = {"illness": pl.String, "weight": pl.Float32}
        if suffix == ".parquet":
            saved = pl.read_parquet(path)
        else:
            saved = pl.read_csv(path, schema_overrides=overrides)
        assert saved.rows() == after.rows()

    def test_an_existing_file_needs_force(self, table, tmp_path):
        release = protect(table, 4, **ROLES)
        target = tmp_path / "out.csv"
        target.write_text("precious")
        with pytest.raises(ParameterError, match="already exists"):
            release.save(target)
        assert target.read_text() == "precious"
        release.save(str(target), force=True)
        assert target.read_text().startswith("age,")

    def test_bad_paths(self, table, tmp_path):
        release = protect(table, 4, **ROLES)
        paths = (
            tmp_path / "out.xls",
            tmp_path / "no" / "out.csv",
            b"out.csv",
            "-",
            None,
            "a\0.csv",
        )
        for path in paths:
            with pytest.raises(ParameterError):
                release.save(path)
        assert list(tmp_path.iterdir()) == []
