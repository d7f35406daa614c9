"""The plan: one model for files, options and the manifest."""

import tomllib
import warnings

import polars as pl
import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.plans.columns import columns_by_name
from microagg.plans.drafting import draft, guess_columns
from microagg.plans.plan import Plan
from microagg.tables.frames import open_frame
from microagg.tables.roles import Roles


def test_what_is_left_out_has_a_default():
    plan = Plan.of(k=3)
    assert (plan.method, plan.scale, plan.missing) == ("auto", "standardise", "error")
    assert plan.model_dump(exclude_defaults=True) == {"k": 3}


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "a plan needs 'k'"),
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": "many"}, "k must be a whole number"),
        ({"k": 3, "methd": "mdav"}, r"no key 'methd'\. Did you mean 'method'\? Its keys are k, "),
        ({"k": 3, "method": "mdaw"}, "Did you mean 'mdav'"),
        ({"k": 3, "missing": "values"}, "missing must be one of 'error', 'value', 'impute'"),
        ({"k": 3, "scale": "z"}, "scale must be one of"),
        ({"k": 3, "keep_key": "yes"}, "keep_key must be True or False"),
        ({"k": 3, "blocks": "a,b"}, "blocks must be a list of lists of columns"),
        (
            {"k": 3, "columns": {"a": {"rol": "x"}}},
            r"column 'a': there is no key 'rol'\. Did you mean",
        ),
        ({"k": 3, "columns": {"a": {"role": "quasi"}}}, "column 'a': a role must be one of"),
        ({"k": 3, "columns": {"a": {"type": "number"}}}, "column 'a': a type must be one of"),
        ({"k": 3, "columns": {"a": {"weight": -1}}}, "column 'a': a column's weight must be"),
        ({"k": 3, "columns": {"a": 5}}, "the entry of column 'a' must be a mapping such as"),
        ({"k": 3, "columns": {"a": {"order": 5}}}, "column 'a': an order must be a list of text"),
        ({"k": 3, "columns": {"a": {"order": ["x", "x"]}}}, "order must list every value once"),
        ({"k": 3, "columns": {"a": {"order": [[1]]}}}, "lowest first.*got a list with list"),
        ({"k": 3, "columns": {5: {}}}, "the name of a column must be text; got int"),
        ({"k": 3, "method_options": {5: 1}}, "names in method_options must be text; got int"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(given, match):
    with pytest.raises(ParameterError, match=match) as refused:
        Plan.of(**given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"columns": {"a": {"aggregate": "max"}}}, "an aggregate must be one of 'mean', 'median'"),
        (
            {"columns": {"a": {"type": "nominal", "aggregate": "mean"}}},
            "the aggregate of 'a', which is nominal, must be 'mode'; got 'mean'",
        ),
        (
            {"columns": {"a": {"order": ["x", "y"], "aggregate": "mean"}}},
            "the aggregate of 'a', which is ordinal, must be one of 'median', 'mode'",
        ),
        (
            {"columns": {"a": {"resolution": "week"}}},
            "a resolution must be one of 'year', 'quarter'",
        ),
        ({"columns": {"a": {"type": "integer", "resolution": "day"}}}, "which is for dates"),
        ({"columns": {"a": {"type": "nominal", "order": ["x"]}}}, "for the type 'ordinal'"),
        ({"small_strata": "merge"}, "is for strata, and there are none"),
        ({"blocks": [["a"], ["b", "a"]]}, "'a' can be in one block only; it is named twice"),
        ({"blocks": [["a", "a"]]}, "'a' can be in one block only; it is named twice"),
        (
            {"blocks": [["a"]], "columns": {"a": {"role": "sensitive"}}},
            "blocks consist of quasi-identifiers; 'a' has the role sensitive",
        ),
        ({"keep_key": True}, "no identifier to replace by a random key"),
    ],
)
def test_what_needs_no_data_is_checked_without_them(given, match):
    with pytest.raises(ParameterError, match=match):
        Plan.of(k=3, **given)


