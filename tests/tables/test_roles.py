"""Which column plays which part."""

import datetime
import decimal

import pandas as pd
import polars as pl
import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.tables.frames import open_frame
from microagg.tables.resolving import resolve
from microagg.tables.roles import Roles, check_named

COLUMNS = ("name", "age", "height", "code")
TABLE = pl.DataFrame({"name": ["a"], "age": [1], "height": [1.5], "code": ["x"]})


def roles_of(table, **named):
    frame = open_frame(table)
    index = [n for n in getattr(getattr(table, "index", None), "names", ()) if n is not None]
    return resolve(frame, check_named((*frame.columns, *index), **named))


def test_numbers_without_a_role_are_quasi_identifiers():
    roles = roles_of(TABLE, identifiers=["name"], sensitive=["code"])
    assert roles == Roles(
        quasi_identifiers=("age", "height"),
        assumed=("age", "height"),
        identifiers=("name",),
        sensitive=("code",),
    )


def test_also_when_others_were_named():
    roles = roles_of(TABLE, quasi_identifiers=["height"], identifiers=["name"], sensitive=["code"])
    assert roles.quasi_identifiers == ("age", "height")
    assert roles.assumed == ("age",)


def test_roles_come_in_the_order_of_the_table():
    assert check_named(COLUMNS, identifiers=["code", "name", "code"]).identifiers == (
        "name",
        "code",
    )


def test_one_name_needs_no_list():
    assert check_named(COLUMNS, sensitive="code").sensitive == ("code",)


@pytest.mark.parametrize("names", [3, [3], [None], [["age"]]])
def test_names_must_be_text(names):
    with pytest.raises(ParameterError, match="sensitive must be column names"):
        check_named(COLUMNS, sensitive=names)


def test_unknown_columns():
    with pytest.raises(ParameterError, match=r"no column 'AGE'\. Did you mean 'age'\?"):
        check_named(COLUMNS, identifiers=["AGE"])
    with pytest.raises(ParameterError, match=r"'c0'.*'c11' and 18 more"):
        check_named([f"c{i}" for i in range(30)], identifiers=["zzzz"])


def test_one_role_only():
    with pytest.raises(
        ParameterError, match=r"'age' can have one role only.*as an identifier and as sensitive"
    ):
        check_named(COLUMNS, identifiers=["age"], sensitive=["age"])


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (["x", "y", "z"], "text in 3 of 3 records"),
        ([True, False, True], "true or false"),
        ([datetime.date(2020, 1, 1)] * 3, "dates"),
        ([datetime.datetime(2020, 1, 1)] * 3, "dates with times"),
        ([decimal.Decimal("1.5")] * 3, "decimals"),
        ([[1], [2], [3]], "lists"),
        (["1", "2", "Sentinella"], "text in 1 of 3 records"),
        (["1", None, "Sentinella"], "text in 1 of 3 records"),
        (["1_000", " ", "2"], "text in 1 of 3 records"),
        (["007", "12", None], "codes with leading zeros in 1 of 3 records"),
        (["007", "?", "-01"], "text in 1 of 3 records, codes with leading zeros in 2 of 3 records"),
        (["1", "2", "3"], "numbers stored as text or beyond 64 bits"),
        (pl.Series(["u"] * 3, dtype=pl.Categorical), "categories"),
        (pl.Series([1, 2, 3], dtype=pl.Int128), "128-bit integers"),
        ([None, None, None], "missing in every record"),
    ],
)
def test_other_types_without_a_role_stop_with_their_names(values, word):
    table = pl.DataFrame({"n": [1, 2, 3], "odd": values})
    with pytest.raises(
        DataError,
        match=rf"'odd' \({word}\)\. Protect it as .*identifiers=\['odd'\].*--sens.*=\['odd'\]",
    ) as stop:
        roles_of(table)
    assert "Sentinella" not in str(stop.value)
    assert roles_of(table, sensitive=["odd"]).quasi_identifiers == ("n",)


