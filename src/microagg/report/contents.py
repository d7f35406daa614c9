"""What a report says of a release, before it is laid out: sentences, figures and cautions.

It is made from aggregates only, by the rules of `microagg.report.summaries`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from microagg.core.words import percent
from microagg.measures.risk.wording import SharedValue, attribute_notes
from microagg.measures.wording import FigureRow
from microagg.plans.manifest import Manifest
from microagg.plans.required import Required
from microagg.report.correlations import Correlations, correlations_of
from microagg.report.loss import SafeLoss, safe_loss
from microagg.report.loss_words import loss_sentences
from microagg.report.rare import SafeColumns, safe_columns
from microagg.report.summaries import ColumnSummary, least_of, summary_of
from microagg.report.whole import WholeTable
from microagg.report.wording import Verdict, cautions, required, verdict, what_was_done
from microagg.tables.pairs import Pair


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report describes.

    `pair` has the records before and after, `manifest` is that of the release. `name` is the title,
    by default the name of the input file in an internal report. A `public` report contains only
    rows that are public; `shared_values` are cautions for both. If the records are a sample,
    `whole` is what is known of all of them.
    """

    pair: Pair
    manifest: Manifest
    risk_rows: tuple[FigureRow, ...] = ()
    utility_rows: tuple[FigureRow, ...] = ()
    shared_values: tuple[SharedValue, ...] = ()
    name: str | None = None
    public: bool = False
    whole: WholeTable | None = None

    @property
    def least(self) -> int:
        """Least number of records behind every figure."""
        if self.whole is not None:
            return self.whole.least
        return least_of(self.manifest.k, self.pair.units)

    @cached_property
    def safe(self) -> SafeColumns:
        """What may be shown of the columns."""
        return safe_columns(self.pair, self.least)


@dataclass(frozen=True, eq=False)
class Contents:
    """What a report says; `loss_share` and `bound_share` are in per cent of the variance."""

    summary: str
    verdict: Verdict
    required: tuple[Required, ...]
    lost: SafeLoss
    loss_sentences: tuple[str, ...]
    bound_share: float | None
    summaries: tuple[ColumnSummary, ...]
    relations: Correlations | None
    cautions: tuple[str, ...]

    @property
    def loss(self) -> str:
        """The information loss in words."""
        loss = self.lost.manifest.information_loss
        return "not known" if loss is None else f"at most {percent(loss)}"

    @property
    def loss_share(self) -> float:
        """The information loss, 0 if it is not known."""
        return min(100.0, self.lost.manifest.information_loss or 0.0)


def contents_of(subject: Subject) -> Contents:
    """Return what is said of a release; time O(n d log n + n d^2) for n records in d columns."""
    done, public, pair = subject.manifest, subject.public, subject.pair
    whole = subject.whole
    lost = safe_loss(pair, subject.safe, done, subject.least, public=public, whole=whole)
    columns = list(pair.columns.values())
    return Contents(
        what_was_done(done, len(done.quasi_identifiers)),
        verdict(done),
        tuple(required(done, public=public)),
        lost,
        tuple(
            loss_sentences(
                lost.manifest, public=public, without=lost.without, of_groups=lost.of_groups
            )
        ),
        _bound_share(lost),
        tuple(
            summary_of(
                column,
                subject.least,
                public=public,
                weights=pair.weights,
                whole=None if whole is None else whole.columns[column.name],
                n_records=done.n_records,
            )
            for column in columns
        ),
        correlations_of(columns, subject.least, public=public, weights=pair.weights),
        (*cautions(lost.measured, public=public), *_of_one_column(subject)),
    )


def _bound_share(lost: SafeLoss) -> float | None:
    """Return the bound, where it also bounds the loss of released values, and is not 0 as shown.

    In the same units, a value that a group shares loses at least what its mean does. Dates with a
    resolution are grouped in its units, and released as the days on which they begin. The bound is
    of all columns, so it says nothing of a loss without some of them.
    """
    done = lost.manifest
    if not lost.of_groups or lost.without or not done.lower_bound:
        return None
    same_units = done.scale == "standardise" and not done.missing_values
    same_units &= not done.plan.resolutions
    return done.lower_bound if same_units and done.hybrid is None else None


def _of_one_column(subject: Subject) -> Iterator[str]:
    """Word the caution on shared values, unless several columns make it a table."""
    if len(subject.shared_values) == 1:
        yield from attribute_notes(subject.shared_values)
