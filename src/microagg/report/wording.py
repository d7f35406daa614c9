"""A manifest in plain sentences, for readers who do not know the method."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from microagg.core.words import counted, counted_units, short_name
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import HybridFacts, Promise
from microagg.plans.required import (
    WHY_LOST,
    Required,
    least_behind,
    lost_columns,
    may_have_lost_others,
    required_rows,
)
from microagg.requirements.diversity import LDiversity


@dataclass(frozen=True)
class Verdict:
    """What is guaranteed, as a title and paragraphs; `strong` if it is k-anonymity."""

    title: str
    paragraphs: tuple[str, ...]
    strong: bool


def listed(names: Sequence[str], most: int = 8) -> str:
    """List names in a sentence; long lists are cut short.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed("abcde", most=3)
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def what_was_done(done: Manifest, n_columns: int) -> str:
    """Describe in two sentences what was done, and what follows."""
    columns = "one column" if n_columns == 1 else counted(n_columns, "column")
    promise, units = done.promise, done.units
    blocks = ", separately for each block of columns" if promise == Promise.BLOCKWISE else ""
    those = f"the {columns} that could reveal who a record is about"
    if done.draw is not None and done.is_drawn:
        first = (
            f"In {those}, each of the {done.n_records:,} records got the values of one of "
            f"{done.draw.n_centers:,} typical records, drawn at random, nearer ones with a "
            "higher probability."
        )
    elif done.hybrid is not None:
        first = (
            f"The {done.n_records:,} records were put into {done.n_groups:,} groups of "
            f"similar records, and in {those}, the records of each group were replaced by "
            "synthetic ones with the same means, variances and correlations."
        )
    else:
        about = "" if units is None else f" of {counted_units(units.count, units.column)}"
        first = (
            f"The {done.n_records:,} records{about} were put into {done.n_groups:,} groups of "
            f"similar records{blocks}, and in {those}, every value was replaced by one that the "
            "whole group shares."
        )
    return f"{first} {_what_follows(done)}"


def _what_follows(done: Manifest) -> str:
    k, promise = done.k, done.promise
    least, those = f"at least {k:,} records", "them is"
    if done.units is not None:
        least, those = f"records of at least {least_behind(done)}", "them are"
    if k == 1:
        return "At k = 1 this protects nobody: any record may keep its own values."
    if promise == Promise.K_ANONYMITY:
        return (
            f"Anyone looking for a person there finds {least} that fit equally "
            f"well, and cannot tell which of {those} about that person."
        )
    if promise == Promise.BLOCKWISE:
        return (
            f"Anyone who knows only one block of columns about a person finds {least} "
            "that fit equally well; with columns of several blocks, they may find fewer."
        )
    if promise == Promise.PROBABILISTIC:
        return (
            f"On average at least {k:,} records share the same values, but some combinations may "
            "stand for fewer by chance."
        )
    if promise == Promise.HYBRID:
        return (
            "This is not k-anonymity: each record has values of its own, and some can be linked to "
            "the person they were made for. The section on risk says how many."
        )
    return (
        f"There is no guarantee of how many records share the same values: k = {k:,} is not a "
        "limit."
    )


def verdict(done: Manifest) -> Verdict:
    """State what is guaranteed and how it was verified, and no more."""
    k, promise = done.k, done.promise
    if k == 1:
        text = "With k = 1, any record may keep its own values. There is nothing to verify."
        return Verdict("No protection: k = 1", (text,), strong=False)
    if promise == Promise.K_ANONYMITY:
        return _strong(done)
    if promise == Promise.BLOCKWISE:
        return _blockwise(done)
    if done.hybrid is not None:
        return _hybrid(done, done.hybrid)
    return _drawn(done, k, promise)


def _checked(done: Manifest) -> str:
    if not done.verified:
        return "This was not verified on the finished table."
    return (
        "This was verified: the combinations were counted on the finished table, independently of "
        f"the code that made the groups. {_rarest(done)}"
    )


