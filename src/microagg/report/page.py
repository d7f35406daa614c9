"""The report: one HTML page that a data steward can read, print and sign.

It is made from aggregates only, by the rules of `microagg.report.summaries`; no record's values are
in it. The public version, for publishing with the data, reveals nothing about the original values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from microagg.core.progress import report
from microagg.core.words import (
    counted,
    counted_units,
    percent,
    short_name,
    with_blanks,
    without_controls,
)
from microagg.measures.wording import FigureRow
from microagg.plans.manifest import Manifest
from microagg.plans.required import left_out
from microagg.report import plots
from microagg.report.bars import Bars
from microagg.report.categories import categories_of
from microagg.report.contents import Subject, contents_of
from microagg.report.correlations import Correlations, most_notable
from microagg.report.plan_text import names_values, plan_text
from microagg.report.rounding import is_zero, with_minus
from microagg.report.steps import Steps
from microagg.report.summaries import (
    FLOOR,
    ColumnSummary,
    Histogram,
    counted_share,
)
from microagg.report.wording import (
    correlation_change,
    listed,
    small_count,
)
from microagg.tables.columns import TYPE_WORDS
from microagg.tables.pairs import PairedColumn

HEATMAP_COLUMNS = 30
NOTABLE_PAIRS = 12


@dataclass(frozen=True)
class Card:
    """A column on the page: its figure as SVG, its lines and its notes."""

    summary: ColumnSummary
    kind: str
    svg: Markup | None


@dataclass(frozen=True)
class Listed:
    """A column in the table of roles."""

    name: str
    role: str
    kind: str
    released: str
    missing_before: str
    missing_after: str


def render(subject: Subject) -> str:
    """Return the page; the same subject gives the same text.

    Time O(n d log n + n d^2) for n records in d columns, and a tenth of a second for every figure.
    """
    done, public, shown = subject.manifest, subject.public, contents_of(subject)
    lost, relations = shown.lost, shown.relations
    cards = list(_cards(shown.summaries, subject))
    whole, steps = subject.whole, Steps.of(subject.least, subject.pair.n_records)
    facts = {
        "title": _title(subject),
        "public": public,
        "done": done,
        "least": subject.least,
        "summary": shown.summary,
        "verdict": shown.verdict,
        "required": shown.required,
        "unit": "" if done.units is None else short_name(done.units.column),
        "least_units": ""
        if done.units is None
        else counted_units(max(done.k, FLOOR), done.units.column),
        "why_no_loss": lost.why_not,
        "loss": shown.loss,
        "loss_share": shown.loss_share,
        "loss_step": percent(lost.step),
        "bound_share": shown.bound_share,
        "loss_sentences": shown.loss_sentences,
        "is_grouping_shown": lost.of_groups,
        "n_withheld": len(lost.without),
        "withheld": listed(lost.without) if lost.without else "",
        "cards": cards,
        "relations": relations,
        "relation_figure": _relation_figure(relations),
        "is_heatmap": relations is not None and len(relations.names) <= HEATMAP_COLUMNS,
        "notable": most_notable(relations, NOTABLE_PAIRS) if relations else [],
        "categories": categories_of(
            subject.pair, subject.safe, done, subject.least, public=public, whole=whole
        ),
        "sample": "" if whole is None else str(whole.sample),
        "is_loss_sampled": lost.from_sample,
        "sizes_figure": _sizes_figure(done),
        "is_countable": not subject.safe.uncountable if whole is None else whole.is_countable,
        "share_step": percent(100.0 * steps.size),
        "distance_step": f"{steps.size:.3g}",
        "risk_rows": _rows(subject.risk_rows, public=public),
        "utility_rows": _rows(subject.utility_rows, public=public),
        "constraints": _constraints(subject),
        "missing": _missing(subject),
        "strata": _strata(subject),
        "columns": list(_columns(subject)),
        "n_naming": len(done.dropped) - len(left_out(done)),
        "n_left_out": len(left_out(done)),
        "cautions": shown.cautions,
        "shared_values": subject.shared_values if len(subject.shared_values) > 1 else (),
        "weights": "" if subject.pair.weights is None else short_name(done.weights or "weights"),
        "plan": plan_text(done.plan, public=public),
        "command": "" if public or names_values(done.plan) else done.command,
        "versions": _versions(done, public=public),
    }
    return without_controls(_template().render(facts))


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "changed": correlation_change,
        "counted": counted,
        "signed": _signed,
        "visible": with_blanks,
    }
    text = files("microagg.report").joinpath("page.html").read_text(encoding="utf-8")
    return environment.from_string(text)


def _title(subject: Subject) -> str:
    if subject.name:
        return subject.name
    file = subject.manifest.input.file
    return "A protected table" if subject.public or not file else file


def _cards(summaries: Sequence[ColumnSummary], subject: Subject) -> Iterator[Card]:
    sides = "released" if subject.public else "before and after"
    strata = subject.manifest.strata
    for place, summary in enumerate(summaries):
        report("figures", place, len(summaries))
        svg = None
        if isinstance(summary.figure, Histogram):
            label = f"Histogram of {summary.name}, {sides}"
            svg = plots.histogram(summary.figure, label, f"column-{place}")
        elif isinstance(summary.figure, Bars):
            label = f"Shares of the categories of {summary.name}, {sides}"
            svg = plots.bars(summary.figure, label, f"column-{place}")
        kind = "stratum" if summary.name in strata else TYPE_WORDS[summary.type]
        yield Card(summary, kind, None if svg is None else Markup(svg))


def _relation_figure(found: Correlations | None) -> Markup | None:
    if found is None:
        return None
    if len(found.names) <= HEATMAP_COLUMNS:
        return Markup(plots.heatmap(found, "Correlations of the columns", "correlations"))
    if found.before is None:
        return None
    return Markup(plots.changes(found, "Correlations before and after", "correlations"))


def _sizes_figure(done: Manifest) -> Markup:
    label = f"Number of groups of each size, from {done.min_group} to {done.max_group}"
    return Markup(plots.group_sizes(done.group_sizes, done.k, label, "sizes"))


def _rows(rows: tuple[FigureRow, ...], *, public: bool) -> list[FigureRow]:
    return [row for row in rows if row.public or not public]


def _constraints(subject: Subject) -> list[tuple[str, str]]:
    """Return each constraint, and how many records violated it before, if that may be shown."""
    found = subject.manifest.constraints
    if not found:
        return []
    return [
        (text, "" if subject.public else small_count(count, subject.least))
        for text, count in found.records_in_violation.items()
    ]


def _missing(subject: Subject) -> str:
    """Describe how missing values were treated."""
    found = subject.manifest.missing_values
    if not found:
        return "" if subject.public else "No value of a protected column was missing."
    left = sum(found.after.values())
    if subject.public:
        return "Values are missing in the released table." if left else ""
    ways = {
        "impute": "Missing values were replaced by the aggregate of their group.",
        "value": "“Missing” was treated as a value, released for a whole group or not at all.",
    }
    columns = counted(len(found.before), "protected column")
    now = "some are" if left else "none are"
    return (
        f"{ways.get(found.treatment, '')} Values were missing in {columns}; {now} in the release."
    )


def _strata(subject: Subject) -> str:
    found = subject.manifest.strata_found
    if not found:
        return ""
    strata = "1 stratum" if found.count == 1 else f"{found.count:,} strata"
    said = (
        f"Records were grouped within {strata} by {listed(found.columns)}; the smallest holds "
        f"{counted(found.smallest, 'record')}."
    )
    if found.merged and not subject.public:
        said += f" Small strata merged with others: {found.merged:,}."
    return said


def _columns(subject: Subject) -> Iterator[Listed]:
    """Describe how each column was treated; a public report leaves out those that were removed."""
    done, n = subject.manifest, subject.pair.n_in_all
    assumed, strata = done.assumed_quasi_identifiers, done.strata
    for name, column in subject.pair.columns.items():
        role = (
            "protected (no role given)" if name in assumed and not subject.public else "protected"
        )
        how = done.columns[name].aggregate if name in done.columns else ""
        n_missing = (column.before.n_missing, column.after.n_missing)
        if subject.whole is not None:
            n_missing = subject.whole.columns[name].n_missing
        yield Listed(
            name,
            "stratum" if name in strata else role,
            TYPE_WORDS[column.type],
            _stratum(subject, column) if name in strata else _released(how, done, column),
            "" if subject.public else counted_share(n_missing[0], n, subject.least),
            counted_share(n_missing[1], n, subject.least),
        )
    for name in done.unchanged:
        yield Listed(name, _role_unchanged(done, name), "", "unchanged", "", "")
    if done.key is not None:
        yield Listed(done.key, "random key", "", "a random key", "", "")
    for name in done.dropped:
        if name == done.unit:  # the guarantee names it
            yield Listed(name, "unit: k counts its values", "", "nothing", "", "")
        elif not subject.public:
            role = "left out" if name in left_out(done) else "removed"
            yield Listed(name, role, "", "nothing", "", "")


def _role_unchanged(done: Manifest, name: str) -> str:
    """Return why a column is published unchanged."""
    if name == done.weights:
        return "weight"
    return "sensitive" if name in done.sensitive else "published, not sensitive"


def _stratum(subject: Subject, column: PairedColumn) -> str:
    """Describe how a column of strata was treated; in public by what the plan allows."""
    if subject.public:
        merged = subject.manifest.plan.small_strata == "merge"
        return "unchanged, except for merged strata" if merged else "unchanged"
    if subject.whole is not None:
        found = subject.manifest.strata_found
        is_merged = found is not None and found.merged > 0
        return "unchanged, except for merged strata" if is_merged else "unchanged"
    if not (count := column.n_changed):
        return "unchanged"
    return f"unchanged, except for merged strata ({small_count(count, subject.least)})"


def _released(aggregate: str, done: Manifest, column: PairedColumn) -> str:
    if done.hybrid is not None:
        return "a synthetic value"
    chosen = done.categories
    if (
        column.type.is_categorical
        and chosen is not None
        and (
            chosen.margins is not None
            or (chosen.valid_combinations and done.new_combinations is not None)
        )
    ):
        return "value of one record of the group"
    return f"{_plain_aggregate(aggregate)} of the group"


def _plain_aggregate(aggregate: str) -> str:
    words = {"lower median": "median", "lower_median": "median", "mode": "most frequent value"}
    return words.get(aggregate, aggregate or "value")


def _versions(done: Manifest, *, public: bool) -> str:
    own = f"microagg {done.microagg_version}"
    if public:
        return own
    return ", ".join([own, *(f"{name} {number}" for name, number in done.libraries.items())])


def _signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign.

    >>> _signed(-0.031), _signed(0.2), _signed(0.001)
    ('−0.03', '+0.20', '0.00')
    """
    text = f"{value:+.{digits}f}"
    return text[1:] if is_zero(text) else with_minus(text)
