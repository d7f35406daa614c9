"""Every element of every page has its server side, and every option of a plan has its control."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from htmltools import TagList

from microagg.app import page as page_
from microagg.app.actions import ACTIONS
from microagg.app.answers import Figure
from microagg.app.changes import COLUMN_OPTIONS, OPTIONS
from microagg.app.jobs import JobStatus
from microagg.app.page import _VIEWS, OUTPUTS, code, page, steps
from microagg.app.state import STEPS, State
from microagg.app.steps import explore as explore_step
from microagg.app.steps import protect as protect_step
from microagg.app.steps import release as release_step
from microagg.app.steps import roles as roles_step
from microagg.app.steps import running
from microagg.app.steps.column_options import key_of
from microagg.core.registry import METHODS
from microagg.plans.columns import ColumnPlan
from microagg.plans.plan import Plan
from tests.app.table import do, new_desk, open_people, with_roles, with_visits

FIELDS = {"input", "select", "textarea"}


class Elements(HTMLParser):
    """The elements of a page, with their attributes, and which of them have a label."""

    def __init__(self, html):
        super().__init__()
        self.found, self.labelled, self.inside = [], set(), 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.found.append((tag, given))
        if tag == "label":
            self.inside += 1
            self.labelled.add(given.get("for"))
        elif self.inside and tag in FIELDS:
            self.labelled.add(given.get("id"))

    def handle_endtag(self, tag):
        self.inside -= tag == "label"


def elements(desk, step):
    desk.look(step=step)
    return Elements(str(TagList(steps(desk), _VIEWS[step](desk), code(desk))))


@pytest.fixture(scope="module")
def desks(tmp_path_factory):
    """Desks in which every part of every step is shown at some time."""
    made = with_roles(tmp_path_factory.mktemp("made"))
    do(made, "add_constraint", text="tax <= income", place="new-constraint")
    do(made, "set_column_option", column="illness", keyword="l_diversity", value="2")
    do(made, "run")
    do(made, "set_methods", method="auto", value=False)
    do(made, "compare")
    do(made, "add_constraint", {"new-constraint": "tax <="}, place="new-constraint")
    do(made, "open_column", column="size")
    asking = with_roles(tmp_path_factory.mktemp("asking"))
    do(asking, "run")
    do(asking, "set_option", keyword="k", value="none", id="option-k")
    do(asking, "open_column", column="illness")
    do(asking, "take_order", column="size")
    do(asking, "open_column", column="size")
    do(asking, "select", column="age", value=True)
    running = with_roles(tmp_path_factory.mktemp("running"), waiting=("protect", "compare"))
    do(running, "run")
    fresh = new_desk(tmp_path_factory.mktemp("fresh"))
    described = open_people(tmp_path_factory.mktemp("described"))
    several = with_visits(tmp_path_factory.mktemp("several"))
    do(several, "run")
    repeats = with_visits(tmp_path_factory.mktemp("repeats"))
    do(repeats, "set_role", column="person", value="identifier")
    return [fresh, described, made, asking, running, several, repeats]


@pytest.fixture(scope="module")
def shown(desks):
    pages = [(desk, elements(desk, step)) for desk in desks for step in STEPS]
    for question in ("overwrite", "overwrite-plan", "audit"):
        desks[2].look(asking=question)
        pages.append((desks[2], elements(desks[2], "release")))
    desks[2].look(asking="")
    progress = page_.progress(_Desks(), desks[4])
    pages.append((desks[4], Elements(str(progress))))
    return [own for _, own in pages]


class _Desks:
    def abandoned(self):
        return None


@pytest.mark.slow
def test_whatever_is_done_has_a_function(shown):
    every = [given for own in shown for _, given in own.found]
    done = {given["data-do"] for given in every if "data-do" in given}
    dropped = {given["data-dropped"] for given in every if "data-dropped" in given}
    assert done | dropped <= ACTIONS.keys()
    emptied = {given["data-emptied"] for given in every if "data-emptied" in given}
    assert emptied <= ACTIONS.keys()
    unused = ACTIONS.keys() - done - dropped - emptied
    assert not unused, "every action can be reached"


def test_whatever_is_named_is_there(shown):
    for own in shown:
        ids = {given["id"] for _, given in own.found if "id" in given}
        for name in ("for", "data-enter", "data-copy"):
            named = {given[name] for _, given in own.found if name in given}
            assert named <= ids, name
        for _, given in own.found:
            described = set((given.get("aria-describedby") or "").split())
            assert described <= ids


def test_ids_are_unique(shown):
    for own in shown:
        ids = Counter(given["id"] for _, given in own.found if "id" in given)
        assert not [name for name, count in ids.items() if count > 1]


def test_every_field_has_a_label(shown):
    for own in shown:
        for tag, given in own.found:
            if tag in FIELDS and given.get("type") not in ("hidden",):
                assert given.get("aria-label") or given.get("id") in own.labelled, given


def test_nothing_runs_within_the_page(shown):
    outer = Elements(str(page()))
    for own in (*shown, outer):
        for tag, given in own.found:
            assert not [name for name in given if name.startswith("on")], "no handlers in the page"
            assert "style" not in given
            assert tag != "script" or given.get("src")


def test_one_primary_action_at_a_time(desks):
    for desk in desks[1:3]:
        for step in ("data", "roles", "protect", "release"):
            found = elements(desk, step).found
            kinds = [(g.get("id"), (g.get("class") or "").split()) for _, g in found]
            primary = [name for name, own in kinds if "primary" in own]
            assert len(primary) <= 2, (step, primary)


def test_every_view_is_sent():
    html = str(page())
    assert set(re.findall(r'id="(\w+)" class="view"', html)) == set(OUTPUTS)


def test_every_option_of_a_plan_has_a_control(tmp_path):
    """Whatever the method: some options have a meaning with some of them only."""
    desk = with_roles(tmp_path)
    controls = set()
    for method in ("auto", "fcm"):
        do(desk, "set_method", value=method)
        for step in STEPS:
            found = elements(desk, step).found
            controls |= {g["data-keyword"] for _, g in found if g.get("data-do") == "set_option"}
    assert controls | {"method", "constraints"} == OPTIONS.keys()
    assert {*OPTIONS, "columns"} == Plan.model_fields.keys()


def test_every_option_of_a_column_has_a_control(tmp_path):
    desk = with_roles(tmp_path, town=["2024-01-02", "2024-03-04"] * 20)
    do(desk, "set_role", column="town", value="quasi-identifier")
    controls = set()
    for column in ("age", "size", "town", "illness"):
        do(desk, "open_column", column=column)
        found = elements(desk, "roles").found
        controls |= {g["data-keyword"] for _, g in found if g.get("data-do") == "set_column_option"}
    assert controls | {"order"} == COLUMN_OPTIONS.keys()
    assert {*COLUMN_OPTIONS, "role"} == ColumnPlan.model_fields.keys()


def test_help_is_that_of_the_plan(desks):
    text = str(TagList(_VIEWS["protect"](desks[1])))
    for keyword in ("time_budget", "scale", "hybrid"):
        assert OPTIONS[keyword].help.replace("'", "&apos;") in text.replace("&#x27;", "&apos;")


def test_every_method_can_be_chosen(desks):
    found = elements(desks[1], "protect").found
    assert METHODS.keys() <= {given.get("value") for tag, given in found if tag == "option"}


def test_no_value_of_a_record_is_shown(desks):
    desk = desks[2]
    shown = "".join(str(TagList(_VIEWS[step](desk))) for step in STEPS)
    assert "person 7" not in shown
    assert "2443" not in shown, "the largest income"


def test_odd_names_are_shown_as_they_are(tmp_path):
    odd = '<b onclick="x">net & "pay"</b>'
    desk = open_people(tmp_path, **{odd: list(range(40)), "x" * 300: list(range(40))})
    for step in STEPS:
        own = elements(desk, step)
        assert not [given for tag, given in own.found if "onclick" in given]
    roles = elements(desk, "roles")
    assert odd in {given.get("data-column") for _, given in roles.found}


def test_keys_of_names_are_unique_and_plain():
    names = ["a b", "a_b", "a_20b", "ä", "a", "A", "", " ", "a.b"]
    keys = [key_of(name) for name in names]
    assert len(set(keys)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_]*", key) for key in keys)


def test_what_k_means(tmp_path):
    desk = with_roles(tmp_path)
    found = desk.described
    words = " ".join(protect_step.meaning_of_k(desk.state, found))
    assert "5 to 8 groups" in words
    assert "1 time in 5 (20 %)" in words
    do(desk, "set_option", keyword="k", value="41")
    assert "40 at most" in " ".join(protect_step.meaning_of_k(desk.state, found))
    several = with_visits(tmp_path)
    do(several, "set_option", keyword="k", value="41")
    assert protect_step.meaning_of_k(several.state, several.described) == [
        "person has 10 different values: k can be 10 at most."
    ], "people are fewer than records"


def test_a_weaker_promise_is_named(tmp_path):
    desk = with_roles(tmp_path)
    do(desk, "set_option", keyword="hybrid", value=True)
    assert "not k-anonymous" in " ".join(protect_step.meaning_of_k(desk.state, desk.described))
    do(desk, "undo")
    do(desk, "set_method", value="fcm")
    assert "not guaranteed" in " ".join(protect_step.meaning_of_k(desk.state, desk.described))
    do(desk, "undo")
    do(desk, "set_option", keyword="blocks", value="age,income\ntax,size")
    assert "each block" in " ".join(protect_step.meaning_of_k(desk.state, desk.described))
    do(desk, "undo")
    do(desk, "set_role", column="name", value="unit")
    assert "different units ('name')" in protect_step.meaning_of_k(desk.state, desk.described)[0]


def test_k_above_the_number_of_units_is_noticed_before_the_run(tmp_path):
    desk = with_roles(tmp_path, name=[f"person {i % 9}" for i in range(40)])
    do(desk, "set_role", column="name", value="unit")
    do(desk, "set_option", keyword="k", value="10")
    words = " ".join(protect_step.meaning_of_k(desk.state, desk.described))
    assert words == "name has 9 different values: k can be 9 at most."


def test_a_role_that_is_taken_away_is_named_for_what_follows(tmp_path):
    page = str(roles_step.view(with_roles(tmp_path)))
    assert "none: sensitive" not in page
    assert "none: stratum" not in page


def test_the_path_stays_while_a_file_is_opened(tmp_path):
    desk = new_desk(tmp_path, waiting=("describe",))
    do(desk, "open", {"path": "/data/people.csv"}, place="path")
    assert 'value="/data/people.csv"' in str(_VIEWS["data"](desk))


def test_the_path_stays_while_a_file_is_read_again_for_an_option(tmp_path):
    desk = with_roles(tmp_path)
    desk.jobs.waiting = ("describe",)
    do(desk, "set_option", keyword="na", value="none", id="option-na")
    assert desk.is_running("describe")
    page = str(_VIEWS["data"](desk))
    assert f'value="{tmp_path / "people.csv"}"' in page


def test_groups_of_one_size_have_no_range(desks):
    made = desks[2].protected
    same = {**made.manifest, "n_groups": 100, "min_group": 3, "max_group": 3}
    page = str(explore_step._release(State(), made.model_copy(update={"manifest": same})))
    assert "100 of 3<" in page


def test_columns_that_block_the_way_are_counted_beyond_the_fifth(tmp_path):
    desk = open_people(tmp_path, **{f"place {i}": ["Ayr", "Bude"] * 20 for i in range(4)})
    assert "name, size, town, illness, place 0 and 3 more." in str(_VIEWS["roles"](desk))


@pytest.mark.slow
def test_two_hundred_columns_are_searched(tmp_path):
    desk = open_people(tmp_path, **{f"question {i}": [i] * 40 for i in range(200)})
    found = elements(desk, "roles").found
    rows = [g for t, g in found if t == "tr" and (g.get("id") or "").startswith("row-")]
    assert len(rows) == 60
    do(desk, "search", value="question 19")
    found = elements(desk, "roles").found
    rows = [g for t, g in found if t == "tr" and (g.get("id") or "").startswith("row-")]
    assert len(rows) == 11


def test_what_the_chosen_format_cannot_hold_is_said(tmp_path):
    desk = with_roles(tmp_path)
    found = desk.described.model_copy(update={"labelled": ("name", "size", "town")})
    kept = release_step._kept
    assert kept(desk.state, desk.described, "a.csv") == " Rows and columns keep their order."
    assert kept(desk.state, found, "a.csv").endswith(
        " CSV has no value labels: they are left out in size, town."
    ), "an identifier is not released"
    assert "Value labels are kept" in kept(desk.state, found, "a.dta")
    do(desk, "set_option", keyword="shuffle", value=True, id="option-shuffle")
    assert "order" not in kept(desk.state, found, "a.dta")


def test_every_task_that_was_asked_for_is_shown_and_can_be_ended(tmp_path):
    desk = with_roles(tmp_path, waiting=("protect", "compare"))
    do(desk, "run")
    do(desk, "compare")
    own = Elements(str(page_.progress(_Desks(), desk)))
    ids = [given["id"] for _, given in own.found if given.get("data-do")]
    assert ids == ["cancel-compare", "stop", "cancel-protect"]
    assert "Protecting the table" in str(page_.progress(_Desks(), desk))


def test_a_run_that_is_stopping_still_says_what_it_does():
    status = JobStatus("stopping", phase="measuring", done=1, total=4)
    shown = str(running.progress(status, "protect"))
    assert "stopping with the best so far · measuring · 25 %" in shown


def test_a_refused_requirement_is_explained_at_its_field(tmp_path):
    desk = with_roles(tmp_path)
    fields = {"requirement": "l_diversity|illness", "requirement-value": "some"}
    do(desk, "add_requirement", fields, place="requirement-value")
    own = elements(desk, "protect")
    field = next(given for _, given in own.found if given.get("id") == "requirement-value")
    assert field["aria-invalid"] == "true"
    assert "requirement-value-error" in field["aria-describedby"]
    assert [given.get("id") for _, given in own.found].count("requirement-value-error") == 1


def test_long_names_with_the_same_beginning_are_told_apart(tmp_path):
    question = "How satisfied are you, all things considered, with this service of your town?"
    services = ("[Roads]", "[Schools]")
    desk = open_people(tmp_path, **{f"{question} {own}": ["yes", "no"] * 20 for own in services})
    for step in ("data", "roles"):
        html = str(_VIEWS[step](desk))
        for own in services:
            assert re.search(
                rf'class="name[^>]*>How satisfied are you[^<]*…[^<]*{re.escape(own)}<', html
            )
    assert services[0] in roles_step.blocking(desk.state, desk.known)


@pytest.mark.parametrize(
    ("measure", "heading"),
    [("smallest group", "Smallest group"), ("pMSE", "pMSE"), ("DRisk(0.05)", "DRisk(0.05)")],
)
def test_figures_are_headed_by_their_own_names(measure, heading):
    figures = (Figure(measure=measure, figure="1", meaning="This is it."),)
    assert f"<h3>{heading}</h3>" in str(explore_step._figures("Risk", "", figures, "card-risk"))
