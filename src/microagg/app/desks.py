"""The desks of all pages, and the runs of pages that were closed."""

import secrets

from microagg.app.actions import ACTIONS
from microagg.app.desk import PROTECT, Desk
from microagg.app.jobs import Job, Jobs
from microagg.app.state import Choices
from microagg.app.workspace import Workspace

_MOST_DESKS = 50


class Desks:
    """The desks of all pages, by the names of their tabs: a page that is reloaded has its own."""

    def __init__(self, workspace: Workspace, opened: str | None) -> None:
        self.workspace = workspace
        self.jobs = Jobs(workspace)
        self._opened = opened
        self._desks: dict[str, Desk] = {}
        self._in_use: set[str] = set()
        workspace.is_busy = self.is_busy

    def is_busy(self) -> bool:
        """Whether a job is under way, or a release has not been written: it would be lost."""
        desks = list(self._desks.values())  # another thread may open one meanwhile
        return self.jobs.is_busy() or any(own.unwritten is not None for own in desks)

    def take(self, tab: str) -> tuple[str, Desk]:
        """Return the desk of a tab, and the name that the tab has from now on.

        A tab that was duplicated comes with the name of the other: it gets a name of its own, and
        a copy of the other's choices.
        """
        known = self._desks.get(tab)
        if known is not None and tab not in self._in_use:
            self._in_use.add(tab)
            return tab, known
        desk = Desk(self.workspace, self.jobs)
        if known is not None:
            tab, desk.state = secrets.token_hex(16), known.state
            desk.ask_for_what_is_missing()
        else:
            self._open_first(desk)
        self._make_room()
        self._desks[tab] = desk
        self._in_use.add(tab)
        return tab, desk

    def _make_room(self) -> None:
        """Forget pages that were closed long ago, if there are many."""
        closed = [tab for tab, own in self._desks.items() if tab not in self._in_use]
        idle = [tab for tab in closed if not self._desks[tab].runs]
        idle.sort(key=lambda tab: self._desks[tab].unwritten is not None)  # these last
        for tab in idle[: max(0, len(self._desks) - _MOST_DESKS + 1)]:
            self._desks.pop(tab).close()

    def leave(self, tab: str, desk: Desk) -> None:
        """Note that a page was closed; its desk stays for when it is opened again."""
        if self._desks.get(tab) is desk:
            self._in_use.discard(tab)

    def _open_first(self, desk: Desk) -> None:
        """Open the file that was named at the start, once."""
        if self._opened is not None:
            path, self._opened = self._opened, None
            desk.act(ACTIONS, {"do": "open_path", "place": "path", "path": path, "value": path})

    def abandoned(self) -> Job | None:
        """Return the last run whose page was closed before its release was written."""
        runs = [own.runs[PROTECT].job for own in self._closed if PROTECT in own.runs]
        wanted = [job for job in runs if job.status().state not in ("failed", "cancelled")]
        wanted = wanted or [own.unwritten for own in self._closed if own.unwritten is not None]
        return wanted[-1] if wanted else None

    @property
    def _closed(self) -> list[Desk]:
        return [own for tab, own in self._desks.items() if tab not in self._in_use]

    def hand_over(self, name: str, desk: Desk) -> None:
        """Give a run whose page was closed, or its release, to another page."""
        if (found := self._taken_away(name)) is not None:
            desk.take_over(*found)

    def discard(self, name: str) -> None:
        """Remove a release whose page was closed."""
        if (found := self._taken_away(name)) is not None:
            self.jobs.discard(found[0])

    def _taken_away(self, name: str) -> tuple[Job, Choices] | None:
        job = self.abandoned()
        if job is None or job.id != name:  # somebody else has it by now
            return None
        (owner,) = (own for own in self._closed if own.has(job))
        return job, owner.give_away(job)