def test_only_text_among_numbers_is_told_of_markers():
    said = r"If texts among the numbers in 't' mean a missing value, name them: --na TEXT, or na="
    with pytest.raises(DataError, match=said):
        roles_of(pl.DataFrame({"n": [1, 2, 3], "t": ["none", "1", "2"]}))
    with pytest.raises(DataError, match=r"drafts all roles\.$"):
        roles_of(pl.DataFrame({"n": [1, 2, 3], "t": ["NA", "DE", "2"]}))
    with pytest.raises(DataError, match=r"drafts all roles\.$"):
        roles_of(pl.DataFrame({"n": [1, 2, 3], "t": ["007", "101", "103"]}))
    with pytest.raises(DataError, match=r"drafts all roles\.$"):
        roles_of(pl.DataFrame({"n": [1, 2], "b": [True, False]}))


def test_lists_cannot_be_quasi_identifiers():
    table = pl.DataFrame({"n": [1], "many": [[1, 2]]})
    with pytest.raises(DataError, match=r"or dates; got 'many' \(lists\)"):
        roles_of(table, quasi_identifiers=["many"])


def test_a_column_of_which_somebody_said_more_is_a_quasi_identifier():
    roles = roles_of(TABLE, identifiers=["name"], typed=["code"])
    assert roles.quasi_identifiers == ("age", "height", "code")
    assert roles.assumed == ("age", "height")
    assert roles_of(TABLE, identifiers=["name"], sensitive="code", typed=["code"]).sensitive


def test_strata_and_weights_are_shown_and_not_grouped_by():
    roles = roles_of(TABLE, identifiers=["name"], strata="code", weights="height")
    assert (roles.quasi_identifiers, roles.strata, roles.weights) == (("age",), ("code",), "height")
    assert roles.shown == ("age", "code")
    assert roles.unchanged == ("height",)
    with pytest.raises(ParameterError, match="named as sensitive and as a stratum"):
        roles_of(TABLE, sensitive=["code"], strata=["code"])


def test_nothing_left_to_protect():
    with pytest.raises(ParameterError, match="no quasi-identifier to protect"):
        roles_of(TABLE, identifiers=["name", "age"], sensitive=["code", "height"])


def test_index_with_a_name_is_a_column_and_needs_a_role():
    table = pd.DataFrame({"age": [1, 2]}, index=pd.Index(["a", "b"], name="who"))
    with pytest.raises(DataError, match="index 'who' has no role"):
        roles_of(table)
    with pytest.raises(DataError, match=r"'who' is the table's index.*reset_index"):
        roles_of(table, quasi_identifiers=["who"])
    assert roles_of(table, identifiers=["who"]).identifiers == ("who",)
    assert roles_of(table, sensitive=["who"]).sensitive == ("who",)


def test_index_that_repeats_a_protected_column_is_refused():
    table = pd.DataFrame({"age": [1, 2]}).set_index("age", drop=False)
    with pytest.raises(DataError, match="index 'age'"):
        roles_of(table)


def test_roles_are_frozen():
    with pytest.raises(AttributeError):
        Roles().sensitive = ("a",)


@pytest.mark.parametrize("name", ["name", "sentinel"])
def test_columns_are_not_listed_if_they_may_be_the_values_of_a_record(name):
    with pytest.raises(ParameterError, match="is the first line a header") as said:
        check_named(("Sentinella", "18", "oslo"), identifiers=name)
    assert "Sentinella" not in str(said.value)
    with pytest.raises(ParameterError, match="Its columns are 'Sentinella'"):
        check_named(("Sentinella", "oslo"), identifiers="name")


def test_columns_without_a_role_are_numbered_if_their_names_may_be_the_values_of_a_record():
    table = pl.DataFrame({"Sentinella": ["Ann", "Bo"], "48200": [1, 2], "oslo": ["x", "y"]})
    with pytest.raises(DataError, match="is the first line a header") as said:
        roles_of(table)
    assert "column 1 (text in 2 of 2 records), column 3 (text" in str(said.value)
    assert "Sentinella" not in str(said.value)