def _rarest(done: Manifest) -> str:
    records = counted(done.smallest_class, "record")
    if done.units is None:
        return f"The rarest stands for {records}."
    units = counted_units(done.units.fewest, done.units.column)
    return f"None stands for fewer than {units}, or {records}."


def _k(done: Manifest) -> str:
    return f"{done.k:,}" if done.units is None else least_behind(done)


def _occurs(done: Manifest) -> str:
    """Return what holds of every combination, as the end of a sentence."""
    if done.units is None:
        return f"occurs in at least {done.k:,} of its records"
    return f"stands for records of at least {least_behind(done)}"


def _strong(done: Manifest) -> Verdict:
    held = "kept and verified" if done.verified else "not verified"
    return Verdict(
        f"k-anonymity with k = {_k(done)}: {held}",
        (
            "In the released table, every combination of values in the protected columns "
            f"{_occurs(done)}.",
            _checked(done),
            *_not_guaranteed(done),
        ),
        strong=done.verified,
    )


def _not_guaranteed(done: Manifest) -> Iterator[str]:
    diverse = {
        own.column
        for own in done.requirements
        if own.requirement in (LDiversity.name, LDiversity.entropy_name) and (own.worst or 0) > 1
    }
    bare = [name for name in done.worth_knowing if name not in diverse]
    if bare:
        those = f" This concerns {listed(bare)}." if diverse else ""
        yield (
            "What this does not guarantee: if all records of a group have the same value in a "
            "column that is published unchanged, such as a diagnosis, anyone who knows that a "
            f"person is in that group knows that value.{those}"
        )
    if done.units is not None and done.n_records > done.units.count:
        yield (
            f"One unit ({short_name(done.units.column)!r}) may have several of the records of a "
            f"combination, so the chance of finding it there can be more than 1 in {done.k:,}."
        )


def required(done: Manifest, *, public: bool) -> list[Required]:
    """List what was asked of every combination, and what was found.

    A public report does not say how closely amounts that are not published may be estimated.
    """
    rows = required_rows(done)
    if not public:
        return rows
    return [
        row._replace(
            asked=f"nobody's part in {row.column!r} can be estimated too closely", found="met"
        )
        if row.is_confidential
        else row
        for row in rows
    ]


def _blockwise(done: Manifest) -> Verdict:
    blocks = done.blocks
    return Verdict(
        f"A weaker guarantee: k-anonymity with k = {_k(done)} "
        f"within each of {len(blocks)} blocks of columns",
        (
            f"In the released table, every combination of values within a block {_occurs(done)}. "
            f"{_checked(done)}",
            "This is not k-anonymity of the whole table. Anyone who knows values from several "
            "blocks about a person may find fewer records, even a single one.",
            "The blocks: " + "; ".join(listed(block) for block in blocks) + ".",
        ),
        strong=False,
    )


def _hybrid(done: Manifest, found: HybridFacts) -> Verdict:
    where = " and in each of the blocks of columns" if len(done.blocks) > 1 else ""
    kept = (
        f"In each group{where}, the protected columns have the means and covariances of the "
        "original records. This was verified on the finished table, independently of the code that "
        "made the records."
    )
    if found.rounded:
        kept += (
            " Whole numbers are rounded, which moved the mean of a group by at most "
            f"{found.group_mean_moved:.2g} standard deviations of its column, and a covariance by "
            f"at most {found.group_covariance_moved:.2g} (for columns in standard deviations)."
        )
    return Verdict(
        "No guarantee of k-anonymity: hybrid records",
        (
            "The records are synthetic, one for each original record. A combination of values may "
            f"stand for a single record; k = {done.k:,} is the least number of original records "
            "whose means and covariances were reproduced together.",
            kept,
        ),
        strong=False,
    )


