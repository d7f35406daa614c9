"""`Microaggregator` with tables of every kind, in pipelines, and on records that come later."""

import inspect
import pickle
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from microagg import Microaggregator, Plan, protect, verify
from microagg.core.errors import DataError, ParameterError, PrivacyWarning
from microagg.plans.columns import REQUIREMENT_OPTIONS, ROLE_OPTIONS
from microagg.plans.options import options_of

N = 48
RNG = np.random.default_rng(3)
PEOPLE = pl.DataFrame(
    {
        "age": RNG.integers(18, 90, N),
        "income": RNG.lognormal(8, 1, N).round(2),
        "sex": RNG.choice(["f", "m"], N),
        "grade": pl.Series(RNG.choice(["low", "mid", "high"], N), dtype=pl.Categorical),
        "works": RNG.choice([True, False], N),
        "born": [date(1950, 1, 1) + timedelta(days=int(d)) for d in RNG.integers(0, 9999, N)],
        "seen": [datetime(2024, 1, 1) + timedelta(hours=int(h)) for h in RNG.integers(0, 999, N)],
    }
)
KINDS = {
    "polars": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "arrow": lambda table: table.to_arrow(),
}
COLUMNS = {"grade": {"type": "ordinal", "order": ["low", "mid", "high"]}}


def quick(k=4, **options):
    return Microaggregator(k, **{"method": "mdav", **options})


def rows(table):
    """The records of any table, with times as Python has them."""
    frame = pl.DataFrame(table)
    wanted = {"born": pl.Date, "seen": pl.Datetime("us"), "grade": pl.String}
    return frame.cast({n: t for n, t in wanted.items() if n in frame.columns}).rows()


class TestTables:
    @pytest.mark.parametrize("kind", KINDS)
    def test_same_kind_types_and_values_as_protect(self, kind):
        X = KINDS[kind](PEOPLE)
        released = quick(columns=COLUMNS).fit_transform(X)
        expected = protect(
            X, 4, quasi_identifiers=PEOPLE.columns, columns=COLUMNS, method="mdav"
        ).table
        assert type(released) is type(X)
        assert released.equals(expected)
        assert verify(released, k=4).satisfied

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("fitted", KINDS)
    def test_the_kind_of_later_records_is_their_own(self, fitted, kind):
        transformer = quick(columns=COLUMNS).fit(KINDS[fitted](PEOPLE))
        X = KINDS[kind](PEOPLE.tail(9))
        released = transformer.transform(X)
        assert type(released) is type(X)
        expected = quick(columns=COLUMNS).fit(PEOPLE).transform(PEOPLE.tail(9))
        assert rows(released) == rows(expected)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("output", ["pandas", "polars"])
    def test_set_output(self, kind, output):
        transformer = quick().set_output(transform=output)
        released = transformer.fit_transform(KINDS[kind](PEOPLE))
        assert type(released).__module__.startswith(output)
        assert rows(released) == rows(quick().fit_transform(PEOPLE))
        again = transformer.transform(KINDS[kind](PEOPLE.head(5)))
        assert type(again) is type(released)
        assert list(again.columns) == list(transformer.get_feature_names_out()) == PEOPLE.columns

    def test_output_of_all_transformers(self):
        with sklearn.config_context(transform_output="polars"):
            assert isinstance(quick().fit_transform(PEOPLE.to_pandas()), pl.DataFrame)

    def test_the_index_is_kept(self):
        shuffled = PEOPLE.to_pandas().sample(frac=1.0, random_state=1)
        transformer = quick()
        assert transformer.fit_transform(shuffled).index.equals(shuffled.index)
        assert transformer.transform(shuffled.tail(3)).index.equals(shuffled.index[-3:])

    @pytest.mark.parametrize(
        "index", [pd.Index([f"person {i}" for i in range(N)]), pd.RangeIndex(N, name="id")]
    )
    def test_an_index_that_may_identify_is_kept_with_a_warning(self, index):
        X = PEOPLE.to_pandas().set_index(index)
        with pytest.warns(PrivacyWarning, match="index of the table is kept"):
            assert quick().fit_transform(X).index.equals(index)

    def test_names_that_are_not_text(self):
        X = pd.DataFrame(RNG.normal(size=(20, 2)), columns=[7, 8])
        transformer = quick(columns={"x1": {"aggregate": "median"}})
        assert transformer.fit_transform(X).columns.tolist() == [7, 8]
        assert transformer.get_feature_names_out().tolist() == ["x0", "x1"]
        assert not hasattr(transformer, "feature_names_in_")
        assert transformer.transform(X.head(2)).columns.tolist() == [7, 8]

    def test_the_table_is_not_changed(self):
        X = PEOPLE.to_pandas()
        before = X.copy(deep=True)
        quick().fit(X).transform(X)
        pd.testing.assert_frame_equal(X, before)


