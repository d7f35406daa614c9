"""What was chosen, as frozen values: the file, the plan, the outputs; and the way back and forth.

A history keeps plans, never data: undoing a choice makes an earlier plan the current one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from microagg.app.answers import (
    Column,
    CompareRequest,
    Described,
    DescribeRequest,
    ProtectRequest,
    SourceAnswer,
)
from microagg.plans.agreement import METHOD_FIELDS
from microagg.plans.plan import Plan
from microagg.tables.roles import QUASI_IDENTIFIER

DATA, ROLES, PROTECT, EXPLORE, RELEASE = STEPS = ("data", "roles", "protect", "explore", "release")
_MOST_REMEMBERED = 200
# Options that belong to a method, and change with it.
_OF_METHODS = (*METHOD_FIELDS, "effort", "time_budget")
_NEED_THEIR_METHOD = tuple(name for name in METHOD_FIELDS if name != "method")


@dataclass(frozen=True)
class Study:
    """What is compared before choosing: values of k and methods."""

    ks: tuple[int, ...] = (3, 5, 10)
    methods: tuple[str, ...] = ("auto", "mdav", "tsp-mhm", "kmeans")
    # What a plan says of its method, as it was compared, and as it is since one was adopted.
    before: Mapping[str, Any] = field(default_factory=dict)
    adopted: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class OutputChoices:
    """Which files a release has; a name that is empty is made from that of the input."""

    target: str = ""
    report: bool = True
    public_report: bool = False
    audit: bool = False
    escape_formulas: bool = False


@dataclass(frozen=True)
class Choices:
    """Everything that was chosen, and that can be undone."""

    source: SourceAnswer | None = None
    plan: Plan = field(default_factory=lambda: Plan(k=5))
    study: Study = Study()
    outputs: OutputChoices = OutputChoices()

    def with_seed(self, seed: int | None) -> "Choices":
        """Return the choices with the seed that a run drew, unless one was chosen."""
        if seed is None or self.plan.random_state is not None:
            return self
        return replace(self, plan=self.plan.replace(random_state=seed))

    @property
    def describe_request(self) -> DescribeRequest:
        """What describes the file."""
        assert self.source is not None
        return DescribeRequest(source=self.source, na=self.plan.na, dates=self.plan.dates)

    @property
    def protect_request(self) -> ProtectRequest:
        """What makes the release."""
        assert self.source is not None
        return ProtectRequest(source=self.source, plan=self.plan.as_dict())

    @property
    def compare_request(self) -> CompareRequest:
        """What compares methods."""
        assert self.source is not None
        # What a comparison sets itself is left out, so that choosing another keeps it.
        asked = {**self.compared_plan.as_dict(), "k": self.study.ks[0]}
        if not any(name in asked for name in _NEED_THEIR_METHOD):
            asked.pop("method", None)
        return CompareRequest(
            source=self.source,
            plan=asked,
            ks=self.study.ks,
            methods=self.study.methods,
        )

    @property
    def compared_plan(self) -> Plan:
        """The plan that is compared: since a method was adopted, with what was said of the former.

        Otherwise a comparison would be of other choices as soon as one of it was chosen.
        """
        asked = self.plan.as_dict()
        if of_method(asked) != self.study.adopted:
            return self.plan
        rest = {name: value for name, value in asked.items() if name not in _OF_METHODS}
        return Plan.of(**rest, **self.study.before)

    def adopting(self, plan: Plan) -> "Choices":
        """Return the choices with a plan that was chosen from their comparison."""
        before = of_method(self.compared_plan.as_dict())
        study = replace(self.study, before=before, adopted=of_method(plan.as_dict()))
        return replace(self, plan=plan, study=study)


def of_method(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a plan says of its method."""
    return {name: value for name, value in asked.items() if name in _OF_METHODS}


@dataclass(frozen=True)
class History:
    """The current choices, those before, and those that were undone."""

    now: Choices = field(default_factory=Choices)
    past: tuple[Choices, ...] = ()
    future: tuple[Choices, ...] = ()

    def to(self, choices: Choices) -> "History":
        """Return the history with these choices; what was undone is forgotten."""
        if choices == self.now:
            return self
        return History(choices, (*self.past, self.now)[-_MOST_REMEMBERED:])

    def undo(self) -> "History":
        """Return the history one choice back, if there is one."""
        if not self.past:
            return self
        return History(self.past[-1], self.past[:-1], (self.now, *self.future))

    def redo(self) -> "History":
        """Return the history with the last undone choice made again, if there is one."""
        if not self.future:
            return self
        return History(self.future[0], (*self.past, self.now), self.future[1:])


@dataclass(frozen=True)
class Refusal:
    """What was entered somewhere and refused, and why: it stays there, to be corrected."""

    text: str
    message: str


@dataclass(frozen=True)
class View:
    """What is looked at; it is not part of what was chosen, and is not undone."""

    step: str = DATA
    search: str = ""
    shown: str = "all"  # or "open", or a role
    selected: frozenset[str] = frozenset()
    opened: str | None = None  # the column whose options are shown
    column: str | None = None  # the column whose figures are shown
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    asking: str = ""  # a question, such as whether to overwrite
    about: tuple[str, ...] = ()  # the files that it is about


@dataclass(frozen=True)
class State:
    """What one page shows: choices with their history, and what is looked at."""

    history: History = field(default_factory=History)
    view: View = View()

    @property
    def now(self) -> Choices:
        """The current choices."""
        return self.history.now

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self.now.plan

    def choose(self, **changes: Any) -> "State":
        """Return the state with other choices, which can be undone."""
        return replace(self, history=self.history.to(replace(self.now, **changes)))

    def look(self, **changes: Any) -> "State":
        """Return the state with something else to look at."""
        return replace(self, view=replace(self.view, **changes))

    def refuse(self, place: str, text: str, message: str) -> "State":
        """Return the state with a refusal at a place of the page."""
        return self.look(refusals={**self.view.refusals, place: Refusal(text, message)})

    def accept(self, *places: str) -> "State":
        """Return the state without the refusals at these places."""
        kept = {at: own for at, own in self.view.refusals.items() if at not in places}
        return self.look(refusals=kept)


def effective_role(plan: Plan, column: Column) -> str | None:
    """Return the role that a column has in a release; None for text that has none yet."""
    said = plan.columns.get(column.name)
    role = None if said is None else said.role_in_plan
    return role or (None if column.is_text else QUASI_IDENTIFIER)


def open_columns(plan: Plan, described: Described) -> tuple[str, ...]:
    """Return the columns of text without a role: they stop the run."""
    return tuple(own.name for own in described.columns if effective_role(plan, own) is None)


def undecided(plan: Plan, described: Described) -> tuple[Column, ...]:
    """Return the columns without a role of their own."""
    return tuple(own for own in described.columns if _role(plan, own.name) is None)


def _role(plan: Plan, name: str) -> str | None:
    return plan.columns[name].role if name in plan.columns else None
