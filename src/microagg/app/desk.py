"""What one page works with: its state, the jobs it started, and what they answered.

Nothing here knows how a page is shown or sent. An action of the page is a function in `ACTIONS` of
a step; what it raises as a `MicroaggError` is shown where it was caused, and changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from microagg.app.answers import (
    Categories,
    CategoriesRequest,
    Compared,
    Described,
    Protected,
    ProtectRequest,
    Saved,
    VerifyAnswer,
    ViolationsAnswer,
)
from microagg.app.background_requests import categories_request, violations_request, with_shared
from microagg.app.failures import sentence_about
from microagg.app.jobs import Job, Jobs, JobStatus
from microagg.app.paths import stamp_of
from microagg.app.state import DATA, EXPLORE, RELEASE, Choices, State
from microagg.app.workspace import Workspace
from microagg.core.errors import MicroaggError, ParameterError
from microagg.plans.plan import Plan

DESCRIBE, PROTECT, COMPARE = "describe", "protect", "compare"
SAVE, VERIFY = "save", "verify"
VIOLATIONS, CATEGORIES = "violations", "categories"
IN_PASSING = (VIOLATIONS, CATEGORIES)  # nobody has asked for them
_MODELS: Mapping[str, type[BaseModel]] = {
    DESCRIBE: Described,
    PROTECT: Protected,
    COMPARE: Compared,
    SAVE: Saved,
    VERIFY: VerifyAnswer,
    VIOLATIONS: ViolationsAnswer,
    CATEGORIES: Categories,
}
# Where the failure of a task is shown, unless another place is named.
_PLACES = {
    COMPARE: "compare",
    SAVE: "save",
    VERIFY: "verify",
    VIOLATIONS: "constraints",
    CATEGORIES: "categories",
}
# Where the reason stands if a task fails.
_STEPS = {DESCRIBE: DATA, PROTECT: PROTECT, COMPARE: EXPLORE, SAVE: RELEASE, VERIFY: RELEASE}
_KEPT_RELEASES = 8
Payload = Mapping[str, Any]
Action = Callable[["Desk", Payload], None]
Change = Callable[[Choices], Choices]
Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True)
class Run:
    """A job of this page: what it was asked, where its failure is shown, what it then changes."""

    job: Job
    key: str
    place: str
    text: str = ""
    change: Change | None = None


@dataclass(eq=False)
class Desk:
    """The state of one page and its jobs."""

    workspace: Workspace
    jobs: Jobs
    state: State = field(default_factory=State)
    runs: dict[str, Run] = field(default_factory=dict)
    said: str = ""  # what was done last, for a screen reader and the line below the steps

    def __post_init__(self) -> None:
        self._answers: dict[tuple[str, str], tuple[Job, BaseModel]] = {}
        self._ended: dict[str, JobStatus] = {}
        self._stamps: dict[str, tuple[int, int] | None] = {}  # of files, when they were read
        self._written: set[str] = set()  # the jobs whose releases were written

    def act(self, actions: Mapping[str, Action], message: Payload) -> None:
        """Do what the page asks for; what is refused stays at its place, with the reason."""
        action = actions.get(str(message.get("do", "")))
        if action is None:
            return
        place = str(message.get("place") or message.get("id") or message["do"])
        self.said = ""
        try:
            action(self, message)
            self.state = self.state.accept(place)
        except MicroaggError as error:
            self.state = self.state.refuse(place, _text(message, place), str(error))
        except Exception as error:  # the page lives on
            self.state = self.state.refuse(place, _text(message, place), sentence_about(error))
        self.ask_for_what_is_missing()

    def choose(self, **changes: Any) -> None:
        """Make other choices, which can be undone; failures of runs were about the former ones."""
        self.state = self.state.choose(**changes)
        for place in (PROTECT, COMPARE, SAVE):
            self.state = self.state.accept(place)

    def look(self, **changes: Any) -> None:
        """Look at something else."""
        self.state = self.state.look(**changes)

    def adopt(self, change: Change, place: str, text: str) -> None:
        """Change the file or how it is read, once it has been described.

        What is chosen in the meantime stays: the change is made to the choices at that time.
        """
        now = self.state.now
        if (earlier := self._give_up(DESCRIBE)) is not None and earlier.change is not None:
            first = earlier.change
            if _path(first(now)) == _path(now):  # of the same file, so both are wanted
                change = _both(first, change)
        choices = change(now)
        self._forget_if_changed(choices.describe_request.source.path)
        if (DESCRIBE, _key(choices.describe_request)) in self._answers:
            self._choose_all(choices)
            return
        self.start(DESCRIBE, choices.describe_request, place, text=text, change=change)

    def _give_up(self, task: str) -> Run | None:
        """End a task that this page has under way, and return what it was."""
        if (run := self.runs.pop(task, None)) is not None:
            self.jobs.discard(run.job)
        return run

    def _forget_if_changed(self, path: str) -> None:
        """Forget what is known of a file that was written since it was read."""
        stamp = stamp_of(path)
        if self._stamps.setdefault(path, stamp) == stamp:
            return
        self._stamps[path] = stamp
        for key, (job, _) in list(self._answers.items()):
            if job.request.get("source", {}).get("path") == path:
                del self._answers[key]
                self.jobs.discard(job)

    def start(self, task: str, request: BaseModel, place: str = "", **of_run: Any) -> None:
        """Start a task; one that this page has under way gives way."""
        self._give_up(task)
        job = self.jobs.start(task, request.model_dump(mode="json"))
        run = Run(job, _key(request), place or _PLACES.get(task, task), **of_run)
        self.runs[task] = run
        self._ended.pop(task, None)
        self.state = self.state.accept(run.place)

    def follow(self) -> bool:
        """Take up what jobs have answered since the last time; says whether anything has."""
        over = [task for task, run in self.runs.items() if run.job.status().is_over]
        for task in over:
            self._take_up(task, self.runs.pop(task))
        if over:
            self.ask_for_what_is_missing()
        return bool(over)

    def _take_up(self, task: str, run: Run) -> None:
        status = run.job.status()
        self._ended[task] = status
        if status.state not in ("finished", "stopped"):
            if status.state == "failed":
                self.state = self.state.refuse(run.place, run.text, status.message)
                self._say_where(task)
            else:
                self.said = "Cancelled. Nothing was kept."
            return
        try:
            found = _MODELS[task].model_validate(run.job.result())
        except MicroaggError as error:
            self.state = self.state.refuse(run.place, run.text, str(error))
            return
        self._answers.pop((task, run.key), None)  # the last one comes last
        self._answers[task, run.key] = run.job, found
        if task == SAVE:
            self._written.add(str(run.job.request["job"]))
        self.state = self.state.accept(run.place)
        if run.change is not None:
            self._make(run.change, run)
        if task == PROTECT:
            self._forget_early_releases()

    def _say_where(self, task: str) -> None:
        """Say where a reason stands, if somebody has gone on to another step meanwhile."""
        if task in _STEPS and self.state.view.step != _STEPS[task]:
            self.said = f"Refused: the reason is in the step {_STEPS[task].capitalize()}."

    def _make(self, change: Change, run: Run) -> None:
        """Make a change whose file has been described, unless another file is open by now."""
        try:
            choices = change(self.state.now)
        except MicroaggError as error:  # it does not agree with what was chosen meanwhile
            self.state = self.state.refuse(run.place, run.text, str(error))
            return
        if choices.source is not None and _key(choices.describe_request) == run.key:
            self._choose_all(choices)

    def _choose_all(self, choices: Choices) -> None:
        if _path(choices) != _path(self.state.now):
            self.look(refusals={})  # they were about the other table
        if choices.source is not None and choices.source != self.state.now.source:
            self.workspace.remember(Path(choices.source.path))
            self.look(search="", shown="all", selected=frozenset(), opened=None, column=None)
        self.choose(
            source=choices.source,
            plan=choices.plan,
            study=choices.study,
            outputs=choices.outputs,
        )

    def _forget_early_releases(self) -> None:
        """Keep the last few releases, for undo; the others take space."""
        kept = [key for key in self._answers if key[0] == PROTECT]
        for key in kept[:-_KEPT_RELEASES]:
            job, _ = self._answers.pop(key)
            self.jobs.discard(job)

    def ask_for_what_is_missing(self) -> None:
        """Describe a file that came back by undo, and count violations of constraints."""
        now = self.state.now
        if now.source is None:
            return
        if self.described is None:
            if DESCRIBE not in self.runs and not self._has_failed(DESCRIBE):
                self.start(DESCRIBE, now.describe_request, "path")
            return
        if now.plan.constraints and self.violations is None:
            self._start_in_background(VIOLATIONS, violations_request(now))
        wanted = self._categories_request
        if wanted is not None and self._found(CATEGORIES, wanted, Categories) is None:
            self._start_in_background(CATEGORIES, wanted)

    def _start_in_background(self, task: str, request: BaseModel) -> None:
        """Start what nobody has asked for, unless it is under way or has failed."""
        run = self.runs.get(task)
        if (run is None or run.key != _key(request)) and not self._has_failed(task):
            self.start(task, request)

    def _has_failed(self, task: str) -> bool:
        ended = self._ended.get(task)
        return (
            ended is not None
            and ended.state == "failed"
            and _PLACES.get(task, "path") in self.state.view.refusals
        )

    def status(self, task: str) -> JobStatus | None:
        """Return how far a task of this page is, if it is under way."""
        run = self.runs.get(task)
        return None if run is None else run.job.status()

    def is_running(self, task: str) -> bool:
        """Whether this page waits for a task."""
        return task in self.runs

    def stop(self, task: str) -> None:
        """Ask a task for the best so far."""
        if (run := self.runs.get(task)) is not None:
            run.job.stop()

    def cancel(self, task: str) -> None:
        """End a task; nothing of it is kept."""
        if (run := self.runs.get(task)) is not None:
            run.job.cancel()
            self.follow()

    @property
    def unwritten(self) -> Job | None:
        """The job of the last release, unless it has been written, or is about to be."""
        # Other threads ask as well.
        made = [job for (task, _), (job, _) in list(self._answers.items()) if task == PROTECT]
        if not made or made[-1].id in self._written:
            return None
        saving = self.runs.get(SAVE)
        if saving is not None and saving.job.request["job"] == made[-1].id:
            return None if saving.job.status().state not in ("failed", "cancelled") else made[-1]
        return made[-1]

    def has(self, job: Job) -> bool:
        """Whether a run or an answer is of this job."""
        every = [
            *(run.job for run in self.runs.values()),
            *(own for own, _ in self._answers.values()),
        ]
        return any(own is job for own in every)

    def give_away(self, job: Job) -> Choices:
        """Leave a run or its release to another page, and return the choices that made it."""
        asked = ProtectRequest.model_validate(job.request)
        self.runs = {task: run for task, run in self.runs.items() if run.job is not job}
        self._answers = {key: own for key, own in self._answers.items() if own[0] is not job}
        history = self.state.history
        for known in (history.now, *reversed(history.past), *history.future):
            if known.source is not None and known.protect_request == asked:
                return known
        return Choices(asked.source, Plan.of(**asked.plan))

    def take_over(self, job: Job, choices: Choices) -> None:
        """Show the run or the release of a page that was closed, with its choices."""
        asked = ProtectRequest.model_validate(job.request)
        self.adopt(lambda _: choices, "path", asked.source.path)
        self.runs[PROTECT] = Run(job, _key(asked), PROTECT)

    def close(self) -> None:
        """Remove what jobs of this page have answered; runs under way go on."""
        for job, _ in self._answers.values():
            self.jobs.discard(job)
        self._answers.clear()

    def _found(self, task: str, request: BaseModel, model: type[Answer]) -> Answer | None:
        found = self._answers.get((task, _key(request)))
        return found[1] if found is not None and isinstance(found[1], model) else None

    @property
    def described(self) -> Described | None:
        """The file that was chosen, if it has been described.

        Of its categories those are listed that enough units share, once a unit was chosen.
        """
        found, wanted = self._description, self._categories_request
        if found is None or wanted is None:
            return found
        return with_shared(found, self._found(CATEGORIES, wanted, Categories))

    @property
    def _description(self) -> Described | None:
        now = self.state.now
        return (
            None if now.source is None else self._found(DESCRIBE, now.describe_request, Described)
        )

    @property
    def _categories_request(self) -> CategoriesRequest | None:
        found = self._description
        return None if found is None else categories_request(self.state.now, found)

    @property
    def known(self) -> Described:
        """The file that was chosen; without one there is nothing to do."""
        if (found := self.described) is None:
            raise ParameterError("open a table first.")
        return found

    @property
    def protected(self) -> Protected | None:
        """The release that the current choices make, if it has been made."""
        now = self.state.now
        return None if now.source is None else self._found(PROTECT, now.protect_request, Protected)

    @property
    def replay(self) -> Choices:
        """The current choices with the seed that their release drew: they make it again."""
        made, now = self.protected, self.state.now
        return now if made is None else now.with_seed(made.manifest.get("random_state"))

    @property
    def replay_of_comparison(self) -> Choices:
        """The current choices with the seed that their comparison drew."""
        found, now = self.compared, self.state.now
        return now if found is None else now.with_seed(found.seed)

    @property
    def release_job(self) -> str | None:
        """The job that made the release of the current choices."""
        now = self.state.now
        if now.source is None:
            return None
        found = self._answers.get((PROTECT, _key(now.protect_request)))
        return None if found is None else found[0].id

    @property
    def has_other_release(self) -> bool:
        """Whether there is a release, but of other choices."""
        return self.protected is None and any(task == PROTECT for task, _ in self._answers)

    @property
    def compared(self) -> Compared | None:
        """What methods would lose, with the current choices."""
        now = self.state.now
        return None if now.source is None else self._found(COMPARE, now.compare_request, Compared)

    @property
    def violations(self) -> ViolationsAnswer | None:
        """How many records violate the constraints of the plan."""
        now = self.state.now
        if now.source is None:
            return None
        return self._found(VIOLATIONS, violations_request(now), ViolationsAnswer)

    def answer_to(self, task: str, request: BaseModel, model: type[Answer]) -> Answer | None:
        """Return the answer to a request, if it has come."""
        return self._found(task, request, model)

    def forget(self, task: str) -> None:
        """Forget the answers to a task."""
        self._answers = {key: own for key, own in self._answers.items() if key[0] != task}

    def last(self, task: str, model: type[Answer]) -> Answer | None:
        """Return the last answer to a task, whatever was asked."""
        of_task = [own for (name, _), (_, own) in self._answers.items() if name == task]
        return of_task[-1] if of_task and isinstance(of_task[-1], model) else None


def _both(first: Change, second: Change) -> Change:
    return lambda choices: second(first(choices))


def _path(choices: Choices) -> str | None:
    return None if choices.source is None else choices.source.path


def _key(request: BaseModel) -> str:
    return request.model_dump_json()


def _text(message: Payload, place: str) -> str:
    """Return what was entered at a place: in the field of that name, or the element itself."""
    fields = message.get("fields")
    value = fields.get(place, "") if isinstance(fields, Mapping) and fields else ""
    value = value or message.get("value", "")
    return value if isinstance(value, str) else ""
