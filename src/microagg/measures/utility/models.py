"""Models trained on the release and tested on the original, against models of the original."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Mask
from microagg.core.errors import ParameterError
from microagg.core.progress import report
from microagg.core.validation import check_count, did_you_mean
from microagg.measures.sampling import MOST_RECORDS, sampled_rows
from microagg.measures.utility.predictors import common_categories, pooled, predictors
from microagg.measures.utility.scaled import is_there, scaled
from microagg.tables.pairs import Pair, PairedColumn

_TASK = "training models"
# Classes beyond so many commonest ones are one class.
MOST_CLASSES = 9
# Trees in a row; where every class needs its own, fewer.
_TREES, _TREES_PER_CLASS = 50, 20


@dataclass(frozen=True)
class ModelScore:
    """One kind of model: its score trained on the original and on the release, and what is lost.

    `difference` = after - before; `standard_error` is that of the difference over the tested
    records, for the models as they were trained. None where a score has no meaning: the target
    does not vary, or there is nothing to train on.
    """

    before: float | None
    after: float | None
    difference: float | None
    standard_error: float | None
    converged: bool


@dataclass(frozen=True)
class ModelComparison:
    """Scores of predicting `target` by `features`, each by models of several kinds.

    `task` is "regression" (`score` is R2: 1 is perfect, 0 no better than the mean) or
    "classification" (balanced accuracy, the mean over classes of the share that is recognised).
    """

    target: str
    features: tuple[str, ...]
    task: str
    score: str
    n_classes: int | None
    models: dict[str, ModelScore]
    n_folds: int
    n_records: int
    n_sampled: int
    n_tested: int


def models(
    pair: Pair, target: str, *, seed: int = 0, n_folds: int = 5, most_records: int = MOST_RECORDS
) -> ModelComparison:
    """Compare models of `target` that learned from the release with those of the original.

    Records are dealt into folds by chance. For each fold, one model learns from the original rows
    of the other folds' records and one from the released rows of the same records; both are tested
    on the original rows of the fold. Features are the quasi-identifiers other than the target,
    which may be one of them or a sensitive column. Numbers, dates and ordered categories are
    predicted (regression), other columns and those of only two values are classified. Two kinds of
    models: linear (ridge or logistic) and boosted trees.

    Exact up to `most_records`, by a seeded sample of so many above.
    """
    check_count("n_folds", n_folds, at_least=2)
    check_count("most_records", most_records, at_least=2)
    column = _target(pair, target)
    features = tuple(name for name in pair.columns if name != target)
    if not features:
        raise ParameterError(
            f"there is no quasi-identifier to predict {target!r} by. Name a target that is not the "
            "only quasi-identifier."
        )
    rows = sampled_rows(pair.n_records, most_records, seed)
    if len(rows) < pair.n_records:
        sample, column = pair.take(rows), column.take(rows)
    else:
        sample = pair
    task = _classes(column) if _is_classified(column) else _numbers(column)
    X, Z = predictors((sample.columns[name] for name in features), squares=False)
    folds = _folds(sample.n_records, n_folds, seed)
    scores = {
        name: _score(kind, task, X, Z, folds, (place, len(KINDS)))
        for place, (name, kind) in enumerate(KINDS.items())
    }
    return ModelComparison(
        target=target,
        features=features,
        task="regression" if task.n_classes is None else "classification",
        score="R2" if task.n_classes is None else "balanced accuracy",
        n_classes=task.n_classes,
        models=scores,
        n_folds=int(folds.max()) + 1,
        n_records=pair.n_records,
        n_sampled=sample.n_records,
        n_tested=int(np.count_nonzero(task.is_there_before)),
    )


@dataclass(frozen=True, eq=False)
class _Target:
    """What is predicted, on both sides: numbers, or classes from 0 on."""

    before: NDArray[Any]
    after: NDArray[Any]
    is_there_before: Mask
    is_there_after: Mask
    n_classes: int | None


def _target(pair: Pair, name: str) -> PairedColumn:
    known = {**pair.columns, **pair.sensitive}
    if name not in known:
        raise ParameterError(
            f"the target must be a column that both tables have; got {name!r}."
            f"{did_you_mean(name, known)}"
        )
    return known[name]


def _is_classified(column: PairedColumn) -> bool:
    """Whether the target is a class: no numbers, or two values also after the release."""
    both = np.concatenate((column.before.present, column.after.present))
    return not column.is_scaled or len(np.unique(both)) == 2


def _classes(column: PairedColumn) -> _Target:
    common = common_categories(column.before.present, MOST_CLASSES)
    before, after = (pooled(side, common) for side in (column.before, column.after))
    there = is_there(column.before), is_there(column.after)
    return _Target(before, after, *there, n_classes=len(np.unique(before[there[0]])))


def _numbers(column: PairedColumn) -> _Target:
    own = scaled(column)
    return _Target(own.before, own.after, own.is_there_before, own.is_there_after, None)


def _folds(n: int, n_folds: int, seed: int) -> NDArray[np.intp]:
    """Return the fold of each record; sizes differ by one at most."""
    folds = np.arange(n, dtype=np.intp) % min(n_folds, n)
    return np.random.default_rng(seed).permutation(folds)


def _score(
    kind: Callable[[int | None], Any],
    target: _Target,
    X: Floats,
    Z: Floats,
    folds: NDArray[np.intp],
    place: tuple[int, int],
) -> ModelScore:
    """Predict every record by models that did not see it, and compare."""
    n_folds = int(folds.max()) + 1
    tested = target.is_there_before
    predictions = [np.zeros(len(X)), np.zeros(len(X))]
    sides = ((X, target.before, tested), (Z, target.after, target.is_there_after))
    is_complete, converged = [True, True], True
    for fold in range(n_folds):
        test = np.flatnonzero((folds == fold) & tested)
        for at, (rows, values, there) in enumerate(sides):
            report(_TASK, 2 * (place[0] * n_folds + fold) + at, 2 * place[1] * n_folds)
            train = np.flatnonzero((folds != fold) & there)
            if not len(train):
                is_complete[at] = False
            elif len(test):
                found, quiet = _predicted(
                    kind(target.n_classes), rows[train], values[train], X[test]
                )
                predictions[at][test] = found
                converged &= quiet
    report(_TASK, 2 * (place[0] + 1) * n_folds, 2 * place[1] * n_folds)
    gains = [
        _gains(target, side) if ok else None
        for side, ok in zip(predictions, is_complete, strict=True)
    ]
    return _compared(gains[0], gains[1], target, converged)


def _predicted(model: Any, X: Floats, y: NDArray[Any], test: Floats) -> tuple[NDArray[Any], bool]:
    """Train and predict; what does not vary needs no model."""
    if y.min() == y.max():
        return np.full(len(test), y[0]), True
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    # One thread: no sum depends on how threads share it, and waiting for each other costs more
    # than they gain as soon as the machine has other work.
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
        predicted = _answers(model, y, test)
    quiet = not any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return predicted, quiet


def _answers(model: Any, y: NDArray[Any], test: Floats) -> NDArray[Any]:
    """Return predictions; of classes the one that gains most by what was learned.

    That is the probability over the share in the training records: rare classes count as much as
    common ones in the score. Weights in training would do the same in many times the time.
    """
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(test))
    shares = np.bincount(y)[model.classes_] / len(y)
    likely = np.argmax(model.predict_proba(test) / shares, axis=1)
    return np.asarray(model.classes_[likely])


def _gains(target: _Target, predicted: NDArray[Any]) -> Floats | None:
    """Return what each tested record adds to the score, but for a constant."""
    tested = target.is_there_before
    y, predicted = target.before[tested], predicted[tested]
    if not len(y) or y.min() == y.max():
        return None
    if target.n_classes is None:
        gains: Floats = -np.square(y - predicted) / np.square(y - y.mean()).sum()
        return gains
    weights = 1.0 / (np.bincount(y)[y] * target.n_classes)
    return np.where(y == predicted, weights, 0.0)


def _compared(
    before: Floats | None, after: Floats | None, target: _Target, converged: bool
) -> ModelScore:
    base = 1.0 if target.n_classes is None else 0.0
    scores = [None if gains is None else base + float(gains.sum()) for gains in (before, after)]
    difference = error = None
    if before is not None and after is not None:
        change = after - before
        difference = float(change.sum())
        strata = np.zeros(len(change), dtype=np.intp)
        if target.n_classes is not None:
            strata = target.before[target.is_there_before]
        error = _error(change, strata)
    return ModelScore(scores[0], scores[1], difference, error, converged)


def _error(change: Floats, strata: NDArray[np.intp]) -> float:
    """Return the standard error of the sum of changes; classes are sampled each for itself."""
    counts = np.maximum(np.bincount(strata), 1)
    means = np.bincount(strata, weights=change) / counts
    spread = np.bincount(strata, weights=np.square(change - means[strata]))
    return float(np.sqrt((spread * counts / np.maximum(counts - 1, 1)).sum()))


def _linear(n_classes: int | None) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    if n_classes is None:
        return Ridge(alpha=1.0)
    return LogisticRegression(C=1.0, max_iter=500)


def _boosted(n_classes: int | None) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    # Chance only decides what such models do with bins of very many records.
    shared = {"early_stopping": False, "random_state": 0}
    if n_classes is None:
        return HistGradientBoostingRegressor(max_iter=_TREES, **shared)
    trees = _TREES if n_classes <= 2 else _TREES_PER_CLASS
    return HistGradientBoostingClassifier(max_iter=trees, **shared)


KINDS: dict[str, Callable[[int | None], Any]] = {"linear": _linear, "boosted trees": _boosted}
