"""Models trained on the release against models trained on the original, tested on the original."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Mask, Rows
from microagg.core.errors import ParameterError
from microagg.core.progress import report
from microagg.core.validation import check_count
from microagg.core.words import did_you_mean
from microagg.measures.sampling import MOST_RECORDS, sampled_rows
from microagg.measures.utility.predictors import common_categories, pooled, predictors
from microagg.tables.pairs import Pair, PairedColumn

_TASK = "training models"
# Classes beyond the most common ones are pooled.
MOST_CLASSES = 9
# Boosting rounds; fewer where every class needs a tree of its own.
_TREES, _TREES_PER_CLASS = 50, 20


@dataclass(frozen=True)
class ModelScore:
    """Scores of one kind of model, trained on the original and on the release.

    `difference` = after - before; `standard_error` is that of the difference over the tested
    records, with the models as trained. None where a score is undefined: the target does not vary,
    or there is nothing to train on.
    """

    before: float | None
    after: float | None
    difference: float | None
    standard_error: float | None
    converged: bool


@dataclass(frozen=True)
class ModelComparison:
    """Scores of models that predict `target` from `features`, by kind of model.

    `task` is "regression" (`score` is R2: 1 is perfect, 0 no better than the mean) or
    "classification" (balanced accuracy: the mean over classes of the share predicted correctly).
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
    """Compare models of `target` trained on the release with models trained on the original.

    Records are split into folds at random. For each fold, one model is trained on the original rows
    of the other folds and one on the released rows of the same records; both are tested on the
    original rows of the fold. Features are the quasi-identifiers other than the target, which may
    be one of them or a sensitive column. Numbers, dates and ordered categories are predicted by
    regression; other columns, and those of only two values, by classification. There are two kinds
    of models: linear (ridge or logistic) and boosted trees.

    Exact up to `most_records`, on a seeded sample of that size above.
    """
    check_count("n_folds", n_folds, at_least=2)
    check_count("most_records", most_records, at_least=2)
    column = _target_column(pair, target)
    features = tuple(name for name in pair.columns if name != target)
    if not features:
        raise ParameterError(
            f"there is no quasi-identifier to predict {target!r} from. Name a target that is not "
            "the only quasi-identifier."
        )
    rows = sampled_rows(pair.n_records, most_records, seed)
    sample = pair
    if len(rows) < pair.n_records:
        sample, column = pair.take(rows), column.take(rows)
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
        n_folds=len(folds),
        n_records=pair.n_in_all,
        n_sampled=sample.n_records,
        n_tested=int(np.count_nonzero(task.is_tested)),
    )


@dataclass(frozen=True, eq=False)
class _Target:
    """What is predicted, on both sides: numbers, or classes from 0 on.

    Records are tested where the original has a value, and trained on where their side has one.
    """

    before: NDArray[Any]
    after: NDArray[Any]
    is_tested: Mask
    is_present_after: Mask
    n_classes: int | None

    @property
    def tested(self) -> NDArray[Any]:
        """The true values of the tested records."""
        return self.before[self.is_tested]


def _target_column(pair: Pair, name: str) -> PairedColumn:
    known = {**pair.columns, **pair.sensitive}
    if name not in known:
        raise ParameterError(
            f"the target must be a column that both tables have; got {name!r}."
            f"{did_you_mean(name, known)}"
        )
    return known[name]


def _is_classified(column: PairedColumn) -> bool:
    """Whether the target is a class: nominal, or of two values, in the release as well."""
    both = np.concatenate((column.before.present, column.after.present))
    return not column.is_scaled or len(np.unique(both)) == 2


def _classes(column: PairedColumn) -> _Target:
    common = common_categories(column.before.present, MOST_CLASSES)
    before, after = (pooled(side, common) for side in (column.before, column.after))
    present = column.before.is_present, column.after.is_present
    return _Target(before, after, *present, n_classes=len(np.unique(before[present[0]])))


def _numbers(column: PairedColumn) -> _Target:
    present = column.before.is_present, column.after.is_present
    return _Target(column.scaled_before, column.scaled_after, *present, n_classes=None)


def _folds(n: int, n_folds: int, seed: int) -> list[Rows]:
    """Return the records of each fold; sizes differ by one at most."""
    if n < 2:
        return [np.arange(n)]
    from sklearn.model_selection import KFold

    folds = KFold(min(n_folds, n), shuffle=True, random_state=seed)
    return [test for _, test in folds.split(np.zeros(n))]


