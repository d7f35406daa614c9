"""Whole tables of the trial, in every library, and back to plain values."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.hostile import columns as made
from tests.hostile.cases import one_in
from tests.hostile.columns import IDENTIFIER, PUBLISH, QI, SENSITIVE, STRATUM, UNIT, Column

BACKENDS = ("pandas", "polars", "pyarrow")
NAMES = (
    "age",
    "income",
    "a b",
    "a,b",
    "=cmd()",
    "+x",
    "é",
    "e\u0301",
    "日本",
    "x" * 200,
    "net;tax",
)
NAMES += ('q"uote', "it's", "`tick`", "index", "group", "record", "rows", "^.*$", "*", "a=b", "0")
NAMES += ("line\nbreak", "tab\there", "\x1b[31mred", "\u202edlrow", " lead", "trail ", "", "a:b")
PLAIN_NAMES = ("age", "income", "sex", "region", "born", "size", "cost", "seen", "town", "grade")
PLAIN_NAMES += ("rate", "visits", "height", "stay", "status")


class CarelessFrame(pd.DataFrame):
    """A DataFrame of somebody's own, which carries more than its values."""

    _metadata = ("owner",)

    @property
    def _constructor(self) -> type["CarelessFrame"]:
        return CarelessFrame


@dataclass
class Total:
    """A constraint: the sum of factors times columns, its relation, and a limit."""

    terms: dict[str, Decimal]
    relation: str
    limit: Decimal = Decimal(0)

    def __str__(self) -> str:
        parts = [f"{factor} * `{name.replace('`', '``')}`" for name, factor in self.terms.items()]
        return f"{' + '.join(parts)} {self.relation} {self.limit}"


@dataclass
class Table:
    """A table as a list of columns, and how it is stored."""

    n: int
    columns: list[Column]
    backend: str = "polars"
    storage_seed: int = 0
    index: list[Any] | None = None
    subclass: bool = False
    totals: list[Total] = field(default_factory=list)

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def named(self, *roles: str) -> list[str]:
        """Return the columns of these roles."""
        return [column.name for column in self.columns if column.role in roles]

    @property
    def owners(self) -> set[str]:
        """All values that say whom a record is about, as text."""
        secret = [c for c in self.columns if c.role in (IDENTIFIER, UNIT)]
        return {str(value) for c in secret for value in c.values if value is not None}

    def build(self) -> Any:
        """Return the table in its library, made anew and always the same."""
        chance = random.Random(self.storage_seed)
        if self.backend == "polars":
            return pl.DataFrame({c.name: _in_polars(c, chance) for c in self.columns})
        if self.backend == "pyarrow":
            arrays = [_in_arrow(column, chance) for column in self.columns]
            made = pa.table(arrays, names=[column.name for column in self.columns])
            return made.replace_schema_metadata({"owner": "Zq-the-owner"})
        series = [_in_pandas(column, chance) for column in self.columns]
        frame = pd.concat(series, axis=1, keys=[column.name for column in self.columns])
        if self.index is not None:
            frame.index = pd.Index(self.index)
        if self.subclass:
            frame = CarelessFrame(frame)
            frame.owner = "Zq-the-owner"
            frame.attrs["owner"] = "Zq-the-owner"
            frame.columns.name = "Zq-the-owner"
        return frame


def _in_polars(column: Column, chance: random.Random) -> pl.Series:
    types: dict[str, Any] = {
        "number": chance.choice([pl.Float64] * 4 + [pl.Float32]),
        "whole": pl.Int64,
        "flag": pl.Boolean,
        "text": pl.String,
        "date text": pl.String,
        "date": pl.Date,
        "time": None,
        "odd": None,
    }
    if column.kind == "category":
        listed = column.listed or []
        kind = pl.Enum(listed) if column.ordered else pl.Categorical
        return pl.Series(column.name, column.values, dtype=kind)
    values = column.values
    if column.kind == "number":  # both ways in which a number can be missing
        values = [float("nan") if v is None and chance.random() < 0.3 else v for v in values]
        if types["number"] is pl.Float32:
            values = [None if v is None else _single(v) for v in values]
    return pl.Series(column.name, values, dtype=types[column.kind], strict=False)


def _single(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.clip(np.float32(value), -3e38, 3e38)) if np.isfinite(value) else value


def _in_arrow(column: Column, chance: random.Random) -> Any:
    if column.kind == "category":
        listed = column.listed or []
        codes = [None if v is None else listed.index(v) for v in column.values]
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), pa.array(listed), ordered=column.ordered
        )
    types = {
        "number": pa.float64(),
        "whole": chance.choice([pa.int64()] * 3 + [None]),
        "flag": pa.bool_(),
        "text": chance.choice([pa.string(), pa.large_string()]),
        "date text": pa.string(),
        "date": pa.date32(),
    }
    made_array = pa.array(column.values, types.get(column.kind))
    if len(column.values) > 3 and one_in(chance, 4):  # in several chunks
        return pa.chunked_array([made_array[:2], made_array[2:]])
    return made_array