class TestArrays:
    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u4"])
    def test_numbers_keep_their_type(self, dtype):
        X = RNG.integers(0, 99, size=(30, 3)).astype(dtype)
        transformer = quick()
        released = transformer.fit_transform(X)
        assert released.dtype == transformer.transform(X).dtype == X.dtype
        assert np.unique(released, axis=0, return_counts=True)[1].min() >= 4

    @pytest.mark.parametrize("unit", ["D", "s", "ns"])
    def test_dates(self, unit):
        X = np.arange(20).astype("M8[D]").astype(f"M8[{unit}]").reshape(-1, 1)
        released = quick().fit_transform(X)
        assert released.dtype == X.dtype
        assert (released.astype("M8[D]") == released).all()

    @pytest.mark.parametrize("dtype", [object, "U1"])
    def test_text(self, dtype):
        X = RNG.choice(["a", "b", "c"], size=(30, 2)).astype(dtype)
        released = quick().fit_transform(X)
        assert released.dtype == X.dtype
        assert set(released.ravel()) <= {"a", "b", "c"}

    def test_objects_of_several_types(self):
        people = PEOPLE.drop("grade")
        X = np.array(people.rows(), dtype=object)
        released = quick().fit_transform(X)
        assert [tuple(row) for row in released] == rows(quick().fit_transform(people))

    def test_lists_keep_numbers_beside_text(self):
        X = [[1, "a"], [2, "a"], [8, "b"], [9, "b"]]
        assert quick(2).fit_transform(X).tolist() == [[2, "a"], [2, "a"], [9, "b"], [9, "b"]]

    def test_missing_among_objects(self):
        X = np.array([[1, None], [2.5, None], [np.nan, "b"], [9, "b"]], dtype=object)
        released = quick(2, missing="value").fit_transform(X)
        assert released[:2].tolist() == [[1.8, None], [1.8, None]]

    def test_an_array_in_place_of_the_fitted_table(self):
        numbers = PEOPLE.select("age", "income")
        transformer = quick().fit(numbers)
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            released = transformer.transform(numbers.to_numpy())
        assert released.tolist() == transformer.transform(numbers).to_numpy().tolist()

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[1.0], [2.0, 3.0]], "rows of different lengths"),
            ([1.0, 2.0], "Reshape your data"),
            ("people.csv", "must be a DataFrame .* got str"),
            ({"a": [1, 2]}, "must be a DataFrame .* got dict"),
            (np.array([[b"a"], [b"b"]]), "got an array of the type 'bytes8'"),
            (np.array([[1j], [2j]]), "Complex data"),
            (np.array([["31337"], [1]], dtype=object), "got int and str in 'x0'"),
            (np.array([[{}], [{}]], dtype=object), "got dict in 'x0'"),
            (np.array([[1.0, np.inf]] * 5), "infinite in 'x1' \\(5\\)"),
            (np.array([[1.0, np.nan]] * 5), "missing='value' or 'impute'"),
            (PEOPLE.lazy(), "collect"),
            (PEOPLE.head(0), "0 sample"),
            (PEOPLE.select(), "0 (sample|feature)"),
            (pd.DataFrame([[1, 2]] * 5, columns=["a", "a"]), "'a' appears more than once"),
            (PEOPLE.select(pl.concat_list("age", "income")), "must be numbers, text"),
        ],
    )
    def test_refused(self, X, message):
        with pytest.raises(ValueError, match=message) as caught:
            quick(2).fit(X)
        assert "31337" not in str(caught.value)


