"""Missing values in quasi-identifiers: however many and whatever becomes of them, k holds."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from microagg import protect
from microagg.core.errors import DataError

SHARES = (0.0, 0.1, 0.3, 0.6)
COLUMNS = ("height", "age", "city")


def table_of(share: float, n: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(int(100 * share))
    table = pl.DataFrame(
        {
            "height": rng.normal(170, 10, n),
            "age": rng.integers(18, 90, n),
            "city": rng.choice(["Aachen", "Bonn", "Celle"], n),
            "income": rng.normal(size=n),
        }
    )
    gaps = [pl.Series(rng.random(n) < share) for _ in COLUMNS]
    return table.with_columns(
        pl.when(~gone).then(pl.col(name)).alias(name)
        for name, gone in zip(COLUMNS, gaps, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("missing", ["value", "impute"])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("k", [2, 7])
def test_k_records_share_what_the_file_shows(kind, missing, share, k, tmp_path):
    table = table_of(share)
    given = table if kind is pl.DataFrame else table.to_pandas()
    release = protect(
        given,
        k,
        quasi_identifiers=COLUMNS,
        sensitive="income",
        method="mdav",
        missing=missing,
    )
    path = release.save(tmp_path / "out.csv")
    rows = [tuple(line.split(",")[:3]) for line in path.read_text().splitlines()[1:]]
    assert len(rows) == len(table)
    assert min(Counter(rows).values()) >= k
    told = release.manifest.missing_values
    gone = {name: sum(row[j] == "" for row in rows) for j, name in enumerate(COLUMNS)}
    if share == 0.0:
        assert told is None
    else:
        assert told.before == {name: table[name].null_count() for name in COLUMNS}
        assert told.after == gone
    if missing == "impute" or share == 0.0:
        assert not any(gone.values())
    elif share == 0.6:
        assert all(gone.values())


@pytest.mark.parametrize("share", SHARES[1:])
def test_missing_values_are_refused_unless_asked_for(share):
    with pytest.raises(DataError, match="values of quasi-identifiers are missing in 'height'"):
        protect(table_of(share), 3, quasi_identifiers=COLUMNS, sensitive="income")


def test_a_value_that_is_missing_everywhere_cannot_be_imputed():
    table = table_of(0.1).with_columns(pl.lit(None, dtype=pl.Float64).alias("height"))
    options = {"quasi_identifiers": COLUMNS, "sensitive": "income", "method": "mdav"}
    with pytest.raises(DataError, match="nothing to impute from in 'height'"):
        protect(table, 3, missing="impute", **options)
    kept = protect(table, 3, missing="value", **options).table
    assert kept["height"].null_count() == len(table)
