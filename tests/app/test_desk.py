"""What is done on a page: it changes the plan, starts jobs, or is refused in place."""

from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

import microagg
from microagg.app.actions import ACTIONS, drop
from microagg.app.answers import Saved, VerifyAnswer
from microagg.app.desk import SAVE, VERIFY
from microagg.app.page import code
from microagg.app.steps import roles
from tests.app.table import do, new_desk, open_people, with_roles, write_people


@pytest.fixture
def desk(tmp_path):
    return open_people(tmp_path)


@pytest.fixture
def ready(tmp_path):
    return with_roles(tmp_path)


def refusal(desk, place):
    found = desk.state.view.refusals.get(place)
    return "" if found is None else found.message


def test_a_file_is_described(desk):
    found = desk.described
    assert found.n_records == 40
    assert {own.name: own.role for own in found.columns}["name"] == "identifier"
    assert not desk.state.plan.columns, "nothing is chosen by opening a file"


def test_a_bad_file_leaves_everything_as_it_was(desk, tmp_path):
    do(desk, "set_role", column="name", value="identifier")
    before = desk.state.now
    do(desk, "open", {"path": str(tmp_path / "gone.csv")}, place="path")
    assert desk.state.now == before
    assert "does not exist" in refusal(desk, "path")
    assert desk.state.view.refusals["path"].text.endswith("gone.csv")


def test_a_page_that_says_that_a_file_was_dropped_moves_no_other(desk, tmp_path):
    (tmp_path / "others.csv").write_text("a\n1\n")
    assert "drop" not in ACTIONS, "the page does not do this by a word"
    for files in ([{"datapath": str(tmp_path / "others.csv"), "name": "x.csv"}], "x", [1]):
        desk.act({"drop": drop}, {"do": "drop", "place": "path", "files": files})
        assert refusal(desk, "path")
    assert (tmp_path / "others.csv").exists()
    (desk.workspace.dropped / "0.csv").write_bytes((tmp_path / "people.csv").read_bytes())
    files = [{"datapath": str(desk.workspace.dropped / "0.csv"), "name": "dropped.csv"}]
    desk.act({"drop": drop}, {"do": "drop", "place": "path", "files": files})
    desk.follow()
    assert desk.described.name == "dropped.csv"


def test_another_file_begins_a_plan_and_undo_brings_the_former_back(desk, tmp_path):
    do(desk, "set_role", column="name", value="identifier")
    (tmp_path / "other").mkdir()
    path = write_people(tmp_path / "other")
    do(desk, "open", {"path": str(path)}, place="path")
    assert desk.state.now.source.path == str(path)
    assert not desk.state.plan.columns
    do(desk, "undo")
    assert desk.state.now.source.path == str(tmp_path / "people.csv")
    assert desk.state.plan.columns["name"].role == "identifier"
    assert desk.jobs.tasks().count("describe") == 2, "both descriptions are known"


def test_markers_of_missing_values_have_the_file_read_again(tmp_path):
    desk = open_people(tmp_path, size=["S", "?", "L", "M"] * 10)
    do(desk, "set_option", keyword="na", value="?", id="option-na")
    missing = {own.name: own.missing for own in desk.described.columns}
    assert missing["size"] == 10
    assert desk.state.plan.na == ("?",)


def test_proposals_are_accepted_one_by_one_and_all(desk):
    do(desk, "accept", column="name")
    assert desk.state.plan.columns["name"].role == "identifier"
    do(desk, "accept_all")
    assert set(desk.state.plan.columns) == {own.name for own in desk.described.columns}
    do(desk, "undo")
    assert set(desk.state.plan.columns) == {"name"}
    do(desk, "redo")
    assert len(desk.state.plan.columns) == 7


def test_several_columns_get_a_role_at_once(desk):
    do(desk, "filter", value="open")
    do(desk, "search", value="T")
    do(desk, "select_shown")
    assert desk.state.view.selected == {"tax", "town"}
    do(desk, "select", column="tax", value=False)
    do(desk, "bulk_role", value="stratum")
    assert desk.state.plan.columns_as("stratum") == ("town",)
    assert not desk.state.view.selected