def test_roles_come_from_columns():
    plan = Plan.of(
        k=3,
        columns={
            "a": {"role": "quasi-identifier", "type": "nominal"},
            "b": {"role": "identifier"},
            "c": {"role": "weight"},
            "d": {"order": ["x", "y"]},
        },
    )
    assert plan.roles_in("abcde") == Roles(
        quasi_identifiers=("a", "d"), identifiers=("b",), weights="c"
    )
    assert set(plan.column_options) == {"a", "d"}


def test_one_column_holds_weights():
    with pytest.raises(ParameterError, match="only one column can contain weights; got 'a', 'b'"):
        Plan.of(k=3, columns={"a": {"role": "weight"}, "b": {"role": "weight"}})


def test_lists_and_columns_are_put_together():
    found = columns_by_name({"a": {"type": "nominal"}}, quasi_identifiers="a", sensitive=["b"])
    assert found == {
        "a": {"type": "nominal", "role": "quasi-identifier"},
        "b": {"role": "sensitive"},
    }
    with pytest.raises(ParameterError, match="'a' can have one role only"):
        columns_by_name(None, identifiers=["a"], strata=["a"])
    with pytest.raises(ParameterError, match="columns must be a mapping"):
        columns_by_name(["a"])
    with pytest.raises(ParameterError, match="the entry of column 'a' must be a mapping"):
        columns_by_name({"a": "nominal"})


