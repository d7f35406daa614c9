import numpy as np
import pytest

from microagg.kernels.decomposition import grouping, moves
from microagg.kernels.decomposition.grouping import cheapest_home, labels_of, make_grouping
from microagg.kernels.decomposition.moves import dissolve, shrink, sweep
from microagg.kernels.neighbours import blocks
from tests.references import error


@pytest.fixture(params=["one block", "many blocks"])
def layout(request, monkeypatch):
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)


def assert_consistent(state, k):
    used = np.flatnonzero(state.sizes)
    members = [state.members[g, : state.sizes[g]] for g in used]
    assert sorted(np.concatenate(members).tolist()) == list(range(len(state.X)))
    assert state.sizes[used].min() >= k
    assert state.sizes[used].max() < 2 * k
    assert not state.closed.any()
    capacity = state.blocks.values.shape[2]
    assert state.blocks.counts.sum() == len(used)
    for group, rows in zip(used, members):
        assert state.errors[group] == pytest.approx(error(state.X, rows))
        np.testing.assert_allclose(state.centers[group], state.X[rows].mean(axis=0), atol=1e-12)
        block, slot = divmod(state.blocks.place[group], capacity)
        assert state.blocks.rows[block, slot] == group
        center = state.blocks.values[block, :, slot]
        assert center.tolist() == state.centers[group].tolist()
        assert (state.blocks.lowest[:, block] <= center).all()
        assert (state.blocks.highest[:, block] >= center).all()


@pytest.mark.usefixtures("layout")
def test_groups_and_searches_stay_exact_through_many_moves():
    rng = np.random.default_rng(0)
    k, X = 3, rng.normal(size=(400, 2))
    state = make_grouping(X, rng.permutation(np.arange(400) // 4), k)
    for turn in range(6):
        groups = np.flatnonzero(state.sizes)
        sweep(state, rng.permutation(groups)[: len(groups) // 4], True)
        assert_consistent(state, k)
        state.closed[np.flatnonzero(state.sizes)[turn]] = True
        means = np.array(
            [
                X[m[:s]].mean(axis=0) if s else [np.nan] * 2
                for s, m in zip(state.sizes, state.members)
            ]
        )
        for point in rng.normal(size=(20, 2)):
            costs = state.sizes / (state.sizes + 1) * ((point - means) ** 2).sum(axis=1)
            costs[(state.sizes == 0) | state.closed] = np.inf
            home, cost = cheapest_home(state, point, np.inf)
            assert home == np.argmin(costs)
            assert cost == pytest.approx(min(costs))
            assert cheapest_home(state, point, cost)[0] == -1
        state.closed[:] = False


@pytest.mark.parametrize("move", [dissolve, shrink], ids=["dissolve", "shrink"])
@pytest.mark.slow
def test_a_move_lowers_the_error_or_changes_nothing(move):
    rng = np.random.default_rng(0)
    made = 0
    for _ in range(60):
        X = rng.normal(size=(30, 2))
        state = make_grouping(X, rng.permutation(np.repeat(np.arange(7), [4, 4, 4, 4, 4, 5, 5])), 3)
        before, labels = state.errors.sum(), labels_of(state)
        if move(state, 5):
            made += 1
            assert state.errors.sum() < before
            assert_consistent(state, 3)
        else:
            assert labels_of(state).tolist() == labels.tolist()
    assert made > 0


def test_the_error_of_close_records_far_from_the_origin():
    X = 1e9 + np.array([[0.0], [0.25], [0.5], [0.75]])
    assert grouping.mean_and_error(X, np.arange(4), np.empty(1)) == 0.3125


def test_equal_records_are_not_moved():
    X = np.zeros((30, 2))
    state = make_grouping(X, np.arange(30) // 5, 3)
    assert sweep(state, np.arange(6), True) == 0


def test_the_uncompiled_kernels_agree(monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 2)), np.arange(60) // 4

    def swept(sweep, make_grouping):
        state = make_grouping(X, labels, 3)
        assert sweep(state, np.arange(15), True) > 0
        return labels_of(state).tolist()

    expected = swept(sweep, make_grouping)
    for module in (blocks, grouping, moves):
        for name in dir(module):
            if hasattr(getattr(module, name), "py_func"):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)
    assert swept(moves.sweep, grouping.make_grouping) == expected