def _score(
    kind: Callable[[int | None], Any],
    target: _Target,
    X: Floats,
    Z: Floats,
    folds: list[Rows],
    place: tuple[int, int],
) -> ModelScore:
    """Predict every record by models that have not seen it, and compare the scores."""
    predictions = [np.zeros(len(X)), np.zeros(len(X))]
    sides = (
        (X, target.before, target.is_tested),
        (Z, target.after, target.is_present_after),
    )
    is_complete, converged = [True, True], True
    n_fits = 2 * len(folds)
    for at_fold, fold in enumerate(folds):
        test = fold[target.is_tested[fold]]
        is_other = np.ones(len(X), dtype=np.bool_)
        is_other[fold] = False
        for at, (rows, values, is_present) in enumerate(sides):
            report(_TASK, place[0] * n_fits + 2 * at_fold + at, place[1] * n_fits)
            train = np.flatnonzero(is_other & is_present)
            if not len(train):
                is_complete[at] = False
            elif len(test):
                model = kind(target.n_classes)
                found, ok = _predicted(model, rows[train], values[train], X[test])
                predictions[at][test] = found
                converged &= ok
    report(_TASK, (place[0] + 1) * n_fits, place[1] * n_fits)
    tested = [
        prediction[target.is_tested] if complete else None
        for prediction, complete in zip(predictions, is_complete, strict=True)
    ]
    return _compared(target, tested[0], tested[1], converged)


def _predicted(model: Any, X: Floats, y: NDArray[Any], test: Floats) -> tuple[NDArray[Any], bool]:
    """Train and predict, and say whether the fit converged; a constant needs no model."""
    if y.min() == y.max():
        return np.full(len(test), y[0]), True
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    # One thread: no sum depends on how it is split among threads, and on a busy machine threads
    # spend more time waiting for each other than they save.
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
        predicted = _answers(model, y, test)
    converged = not any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return predicted, converged


def _answers(model: Any, y: NDArray[Any], test: Floats) -> NDArray[Any]:
    """Return predictions; of classes, the one whose probability is highest relative to its share.

    In the score, rare classes count as much as common ones. Class weights in training would do the
    same, but take many times longer.
    """
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(test))
    shares = np.bincount(y)[model.classes_] / len(y)
    likely = np.argmax(model.predict_proba(test) / shares, axis=1)
    return np.asarray(model.classes_[likely])


def _compared(
    target: _Target,
    before: NDArray[Any] | None,
    after: NDArray[Any] | None,
    converged: bool,
) -> ModelScore:
    """Score the predictions of the tested records by models of both sides."""
    truth = target.tested
    if not len(truth) or truth.min() == truth.max():
        return ModelScore(None, None, None, None, converged)
    scores = [None if side is None else _accuracy(target, side) for side in (before, after)]
    if before is None or after is None:
        return ModelScore(scores[0], scores[1], None, None, converged)
    change = _contributions(target, after) - _contributions(target, before)
    strata = np.zeros(len(truth), dtype=np.intp) if target.n_classes is None else truth
    return ModelScore(
        scores[0], scores[1], float(change.sum()), _standard_error(change, strata), converged
    )


def _accuracy(target: _Target, predicted: NDArray[Any]) -> float:
    from sklearn.metrics import r2_score, recall_score

    if target.n_classes is None:
        return float(r2_score(target.tested, predicted))
    # Balanced accuracy; scikit-learn's own function warns of classes that only the release has.
    classes = np.unique(target.tested)
    recall = recall_score(target.tested, predicted, labels=classes, average="macro")
    return float(recall)


def _contributions(target: _Target, predicted: NDArray[Any]) -> Floats:
    """Return what each tested record adds to the score, up to a constant."""
    y = target.tested
    if target.n_classes is None:
        gains: Floats = -np.square(y - predicted) / np.square(y - y.mean()).sum()
        return gains
    weights = 1.0 / (np.bincount(y)[y] * target.n_classes)
    return np.where(y == predicted, weights, 0.0)


def _standard_error(change: Floats, strata: Rows) -> float:
    """Return the standard error of the sum of changes; every class is a stratum of its own."""
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

    # The seed matters only for the bins of very many records.
    shared = {"early_stopping": False, "random_state": 0}
    if n_classes is None:
        return HistGradientBoostingRegressor(max_iter=_TREES, **shared)
    trees = _TREES if n_classes <= 2 else _TREES_PER_CLASS
    return HistGradientBoostingClassifier(max_iter=trees, **shared)


KINDS: dict[str, Callable[[int | None], Any]] = {"linear": _linear, "boosted trees": _boosted}