def test_a_refused_role_says_why_and_changes_nothing(ready):
    before = ready.state.now
    do(ready, "bulk_role", value="weight", place="bulk-role")
    do(ready, "set_role", column="income", value="weight", id="role-income")
    do(ready, "set_role", column="tax", value="weight", id="role-tax")
    assert "only one column can contain weights" in refusal(ready, "role-tax")
    assert ready.state.plan.columns_as("weight") == ("income",)
    do(ready, "undo")
    assert ready.state.now == before
    assert not ready.state.view.refusals


@pytest.mark.parametrize(
    ("keyword", "entered", "words"),
    [
        ("k", "0", "k must be"),
        ("k", "five", "k must be"),
        ("time_budget", "soon", "time_budget must be"),
        ("random_state", "-1", "--seed must be"),
        ("effort", "best", "is for 'auto'"),
        ("method_options", "leftover", "NAME=VALUE"),
        ("blocks", "name", "blocks consist of quasi-identifiers"),
    ],
)
def test_a_refused_option_stays_in_its_field_with_the_reason(ready, keyword, entered, words):
    before = ready.state.now
    do(ready, "set_option", keyword=keyword, value=entered, id=f"option-{keyword}")
    assert words in refusal(ready, f"option-{keyword}")
    assert ready.state.view.refusals[f"option-{keyword}"].text == entered
    assert ready.state.now == before
    do(ready, "set_option", keyword="k", value="4", id=f"option-{keyword}")
    assert not ready.state.view.refusals, "another entry there takes the reason away"


@pytest.mark.parametrize(
    ("keyword", "entered", "where"),
    [
        ("k", "1e2", "k (step Protect)"),
        ("random_state", "-50", "Seed (step Protect, under More options)"),
        ("blocks", "name", "Blocks (step Roles)"),
    ],
)
def test_nothing_runs_while_an_option_is_refused(ready, keyword, entered, where):
    do(ready, "set_option", keyword=keyword, value=entered, id=f"option-{keyword}")
    do(ready, "run", id="protect")
    assert where in refusal(ready, "protect")
    do(ready, "compare")
    assert where in refusal(ready, "compare")
    assert not {"protect", "compare"} & set(ready.jobs.tasks())


def test_nothing_runs_while_an_entry_about_a_column_is_refused(tmp_path):
    ready = with_roles(tmp_path, waiting=("protect",))
    do(ready, "set_column_option", column="income", keyword="weight", value="heavy")
    do(ready, "add_constraint", {"new-constraint": "tax <="}, place="new-constraint")
    do(ready, "run", id="protect")
    assert "Weight of income (step Roles), the new constraint (step Roles)" in refusal(
        ready, "protect"
    )
    do(ready, "set_role", column="income", value="drop", id="role-income")
    do(ready, "add_constraint", {"new-constraint": "tax <= 9999"}, place="new-constraint")
    do(ready, "run", id="protect")
    assert not ready.state.view.refusals, "a column that is dropped has no weight"


def test_a_box_that_was_refused_goes_back_and_blocks_nothing(tmp_path):
    ready = with_roles(tmp_path, waiting=("protect",))
    do(ready, "set_option", keyword="hybrid", value=True, id="option-hybrid")
    do(ready, "set_option", keyword="strict_k", value=True, id="option-strict_k")
    assert refusal(ready, "option-strict_k")
    do(ready, "run", id="protect")
    assert ready.is_running("protect")


def test_nothing_entered_for_k_says_what_to_enter(ready):
    do(ready, "set_option", keyword="k", value="", id="option-k")
    assert refusal(ready, "option-k") == "enter k, a whole number of at least 1."
    do(ready, "set_ks", value=" ", id="ks")
    assert refusal(ready, "ks") == "enter values of k, such as 3, 5, 10."


def test_values_of_k_that_were_refused_are_not_compared(ready):
    do(ready, "set_ks", value="3, x", id="ks")
    do(ready, "compare")
    assert "values of k were refused" in refusal(ready, "compare")


