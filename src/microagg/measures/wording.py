"""Measures in plain words: a row for each, with its figure and how to read it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from microagg.core.words import counted
from microagg.measures.measure import Measures, Risk, Utility
from microagg.measures.risk.attributes import ColumnDisclosure
from microagg.measures.utility.models import ModelComparison

# A share of records that looks like contiguous groups, from which on columns count as such.
_MOSTLY = 0.99
# Changes in standard deviations that are nothing but rounding of floats.
_NOTHING = 1e-9
# Records in any other order lose about 200 per cent.
_AS_BAD_AS_SHUFFLED = 120.0


class Row(NamedTuple):
    """One measure: its name, its figure, and what that means.

    Only a `public` row may be published with the data: it follows from the released table, or is a
    share of all records that tells nothing of single values. Others are for inside the house.
    """

    measure: str
    figure: str
    reading: str
    public: bool = False


def in_per_cent(share: float) -> str:
    """Word a share in three digits or fewer.

    >>> in_per_cent(0.02784), in_per_cent(1.0), in_per_cent(0.0), in_per_cent(0.0000123)
    ('2.78 %', '100 %', '0 %', '0.00123 %')
    """
    return f"{100 * share:.3g} %"


def _estimate(share: float, error: float, n_sampled: int, n_records: int) -> str:
    """Word a share; if it comes from a sample, with its standard error."""
    if n_sampled >= n_records:
        return in_per_cent(share)
    return f"{in_per_cent(share)} ± {in_per_cent(error)} (from {counted(n_sampled, 'record')})"


def risk_rows(risk: Risk) -> list[Row]:
    """Word what an intruder can do."""
    return [
        *_class_rows(risk),
        *_linkage_rows(risk),
        *_informed_rows(risk),
        *_nearness_rows(risk),
        *(
            row
            for name, found in risk.attributes.columns.items()
            for row in _attribute_rows(name, found)
        ),
    ]


def _class_rows(risk: Risk) -> Iterator[Row]:
    classes = risk.classes
    others = classes.smallest - 1
    alone = in_per_cent(classes.unique_after)
    yield Row(
        "smallest group",
        counted(classes.smallest, "record"),
        f"Everybody shares what the quasi-identifiers show with at least {counted(others, 'other')}"
        "."
        if others
        else f"{alone} of the records stand alone with what they show.",
        public=True,
    )
    yield Row(
        "unique records",
        f"{alone} (before: {in_per_cent(classes.unique_before)})",
        "So many have a combination of quasi-identifiers that nobody else has.",
    )


def _limit(risk: Risk) -> str:
    """Word what groups of equals keep linkage to."""
    smallest = risk.classes.smallest
    return f"; groups keep it to {in_per_cent(1 / smallest)} at most" if smallest > 1 else ""


def _linkage_rows(risk: Risk) -> Iterator[Row]:
    found = risk.linkage
    first, *_, last = found.linked
    sizes = found.n_sampled, found.n_records
    yield Row(
        "linked by distance",
        _estimate(found.linked[first], found.standard_errors[first], *sizes),
        "Whoever knows a person's true quasi-identifiers, all of them, and takes the most similar "
        f"record is right so often{_limit(risk)}. By guessing, "
        f"{in_per_cent(found.guessed[first])}.",
        public=True,
    )
    yield Row(
        f"among the {last} nearest",
        _estimate(found.linked[last], found.standard_errors[last], *sizes),
        f"The person's own record is among the {last} most similar ones so often; by guessing, "
        f"{in_per_cent(found.guessed[last])}.",
        public=True,
    )
    weighed = risk.probabilistic
    yield Row(
        "linked by weights",
        _estimate(
            weighed.linked[1], weighed.standard_errors[1], weighed.n_sampled, weighed.n_records
        ),
        "The same as linked by distance, if agreement in each column counts by how telling it is "
        f"(probabilistic linkage); by guessing, {in_per_cent(weighed.guessed[1])}.",
        public=True,
    )


def _informed_rows(risk: Risk) -> Iterator[Row]:
    found = risk.informed
    if not (found.columns or found.drawn):
        return
    figure = _estimate(found.linked, found.standard_error, found.n_sampled, found.n_records)
    if found.drawn:
        reading = (
            "Records drew their values by chance, so that knowing the method excludes nothing for "
            "certain. What is likely is another matter: see the shares that are linked."
        )
    elif found.consistent >= _MOSTLY:
        reading = (
            "Each column looks as if it was grouped by itself. Whoever knows that, and a person's "
            "true values, can rule out most records, and picks the right one of the rest so often. "
            f"For {in_per_cent(found.single)} of the people only the right one is left."
        )
    else:
        figure = "does not apply"
        reading = (
            "The columns were not grouped one by one, so that the order of the values tells "
            "nothing for certain."
        )
    yield Row("knowing the method", figure, reading, public=True)


def _nearness_rows(risk: Risk) -> Iterator[Row]:
    for words, unit, shares in (
        ("a standard deviation", "of the column", risk.intervals.every_by_deviation),
        ("all ranks", "as many places in the order of its values", risk.intervals.every_by_rank),
    ):
        for width, share in _middle(shares):
            yield Row(
                f"within {in_per_cent(width)} of {words}",
                in_per_cent(share),
                "So many records have the true value of every column of numbers or dates that near "
                f"to the released one ({unit}).",
            )
    for width, share in risk.drisk.share.items():
        yield Row(
            f"dRisk({width:g})",
            f"{share:.5g}",
            f"sdcMicro's measure, a share from 0 to 1: records with every value within {width:g} "
            "standard deviations of the released column of the true one.",
        )


def _middle(shares: Mapping[float, float]) -> list[tuple[float, float]]:
    """Return the middle one of the widths that were tried: one row is enough to read."""
    listed = list(shares.items())
    return listed[len(listed) // 2 : len(listed) // 2 + 1]


def _attribute_rows(name: str, found: ColumnDisclosure) -> Iterator[Row]:
    groups = counted(found.homogeneous_classes, "group")
    told = f"Whoever knows that a person is in such a group knows {name!r} as well."
    yield Row(
        f"{name}: groups of one value",
        f"{groups} ({counted(found.homogeneous_records, 'record')})",
        f"{told if found.homogeneous_classes else 'In every group there are several.'} The fewest "
        f"different values in a group are {found.smallest_distinct:,}; weighed by how often they "
        f"come, {found.smallest_entropy:.3g} (l-diversity, distinct and by entropy).",
        public=True,
    )
    yield Row(
        f"{name}: farthest from all",
        f"{found.largest_distance:.3g}",
        "How far the values in a group are from those of all records, from 0 (the same, nothing "
        f"learned) to 1; on average {found.mean_distance:.3g} (t-closeness).",
        public=True,
    )


def risk_notes(risk: Risk) -> Iterator[str]:
    """Say what nobody should overlook."""
    for name, found in risk.attributes.columns.items():
        if found.homogeneous_classes and risk.classes.n_classes > 1:
            groups = counted(found.homogeneous_classes, "group")
            yield (
                f"In {groups} ({counted(found.homogeneous_records, 'record')}) all records have "
                f"the same value of {name!r}: whoever knows that a person is among them knows it, "
                "although nobody can be told apart."
            )


def doubts(found: Measures) -> Iterator[str]:
    """Say what makes it doubtful that the right things were measured."""
    loss, linkage = found.utility.loss.information_loss, found.risk.linkage
    last = list(linkage.linked)[-1]
    if (
        loss is not None
        and loss > _AS_BAD_AS_SHUFFLED
        and (linkage.linked[last] <= 2 * linkage.guessed[last])
    ):
        yield (
            "The records have as little to do with each other as if they were in another order. "
            "Match them by a column that tells which is which (--key)."
        )
    for name in found.telling:
        yield (
            f"Column {name!r} is unchanged and different in every record: whoever knows it finds "
            "everybody. Name it as a quasi-identifier if somebody may."
        )


def utility_rows(utility: Utility) -> list[Row]:
    """Word what became of the data; single columns could tell single values, so none is public."""
    return [
        *_loss_rows(utility),
        *_moment_rows(utility),
        *_distribution_rows(utility),
        *_propensity_rows(utility),
        *([] if utility.model is None else _model_rows(utility.model)),
    ]


def _loss_rows(utility: Utility) -> Iterator[Row]:
    loss, cells = utility.loss, utility.il1s
    if loss.information_loss is not None:
        reading = (
            "The information loss of the values themselves, as they were released: rounded, as "
            "medians or most frequent categories, every record counted once. 0 % keeps every "
            "value, 100 % is as bad as the overall mean, and categories can be worse than that."
        )
        known = {name: lost for name, lost in loss.columns.items() if lost is not None}
        if len(known) > 1:
            worst = max(known, key=lambda name: known[name])
            reading += f" Most is lost in {worst!r}: {known[worst]:.3g} %."
        yield Row("loss of released values", f"{loss.information_loss:.4g} %", reading)
    if cells.mean is not None:
        yield Row(
            "IL1s",
            f"{cells.total:,.6g} in all, {cells.mean:.3g} a value",
            "sdcMicro's measure: by how much values changed, in units of 1.41 standard deviations.",
        )
    if utility.eigenvalues.change is not None:
        yield Row(
            "eigenvalues",
            f"{utility.eigenvalues.change if utility.eigenvalues.change > _NOTHING else 0:.3g}",
            "sdcMicro's measure: the sum of the relative changes of the eigenvalues of the "
            "correlations; 0 if none changed.",
        )


def _moment_rows(utility: Utility) -> Iterator[Row]:
    columns = utility.moments.columns
    means = {n: abs(c.mean_change) for n, c in columns.items() if c.mean_change is not None}
    if means:
        worst = max(means, key=lambda name: means[name])
        moved = means[worst] > _NOTHING
        yield Row(
            "means",
            f"{means[worst]:.3g} standard deviations" if moved else "unchanged",
            f"The largest change of a mean, in {worst!r}." if moved else "Every mean is kept.",
        )
    spreads = {
        n: c.variance_relative_change
        for n, c in columns.items()
        if c.variance_relative_change is not None
    }
    if spreads:
        worst = max(spreads, key=lambda name: abs(spreads[name]))
        yield Row(
            "variances",
            f"{100 * spreads[worst]:+.3g} %",
            f"The largest change of a variance, in {worst!r}."
            f"{' Averages vary less than records.' if spreads[worst] < 0 else ''}",
        )
    found = utility.moments.pearson
    if found.largest is not None and found.most_changed is not None:
        a, b = found.most_changed
        yield Row(
            "correlations",
            f"{found.largest:.3g}, on average {found.mean:.3g}",
            f"The largest change is between {a!r} and {b!r}. Correlations go from -1 to 1.",
        )


def _distribution_rows(utility: Utility) -> Iterator[Row]:
    found = utility.distributions
    for words, figure, reading in (
        (
            "Kolmogorov-Smirnov",
            found.largest_kolmogorov_smirnov,
            "The largest distance of the distributions of a column, from 0 (the same) to 1.",
        ),
        (
            "Wasserstein",
            found.largest_wasserstein,
            "How far values of a column moved as a whole, at most, in its standard deviations.",
        ),
        (
            "total variation",
            found.largest_total_variation,
            "The share of a categorical column that changed places, at most.",
        ),
    ):
        if figure is not None:
            yield Row(words, f"{figure:.3g}", reading)


def _propensity_rows(utility: Utility) -> Iterator[Row]:
    found = utility.propensity
    if found.ratio is None:
        return
    error = "" if found.sampling_error is None else f" ± {found.sampling_error:.2g}"
    yield Row(
        "pMSE",
        f"{found.pmse:.3g}{error}, {found.ratio:.3g} times the expected",
        "How well a model tells released records from original ones, from 0 (not at all) to 0.25. "
        "Two samples of one population come to about 2 times the expected.",
    )


def _model_rows(found: ModelComparison) -> Iterator[Row]:
    for name, score in found.models.items():
        if score.before is None or score.after is None:
            continue
        error = "" if score.standard_error is None else f" ± {score.standard_error:.2g}"
        yield Row(
            f"{found.target} by {name}",
            f"{score.after:.3g} (trained on the original: {score.before:.3g})",
            f"{found.score} of a model trained on the released table and tested on original "
            f"records that it has not seen; the difference is {score.difference:+.2g}{error}.",
        )