class TestPandasTypes:
    TABLE = pd.DataFrame(
        {
            "i": pd.array([1, 2, None, 8, 9, 9], dtype="Int64"),
            "c": pd.Categorical(list("aabbcc"), categories=list("abcd")),
            "o": pd.Categorical(
                ["lo", "lo", "hi"] * 2, categories=["lo", "mid", "hi"], ordered=True
            ),
            "s": pd.array(["x", None, "x", "y", "y", "y"], dtype="string"),
            "t": pd.date_range("2024-01-01", periods=6, tz="Europe/Berlin"),
            "f": np.array([1, 2, np.nan, 4, 5, 6], dtype="f4"),
        }
    )

    @pytest.mark.parametrize("missing", ["value", "impute"])
    def test_types_are_kept(self, missing):
        transformer = quick(2, missing=missing)
        released = transformer.fit_transform(self.TABLE)
        later = transformer.transform(self.TABLE.tail(1))
        assert released.dtypes.tolist() == later.dtypes.tolist() == self.TABLE.dtypes.tolist()

    def test_later_records_may_list_other_categories(self):
        transformer = quick(2, missing="impute").fit(self.TABLE)
        new = self.TABLE.tail(2).assign(
            c=pd.Categorical(["z", "d"]),
            o=["lo", "mid"],
            t=pd.to_datetime("2024-01-09"),
            i=[8.4, None],
        )
        released = transformer.transform(new)
        assert released["c"].tolist() == ["c", "c"]
        assert released.dtypes.tolist() == self.TABLE.dtypes.tolist()


class TestInPipelines:
    @pytest.mark.parametrize("output", ["pandas", "polars"])
    def test_column_transformer(self, output):
        table = PEOPLE.to_pandas() if output == "pandas" else PEOPLE
        columns = ColumnTransformer(
            [("known", quick(), ["age", "sex", "born"])],
            remainder="passthrough",
            verbose_feature_names_out=False,
        ).set_output(transform=output)
        released = columns.fit_transform(table)
        assert set(columns.get_feature_names_out()) == set(PEOPLE.columns)
        own = quick().fit_transform(PEOPLE.select("age", "sex", "born"))
        assert rows(released[["age", "sex", "born"]]) == rows(own)
        assert list(released["income"]) == PEOPLE["income"].to_list()
        assert columns.transform(table.head(7)).shape == (7, 7)

    @pytest.mark.filterwarnings("ignore:One or more of the test scores")
    def test_pipeline_and_grid_search(self):
        X, y = PEOPLE.drop("income").to_pandas(), PEOPLE["income"].to_numpy()
        numbers = make_column_selector(dtype_include="number")
        encode = ColumnTransformer(
            [("numbers", StandardScaler(), numbers), ("text", OneHotEncoder(), ["sex", "grade"])]
        )
        model = make_pipeline(quick(), encode, LinearRegression())
        search = GridSearchCV(model, {"microaggregator__k": [2, 5, 50]}, cv=2)
        with pytest.warns(match="fits failed"):  # folds have fewer than 50 records
            search.fit(X, y)
        assert search.best_params_["microaggregator__k"] in (2, 5)
        assert np.isfinite(search.predict(X)).all()

    def test_clone_parameters_and_pickle(self):
        transformer = quick(columns=COLUMNS, random_state=3).fit(PEOPLE)
        fresh = clone(transformer)
        assert fresh.get_params() == transformer.get_params()
        assert not hasattr(fresh, "labels_")
        again = pickle.loads(pickle.dumps(transformer))
        assert again.transform(PEOPLE).equals(transformer.transform(PEOPLE))
        assert again.manifest_ == transformer.manifest_
        assert fresh.set_params(k=7).fit(PEOPLE).manifest_.min_group >= 7

    @pytest.mark.parametrize("scale", ["standardise", "robust", "log"])
    def test_a_pickle_has_no_record(self, scale):
        X = pl.DataFrame({"a": [f"{'rare' * 3}{i}" for i in range(9)] + ["often"] * 9})
        X = X.with_columns(b=pl.Series(RNG.integers(10**9, 2 * 10**9, 18)))
        transformer = quick(9, scale=scale, columns={"b": {"aggregate": "mean"}}).fit(X)
        stored = pickle.dumps(transformer)
        inner = sorted(X["b"])[1:-1]  # the range is part of the scale
        assert not any(int(value).to_bytes(8, "little") in stored for value in inner)
        assert all(
            int(value).to_bytes(8, "little") in X["b"].to_numpy().tobytes() for value in inner
        )

    def test_seed_and_manifest(self):
        X = PEOPLE.select("age", "income")
        first = Microaggregator(3, effort="fast").fit(X)
        seed = first.manifest_.plan.random_state
        assert seed is not None
        again = Microaggregator(3, effort="fast", random_state=seed).fit(X)
        assert again.labels_.tolist() == first.labels_.tolist()
        assert first.random_state is None