def test_what_was_refused_goes_with_its_table_its_plan_and_its_text(ready, tmp_path):
    kept = tmp_path / "plan.toml"
    ready.state.plan.save(kept)
    (tmp_path / "other").mkdir()
    other = write_people(tmp_path / "other")
    for action, fields in (
        ("open", {"path": str(other)}),
        ("load_plan", {"plan-path": str(kept)}),
        ("close_source", {}),
    ):
        do(ready, "set_option", keyword="k", value="1e2", id="option-k")
        assert refusal(ready, "option-k")
        do(ready, action, fields)
        assert not ready.state.view.refusals, action
    do(ready, "open", {"path": str(other)})
    do(ready, "add_constraint", {"new-constraint": "tax <="}, place="new-constraint")
    assert 'data-emptied="forget_refusal"' in str(roles.view(ready))
    do(ready, "forget_refusal", place="new-constraint", id="new-constraint")
    assert not ready.state.view.refusals


def test_options_of_a_column(ready):
    given = {"column": "illness", "keyword": "l_diversity", "id": "column-l_diversity"}
    do(ready, "set_column_option", **given, value="2")
    assert ready.state.plan.columns["illness"].l_diversity == 2
    do(ready, "set_column_option", **given, value="many")
    assert refusal(ready, "column-l_diversity-illness")
    assert ready.state.plan.columns["illness"].l_diversity == 2
    do(ready, "set_column_option", **given, value="")
    assert ready.state.plan.columns["illness"].l_diversity is None


def test_categories_are_ordered_by_moving_dragging_and_typing(ready):
    shown = ready.described.columns[4].categories
    assert set(shown) == {"S", "M", "L"}
    do(ready, "take_order", column="size")
    assert ready.state.plan.columns["size"].order == shown
    do(ready, "move_category", column="size", **{"from": "2", "to": "0"})
    assert ready.state.plan.columns["size"].order == (shown[2], shown[0], shown[1])
    do(ready, "set_order", column="size", value="S, M, L")
    assert ready.state.plan.columns["size"].order == ("S", "M", "L")
    do(ready, "clear_order", column="size")
    assert ready.state.plan.columns["size"].order is None


def test_constraints_are_counted_as_they_are_added(ready):
    do(ready, "add_constraint", {"new-constraint": "tax <= income"}, place="new-constraint")
    assert ready.violations.counts == {"tax <= income": 0}
    do(ready, "add_constraint", text="tax <= 120", place="new-constraint")
    assert ready.violations.counts["tax <= 120"] == 33
    do(ready, "add_constraint", {"new-constraint": "tax <= incom"}, place="new-constraint")
    assert "no column 'incom'" in refusal(ready, "new-constraint")
    assert ready.state.view.refusals["new-constraint"].text == "tax <= incom"
    do(ready, "remove_constraint", text="tax <= 120", place="new-constraint")
    assert [own.text for own in ready.state.plan.constraints] == ["tax <= income"]
    started = ready.jobs.tasks().count("violations")
    do(ready, "set_option", keyword="k", value="3")
    assert ready.jobs.tasks().count("violations") == started, "k does not change them"


def test_records_with_gaps_are_not_counted_as_violations(tmp_path):
    desk = with_roles(tmp_path, tax=[None] * 10 + [5, 9] * 15)
    do(desk, "add_constraint", text="tax <= 8", place="new-constraint")
    do(desk, "add_constraint", text="tax <= income", place="new-constraint")
    for missing, words in (("error", "choose impute"), ("value", "choose impute"), ("impute", "")):
        do(desk, "set_option", keyword="missing", value=missing, id="option-missing")
        shown = str(roles.view(desk))
        assert not desk.violations.errors
        assert "15 records violate it" in shown
        assert "all 30 records without gaps satisfy it" in shown
        assert f"10 records have gaps{f': {words}' if words else ', which are filled in'}" in shown


def test_a_method_leaves_the_options_of_another_behind(desk):
    do(desk, "set_option", keyword="effort", value="best")
    do(desk, "set_method", value="mdav")
    assert desk.state.plan.method == "mdav"
    assert "effort" in desk.said
    do(desk, "set_method", value="tclose-first", id="method")
    assert "t_closeness" in refusal(desk, "method")
    assert desk.state.plan.method == "mdav"


def test_requirements_come_and_go(ready):
    fields = {"requirement": "l_diversity|illness", "requirement-value": "2"}
    do(ready, "add_requirement", fields, place="requirement-value")
    assert ready.state.plan.columns["illness"].l_diversity == 2
    do(ready, "add_requirement", {**fields, "requirement-value": ""}, place="requirement-value")
    assert "enter a value" in refusal(ready, "requirement-value")
    do(ready, "remove_requirement", column="illness", keyword="l_diversity")
    assert ready.state.plan.columns["illness"].l_diversity is None


