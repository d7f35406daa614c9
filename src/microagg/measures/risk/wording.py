"""Disclosure risk in plain words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from microagg.core.words import counted, counted_units, short_name
from microagg.measures.risk.attributes import AttributeDisclosure, ColumnDisclosure
from microagg.measures.risk.classes import ClassSizes
from microagg.measures.risk.drisk import DRisk
from microagg.measures.risk.individual import GlobalRisk, IndividualRisk
from microagg.measures.risk.informed import InformedLinkage
from microagg.measures.risk.intervals import IntervalDisclosure
from microagg.measures.risk.linkage import DistanceLinkage
from microagg.measures.risk.probabilistic import ProbabilisticLinkage
from microagg.measures.risk.units import UnitRisk
from microagg.measures.wording import FigureRow, estimate, in_per_cent

# Columns count as grouped one by one if at least this share of the records fits.
_MOSTLY = 0.99


def class_rows(classes: ClassSizes) -> Iterator[FigureRow]:
    """Word the sizes of the groups."""
    others = classes.smallest - 1
    unique = in_per_cent(classes.unique_after)
    yield FigureRow(
        "smallest group",
        counted(classes.smallest, "record"),
        f"Every record shares its quasi-identifiers with at least {counted(others, 'other')}."
        if others
        else f"{unique} of the records have quasi-identifiers that no other record has.",
        public=True,
    )
    yield FigureRow(
        "unique records",
        f"{unique} (before: {in_per_cent(classes.unique_before)})",
        "Share of records with a combination of quasi-identifiers that no other record has.",
    )


def unit_class_rows(found: UnitRisk | None) -> Iterator[FigureRow]:
    """Word how many units are behind the groups; nothing if nobody says whom records are about."""
    if found is None:
        return
    classes = found.classes
    others = classes.fewest - 1
    unique = in_per_cent(classes.unique_after)
    yield FigureRow(
        "fewest units",
        counted_units(classes.fewest, found.column),
        f"Every combination of quasi-identifiers stands for records of at least {classes.fewest:,} "
        "units; a unit may have several of them."
        if others > 0
        else f"{unique} of the units have a record with quasi-identifiers that no other unit has.",
    )
    yield FigureRow(
        "unique units",
        f"{unique} (before: {in_per_cent(classes.unique_before)})",
        "Share of units with a record whose combination of quasi-identifiers no other unit has.",
    )
    yield FigureRow(
        "largest share of a unit",
        in_per_cent(classes.largest_share),
        "The most that one unit has of the records with one combination: anyone who picks one of "
        "them at random finds that unit with this probability.",
    )


def individual_rows(found: IndividualRisk | None) -> Iterator[FigureRow]:
    """Word the risk in the population; nothing if there are no weights."""
    if found is None:
        return
    if found.population > found.n_records:
        population = (
            f"The {found.n_records:,} records stand for {found.population:,.0f} in the population "
            "(the sum of the weights), and the intruder does not know who is among the records."
        )
    else:
        population = (
            "The weights add up to no more than the records, so these are taken for the whole "
            "population."
        )
    yield FigureRow(
        "expected re-identifications",
        _expected(found.after),
        "How many records are expected to be matched with the right person of the population by an "
        f"intruder who knows everybody's quasi-identifiers as they are released. {population}",
        public=True,
    )
    yield FigureRow(
        "the same, before protection", _expected(found.before), "With the true quasi-identifiers."
    )
    yield FigureRow(
        "highest individual risk",
        in_per_cent(found.after.largest),
        "The highest probability, of any record, that such a match is right: one over the number "
        "of people in the population who share its quasi-identifiers, as the weights estimate it.",
        public=True,
    )


def _expected(found: GlobalRisk) -> str:
    expected = found.expected
    digits = ",.0f" if expected >= 999.5 else ".3g"
    return f"{expected:{digits}} ({in_per_cent(found.share)})"


def linkage_rows(found: DistanceLinkage, smallest: int) -> Iterator[FigureRow]:
    """Word distance linkage; in groups of at least `smallest` records it is limited."""
    first, *_, last = found.linked
    sizes = found.n_sampled, found.n_records
    limit = f" at most {in_per_cent(1 / smallest)} in groups of {smallest:,} or more," * (
        smallest > 1
    )
    yield FigureRow(
        "linked by distance",
        estimate(found.linked[first], found.standard_errors[first], *sizes),
        "Share of records that an intruder links correctly, knowing all the true quasi-identifiers "
        f"and picking the most similar released record;{limit} "
        f"{in_per_cent(found.guessed[first])} by guessing.",
        public=True,
    )
    yield FigureRow(
        f"among the {last} nearest",
        estimate(found.linked[last], found.standard_errors[last], *sizes),
        f"Share of records whose own released record is among the {last} most similar; "
        f"{in_per_cent(found.guessed[last])} by guessing.",
        public=True,
    )


def unit_linkage_rows(found: UnitRisk | None) -> Iterator[FigureRow]:
    """Word how often distance linkage leads to the right unit."""
    if found is None or found.linkage is None:
        return
    linkage = found.linkage
    sampled = ""
    if linkage.n_sampled < linkage.n_units:
        sampled = f" From the records of {counted(linkage.n_sampled, 'unit')}."
    for name, share, error, guessed, meaning in (
        (
            "linked to the right unit",
            linkage.linked_records,
            linkage.standard_error_records,
            linkage.guessed_records,
            "Share of records for which the most similar released record is about the same "
            f"{short_name(found.column)!r}, whether or not it is the same record;",
        ),
        (
            "linked units",
            linkage.linked,
            linkage.standard_error,
            linkage.guessed,
            "Share of units that an intruder links correctly in at least one record, knowing the "
            "true quasi-identifiers of all their records;",
        ),
    ):
        figure = in_per_cent(share)
        if sampled:
            figure += f" ± {in_per_cent(error)}"
        compared = f"{in_per_cent(guessed)} by guessing.{sampled}"
        yield FigureRow(name, figure, f"{meaning} {compared}", public=True)


def probabilistic_row(found: ProbabilisticLinkage) -> FigureRow:
    """Word probabilistic linkage."""
    return FigureRow(
        "probabilistic linkage",
        estimate(found.linked[1], found.standard_errors[1], found.n_sampled, found.n_records),
        "The same as linked by distance, but the intruder compares column by column, and agreement "
        "counts for more the rarer it is by chance; "
        f"{in_per_cent(found.guessed[1])} by guessing.{_pool(found.n_pool, found.n_records)}",
        public=True,
    )


def _pool(n_pool: int, n_records: int) -> str:
    """Say among which released records the intruder searched, if not among all."""
    if n_pool >= n_records:
        return ""
    return (
        f" The intruder searches {counted(n_pool, 'released record')}: those that share a "
        "combination with one of the sample. Among all of them it is harder."
    )


def informed_rows(found: InformedLinkage) -> Iterator[FigureRow]:
    """Word what an intruder gains by knowing the method; nothing if no column takes part."""
    if not (found.columns or found.drawn):
        return
    figure = estimate(found.linked, found.standard_error, found.n_sampled, found.n_records)
    if found.drawn:
        meaning = (
            "Records drew their values at random, so knowing the method rules nothing out with "
            "certainty. What is likely is another matter: see the linkage figures."
        )
    elif found.consistent >= _MOSTLY:
        meaning = (
            "Each column appears to have been grouped by itself. Share of records that an intruder "
            "links correctly by ruling out those that do not fit the true values; for "
            f"{in_per_cent(found.single)} of the records only their own remains."
            f"{_pool(found.n_pool, found.n_records)}"
        )
    else:
        figure = "does not apply"
        meaning = (
            "The columns were not grouped one by one, so the order of the values rules nothing out."
        )
    yield FigureRow("knowing the method", figure, meaning, public=True)


def nearness_rows(intervals: IntervalDisclosure, found: DRisk) -> Iterator[FigureRow]:
    """Word how close the released values are to the true ones."""
    for words, meaning, shares in (
        (
            "within {} of a standard deviation",
            "Share of records whose true values are this close to the released ones in every "
            "column of numbers, dates or ordered categories.",
            intervals.every_by_deviation,
        ),
        (
            "within {} of all ranks",
            "The same with distances in ranks: how many of the column's values lie between.",
            intervals.every_by_rank,
        ),
    ):
        for width, share in _middle(shares):
            yield FigureRow(words.format(in_per_cent(width)), in_per_cent(share), meaning)
    for width, share in found.share.items():
        yield FigureRow(
            f"dRisk({width:g})",
            f"{share:.5g}",
            f"sdcMicro's measure, from 0 to 1: share of records with every value within {width:g} "
            "standard deviations (of the released column) of the true one.",
        )


def _middle(shares: Mapping[float, float]) -> list[tuple[float, float]]:
    """Return the middle of the widths: one row is enough to read."""
    listed = list(shares.items())
    return listed[len(listed) // 2 : len(listed) // 2 + 1]


def attribute_rows(found: AttributeDisclosure) -> Iterator[FigureRow]:
    """Word what groups reveal about each sensitive column."""
    for name, column in found.columns.items():
        yield from _column_rows(name, column)


def _column_rows(name: str, found: ColumnDisclosure) -> Iterator[FigureRow]:
    groups = counted(found.homogeneous_classes, "group")
    revealed = f"Anyone known to be in such a group is known to have its value of {name!r}."
    yield FigureRow(
        f"{name}: groups with one value",
        f"{groups} ({counted(found.homogeneous_records, 'record')})",
        f"{revealed if found.homogeneous_classes else 'Every group has several values.'} "
        f"A group has at least {counted(found.smallest_distinct, 'distinct value')}; by entropy, "
        f"at least {found.smallest_entropy:.3g} (l-diversity).",
        public=True,
    )
    yield FigureRow(
        f"{name}: distance from the table",
        f"{found.largest_distance:.3g}",
        "Largest distance between the distribution in a group and in the whole table, from 0 (the "
        f"group reveals nothing) to 1; {found.mean_distance:.3g} on average (t-closeness).",
        public=True,
    )


class SharedValue(NamedTuple):
    """A column in which all records of some groups have the same value; how many, in words."""

    column: str
    groups: str
    records: str


def shared_values(found: AttributeDisclosure, n_classes: int) -> list[SharedValue]:
    """List the sensitive columns whose value follows from being in some group."""
    if n_classes < 2:
        return []
    return [
        SharedValue(
            name,
            counted(own.homogeneous_classes, "group"),
            counted(own.homogeneous_records, "record"),
        )
        for name, own in found.columns.items()
        if own.homogeneous_classes
    ]


def attribute_notes(shared: Sequence[SharedValue]) -> Iterator[str]:
    """Say in one sentence which sensitive values follow from being in a group."""
    known = "anyone known to be among them is known to have it, even if nobody can be identified."
    if len(shared) == 1:
        name, groups, records = shared[0]
        yield f"In {groups} ({records}) all records have the same value of {name!r}: {known}"
    elif shared:
        listing = ", ".join(f"{name!r} in {groups} ({records})" for name, groups, records in shared)
        yield f"In some groups all records have the same value, {listing}: {known}"
