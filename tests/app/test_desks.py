"""The desks of tabs: reloaded, duplicated, closed, and many of them."""

import pytest

from microagg.app import desks as desks_
from microagg.app.desk import PROTECT
from microagg.app.desks import Desks
from microagg.app.page import progress
from microagg.app.workspace import Workspace
from tests.app.table import ROLES, JobsAtOnce, do, write_people


@pytest.fixture
def desks(tmp_path):
    with Workspace(tmp_path / "cache", tmp_path / "state") as workspace:
        found = Desks(workspace, str(write_people(tmp_path)))
        found.jobs = JobsAtOnce(workspace)
        yield found


def protecting(desks, tab):
    """Return the desk of a tab whose run is under way."""
    _, desk = desks.take(tab)
    desk.follow()
    for column, role in ROLES.items():
        do(desk, "set_role", column=column, value=role)
    do(desk, "set_method", value="mdav")
    desks.jobs.waiting = (PROTECT,)
    do(desk, "run")
    return desk


def test_a_reloaded_tab_has_its_desk(desks):
    name, desk = desks.take("a")
    desks.leave("a", desk)
    assert desks.take("a") == (name, desk)


def test_a_duplicated_tab_has_a_name_and_a_desk_of_its_own(desks):
    _, desk = desks.take("a")
    desk.follow()
    name, copy = desks.take("a")
    copy.follow()
    assert (name, copy) != ("a", desk)
    assert copy.described is not None, "the table is shown"
    do(copy, "set_option", keyword="k", value="7", id="option-k")
    desks.leave(name, copy)
    assert desks.take(name) == (name, copy)
    assert desk.state.plan.k == 5


def test_a_run_that_ended_after_its_page_was_closed_is_offered(desks):
    desk = protecting(desks, "a")
    assert desks.abandoned() is None
    desks.leave("a", desk)
    job = desks.abandoned()
    desks.jobs.waiting = ()
    found = desks.jobs.start(PROTECT, job.request)
    job.status, job.found = found.status, found.found
    assert desks.abandoned() is job, "it has a result that nobody has seen"
    _, other = desks.take("b")
    desks.hand_over(job.id, other)
    other.follow()
    assert other.protected is not None
    assert desks.abandoned() is None
    desks.leave("b", other)
    assert desks.abandoned() is job, "it was seen, but not written"


def released(desks, tab):
    """Return the desk of a tab whose run has ended with a release."""
    desk = protecting(desks, tab)
    run, desks.jobs.waiting = desk.runs[PROTECT], ()
    found = desks.jobs.start(PROTECT, run.job.request)
    run.job.status, run.job.found, run.job.id = found.status, found.found, found.id
    desk.follow()
    assert desk.protected is not None
    return desk


def test_a_release_that_was_not_written_is_offered_and_keeps_the_app_alive(desks, tmp_path):
    assert not desks.is_busy()
    desk = released(desks, "a")
    assert desks.workspace.is_busy()
    do(desk, "set_target", value=str(tmp_path / "safe.csv"), id="target")
    assert desks.abandoned() is None
    desks.leave("a", desk)
    _, other = desks.take("b")
    desks.hand_over(desks.abandoned().id, other)
    other.follow()
    assert other.protected is not None
    assert other.state.now == desk.state.now, "with where it goes"
    assert desks.abandoned() is None
    do(other, "save")
    assert (tmp_path / "safe.csv").exists()
    assert not desks.is_busy()
    desks.leave("b", other)
    assert desks.abandoned() is None, "it was written"


def test_a_release_that_nobody_wants_is_discarded(desks):
    desk = released(desks, "a")
    desks.leave("a", desk)
    job = desks.abandoned()
    _, other = desks.take("b")
    assert "Discard it" in str(progress(desks, other))
    desks.discard("job-of-somebody")
    assert desks.abandoned() is job
    desks.discard(job.id)
    assert job in desks.jobs.discarded
    assert desks.abandoned() is None
    assert not desks.is_busy()


def test_pages_closed_long_ago_are_forgotten_with_their_files(desks, monkeypatch):
    monkeypatch.setattr(desks_, "_MOST_DESKS", 2)
    _, first = desks.take("a")
    first.follow()
    _, second = desks.take("b")
    desks.leave("a", first)
    desks.take("c")
    assert desks.jobs.discarded, "what its jobs had found"
    assert desks.take("a")[1] is not first
    desks.leave("b", second)
    assert desks.take("b")[1] is second, "a page that was open stays"
