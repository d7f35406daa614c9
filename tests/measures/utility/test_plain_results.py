"""Every result becomes JSON, on a table with a bit of everything."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from microagg.measures.utility.column_loss import column_loss
from microagg.measures.utility.distributions import distributions
from microagg.measures.utility.eigenvalues import eigenvalues
from microagg.measures.utility.il1s import il1s
from microagg.measures.utility.models import models
from microagg.measures.utility.moments import moments
from microagg.measures.utility.propensity import propensity
from microagg.tables.matching import open_pair

LOSSES = {
    "column loss": column_loss,
    "IL1s": il1s,
    "eigenvalues": eigenvalues,
    "moments": moments,
    "distributions": distributions,
    "propensity": propensity,
    "models": lambda pair: models(pair, "z"),
}
RNG = np.random.default_rng(1)


def tables(n):
    before = pl.DataFrame(
        {
            "x": RNG.normal(size=n),
            "whole": RNG.integers(0, 5, n),
            "flag": RNG.random(n) < 0.5,
            "word": RNG.choice(list("abc"), n),
            "constant": [1] * n,
            "gone": pl.Series([None] * n, dtype=pl.Float64),
            "half": [None if i % 2 else float(i) for i in range(n)],
            "day": pl.date_range(pl.date(2000, 1, 1), pl.date(2000, 1, n), eager=True),
            "z": RNG.normal(size=n),
        }
    )
    shuffled = before.select(pl.all().shuffle(seed=1))
    return {"same": before, "shuffled": shuffled, "poor": shuffled.with_columns(half=None, x=0.0)}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [2, 25])
@pytest.mark.parametrize("release", ["same", "shuffled", "poor"])
def test_results_are_plain(loss, n, release):
    made = tables(n)
    quasi = [name for name in made["same"].columns if name != "z"]
    pair = open_pair(made["same"], made[release], quasi_identifiers=quasi)
    text = json.dumps(dataclasses.asdict(LOSSES[loss](pair)), allow_nan=False)
    assert len(text) > 10


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "models"])
@pytest.mark.parametrize("column", ["x", "word", "constant", "gone"])
def test_one_column(loss, column):
    made = tables(5)
    pair = open_pair(made["same"], made["shuffled"], quasi_identifiers=column)
    assert json.dumps(dataclasses.asdict(LOSSES[loss](pair)), allow_nan=False) != "{}"
