"""What tasks are asked and what they answer, as JSON between two processes.

A task of `microagg.app.tasks` gets a request and returns an answer; the page shows answers and
nothing else of a table. No answer contains a record's values: figures are those of the report.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """A frozen message without unknown keys; `model_dump(mode="json")` is what is sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceAnswer(Message):
    """A file, and how it is written where that was said: what every request begins with."""

    path: str
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    max_expanded: str | None = None

    @property
    def dialect(self) -> dict[str, Any]:
        """What was said of how it is written."""
        said = self.model_dump(exclude={"path"})
        return {name: value for name, value in said.items() if value is not None}


class DescribeRequest(Message):
    """Task `describe`: open a file, and draft what its columns are."""

    source: SourceAnswer
    na: tuple[str, ...] = ()
    dates: str | None = None


class Column(Message):
    """A column of a file: what it is taken for, and the role that is proposed."""

    name: str
    type: str | None  # None: unknown, or the column cannot be aggregated
    why: str  # why it is taken for this type; empty if its storage says so
    missing: int
    distinct: int
    is_text: bool  # stops the run without a role
    role: str
    reason: str  # why this role is proposed
    # The categories of at least three people, if it has at most 50, and how many are rarer.
    categories: tuple[str | int | float | bool, ...] = ()
    n_rare: int = 0


class Proposal(Message):
    """A constraint that all records satisfy, or nearly all."""

    text: str
    comment: str


class Described(Message):
    """A file as the steps show it."""

    name: str
    format: str
    n_bytes: int
    n_records: int
    columns: tuple[Column, ...]
    proposals: tuple[Proposal, ...] = ()
    dialect: dict[str, str] = {}  # as detected, for people: {"delimiter": ";", "encoding": ...}
    labelled: tuple[str, ...] = ()  # columns whose values have labels
    people: tuple[str, ...] = ()  # identifiers that repeat: categories are counted by their values
    warnings: tuple[str, ...] = ()


class CategoriesRequest(Message):
    """Task `categories`: which categories of columns enough units share."""

    source: SourceAnswer
    na: tuple[str, ...] = ()
    unit: str
    columns: tuple[str, ...]


class Categories(Message):
    """The categories of each column that enough units share."""

    shared: dict[str, tuple[str | int | float | bool, ...]]
    warnings: tuple[str, ...] = ()


class ProtectRequest(Message):
    """Task `protect`: make a release, keep it in the job's folder, and measure it."""

    source: SourceAnswer
    plan: dict[str, Any]  # Plan.as_dict()


class Line(Message):
    """A figure of a column, before and after, as text."""

    name: str
    before: str
    after: str


class Histogram(Message):
    """`microagg.report.summaries.Histogram` with lists."""

    places: tuple[float, ...]
    outer: tuple[float, float]
    before: tuple[float, ...] | None
    after: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]
    is_logarithmic: bool = False


class Bars(Message):
    """`microagg.report.bars.Bars` with lists."""

    names: tuple[str, ...]
    before: tuple[float, ...] | None
    after: tuple[float, ...]


class ColumnFigures(Message):
    """What the report shows of one column."""

    name: str
    kind: str  # for people: "whole number", "category", "stratum"
    note: str = ""
    lines: tuple[Line, ...] = ()
    histogram: Histogram | None = None
    bars: Bars | None = None


class Correlations(Message):
    """Matrices of correlations, None where there is none."""

    names: tuple[str, ...]
    before: tuple[tuple[float | None, ...], ...]
    after: tuple[tuple[float | None, ...], ...]
    mean_change: float | None = None
    largest_change: float | None = None


class Figure(Message):
    """A measure in plain words: `microagg.measures.wording.FigureRow`."""

    measure: str
    figure: str
    meaning: str


class Protected(Message):
    """A release as Explore shows it; it lies in the job's folder for `save`."""

    manifest: dict[str, Any]
    title: str  # one sentence: what was done
    verdict: str  # what was verified
    required: tuple[tuple[str, str], ...] = ()  # each requirement, and its worst figure
    loss: str  # as the report words it: "at most 3.2 %", "not known"
    loss_share: float | None  # in per cent, for the bar
    bound_share: float | None
    loss_sentences: tuple[str, ...] = ()
    least: int  # least number of records behind every figure
    steps: tuple[str, str, str] = ("", "", "")  # of losses, shares and distances: rounded up to
    columns: tuple[ColumnFigures, ...] = ()
    correlations: Correlations | None = None
    risk: tuple[Figure, ...] = ()
    utility: tuple[Figure, ...] = ()
    group_sizes: dict[str, int] = {}
    ended: str = ""  # that the search was ended early, if it was
    cautions: tuple[str, ...] = ()  # what else a reader must know
    warnings: tuple[str, ...] = ()  # of the run
    command: str = ""


class CompareRequest(Message):
    """Task `compare`: what each method would lose at each k."""

    source: SourceAnswer
    plan: dict[str, Any]
    ks: tuple[int, ...]
    methods: tuple[str, ...]


class Compared(Message):
    """The rows of `microagg.compare` (`Comparison.as_dicts()`), its notes and failures."""

    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    seed: int | None = None
    warnings: tuple[str, ...] = ()


class SaveRequest(Message):
    """Task `save`: write the release of a finished `protect` job."""

    job: str
    target: str
    report: str | None = None
    public_report: str | None = None
    audit: str | None = None
    escape_formulas: bool = False
    force: bool = False


class Written(Message):
    """A file that was written."""

    what: str  # "table", "manifest", "report", "public report", "audit"
    path: str


class Saved(Message):
    """What was written."""

    files: tuple[Written, ...]
    warnings: tuple[str, ...] = ()


class VerifyRequest(Message):
    """Task `verify`: whether a file keeps what its manifest, a plan or k asks for."""

    source: SourceAnswer
    k: int | None = None
    plan: dict[str, Any] | None = None
    sensitive: tuple[str, ...] = ()
    original: str | None = None
    audit: str | None = None
    opened: SourceAnswer | None = None  # the open table: the original, if the manifest names it


class VerifyAnswer(Message):
    """What `microagg verify` says."""

    satisfied: bool
    title: str
    facts: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


class ViolationsRequest(Message):
    """Task `violations`: how many records violate each constraint of a plan."""

    source: SourceAnswer
    plan: dict[str, Any]


class ViolationsAnswer(Message):
    """Records in violation by the text of the constraint."""

    counts: dict[str, int]
    gaps: dict[str, int] = {}  # records that lack a value of its columns, which are not counted
    errors: dict[str, str] = {}  # why a constraint could not be counted
    warnings: tuple[str, ...] = ()
