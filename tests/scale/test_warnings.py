"""What tables are warned of, datasets are warned of: in the same words, file by file."""

import warnings

import numpy as np
import polars as pl
import pytest

import microagg
from microagg import protect_dataset
from microagg.core.errors import ColumnWarning, PrivacyWarning
from microagg.tables.judging import WholeNumbers
from tests.scale.datasets import write_files

N = 400
RNG = np.random.default_rng(4)
NUMBERS = pl.Series(RNG.permutation(N) + 1_000)
DAYS = pl.Series([20240101 + int(at) for at in RNG.integers(0, 28, N)])
PEOPLE = pl.Series(RNG.integers(0, 90, N))
TOKENS = "t" + PEOPLE.cast(pl.String)


def warned(do) -> list[str]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        do()
    found = [own for own in heard if issubclass(own.category, (ColumnWarning, PrivacyWarning))]
    return sorted(f"{own.category.__name__}: {own.message}" for own in found)


def table_with(**columns) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {"x": rng.normal(size=N), "kind": rng.choice(["a", "b", "c"], N), **columns}
    )


# Columns to add, what is asked for, and what the warning says, if there is one.
CASES = {
    "serial numbers": ({"nr": NUMBERS}, {}, "'nr' has no role and looks like a serial number"),
    "named": ({"nr": NUMBERS}, {"quasi_identifiers": ["kind", "nr"]}, None),
    "as floats": ({"nr": NUMBERS.cast(pl.Float64)}, {}, "looks like a serial number"),
    "ascending": ({"nr": pl.Series(np.arange(N) * 37)}, {}, "looks like a serial number"),
    "ascending in each file only": (
        {"nr": pl.Series(np.concatenate([np.arange(150) + 500, np.arange(250)]) * 37)},
        {},
        None,
    ),
    "that repeat": ({"nr": NUMBERS // 2}, {}, None),
    "with gaps": (
        {"nr": pl.Series([None if at % 50 == 0 else at + 7 for at in range(N)])},
        {"missing": "value"},
        "looks like a serial number",
    ),
    "days": ({"seen": DAYS}, {}, "'seen' look like dates such as 20240131"),
    "days of a known type": ({"seen": DAYS}, {"columns": {"seen": {"type": "integer"}}}, None),
    "days in all files but one": ({"seen": pl.Series([*DAYS[: N - 1], 5])}, {}, None),
    "names of units": (
        {"person": PEOPLE, "token": TOKENS},
        {"unit": "person", "publish": "token"},
        "'token' is published unchanged, and nearly every 'person' has a value of its own there",
    ),
    "sensitive names of units": (
        {"person": PEOPLE, "token": PEOPLE * 3},
        {"unit": "person", "sensitive": "token"},
        "nearly every 'person' has a value of its own",
    ),
    "shared by units": (
        {"person": PEOPLE, "token": PEOPLE // 2},
        {"unit": "person", "publish": "token"},
        None,
    ),
    "unknown units": (
        {"person": pl.Series([own if own > 20 else None for own in PEOPLE]), "token": TOKENS},
        {"unit": "person", "publish": "token"},
        "nearly every 'person' has a value of its own",
    ),
    "units in two forms": (
        {
            "person": PEOPLE.cast(pl.String) + pl.Series([".0", ""] * (N // 2)),
            "token": TOKENS,
        },
        {"unit": "person", "publish": "token"},
        "nearly every 'person' has a value of its own",
    ),
    "identifiers of several units": (
        {"person": PEOPLE, "name": "n" + (PEOPLE // 2).cast(pl.String)},
        {"unit": "person", "identifiers": "name"},
        "values of the identifier 'name' are in records of several 'person'",
    ),
    "identifiers of one unit": (
        {"person": PEOPLE, "name": TOKENS},
        {"unit": "person", "identifiers": "name"},
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_as_for_a_table(tmp_path, case):
    columns, asked, said = CASES[case]
    table = table_with(**columns)
    asked = {"k": 3, "method": "mdav", "quasi_identifiers": ["kind"], **asked}
    source = write_files(table, tmp_path / "in", (150,), rows=60)
    heard = warned(lambda: protect_dataset(source, tmp_path / "out", **asked))
    assert heard == warned(lambda: microagg.protect(table, **asked))
    assert [said is not None and said in own for own in heard] == [True] * (said is not None)


@pytest.mark.parametrize("cut", [0, 1, 7, 30])
def test_parts_show_what_the_whole_does(cut):
    for whole in (np.arange(30) * 9, np.arange(30)[::-1], DAYS.to_numpy()[:30]):
        first, second = (WholeNumbers.of(part) for part in (whole[:cut], whole[cut:]))
        merged = second if first is None else first.merge(second)
        assert merged == WholeNumbers.of(whole)


def test_what_was_counted_is_removed(tmp_path):
    """Hashes of names take as much space as the rest of the work folder, or more."""
    source = write_files(table_with(person=PEOPLE, token=TOKENS), tmp_path / "in", (150,))
    asked = {"k": 3, "method": "mdav", "quasi_identifiers": ["kind"], "keep_work": True}
    units = {"unit": "person", "identifiers": "token"}
    protect_dataset(source, tmp_path / "of-units", **asked, **units)
    protect_dataset(source, tmp_path / "of-records", **asked, publish=["person", "token"])
    assert not list(tmp_path.glob(".*.microagg-work/**/*.npy"))