def _in_pandas(column: Column, chance: random.Random) -> pd.Series:
    gaps = column.has_gaps
    if column.kind == "category":
        listed = pd.Index(column.listed, name="Zq-the-owner")
        kind = pd.CategoricalDtype(listed, ordered=column.ordered)
        return pd.Series(pd.Categorical(column.values, dtype=kind))
    arrow = {
        "number": "double[pyarrow]",
        "flag": "bool[pyarrow]",
        "whole": "int64[pyarrow]",
        "text": "string[pyarrow]",
        "date text": "string[pyarrow]",
    }
    if column.kind in arrow and one_in(chance, 5):
        return pd.Series(column.values, dtype=arrow[column.kind])
    plain = {"number": ["float64"] * 3 + ["Float64"], "flag": ["bool"] * 2, "whole": ["int64"] * 3}
    nullable = {"number": ["float64", "Float64"], "flag": ["boolean", "object"], "whole": ["Int64"]}
    choices = (nullable if gaps else plain).get(column.kind, ["object"])
    if column.kind in ("text", "date text"):
        choices = ["object", "str", "string"]
    if column.kind == "whole" and gaps and all(v is None or abs(v) < 2**53 for v in column.values):
        choices = ["Int64", "float64"]
    if column.kind == "time" and one_in(chance, 2):
        return pd.Series(pd.to_datetime(pd.Series(column.values, dtype="object")))
    return pd.Series(column.values, dtype=chance.choice(choices))


def plain_columns(table: Any) -> dict[str, list[Any]]:
    """Return every column as plain values, None where one is missing."""
    if isinstance(table, pd.DataFrame):
        named = {name: table[name].tolist() for name in table.columns}
    elif isinstance(table, pl.DataFrame):
        named = {name: table[name].to_list() for name in table.columns}
    else:
        named = {name: table.column(name).to_pylist() for name in table.column_names}
    return {str(name): [plain(value) for value in values] for name, values in named.items()}


def plain(value: Any) -> Any:
    """Return a value of any library as one of Python's, None if it is missing."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value.to_pydatetime(warn=False) if isinstance(value, pd.Timestamp) else value


def key(value: Any) -> Any:
    """Return what two equal released values have in common; -0.0 is told from 0.0."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, dict)):
        return repr(value)
    return value


def any_table(chance: random.Random, *, plain_names: bool = False) -> Table:
    """Return a table of 5 to 80 records, careless in many ways."""
    n = chance.choice([chance.randint(5, 12), chance.randint(5, 40), chance.randint(20, 80)])
    numeric = one_in(chance, 3)
    inside = [made.any_column(chance, n, numeric=numeric) for _ in range(chance.randint(1, 4))]
    constrained: list[Column] = []
    if one_in(chance, 5):
        constrained = made.totals(chance, n)
        inside = [*inside[: chance.randint(0, 2)], *constrained]
    every = [*inside, *_beside(chance, n)]
    share = chance.choice([0.0, 0.0, 0.0, 0.1, 0.4])
    for column in every:
        is_whole = any(column is each for each in constrained)
        if share and not is_whole and column.role in (QI, SENSITIVE, IDENTIFIER):
            made.with_gaps(chance, column, share * chance.choice([0, 1]))
    _name(chance, every, plain_names=plain_names or one_in(chance, 2))
    totals = [_total(constrained)] if constrained else []
    chance.shuffle(every)
    if one_in(chance, 4):
        _repeat_rows(chance, every, n)
    table = Table(n, every, totals=totals, storage_seed=chance.getrandbits(30))
    table.backend = chance.choice(BACKENDS)
    if table.backend == "pandas":
        table.index = chance.choice([*[None] * 8, *_indexes(chance, n)])
        table.subclass = one_in(chance, 8)
    return table


def _beside(chance: random.Random, n: int) -> Iterator[Column]:
    """Return columns of other roles than that of a quasi-identifier."""
    for role in (SENSITIVE, SENSITIVE, PUBLISH, STRATUM):
        if one_in(chance, 3 if role == SENSITIVE else 6):
            column = made.any_column(chance, n) if role != STRATUM else _regions(chance, n)
            column.role = role
            yield column
    if one_in(chance, 2):
        yield made.identifiers(chance, n, repeat=one_in(chance, 12))
    if one_in(chance, 5):
        unit = made.identifiers(chance, n, repeat=True)
        unit.role = UNIT
        yield unit
    if one_in(chance, 8):
        yield made.weights(chance, n)


def _regions(chance: random.Random, n: int) -> Column:
    pool = chance.choice([["north", "south"], [1, 2, 3], [True, False], ["a", "NA", ""]])
    kind = {str: "text", int: "whole", bool: "flag"}[type(pool[0])]
    return Column(kind, [chance.choice(pool) for _ in range(n)])


def _total(parts: list[Column]) -> Total:
    first, second, whole = (column.name for column in parts)
    return Total({first: Decimal(1), second: Decimal(1), whole: Decimal(-1)}, "=")


def _name(chance: random.Random, every: list[Column], *, plain_names: bool) -> None:
    pool = PLAIN_NAMES if plain_names else NAMES
    for column, name in zip(every, chance.sample(pool, len(every)), strict=True):
        column.name = name


def _repeat_rows(chance: random.Random, every: list[Column], n: int) -> None:
    """Make many records equal, except in who they are about."""
    again = [chance.randrange(max(1, n // 3)) for _ in range(n)]
    for column in every:
        if column.role not in (IDENTIFIER, UNIT):
            column.values = [column.values[at] for at in again]


def _indexes(chance: random.Random, n: int) -> list[list[Any]]:
    shuffled = chance.sample(range(7_310_000_000, 7_310_000_000 + n), n)
    return [shuffled, [0] * n, [f"Zq-row-{at}" for at in range(n)], [date(2024, 1, 1)] * n]


def is_zoned(column: Column) -> bool:
    """Whether its times are those of a zone."""
    return any(isinstance(v, datetime) and v.tzinfo is not None for v in column.values)