def test_another_name_is_not_about_what_was_refused_for_the_former(ready, tmp_path):
    do(ready, "run")
    do(ready, "set_target", value=str(tmp_path / "none" / "a.csv"), id="target")
    do(ready, "save")
    assert "does not exist" in refusal(ready, "save")
    do(ready, "set_target", value=str(tmp_path / "a.json"), id="target")
    assert "must end in" in refusal(ready, "target")
    assert not refusal(ready, "save")


@pytest.mark.parametrize("task", ["run", "compare"])
def test_text_without_a_role_stops_the_run(desk, task):
    place = {"run": "protect"}.get(task, task)
    do(desk, task, id=place)
    assert "no role" in refusal(desk, place)
    assert place not in desk.jobs.tasks()


def test_a_release_belongs_to_its_choices(ready):
    do(ready, "run")
    assert ready.protected.manifest["k"] == 5
    do(ready, "set_option", keyword="k", value="4")
    assert ready.protected is None
    assert ready.has_other_release
    do(ready, "undo")
    assert ready.protected.manifest["k"] == 5
    assert ready.jobs.tasks().count("protect") == 1


def test_a_failed_run_says_why_where_it_was_started(tmp_path):
    desk = with_roles(tmp_path, tax=[None] + [5] * 39)
    do(desk, "run")
    assert "missing" in refusal(desk, "protect")
    do(desk, "set_option", keyword="missing", value="impute")
    do(desk, "run")
    assert desk.protected is not None
    assert not refusal(desk, "protect")


def test_a_run_is_stopped_cancelled_and_replaced(tmp_path):
    desk = with_roles(tmp_path, waiting=("protect",))
    do(desk, "run")
    job = desk.runs["protect"].job
    assert desk.status("protect").loss == 2.5
    do(desk, "stop", task="protect")
    assert job.ended == ["stop"]
    do(desk, "run")
    assert desk.jobs.discarded == [job]
    do(desk, "cancel", task="protect")
    assert desk.runs["protect"].job.ended == ["cancel"]


def test_a_run_is_found_by_another_page(tmp_path):
    desk = with_roles(tmp_path, waiting=("protect",))
    do(desk, "run")
    job = desk.runs["protect"].job
    other = new_desk(tmp_path / "other")
    other.take_over(job, desk.give_away(job))
    assert other.runs["protect"].job is job
    assert "describe" in other.runs
    other.follow()
    assert other.state.plan == desk.state.plan
    assert other.described is not None


def test_the_release_is_written_and_verified(ready, tmp_path):
    do(ready, "run")
    target = tmp_path / "safe.csv"
    do(ready, "set_target", value=str(target), id="target")
    do(ready, "set_output", output="public_report", value=True)
    do(ready, "save")
    written = {own.what for own in ready.last(SAVE, Saved).files}
    assert written == {"table", "manifest", "report", "public report"}
    assert target.exists()
    do(ready, "save")
    assert ready.state.view.asking == "overwrite", "nothing is replaced without asking"
    before = target.stat().st_mtime_ns
    do(ready, "dismiss")
    assert target.stat().st_mtime_ns == before
    do(ready, "save")
    do(ready, "save_anyway")
    assert not ready.state.view.refusals
    do(ready, "verify", {"verify-path": str(target)})
    assert ready.last(VERIFY, VerifyAnswer).satisfied
    do(ready, "verify", {"verify-path": str(target), "verify-k": "30"})
    assert not ready.last(VERIFY, VerifyAnswer).satisfied
    do(ready, "verify", {"verify-path": ""}, id="verify")
    assert "enter the path" in refusal(ready, "verify")


def test_a_name_that_cannot_be_written_is_refused_where_it_was_entered(ready, tmp_path):
    do(ready, "run")
    do(ready, "set_target", value=str(tmp_path / "safe.sas7bdat"), id="target")
    assert "SAS files cannot be written" in refusal(ready, "target")
    do(ready, "save")
    assert refusal(ready, "save") == "the name of the file was refused: choose another above."


def test_only_files_are_switched_on_and_off(ready):
    before = ready.state.now.outputs
    do(ready, "set_output", output="target", value=True)
    assert ready.state.now.outputs == before