def test_files(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('k = 4\n[columns]\n"odd name" = { role = "stratum" }\n')
    assert Plan.read(path).columns_as("stratum") == ("odd name",)
    path.write_text("k = = 4")
    with pytest.raises(DataError, match="not well-formed TOML at line 1, column 5"):
        Plan.read(path)
    path.write_bytes(b"k = 4 # \xff")
    with pytest.raises(DataError, match="not UTF-8"):
        Plan.read(path)
    with pytest.raises(ParameterError, match="does not exist"):
        Plan.read(tmp_path / "none.toml")
    with pytest.raises(ParameterError, match=r"does not exist\. Did you mean 'plan\.toml'\?"):
        Plan.read(tmp_path / "plans.toml")


TABLE = pl.DataFrame(
    {
        "PersonID": range(40),
        "full name": [f"p{i}" for i in range(40)],
        "note": [f"n{i}" for i in range(40)],
        "age": [20 + i % 30 for i in range(40)],
        "sex": [i % 2 for i in range(40)],
        "income": [i * 1.5 for i in range(40)],
        "city": ["a", "b", None, "d"] * 10,
        "born": [f"2001-01-{1 + i % 28:02}" for i in range(40)],
        "sampling_weight": [1.0] * 40,
        "final_weight": [2.0 + i for i in range(40)],
        "list": [[1]] * 40,
        "empty": pl.Series([None] * 40, dtype=pl.Float64),
    }
)


def test_guesses_are_careful():
    guesses = guess_columns(open_frame(TABLE))
    assert {name: (guess.role, guess.type) for name, guess in guesses.items()} == {
        "PersonID": ("identifier", None),
        "full name": ("identifier", None),
        "note": ("identifier", None),
        "age": ("quasi-identifier", "integer"),
        "sex": ("quasi-identifier", "nominal"),
        "income": ("quasi-identifier", "continuous"),
        "city": ("quasi-identifier", "nominal"),
        "born": ("quasi-identifier", "date"),
        "sampling_weight": ("quasi-identifier", "integer"),
        "final_weight": ("quasi-identifier", "integer"),
        "list": ("drop", None),
        "empty": ("drop", None),
    }
    assert "10 missing" in guesses["city"].why
    assert 'role = "weight"' in guesses["sampling_weight"].why


@pytest.mark.parametrize("kind", [int, str])
def test_a_draft_says_that_an_identifier_repeats(kind):
    table = pl.DataFrame({"person_id": [kind(i // 3) for i in range(30)], "age": range(30)})
    guess = guess_columns(open_frame(table))["person_id"]
    assert guess.role == "identifier"
    assert guess.why.endswith('it repeats: if k should count its values, use role = "unit"')
    once = guess_columns(open_frame(table[::3]))["person_id"]
    assert once.role == "identifier"
    assert "repeats" not in once.why


@pytest.mark.parametrize("whole", [range(40), range(0, 4000, 100), range(7_000_000, 7_000_040)])
def test_serial_numbers_may_be_stored_as_decimals(whole):
    guesses = guess_columns(open_frame(pl.DataFrame({"x": [float(i) for i in whole]})))
    assert guesses["x"].role == "identifier"


def test_a_draft_asks_what_marks_in_text_mean():
    table = pl.DataFrame({"smoker": ["yes", "no", " ?", "?", "NA"] * 8, "sex": ["f", "m"] * 20})
    guesses = guess_columns(open_frame(table))
    assert guesses["smoker"].why.endswith('does ? or NA mean missing? then na = ["?", "NA"] above')
    assert guesses["sex"].why == "2 different values"


def test_a_draft_is_a_plan():
    text = draft(guess_columns(open_frame(TABLE)), Plan.of(k=7), source="t.csv", n_records=40)
    plan = Plan.of(**tomllib.loads(text))
    assert plan.k == 7
    assert list(plan.columns) == TABLE.columns
    assert plan.columns["born"].type == "date"


@pytest.mark.parametrize("name", ["", "a.b", 'q"q', "back\\slash", "new\nline", "ünïcode", "\x7f#"])
def test_any_name_can_be_in_a_plan(name):
    guesses = guess_columns(open_frame(pl.DataFrame({name: [1.5, 2.5]})))
    text = draft(guesses, Plan.of(k=2), source="odd\nname.csv", n_records=2)
    assert list(tomllib.loads(text)["columns"]) == [name]


def test_a_plan_cannot_be_changed_in_place():
    with pytest.raises(AttributeError, match=r"a Plan cannot be changed. .* replace\(k="):
        Plan.of(k=3).k = 5


def test_a_misspelt_key_is_named_before_one_that_is_missing(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("kk = 5\n")
    with pytest.raises(ParameterError, match="no key 'kk'"):
        Plan.read(path)


def guessed(**columns):
    return guess_columns(open_frame(pl.DataFrame(columns)))


class TestIdentifiersInDrafts:
    N = 100

    @pytest.mark.parametrize("n_values", [2, 5, 12])
    def test_few_values_are_none_whatever_the_name(self, n_values):
        found = guessed(Key1=[i % n_values for i in range(self.N)])["Key1"]
        assert found.role == "quasi-identifier"

    def test_the_name_and_many_values_are_one(self):
        found = guessed(Key1=[i * 37 % 61 for i in range(self.N)])["Key1"]
        assert (found.role, found.type) == ("identifier", None)
        assert found.why.startswith("its name, and 61 different values")

    @pytest.mark.parametrize("n", [2, 40])
    def test_the_name_alone_suffices_if_all_differ(self, n):
        assert guessed(id=[7 * i * i for i in range(n)])["id"].role == "identifier"

    @pytest.mark.parametrize(
        "values",
        [
            [500 + i * 7 % 100 for i in range(100)],  # dense
            [3 * i + i * i for i in range(100)],  # ascending
            [10_000_000 + i * 7_919_993 % 89_999_999 for i in range(100)],  # of one length
        ],
        ids=["dense", "ascending", "long"],
    )
    def test_serial_numbers_under_any_name(self, values):
        found = guessed(thing=values)["thing"]
        assert found.role == "identifier"
        assert found.why == "serial numbers, different in every record"

    def test_nearly_all_is_enough(self):
        numbers = [*range(100, 197), 100, 101, 102]
        assert guessed(thing=numbers)["thing"].role == "identifier"
        texts = [f"t{number}" for number in numbers]
        found = guessed(thing=texts)["thing"]
        assert found.why.startswith("text, different in nearly every record")

    def test_amounts_are_suspect_but_kept(self):
        amounts = [(i * 7919 + 13) % 49_999 for i in range(100)]
        found = guessed(pay=amounts)["pay"]
        assert (found.role, found.type) == ("quasi-identifier", "integer")
        assert found.why == "100 different whole numbers: an identifier?"

    def test_a_measurement_is_none(self):
        found = guessed(height=[150 + i / 7 for i in range(self.N)])["height"]
        assert (found.role, found.type) == ("quasi-identifier", "continuous")

    def test_nor_are_dates(self):
        days = [f"2024-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(self.N)]
        assert guessed(seen=days)["seen"].type == "date"

    def test_nor_a_few_ages(self):
        assert guessed(age=[34, 61, 19, 45])["age"].role == "quasi-identifier"


def test_a_draft_says_which_texts_are_missing_values():
    text = draft(guessed(a=[1.5, 2.5]), Plan.of(k=2, na=["none", -9]), source="t.csv", n_records=2)
    assert 'na = ["none", "-9"]' in text
    assert Plan.of(**tomllib.loads(text)).na == ("none", "-9")


COSTS = [f"{1000 + 7 * i},{i:02d}" for i in range(60)]


@pytest.mark.parametrize(
    ("numbers", "are_days"),
    [
        ([20240131, 20231201, None, 19991015], True),
        ([20240131.0, 20231201.0, 19991015.0], True),
        ([20240131, 20231301, 19991015], False),  # no month
        ([20240131, 20231200, 19991015], False),  # no day
        ([2024, 1999, 2001], False),
    ],
)
def test_whole_numbers_may_be_dates(numbers, are_days):
    guesses = guess_columns(
        open_frame(pl.DataFrame({"seen": numbers * 2, "a": [1.5] * len(numbers) * 2}))
    )
    assert ("different dates? then write 20240131 as 2024-01-31" in guesses["seen"].why) is are_days


@pytest.mark.parametrize("dtype", ["int64", "Float64", "int64[pyarrow]"])
def test_different_dates_as_numbers_are_not_serial_numbers(dtype):
    days = [19_400_101 + 10_000 * at for at in range(30)]
    frame = pl.DataFrame({"seen": days, "a": [1.5] * 30}).to_pandas().astype({"seen": dtype})
    assert guess_columns(open_frame(frame))["seen"].why.startswith("30 different dates?")


@pytest.mark.parametrize(
    ("codes", "asked"),
    [
        ([999] * 5, '; does 999 mean missing? then na = ["999"] above'),
        ([-9.0] * 5 + [999.0] * 5, '; does -9 or 999 mean missing? then na = ["-9", "999"] above'),
        ([None, -99] * 5, '; does -99 mean missing? then na = ["-99"] above'),
        ([999] * 4, ""),  # too few records to be named
        ([99] * 5, ""),  # an age
        ([-9] * 5 + [-3], ""),  # a column with negative numbers
        ([998] * 5, ""),
        ([999.5] * 5, ""),
        ([], ""),
    ],
)
def test_numbers_of_nines_may_mean_missing(codes, asked):
    table = open_frame(pl.DataFrame({"age": [*range(18, 88), *codes]}, strict=False))
    assert guess_columns(table)["age"].why.partition("; does")[2] == asked.partition("; does")[2]


def test_numbers_of_nines_in_small_types_of_pandas():
    numbers = pl.DataFrame({"change": [*range(-100, -30), *[99] * 5]}).to_pandas().astype("int8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "does 99 mean missing?" in guess_columns(open_frame(numbers))["change"].why


@pytest.mark.parametrize(
    ("entries", "asked"),
    [
        (["k.A."] * 5, '; does k.A. mean missing? then na = ["k.A."] above'),
        (["k.A."] * 5 + ["?"] * 5, '; does ? or k.A. mean missing? then na = ["?", "k.A."] above'),
        (["k.A."] * 4, ""),  # too few records to be named
        (["a\n"] * 2 + ["b\nc"] * 9, ""),  # it would not be a comment any more
        ([f"x{i % 4}" for i in range(40)], ""),  # as many texts are values
        (["none"] * 61, ""),  # and so are texts of most records
    ],
)
def test_texts_among_numbers_may_mean_missing(entries, asked):
    table = open_frame(pl.DataFrame({"cost": [*COSTS, *entries]}))
    assert guess_columns(table)["cost"].why.partition("; does")[2] == asked.partition("; does")[2]
