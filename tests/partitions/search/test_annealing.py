"""A search makes the trials that it is asked for, each once."""

import numpy as np
import pytest

from microagg.orderings.neighbours import nearest_neighbours
from microagg.partitions.search import annealing


@pytest.mark.parametrize("trials", [1, 11, 120, 1_300])
def test_every_trial_is_made_once(monkeypatch, trials):
    X = np.random.default_rng(0).normal(size=(30, 2))
    made = []

    def noted(_search, _k, begin, stop, total, *_others):
        made.extend(range(begin, stop))
        assert total == trials

    monkeypatch.setattr(annealing, "run_trials", noted)
    monkeypatch.setattr(annealing, "_TRIALS_PER_CALL", 40)
    search = annealing.Annealing(
        X,
        nearest_neighbours(X, 5).rows,
        np.arange(30) // 3,
        3,
        seed=0,
        temperatures=(1e-3, 1e-5),
        offer=lambda _error, _labels: None,
    )
    search.run(trials)
    assert made == list(range(trials))
    assert search.n_made == trials