def test_an_audit_needs_a_second_word(ready):
    do(ready, "set_output", output="audit", value=True)
    assert not ready.state.now.outputs.audit
    assert ready.state.view.asking == "audit"
    do(ready, "confirm_audit")
    assert ready.state.now.outputs.audit
    assert not ready.state.view.asking


def test_a_plan_is_saved_and_loaded(ready, tmp_path):
    path = str(tmp_path / "plan.toml")
    do(ready, "save_plan", {"plan-path": path}, place="plan-path")
    kept = ready.state.plan
    do(ready, "save_plan", {"plan-path": path}, place="plan-path")
    assert ready.state.view.asking == "overwrite-plan"
    do(ready, "save_plan_anyway", {"plan-path": path}, place="plan-path")
    do(ready, "set_option", keyword="k", value="7")
    do(ready, "load_plan", {"plan-path": path}, place="plan-path")
    assert ready.state.plan == kept
    (tmp_path / "plan.toml").write_text('k = 5\n[columns]\nagee = { role = "drop" }\n')
    do(ready, "load_plan", {"plan-path": path}, place="plan-path")
    assert "no column 'agee'" in refusal(ready, "plan-path")
    assert ready.state.plan == kept


def test_methods_are_compared_and_one_is_adopted(ready):
    do(ready, "set_ks", value="3-4")
    for method in ("auto", "tsp-mhm", "kmeans"):
        do(ready, "set_methods", method=method, value=False)
    do(ready, "compare")
    assert {(row["method"], row["k"]) for row in ready.compared.rows} == {("mdav", 3), ("mdav", 4)}
    do(ready, "adopt", method="mdav", k="3")
    assert ready.state.plan.k == 3
    do(ready, "set_ks", value="many", id="ks")
    assert "-k takes whole numbers" in refusal(ready, "ks")
    do(ready, "set_methods", method="mdav", value=False, id="methods")
    assert "at least one method" in refusal(ready, "methods")


@pytest.mark.parametrize("effort", ["", "fast"])
def test_a_comparison_stays_when_one_of_its_choices_is_adopted(tmp_path, effort):
    desk = with_roles(tmp_path, waiting=("compare",))
    do(desk, "set_method", value="auto")
    do(desk, "set_option", keyword="effort", value=effort)
    asked = desk.state.now.compare_request
    assert asked.plan.get("effort", "") == effort
    for method in ("mdav", "kmeans", "auto"):
        do(desk, "adopt", method=method, k="3")
        assert (desk.state.plan.method, desk.state.plan.k) == (method, 3)
        assert desk.state.now.compare_request == asked
        desk.look(step="explore")
        assert ("--effort" in code(desk).get_html_string()) == bool(effort)
    do(desk, "set_option", keyword="effort", value="best")
    assert desk.state.now.compare_request.plan["effort"] == "best", "it was chosen since"


def test_a_comparison_is_of_the_options_of_a_method(tmp_path):
    desk = with_roles(tmp_path, waiting=("compare",))
    do(desk, "set_method", value="fcm")
    do(desk, "set_option", keyword="strict_k", value=True)
    asked = desk.state.now.compare_request
    assert asked.plan["method"] == "fcm"
    do(desk, "adopt", method="mdav", k="3")
    assert desk.state.now.compare_request == asked
    do(desk, "set_role", column="tax", value="drop")
    assert desk.state.now.compare_request != asked


def test_samples_are_opened_and_released_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    desk = new_desk(tmp_path)
    do(desk, "open_sample", sample="visits", place="path")
    assert desk.described.n_records == 1200
    assert desk.state.now.outputs.target == str(tmp_path / "visits-protected.csv")
    assert not desk.workspace.recent(), "they are gone when the app ends"
    assert "private copy" in str(code(desk)), "its command will find no file then"
    do(desk, "open", {"path": str(write_people(tmp_path))}, place="path")
    assert "private copy" not in str(code(desk))


def test_recent_files_are_opened_and_forgotten(desk):
    (recent,) = desk.workspace.recent()
    do(desk, "close_source")
    assert desk.described is None
    do(desk, "open_path", path=str(recent), place="path")
    assert desk.described is not None
    do(desk, "forget_recent")
    assert not desk.workspace.recent()


