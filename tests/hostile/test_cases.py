"""A small share of the hostile trial, with fixed seeds: `make hostile` runs it for hours."""

import pytest

from tests.hostile.cases import Case
from tests.hostile.commands import stop_all
from tests.hostile.trial import SHARES, Trial, tried

SEED = 20_261

# How many cases there are in a test, and in how many tests of each kind.
IN_CI = {
    "releases": (60, 4),
    "files": (10, 2),
    "damaged": (40, 2),
    "kills": (1, 2),
    "races": (4, 1),
    "plans": (25, 1),
    "terminal": (12, 1),
    "memory": (3, 2),
}
TURNS = [(kind, count, turn) for kind, (count, turns) in IN_CI.items() for turn in range(turns)]


@pytest.fixture(scope="module", autouse=True)
def _no_process_left():
    yield
    stop_all()


def check(kind, first, count):
    found = [tried(Case(SEED, kind, number)) for number in range(first, first + count)]
    assert not [f"{own.case}: {own.finding}" for own in found if own.finding is not None]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count", "turn"), TURNS)
def test_cases(kind, count, turn):
    check(kind, 1_000 + turn * count, count)


def test_a_few_releases():
    found = check("releases", 0, 12)
    assert {"released", "refused 2"} <= {own.outcome for own in found}


def test_a_case_follows_from_its_seed_kind_and_number():
    one, same, other = (Case(7, "files", number).chance.random() for number in (3, 3, 4))
    assert one == same != other


def test_every_kind_is_in_ci():
    assert set(IN_CI) == set(SHARES)


@pytest.mark.slow
def test_the_trial_counts_what_ran(tmp_path):
    trial = Trial(SEED, ["releases"], tmp_path / "kept")
    ended = list(trial.run(0.5, processes=1))
    told = trial.summary()
    assert told["cases"] == {"releases": len(ended)} == {"releases": trial.n_cases}
    assert told["findings"] == []
