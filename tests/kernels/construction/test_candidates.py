import numpy as np

from microagg.kernels.basics import distances, smallest
from microagg.kernels.construction import candidates, fixed_size, variable_size
from microagg.kernels.decomposition import grouping, merging
from microagg.kernels.neighbours import blocks, listing
from microagg.partitions import DBA, GSMS, dba
from microagg.partitions import candidates as selection

MODULES = (
    *(distances, smallest, candidates, fixed_size, variable_size, grouping, merging),
    *(blocks, listing, dba, selection),
)


def test_the_uncompiled_kernels_agree(monkeypatch):
    X = np.random.default_rng(0).normal(size=(70, 2))
    models = [DBA(k=4, preprocess=2), DBA(k=3), GSMS(k=3, refine=False)]
    compiled = [model.fit_predict(X).tolist() for model in models]
    for module in MODULES:
        for name in dir(module):
            if hasattr(getattr(module, name), "py_func"):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)
    assert [model.fit_predict(X).tolist() for model in models] == compiled


def test_every_record_knows_the_candidates_it_belongs_to():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = selection.Selection(X, 4)
    while model.left >= 8:
        choice = candidates.Choice(model.candidates, -1.0, False)
        model.take_off(candidates.rounds_of_candidates, choice, while_left=model.left)
        found = model.candidates
        for member in model.rest:
            owners = [row for row in model.rest if member in found.members[row]]
            chained, membership = [], found.heads[member]
            while membership >= 0:
                chained.append(membership // 3)
                membership = found.after[membership]
            assert sorted(row for row in chained if model.labels[row] < 0) == owners
