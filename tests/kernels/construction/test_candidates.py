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


def test_every_point_knows_the_candidates_it_belongs_to():
    X = np.random.default_rng(0).integers(0, 7, (90, 2)).astype(float)  # up to 5 records in a point
    model = selection.Selection(X, 4)
    found = model.candidates
    choice = candidates.Choice(found, -1.0, False)
    while model.left >= 8:
        model.peel(candidates.rounds_of_candidates, choice, while_left=model.left)
        points = np.flatnonzero(found.left)
        for point in points:
            members = found.members[point].tolist()
            assert members[0] == point
            assert all(members.count(member) <= found.left[member] for member in members)
        for member in points:
            owners = [p for p in points for other in found.members[p] if other == member]
            chained, membership = [], found.heads[member]
            while membership >= 0:
                chained.append(membership // 4)
                membership = found.after[membership]
            assert sorted(point for point in chained if found.left[point]) == owners
