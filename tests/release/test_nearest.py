"""Records that come later get the values of their nearest group from `Microaggregator`."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from microagg.core.errors import DataError
from tests.release.test_transformer import COLUMNS, PEOPLE, quick

RNG = np.random.default_rng(5)


class TestLaterRecords:
    def test_nearest_group_and_not_ones_own(self):
        X = np.array([[0.0], [0.1], [1.0], [10.0]])
        transformer = quick(2, scale="none", digits="all")
        assert transformer.fit_transform(X).ravel() == pytest.approx([0.05, 0.05, 5.5, 5.5])
        assert transformer.transform(X).ravel() == pytest.approx([0.05, 0.05, 0.05, 5.5])

    def test_equal_where_groups_are_far_apart(self):
        centers = RNG.permutation(8) * 100.0
        X = np.repeat(centers, 4).reshape(-1, 1) + RNG.normal(size=(32, 1))
        transformer = quick()
        released = transformer.fit_transform(X)
        assert (transformer.transform(X) == released).all()
        assert transformer.labels_.tolist() == np.repeat(np.arange(8), 4).tolist()

    def test_against_a_plain_search(self):
        X, new = RNG.normal(size=(60, 3)), RNG.normal(size=(40, 3)) * 2
        transformer = quick().fit(X)
        groups = [X[transformer.labels_ == g].mean(axis=0) for g in range(transformer.n_groups_)]
        spread = X.std(axis=0, ddof=1)
        expected = [
            groups[min(range(len(groups)), key=lambda g: (((row - groups[g]) / spread) ** 2).sum())]
            for row in new
        ]
        assert np.allclose(transformer.transform(new), expected)

    def test_one_by_one_or_all_at_once(self):
        transformer = quick(columns=COLUMNS).fit(PEOPLE)
        together = transformer.transform(PEOPLE)
        single = [transformer.transform(PEOPLE[i]) for i in range(len(PEOPLE))]
        assert pl.concat(single).equals(together)

    def test_ties_go_to_the_lower_group(self):
        transformer = quick(2, scale="none").fit([[9.0], [9.0], [1.0], [1.0]])
        assert transformer.transform([[5.0]]).tolist() == [[9.0]]

    def test_constraints_hold_for_later_records(self):
        X = PEOPLE.select("age", rest="age").with_columns(total=pl.col("age") + pl.col("rest"))
        new = quick(constraints="age + rest = total").fit(X).transform(X.head(9) * 3)
        assert (new["age"] + new["rest"] == new["total"]).all()

    def test_new_categories_do_not_decide(self):
        X = pl.DataFrame({"place": list("aabbcc"), "age": [20, 21, 50, 51, 80, 81]})
        transformer = quick(2).fit(X)
        new = transformer.transform(pl.DataFrame({"place": ["z", "z"], "age": [10, 90]}))
        assert new["age"].to_list() == [21, 81]
        assert new["place"].to_list() == ["a", "c"]

    def test_nothing_to_compare_is_in_the_middle(self):
        X = pl.DataFrame({"place": list("aabbbbcc")})
        assert quick(2).fit(X).transform(pl.DataFrame({"place": ["z"]}))["place"].item() == "b"

    @pytest.mark.parametrize("missing", ["value", "impute"])
    def test_missing_where_none_was(self, missing):
        X = pl.DataFrame({"place": list("aabbcc"), "age": [20, 21, 50, 51, 80, 81]})
        new = pl.DataFrame({"place": [None, "c"], "age": [10, None]}, schema=X.schema)
        released = quick(2, missing=missing).fit(X).transform(new)
        assert released.rows() == [("a", 21), ("c", 81)]

    def test_missing_where_some_were(self):
        X = pl.DataFrame({"a": [1.0, 1.0, None, None, 9.0, 9.0]})
        transformer = quick(2, missing="value").fit(X)
        new = transformer.transform(pl.DataFrame({"a": [None, 8.0]}))
        assert new["a"].to_list() == [None, 9.0]

    def test_all_missing_before(self):
        X = pl.DataFrame({"a": [None] * 4, "b": [1, 1, 9, 9]}, schema={"a": pl.Float64, "b": int})
        transformer = quick(2, missing="value").fit(X)
        new = transformer.transform(pl.DataFrame({"a": [3.0, None], "b": [8, 1]}))
        assert new.rows() == [(None, 9), (None, 1)]

    def test_missing_is_refused_as_before(self):
        transformer = quick().fit(PEOPLE)
        new = PEOPLE.head(3).with_columns(age=pl.lit(None, pl.Int64))
        with pytest.raises(DataError, match=r"missing in 'age' \(3\).*missing='value' or 'impute'"):
            transformer.transform(new)

    @pytest.mark.parametrize("scale", ["standardise", "robust", "rank", "log", "none"])
    @pytest.mark.parametrize("stored", [pl.Int8, pl.Int64, pl.UInt64, pl.Float32, pl.Float64])
    @pytest.mark.parametrize("later", [pl.Int16, pl.UInt8, pl.Float32, pl.Float64])
    def test_numbers_stored_in_another_type(self, scale, stored, later):
        X = pl.DataFrame({"a": [10, 11, 20, 22, 70, 72]}).cast(stored)
        transformer = quick(2, scale=scale).fit(X)
        assert transformer.transform(X.cast(later)).equals(transformer.transform(X))

    @pytest.mark.parametrize("later", [pl.Datetime("ms"), pl.Datetime("ns"), pl.Date])
    def test_times_stored_in_another_unit(self, later):
        X = PEOPLE.select(pl.col("seen").dt.truncate("1d"))
        transformer = quick().fit(X)
        assert transformer.transform(X.cast(later)).equals(transformer.transform(X))

    def test_dates_written_as_text(self):
        X = PEOPLE.select(pl.col("born").dt.to_string("%d.%m.%Y"))
        transformer = quick(columns={"born": {"type": "date"}})
        released = transformer.fit_transform(X)
        assert transformer.transform(released).equals(released)
        with pytest.raises(DataError, match="not all of its texts are written like"):
            transformer.transform(pl.DataFrame({"born": ["2024-12-31"]}))

    @pytest.mark.parametrize(
        ("name", "values", "stored"),
        [
            ("income", "31337", "Float64"),
            ("seen", 31337, "Datetime"),
            ("sex", date(2024, 1, 1), ""),
        ],
    )
    def test_other_types_than_before(self, name, values, stored):
        transformer = quick().fit(PEOPLE)
        with pytest.raises(DataError, match=f"column {name!r} is stored as .* was {stored}") as no:
            transformer.transform(PEOPLE.head(2).with_columns(pl.lit(values).alias(name)))
        assert "31337" not in str(no.value)

    def test_infinite(self):
        with pytest.raises(DataError, match="some of column 'income' are infinite"):
            quick().fit(PEOPLE).transform(PEOPLE.with_columns(income=np.inf))

    def test_other_columns(self):
        transformer = quick().fit(PEOPLE)
        with pytest.raises(ValueError, match="feature names"):
            transformer.transform(PEOPLE.rename({"age": "years"}))

    def test_before_fitting(self):
        with pytest.raises(NotFittedError):
            quick().transform(PEOPLE)
