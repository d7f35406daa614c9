"""Models trained on the release."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge

from microagg.core.errors import ParameterError
from microagg.core.progress import listening
from microagg.measures.utility.models import (
    _compared,
    _folds,
    _standard_error,
    _Target,
    models,
)
from microagg.tables.matching import open_pair

RNG = np.random.default_rng(8)
N = 300
A, B = RNG.normal(size=(2, N))
BEFORE = pl.DataFrame(
    {
        "a": A,
        "b": B,
        "y": A - 2 * B + 0.1 * RNG.normal(size=N),
        "class": np.where(A > 0.5, "high", np.where(A < -0.5, "low", "middle")),
        "flag": (A + B > 0).astype(int),
    }
)
QUASI = ["a", "b"]


def unrelated(column):
    """The values in another order, without what this order happens to have in common with y.

    By numpy: from the same seed, another version of polars draws another order.
    """
    shuffled, y = RNG.permutation(column), BEFORE["y"].to_numpy()
    return shuffled - np.polyfit(y, shuffled, 1)[0] * y


SHUFFLED = BEFORE.with_columns(a=unrelated(A), b=unrelated(B))


def compared(target, after=SHUFFLED, before=BEFORE, **options):
    pair = open_pair(before, after, quasi_identifiers=QUASI)
    return models(pair, target, **options)


def test_nothing_changed_nothing_lost():
    result = compared("y", after=BEFORE)
    for score in result.models.values():
        assert score.before == score.after > 0.8
        assert score.difference == score.standard_error == 0
    assert result.features == ("a", "b")
    assert (result.task, result.n_folds, result.n_tested) == ("regression", 5, N)


@pytest.mark.slow
def test_the_linear_model_fold_by_fold():
    """Learns from released rows, is tested on original rows that it has not seen."""
    after = BEFORE.with_columns(a=0.5 * pl.col("a"))
    X, Z = (frame.select("a", "b").to_numpy() for frame in (BEFORE, after))
    y = BEFORE["y"].to_numpy()
    middle, unit = X.mean(axis=0), X.std(axis=0, ddof=1)
    scaled_y = (y - y.mean()) / y.std(ddof=1)
    wrong = np.zeros((2, N))
    for fold in _folds(N, 5, 0):
        test = np.isin(np.arange(N), fold)
        for side, T in enumerate((X, Z)):
            model = Ridge(alpha=1.0).fit((T[~test] - middle) / unit, scaled_y[~test])
            wrong[side, test] = scaled_y[test] - model.predict((X[test] - middle) / unit)
    score = compared("y", after=after).models["linear"]
    losses = wrong**2 / (scaled_y**2).sum()
    assert score.before == pytest.approx(1 - losses[0].sum())
    assert score.after == pytest.approx(1 - losses[1].sum())
    error = np.sqrt(N) * (losses[1] - losses[0]).std(ddof=1)
    assert score.standard_error == pytest.approx(error)
    assert score.difference == pytest.approx(score.after - score.before)


@pytest.mark.slow
def test_a_release_without_relations_teaches_nothing():
    for score in compared("y").models.values():
        assert score.before > 0.8
        assert score.after < 0.01, "no better than the mean"
        assert score.difference < -10 * score.standard_error < 0


@pytest.mark.slow
def test_classes_and_columns_of_two_values_are_classified():
    result = compared("class")
    assert (result.task, result.score, result.n_classes) == (
        *("classification", "balanced accuracy"),
        3,
    )
    for score in result.models.values():
        assert score.before > 0.75
        assert score.after < 0.4, "chance is a third"
    assert compared("flag").n_classes == 2
    averaged = SHUFFLED.with_columns(flag=pl.lit(0.5))
    assert compared("flag", after=averaged).task == "regression"


def test_the_error_of_a_share_is_that_of_its_classes():
    change, classes = RNG.normal(size=12), np.array([0] * 5 + [1] * 7)
    wanted = 5 * change[:5].var(ddof=1) + 7 * change[5:].var(ddof=1)
    assert _standard_error(change, classes) == pytest.approx(np.sqrt(wanted))


@pytest.mark.slow
def test_rare_classes_count_as_much_as_common_ones():
    """Whoever always says the common class recognises half of two classes."""
    rare = BEFORE.with_columns(flag=(pl.col("a") > 1.6).cast(int))
    assert compared("flag", before=rare, after=rare).models["linear"].before > 0.8


@pytest.mark.slow
def test_a_quasi_identifier_can_be_the_target():
    result = compared("a", after=BEFORE)
    assert result.features == ("b",)


def test_one_record_more_or_less_in_a_fold():
    folds = _folds(13, 5, 0)
    assert sorted(map(len, folds)) == [2, 2, 3, 3, 3]
    assert sorted(np.concatenate(folds)) == list(range(13))
    assert [list(fold) for fold in folds] == [list(fold) for fold in _folds(13, 5, 0)]
    assert [list(fold) for fold in folds] != [list(fold) for fold in _folds(13, 5, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["y", "class"])
def test_missing_targets_and_features(target):
    gone = pl.when(pl.int_range(pl.len()) % 3 == 0).then(None)
    after = BEFORE.with_columns(gone.otherwise(pl.col(c)).alias(c) for c in ("a", target))
    result = compared(target, after=after)
    assert all(np.isfinite(score.after) for score in result.models.values())
    result = compared(target, before=after, after=BEFORE)
    assert result.n_tested == 200
    all_gone = BEFORE.with_columns(pl.lit(None, dtype=BEFORE[target].dtype).alias(target))
    score = compared(target, after=all_gone).models["linear"]
    assert score.before is not None
    assert score.after is score.difference is None


@pytest.mark.parametrize("target", ["y", "class", "flag"])
@pytest.mark.parametrize("n", [2, 3])
def test_tiny_tables(target, n):
    result = compared(target, before=BEFORE[:n], after=BEFORE[:n])
    assert result.n_folds == n
    constant = pl.DataFrame({"a": [1.0, 2.0], "b": [1, 1], "y": [3, 3]})
    assert compared("y", before=constant, after=constant).models["linear"].before is None


@pytest.mark.slow
def test_a_sample_is_seeded_and_says_so():
    result = compared("y", most_records=100, seed=3)
    assert (result.n_records, result.n_sampled, result.n_tested) == (N, 100, 100)
    assert result == compared("y", most_records=100, seed=3)
    assert result != compared("y", most_records=100, seed=4)


def test_scores_are_those_of_scikit_learn():
    from sklearn.metrics import balanced_accuracy_score, r2_score

    rng = np.random.default_rng(1)
    y, predicted = rng.integers(0, 3, (2, 50))
    everywhere = np.ones(50, dtype=bool)
    target = _Target(y, y, everywhere, everywhere, n_classes=3)
    found = _compared(target, y, predicted, True)
    assert found.before == 1
    assert found.after == pytest.approx(balanced_accuracy_score(y, predicted))
    assert found.difference == pytest.approx(found.after - 1)
    target = _Target(y / 3, y / 3, everywhere, everywhere, n_classes=None)
    assert _compared(target, y / 3, predicted / 4, True).after == pytest.approx(
        r2_score(y / 3, predicted / 4)
    )


def test_a_class_that_only_the_release_has_is_no_error():
    after = BEFORE.with_columns(pl.Series("class", ["other"] * N))
    score = compared("class", after=after).models["linear"]
    assert score.after == 0


def test_one_record_has_no_score():
    assert compared("y", before=BEFORE[:1], after=BEFORE[:1]).models["linear"].before is None


@pytest.mark.slow
def test_progress_is_reported():
    heard = []
    with listening(lambda *message: heard.append(message)):
        compared("y")
    assert heard[0][1:] == (0, 20)
    assert heard[-1][1:] == (20, 20)


def test_bad_requests():
    with pytest.raises(ParameterError, match=r"got 'clas'.*'class'"):
        compared("clas")
    with pytest.raises(ParameterError, match="n_folds"):
        compared("y", n_folds=1)
    with pytest.raises(ParameterError, match="no quasi-identifier to predict 'a' from"):
        models(open_pair(BEFORE, BEFORE, quasi_identifiers="a"), "a")
