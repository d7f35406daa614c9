"""Utility in plain words. No row is public: figures of single columns could reveal values."""

from collections.abc import Iterator

from microagg.core.words import percent, worst_losses
from microagg.measures.utility.associations import Associations
from microagg.measures.utility.column_loss import ColumnLoss
from microagg.measures.utility.distributions import Distributions
from microagg.measures.utility.eigenvalues import Eigenvalues
from microagg.measures.utility.il1s import IL1s
from microagg.measures.utility.models import ModelComparison
from microagg.measures.utility.moments import Moments
from microagg.measures.utility.propensity import Propensity
from microagg.measures.utility.unit_loss import UnitLoss
from microagg.measures.wording import FigureRow

# Smaller changes, in standard deviations, are rounding error.
_NOTHING = 1e-9


def _named(measure: str, *, is_weighted: bool) -> str:
    return f"{measure} (weighted)" if is_weighted else measure


def loss_rows(loss: ColumnLoss) -> Iterator[FigureRow]:
    """Word the information loss of the released values."""
    if loss.information_loss is None:
        return
    meaning = (
        "Information loss of the values as released (rounded, medians, most frequent categories), "
        "records counted by their weights, if they have any. 0 % keeps every value, 100 % is as "
        "bad as the overall mean; categories can be worse than that."
    )
    if loss.worst_columns:
        meaning += f" Most is lost in {worst_losses(loss.worst_columns)}."
    yield FigureRow("loss of released values", percent(loss.information_loss), meaning)


def unit_loss_rows(loss: UnitLoss | None) -> Iterator[FigureRow]:
    """Word the loss with units counted once, if it is known whom records are about."""
    if loss is None or loss.information_loss is None:
        return
    yield FigureRow(
        "the same, by unit",
        percent(loss.information_loss),
        "Every unit counted once, however many records it has.",
    )


def il1s_rows(cells: IL1s) -> Iterator[FigureRow]:
    """Word sdcMicro's measure of the values."""
    if cells.mean is not None:
        yield FigureRow(
            "IL1s",
            f"{cells.total:,.6g} in total, {cells.mean:.3g} per value",
            "sdcMicro's measure: change of the values, in units of 1.41 standard deviations.",
        )


def eigenvalue_rows(found: Eigenvalues) -> Iterator[FigureRow]:
    """Word sdcMicro's measure of the correlations."""
    if found.change is not None:
        yield FigureRow(
            "eigenvalues",
            f"{found.change if found.change > _NOTHING else 0:.3g}",
            "sdcMicro's measure: sum of the relative changes of the eigenvalues of the correlation "
            "matrix; 0 if none changed.",
        )


def moment_rows(found: Moments) -> Iterator[FigureRow]:
    """Word the largest changes of means, variances and correlations."""
    means = {n: abs(c.mean_change) for n, c in found.columns.items() if c.mean_change is not None}
    if means:
        worst = max(means, key=lambda name: means[name])
        moved = means[worst] > _NOTHING
        yield FigureRow(
            _named("means", is_weighted=found.is_weighted),
            f"{means[worst]:.3g} standard deviations" if moved else "unchanged",
            f"Largest change of a mean, in {worst!r}." if moved else "Every mean is preserved.",
        )
    variances = {
        n: c.variance_relative_change
        for n, c in found.columns.items()
        if c.variance_relative_change is not None
    }
    if variances:
        worst = max(variances, key=lambda name: abs(variances[name]))
        changed = abs(variances[worst]) > _NOTHING
        meaning = f"Largest change of a variance, in {worst!r}."
        if variances[worst] < 0:
            meaning += " Averages vary less than records."
        yield FigureRow(
            _named("variances", is_weighted=found.is_weighted),
            _signed_per_cent(variances[worst]) if changed else "unchanged",
            meaning if changed else "Every variance is preserved.",
        )
    pearson = found.pearson
    if pearson.largest is not None and pearson.most_changed is not None:
        a, b = pearson.most_changed
        yield FigureRow(
            _named("correlations", is_weighted=found.is_weighted),
            f"{pearson.largest:.3g}, on average {pearson.mean:.3g}",
            f"The largest change is between {a!r} and {b!r}. Correlations range from -1 to 1.",
        )


def _signed_per_cent(share: float) -> str:
    value = 100 * share
    return f"{value:+,.0f} %" if abs(value) >= 999.5 else f"{value:+.3g} %"


def association_rows(found: Associations) -> Iterator[FigureRow]:
    """Word the largest change of an association, if a column has categories."""
    if found.largest_change is None or found.most_changed is None:
        return
    a, b = found.most_changed
    changed = found.largest_change > _NOTHING
    yield FigureRow(
        _named("associations", is_weighted=found.is_weighted),
        f"{found.largest_change:.3g}, on average {found.mean_change:.3g}"
        if changed
        else "unchanged",
        f"Of categories with each other (Cramér's V) and with numbers (eta), from 0 to 1. The "
        f"largest change is between {a!r} and {b!r}."
        if changed
        else "All associations are preserved.",
    )


def distribution_rows(found: Distributions) -> Iterator[FigureRow]:
    """Word the largest distances between the distributions of a column of numbers."""
    for words, figure, meaning in (
        (
            "Kolmogorov-Smirnov",
            found.largest_kolmogorov_smirnov,
            "Largest distance between the distributions of a column before and after, from 0 "
            "(identical) to 1.",
        ),
        (
            "Wasserstein",
            found.largest_wasserstein,
            "How far the distribution of a column moved at most, in its standard deviations.",
        ),
    ):
        if figure is not None:
            name = _named(words, is_weighted=found.is_weighted)
            yield FigureRow(name, f"{figure:.3g}", meaning)


def category_rows(found: Distributions) -> Iterator[FigureRow]:
    """Word the largest distance between the shares of categories."""
    if found.largest_total_variation is not None:
        yield FigureRow(
            _named("total variation", is_weighted=found.is_weighted),
            f"{found.largest_total_variation:.3g}",
            "Largest change of the shares of a column's categories, from 0 (identical) to 1.",
        )


def propensity_rows(found: Propensity) -> Iterator[FigureRow]:
    """Word pMSE, unless there are no predictors or it is withheld."""
    if found.pmse is None or found.n_parameters < 2:
        return
    error = "" if found.sampling_error is None else f" ± {found.sampling_error:.2g}"
    figure = f"{found.pmse:.3g}{error}"
    meaning = (
        "How well a model distinguishes released from original records, from 0 (not at all) to "
        "0.25."
    )
    if found.ratio is not None:
        figure += f", {found.ratio:.3g} times the expected value"
        meaning += " Two samples of one population give about twice the expected value."
    yield FigureRow("pMSE", figure, meaning)


def model_rows(found: ModelComparison | None) -> Iterator[FigureRow]:
    """Word how well models trained on the release predict the original."""
    for name, score in {} if found is None else found.models.items():
        if found is None or score.before is None or score.after is None:
            continue
        error = "" if score.standard_error is None else f" ± {score.standard_error:.2g}"
        yield FigureRow(
            f"predicting {found.target}: {name}",
            f"{score.after:.3g} (trained on the original: {score.before:.3g})",
            f"{found.score} of a model trained on the released table and tested on original "
            f"records it has not seen; the difference is {score.difference:+.2g}{error}.",
        )
