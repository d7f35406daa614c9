import numpy as np
import pytest

from microagg.kernels.flow import min_cost_flow as kernels
from microagg.kernels.flow.min_cost_flow import Flow, make_path_search
from microagg.kernels.neighbours.blocks import make_blocks


@pytest.fixture(params=["compiled", "plain Python"])
def run(request, monkeypatch):
    """The kernels, compiled or as they are written, the inner ones too."""
    if request.param == "plain Python":
        for name, function in vars(kernels).items():
            if hasattr(function, "py_func"):
                monkeypatch.setattr(kernels, name, function.py_func)
    return kernels


def make_flow(X, centres, price):
    """All centres are candidates of all records."""
    n, c = len(X), len(centres)
    return Flow(
        centre=np.tile(np.arange(c), (n, 1)),
        distance=((X[:, None] - centres) ** 2).sum(axis=2),
        owner=np.empty(n, dtype=np.intp),
        paid=np.empty(n),
        price=price.copy(),
        kept=np.empty(c, dtype=np.intp),
        excess=np.empty(c, dtype=np.intp),
        first=np.empty(c, dtype=np.intp),
        after=np.empty(n, dtype=np.intp),
        before=np.empty(n, dtype=np.intp),
        reverse_start=np.zeros(c + 1, dtype=np.intp),
        reverse=np.empty(n * c, dtype=np.intp),
        reverse_row=np.empty(n * c, dtype=np.intp),
        reverse_distance=np.empty(n * c),
    )


def members(flow, g):
    found, i = [], flow.first[g]
    while i >= 0:
        found.append(int(i))
        i = flow.after[i]
    return sorted(found)


@pytest.mark.parametrize("seed", range(6))
def test_prices_prove_every_step(run, seed):
    rng = np.random.default_rng(seed)
    fewest, most, c = 2, 3, int(rng.integers(2, 6))
    n = int(rng.integers(fewest * c, most * c + 1))
    X, centres = rng.normal(size=(n, 2)), rng.normal(size=(c, 2))
    if seed % 2:
        X, centres = X.round(), centres.round()
    flow = make_flow(X, centres, rng.normal(size=c) * (seed % 3))
    search = make_path_search(c)
    run.index_by_centre(flow)
    run.take_preferred(flow, np.arange(n))
    run.link_members(flow, fewest, most)
    at = 0
    while at < 2 * c:
        at = run.rebalance(flow, search, fewest, most, at, 1)
        value = flow.distance - flow.price
        own = value[np.arange(n), flow.owner]
        assert (own <= value.min(axis=1) + 1e-9).all()
        assert flow.paid.tolist() == flow.distance[np.arange(n), flow.owner].tolist()
        assert (flow.price[flow.kept < most] >= -1e-9).all()
        assert (flow.price[flow.kept > fewest] <= 1e-9).all()
        sizes = np.bincount(flow.owner, minlength=c)
        assert (flow.kept + flow.excess).tolist() == sizes.tolist()
        assert [members(flow, g) for g in range(c)] == [
            np.flatnonzero(flow.owner == g).tolist() for g in range(c)
        ]
    assert not flow.excess.any()


@pytest.mark.parametrize("seed", range(3))
def test_the_heap_gives_the_nearest_first(run, seed):
    rng = np.random.default_rng(seed)
    search = make_path_search(30)
    lengths = {}
    for _ in range(80):
        g, length = int(rng.integers(30)), float(rng.integers(20))
        run.offer_path(search, g, length, 0)
        lengths[g] = min(length, lengths.get(g, np.inf))
    given = []
    while search.counts[0]:
        g = search.heap[0]
        given.append(search.length[g])
        assert search.length[g] == lengths.pop(g)
        run.remove_first(search)
        run.offer_path(search, g, -1.0, 0)  # what was visited stays so
    assert given == sorted(given)
    assert not lengths


@pytest.mark.parametrize("one_block", [0, 1200])
def test_nearer_centres_are_found_wherever_they_are(run, monkeypatch, one_block):
    monkeypatch.setattr("microagg.kernels.neighbours.blocks.ONE_BLOCK", one_block)
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(100, 3))
    blocks = make_blocks(centres, np.arange(100))
    for point in rng.normal(size=(30, 3)):
        distances = ((centres - point) ** 2).sum(axis=1)
        first, second = np.argsort(distances)[:2]
        assert run.holds_nearer(blocks, point, distances[first] * 1.001, -1)
        assert not run.holds_nearer(blocks, point, distances[first] * 0.999, -1)
        assert not run.holds_nearer(blocks, point, distances[second] * 0.999, first)
        assert run.holds_nearer(blocks, point, distances[second] * 1.001, first)