def _drawn(done: Manifest, k: int, promise: str) -> Verdict:
    draw = done.draw
    realised = ""
    if draw:
        realised = (
            f"In this release {draw.n_realised_below_k:,} of {done.n_groups:,} groups hold "
            f"fewer than {k:,} records; the smallest holds {done.min_group:,}. "
        )
    short = f"{realised}There is no limit to verify."
    if promise == Promise.PROBABILISTIC:
        return Verdict(
            f"A weaker guarantee: probabilistic k-anonymity with k = {k:,}",
            (
                f"Each typical record is expected to be drawn by at least {k:,} records. This "
                "is an average, not a limit: a combination of values may stand for fewer.",
                short,
            ),
            strong=False,
        )
    expected = ""
    if draw:
        expected = (
            f" Of {draw.n_centers:,} typical records, {draw.n_expected_below_k:,} are expected to "
            f"be drawn by fewer than {k:,} records."
        )
    return Verdict(
        "No guarantee of k-anonymity",
        (
            "Records drew their values at random, and combinations of values may stand for a "
            f"single record.{expected}",
            short,
        ),
        strong=False,
    )


def small_count(count: int, least: int) -> str:
    """Write a number of records; numbers below `least` are not shown.

    >>> small_count(0, 5), small_count(3, 5), small_count(1200, 5)
    ('no record', 'fewer than 5 records', '1,200 records')
    """
    if count == 0:
        return "no record"
    return f"fewer than {least:,} records" if count < least else counted(count, "record")


def correlation_change(mean: float, largest: float) -> str:
    """State by how much correlations changed.

    >>> correlation_change(0.0312, 0.1)
    'by 0.03 on average, and by at most 0.10'
    """
    small = "less than 0.01"
    average = small if mean < 0.01 else f"{mean:.2f}"
    most = small if largest < 0.01 else f"{math.ceil(100 * largest * (1 - 1e-12)) / 100:.2f}"
    return f"by {average} on average, and by at most {most.removeprefix('less than ')}"


def _may_repeat_people(done: Manifest) -> bool:
    """Whether nothing says that records are about different people: identifiers do not repeat."""
    return done.unit is None and not done.identifiers and not done.plan.counts_rows


def ended_early(done: Manifest) -> str:
    """Say that the search was ended before it was through; empty if it was not."""
    if not (done.interrupted or done.timed_out):
        return ""
    by = "by hand" if done.interrupted else "by the time budget"
    return f"The search was ended {by}: these are the best groups found by then."


def cautions(done: Manifest, *, public: bool) -> list[str]:
    """List what a reader must know before relying on the release."""
    found = []
    if done.k == 1:
        found.append("k = 1 protects nobody.")
    elif done.promise == Promise.BLOCKWISE:
        found.append("The guarantee holds within blocks of columns only, not for the whole table.")
    elif done.promise == Promise.PROBABILISTIC:
        found.append(
            "The guarantee holds on average only: combinations may stand for fewer than k."
        )
    elif done.promise in (Promise.NOTHING, Promise.HYBRID):
        found.append("k-anonymity is not guaranteed.")
    if done.promise.is_verified and _may_repeat_people(done):
        found.append(
            "k counts records. These stand for k people only if nobody has more than one, and no "
            "column says whom a record is about."
        )
    if done.weights is not None:
        found.append(
            f"Records have weights ({done.weights}): released means, the information loss and all "
            "figures of columns count a record as often as its weight says. Risk counts records; "
            "only the expected re-identifications are estimated for the population."
        )
    if public:
        return found
    if done.units is not None and (without := done.units.records_without):
        found.append(
            f"Records without a value of {short_name(done.units.column)!r} are not counted for k: "
            f"{small_count(without, done.k)}."
        )
    if lost := lost_columns(done):
        others = ", and possibly others" if may_have_lost_others(done) else ""
        found.append(
            "Released values are no closer to the true ones than an overall average: "
            f"{listed(lost)}{others}. {WHY_LOST}"
        )
    if ended := ended_early(done):
        found.append(ended)
    if assumed := done.assumed_quasi_identifiers:
        were = "was" if len(assumed) == 1 else "were"
        found.append(
            f"{counted(len(assumed), 'column')} had no role and {were} "
            f"protected to be safe: {listed(assumed)}."
        )
    if done.key is not None:
        found.append(f"Column {done.key} contains random keys instead of an identifier.")
    if done.plan.shuffle:
        found.append("The records are in random order, not in that of the original.")
    return found