def test_named_entries_are_missing_in_new_records_too():
    rng = np.random.default_rng(2)
    X = pl.DataFrame({"age": [-9, *rng.integers(20, 90, 59)], "pay": rng.lognormal(8, 1, 60)})
    given = {"method": "mdav", "missing": "impute"}
    named = Microaggregator(3, na=[-9], **given).fit(X)
    blank = X.with_columns(pl.col("age").replace(-9, None))
    same = Microaggregator(3, **given).fit(blank)
    assert named.manifest_.markers == {"age": 1}
    assert named.transform(X[:5]).equals(same.transform(blank[:5]))


class TestParameters:
    def test_every_option_is_taken_or_left_out_on_purpose(self):
        elsewhere = {
            *("unit", "keep_key", "small_strata"),  # about columns with other roles
            *("blocks", "hybrid"),  # a transformer for each block; synthetic records have no group
            "shuffle",  # the rows of a pipeline stay beside their target
        }
        declared = {option.keyword: option.default for option in options_of(Plan)}
        own = inspect.signature(Microaggregator).parameters
        assert own.keys() == declared.keys() - elsewhere | {"columns"}
        for name in own.keys() - {"k", "columns"}:
            default = own[name].default
            assert default == (declared[name] or default), name
            assert default in (None, declared[name]), name
        roles = {option.keyword for option in (*ROLE_OPTIONS.values(), *REQUIREMENT_OPTIONS)}
        assert not own.keys() & roles

    def test_help_is_that_of_the_options(self):
        text = " ".join(inspect.getdoc(Microaggregator).split())
        for option in options_of(Plan):
            if option.keyword in inspect.signature(Microaggregator).parameters:
                said = option.help.removesuffix(", and of hybrid records.")
                assert f" {option.keyword} : {said}" in text

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"k": 0}, "k must be a whole number of at least 1; got 0"),
            ({"k": None}, "k, the least number of records"),
            ({"k": 1000}, "k must be a whole number from 1 to 48"),
            ({"method": "mdaw"}, "Did you mean 'mdav'"),
            ({"effort": "fast"}, "effort .* is for 'auto'"),
            ({"scale": "unit"}, "scale must be one of"),
            ({"missing": "drop"}, "missing must be one of"),
            ({"columns": {"aeg": {"type": "nominal"}}}, "no column 'aeg'. Did you mean 'age'"),
            ({"columns": {"age": {"role": "sensitive"}}}, "protects every column that it gets"),
            ({"columns": {"age": {"type": "date"}}}, "cannot have the type 'date'"),
            ({"columns": {"sex": {"l_diversity": 2}}}, "is for sensitive columns"),
            ({"columns": "age"}, "columns must be a mapping"),
            ({"constraints": "age + = 3"}, "constraint"),
        ],
    )
    def test_refused(self, options, message):
        with pytest.raises(ParameterError if "type 'date'" not in message else DataError) as no:
            quick(**options).fit(PEOPLE)
        no.match(message)
        assert "\n" not in str(no.value)

    def test_requirements_of_columns(self):
        X = PEOPLE.select("age", "income")
        transformer = quick(3, columns={"income": {"dominance": (1, 60)}})
        released = transformer.fit_transform(X)
        found = transformer.manifest_
        assert verify(released, plan=found.plan, original=X).satisfied
