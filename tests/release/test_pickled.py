"""A release survives a trip through pickle, and everything that it can do does."""

import copy
import pickle
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from microagg import Plan, protect, protect_file

N = 36
RNG = np.random.default_rng(8)
PEOPLE = pl.DataFrame(
    {
        "name": [f"person {i}" for i in range(N)],
        "age": RNG.integers(18, 90, N),
        "height": RNG.normal(1.7, 0.1, N),
        "whole": RNG.integers(0, 9, N).astype(float),
        "sex": [("f", "m")[i] for i in RNG.integers(0, 2, N)],
        "grade": pl.Series(["low", "high", "mid"] * (N // 3), dtype=pl.Categorical),
        "born": [date(1950, 1, 1) + timedelta(days=int(d)) for d in RNG.integers(0, 9999, N)],
        "since": [f"{1990 + i % 20}-05-01" for i in range(N)],
        "area": ["north", "south"] * (N // 2),
        "illness": ["flu", "cold", "none"] * (N // 3),
    }
)
COLUMNS = {
    "whole": {"type": "integer"},
    "sex": {"type": "nominal"},
    "grade": {"type": "ordinal", "order": ["low", "mid", "high"]},
    "born": {"role": "quasi-identifier"},
    "since": {"type": "date"},
}
ASKED = {
    "identifiers": "name",
    "sensitive": "illness",
    "columns": COLUMNS,
    "method": "mdav",
    "keep_key": True,
}
KINDS = {
    "polars": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "arrow": lambda table: table.to_arrow(),
}
pytestmark = pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")


def check_same(release, again, folder):
    assert again.manifest == release.manifest
    assert again.labels.tolist() == release.labels.tolist()
    assert not again.labels.flags.writeable
    assert type(again.table) is type(release.table)
    assert again.table.equals(release.table)
    assert again.risk().as_dict() == release.risk().as_dict()
    for number, each in enumerate((release, again)):
        each.save(folder / f"{number}.csv", audit=folder / f"{number}-audit.csv")
    for name in (".csv", "-audit.csv"):
        assert (folder / f"0{name}").read_bytes() == (folder / f"1{name}").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "more",
    [{"strata": "area"}, {"blocks": [["age", "sex"]], "sensitive": ["illness", "area"]}],
    ids=["strata", "blocks"],
)
def test_releases(kind, more, tmp_path):
    release = protect(KINDS[kind](PEOPLE), 3, **{**ASKED, **more})
    check_same(release, pickle.loads(pickle.dumps(release)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_reports(kind, tmp_path):
    release = protect(KINDS[kind](PEOPLE), 3, strata="area", **ASKED)
    again = pickle.loads(pickle.dumps(release))
    pages = [
        each.report(tmp_path / f"{number}.html").read_text("utf-8")
        for number, each in enumerate((release, again))
    ]
    assert pages[0] == pages[1]


def test_once_it_was_measured(tmp_path):
    release = protect(PEOPLE, 3, strata="area", **ASKED)
    release.risk()
    check_same(release, pickle.loads(pickle.dumps(release)), tmp_path)
    twice = pickle.loads(pickle.dumps(copy.deepcopy(release)))
    assert twice.risk().as_dict() == release.risk().as_dict()


def test_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers = PEOPLE.select("age", "height").write_csv(separator=";").replace(".", ",")
    (tmp_path / "people.csv").write_text(numbers)
    release = protect_file("people.csv", "out.csv", Plan.of(k=3, method="mdav"))
    again = pickle.loads(pickle.dumps(release))
    again.save("again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert again.utility().as_dict() == release.utility().as_dict()