def test_a_file_is_read_again_as_it_is_said_to_be_written(tmp_path):
    desk = new_desk(tmp_path)
    path = tmp_path / "odd.csv"
    path.write_text("a|b\n" + "1|x\n2|y\n3|x\n" * 5)
    do(desk, "open", {"path": str(path)}, place="path")
    do(desk, "reopen", {"delimiter": "|"}, place="path")
    assert [own.name for own in desk.described.columns] == ["a", "b"]
    assert desk.state.now.source.delimiter == "|"


def test_a_workbook_of_several_sheets_is_opened_once_one_is_named(desk, tmp_path):
    path = tmp_path / "two.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("Read me", "Data 2024"):
            pl.DataFrame({"age": [20, 30, 40], "firm": [1, 2, 3]}).write_excel(book, name)
    before = desk.state.now
    do(desk, "open", {"path": str(path)}, place="path")
    assert "Name one" in desk.state.view.refusals["path"].message
    assert desk.state.now == before
    do(desk, "reopen", {"sheet": "Data 2023"}, place="path")
    assert "Data 2023" in desk.state.view.refusals["path"].message
    do(desk, "reopen", {"sheet": "Data 2024"}, place="path")
    assert not desk.state.view.refusals
    assert (desk.described.name, desk.state.now.source.sheet) == ("two.xlsx", "Data 2024")


def test_what_a_page_cannot_ask_does_nothing(desk):
    before = desk.state
    do(desk, "format_disk")
    desk.act({}, {})
    assert desk.state == before


LONG_NAME = "a" * 300


@pytest.mark.parametrize("path", ["~nobody-of-this-name/a.csv", "/tmp/a\0b.csv"])
def test_a_path_that_cannot_be_is_refused(ready, path):
    do(ready, "open", {"path": path}, place="path")
    assert "is not the path of a file" in refusal(ready, "path")
    do(ready, "set_target", value=path, id="target")
    assert "is not the path of a file" in refusal(ready, "target")
    do(ready, "save_plan", {"plan-path": path}, place="plan-path")
    assert "is not the path of a file" in refusal(ready, "plan-path")
    do(ready, "verify", {"verify-path": path})
    assert "is not the path of a file" in refusal(ready, "verify")


def test_a_name_that_is_too_long_is_refused(ready, tmp_path):
    do(ready, "run")
    do(ready, "set_target", value=str(tmp_path / f"{LONG_NAME}.csv"), id="target")
    do(ready, "save")
    assert "too long" in refusal(ready, "save")
    do(ready, "save_plan", {"plan-path": str(tmp_path / LONG_NAME)}, place="plan-path")
    assert "too long" in refusal(ready, "plan-path")


def test_what_nobody_expected_is_a_sentence_without_the_errors_words(desk, capsys):
    def fail(_desk, _given):
        raise KeyError("Sentinella")

    desk.act({"fail": fail}, {"do": "fail", "id": "fail"})
    assert "unexpected KeyError" in refusal(desk, "fail")
    assert "Sentinella" not in refusal(desk, "fail")
    assert "Sentinella" in capsys.readouterr().err


def test_a_file_that_has_changed_is_read_again(ready, tmp_path):
    do(ready, "run")
    assert ready.protected is not None
    made = ready.release_job
    write_people(tmp_path, age=[30] * 39 + [None])
    do(ready, "open", {"path": ready.state.now.source.path}, place="path")
    (age,) = (own for own in ready.described.columns if own.name == "age")
    assert age.missing == 1
    assert ready.protected is None, "a release of the former table is no longer offered"
    assert made in [job.id for job in ready.jobs.discarded]
    assert ready.state.plan.columns["town"].role == "stratum"


def test_what_is_chosen_while_a_file_is_read_again_stays(ready):
    at_once, ready.jobs.waiting = ready.jobs.waiting, ("describe",)
    do(ready, "set_option", keyword="na", value="?", id="option-na")
    do(ready, "set_option", keyword="k", value="7", id="option-k")
    do(ready, "set_option", keyword="dates", value="eu", id="option-dates")
    do(ready, "set_role", column="town", value="drop")
    assert not ready.state.plan.na, "not before the file was read"
    waiting = ready.runs["describe"]
    ready.jobs.waiting = at_once
    found = ready.jobs.start("describe", waiting.job.request)
    waiting.job.status, waiting.job.found = found.status, found.found
    ready.follow()
    plan = ready.state.plan
    assert (plan.k, plan.na, plan.columns["town"].role) == (7, ("?",), "drop")
    assert plan.dates == "eu"
    assert ready.described is not None


