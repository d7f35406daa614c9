"""Columns that number people under any name, found by what is the same in all of their records."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg.plans.drafting import guess_columns
from microagg.plans.owners import find_owners
from microagg.tables.columns import ColumnType
from microagg.tables.frames import open_frame

N_PEOPLE, N = 60, 300


def visits(**more):
    """Records of people: what is theirs is the same in each of their records."""
    chance = np.random.default_rng(5)
    who = np.concatenate([np.arange(N_PEOPLE), chance.integers(0, N_PEOPLE, N - N_PEOPLE)])
    chance.shuffle(who)
    born = pl.date_range(pl.date(1950, 1, 1), pl.date(1999, 12, 31), eager=True)
    return pl.DataFrame(
        {
            "ref": [f"x{1000 + 7 * i}" for i in who],
            "born": born.gather(chance.integers(0, len(born), N_PEOPLE)).gather(who),
            "sex": np.array(["f", "m"])[who % 2],
            "cost": chance.integers(100, 9999, N),
            **{name: values[who] for name, values in more.items()},
        }
    )


def roles(table):
    return {name: guess.role for name, guess in guess_columns(open_frame(table)).items()}


@pytest.mark.parametrize("as_native", [pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_a_number_of_people_is_an_identifier_under_any_name(as_native):
    guesses = guess_columns(open_frame(as_native(visits())))
    assert guesses["ref"].role == "identifier"
    assert guesses["ref"].why == (
        "each value always has the same born, sex, as a person would; it repeats: if k should "
        'count its values, use role = "unit"'
    )
    assert {guesses[name].role for name in ("born", "sex", "cost")} == {"quasi-identifier"}


def test_whole_numbers_may_name_people_as_well():
    table = visits().with_columns(ref=pl.col("ref").str.slice(1).cast(pl.Int64))
    assert roles(table)["ref"] == "identifier"


def test_what_belongs_to_people_names_nobody():
    table = visits(wage=1000 + 13 * np.arange(N_PEOPLE))
    assert roles(table)["wage"] == "quasi-identifier"
    assert roles(table.rename({"ref": "person_id"}))["wage"] == "quasi-identifier"


def test_one_record_that_differs_rules_it_out():
    table = visits()
    other = pl.Series(["f" if sex == "m" else "m" for sex in table["sex"][-1:]])
    changed = pl.concat([table["sex"][:-1], other]).alias("sex")
    assert roles(table.with_columns(changed))["ref"] == "quasi-identifier"


def test_places_always_have_the_same_county():
    chance = np.random.default_rng(1)
    town = chance.integers(0, 40, N)
    table = pl.DataFrame(
        {
            "town": [f"t{i}" for i in town],
            "county": [f"c{i // 5}" for i in town],
            "state": [f"s{i // 20}" for i in town],
            "age": chance.integers(18, 90, N),
        }
    )
    assert set(roles(table).values()) == {"quasi-identifier"}


def test_a_few_repeated_values_are_chance():
    table = pl.DataFrame({"age": [*range(30), 0, 1], "born": [*range(1950, 1980), 1950, 1951]})
    types = dict.fromkeys(table.columns, ColumnType.INTEGER)
    assert find_owners(open_frame(table), types) == {}


def test_columns_that_polars_cannot_hold_are_left_out():
    table = visits().to_pandas()
    table["odd"] = pd.Series([1, "a"] * (N // 2), dtype=object)
    types = {"ref": ColumnType.NOMINAL, "odd": ColumnType.NOMINAL}
    assert find_owners(open_frame(table), types) == {}