def test_a_file_that_was_not_waited_for_does_not_come_back(desk, tmp_path):
    first = desk.state.now.source.path
    desk.jobs.waiting = ("describe",)
    (tmp_path / "other.csv").write_text("a\n1\n2\n")
    do(desk, "open", {"path": str(tmp_path / "other.csv")}, place="path")
    do(desk, "open", {"path": first}, place="path")
    assert not desk.runs
    assert desk.state.now.source.path == first


def test_a_plan_never_replaces_the_table(ready):
    path = ready.state.now.source.path
    before = Path(path).read_bytes()
    for action in ("save_plan", "save_plan_anyway"):
        do(ready, action, {"plan-path": path}, place="plan-path")
        assert "is the input itself" in refusal(ready, "plan-path")
    assert Path(path).read_bytes() == before


def test_a_yes_is_for_the_file_that_was_asked_about(ready, tmp_path):
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    for path in (one, other):
        path.write_text("kept")
    do(ready, "save_plan", {"plan-path": str(one)}, place="plan-path")
    do(ready, "save_plan_anyway", {"plan-path": str(other)}, place="plan-path")
    assert other.read_text() == "kept"
    assert ready.state.view.about == (str(other),), "it asks again"
    do(ready, "save_plan_anyway", {"plan-path": str(other)}, place="plan-path")
    assert other.read_text() != "kept"


def test_files_that_appear_after_the_question_are_asked_about(ready, tmp_path):
    do(ready, "run")
    target = tmp_path / "safe.csv"
    do(ready, "set_target", value=str(target), id="target")
    target.write_text("kept")
    do(ready, "save")
    report = tmp_path / "safe-report.html"
    report.write_text("kept")
    do(ready, "save_anyway")
    assert (target.read_text(), report.read_text()) == ("kept", "kept")
    do(ready, "save_anyway")
    assert report.read_text() != "kept"


def test_cancel_ends_the_task_that_was_shown_and_no_other(tmp_path):
    desk = with_roles(tmp_path, waiting=("protect",))
    do(desk, "run")
    do(desk, "cancel", task="verify")
    assert desk.runs["protect"].job.ended == []


def test_a_saved_plan_holds_the_seed_of_the_release(ready, tmp_path):
    do(ready, "set_method", value="auto")
    do(ready, "set_option", keyword="effort", value="fast")
    do(ready, "run")
    drawn = ready.protected.manifest["random_state"]
    assert ready.state.plan.random_state is None, "what was drawn is no choice"
    do(ready, "save_plan", {"plan-path": str(tmp_path / "plan.toml")}, place="plan-path")
    assert microagg.Plan.read(tmp_path / "plan.toml").random_state == drawn
    ready.look(step="release")
    assert f"--seed {drawn}" in str(code(ready))


def test_a_plan_without_a_release_holds_no_seed(ready, tmp_path):
    do(ready, "save_plan", {"plan-path": str(tmp_path / "plan.toml")}, place="plan-path")
    assert microagg.Plan.read(tmp_path / "plan.toml").random_state is None


def test_a_refusal_on_another_step_says_where_it_is(desk):
    desk.look(step="roles")
    do(desk, "set_option", keyword="na", value="40", id="option-na")
    assert desk.said == ""
    Path(desk.state.now.source.path).write_text("a,b\n1,2\n3\n")
    do(desk, "set_option", keyword="na", value="41", id="option-na")
    assert "option-na" in desk.state.view.refusals
    assert desk.said == "Refused: the reason is in the step Data."
    desk.look(step="data")
    do(desk, "set_option", keyword="na", value="42", id="option-na")
    assert desk.said == "", "it stands here"


def test_the_table_itself_is_no_place_for_the_release(ready):
    source = ready.state.now.source.path
    do(ready, "set_target", value=source, id="target")
    assert "table itself" in refusal(ready, "target")
    do(ready, "set_target", value=source.replace("people", "other"), id="target")
    assert refusal(ready, "target") == ""
    do(ready, "set_target", value=source.replace(".csv", ".pdf"), id="target")
    assert "outputs must end in" in refusal(ready, "target")
