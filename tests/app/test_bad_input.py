"""What bad input gets in a browser: one sentence at its place; nothing that was chosen is lost."""

import polars as pl
import pytest

from tests.app.steward import Steward
from tests.app.test_way import SECRETS, write_people

pytestmark = pytest.mark.slow
ROLES = {"name": "identifier", "town": "quasi-identifier", "illness": "sensitive"}

FILES = {
    "none.csv": (None, "does not exist"),
    "folder.csv": ("folder", "folder"),
    "letter.docx": ("Dear Sentinella", "docx"),
    "empty.csv": ("", "empty"),
    "header.csv": ("a,b\n", "no records"),
    "ragged.csv": ("a,b\n1,2\n3\nSentinella,5,6\n", "fields"),
    "twice.csv": ("a,a\n1,2\n", "have the same name"),
    "binary.parquet": ("Sentinella", "parquet"),
}


@pytest.fixture(scope="module")
def opened(browser, app, tmp_path_factory):
    """A page with a table open and all roles chosen."""
    context = browser.new_context()
    steward = Steward.enter(context, app)
    folder = tmp_path_factory.mktemp("data")
    steward.open(write_people(folder / "people.csv"))
    steward.go("roles")
    for column, role in ROLES.items():
        steward.set_role(column, role)
    steward.page.wait_for_selector("#blocked", state="detached")
    steward.folder = folder
    yield steward
    context.close()


def refused(steward, expected):
    """Wait for a refusal with these words, and check how it is worded."""
    found = steward.page.locator(".error:visible", has_text=expected).first
    found.wait_for()
    text = found.inner_text()
    assert "Traceback" not in text
    assert not any(secret in text for secret in SECRETS)
    return text


def nothing_is_lost(steward):
    """The table that was open, and what was chosen, are still there."""
    steward.go("roles")
    for column, role in ROLES.items():
        chosen = steward.page.get_by_role("combobox", name=f"Role of {column}", exact=True)
        assert chosen.input_value() == role


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_one_sentence(opened, tmp_path, name):
    content, expected = FILES[name]
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content is not None:
        (tmp_path / name).write_text(content)
    opened.ask_for(tmp_path / name)
    refused(opened, expected)
    assert opened.page.input_value("#path") == str(tmp_path / name), "what was entered stays"
    nothing_is_lost(opened)


def test_how_a_file_is_written_is_asked_for_where_it_is_missing(opened, tmp_path):
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("code;height\n" + "1.0;1,5\n2.0;1,7\n" * 20)
    opened.ask_for(tmp_path / "none.csv")
    refused(opened, "does not exist")
    opened.page.locator("details:has(#decimal)").evaluate("folded => { folded.open = false }")
    opened.ask_for(mixed)
    refused(opened, "decimal mark")
    opened.see("#decimal")
    opened.ask_for(tmp_path / "none.csv")
    refused(opened, "does not exist")
    nothing_is_lost(opened)


OPTIONS = [("k", "0"), ("k", "2.5"), ("random_state", "-1"), ("random_state", "x")]
OPTIONS += [("time_budget", "-5")]


@pytest.mark.parametrize(("option", "value"), OPTIONS)
def test_a_bad_option_is_refused_where_it_was_entered(opened, option, value):
    opened.go("protect")
    opened.unfold(f"#option-{option}")
    before = opened.see(f"#option-{option}").input_value()
    opened.set_option(option, value)
    opened.page.locator(f"#option-{option}-error:visible").wait_for()
    opened.set_option(option, before)
    opened.page.locator(f"#option-{option}-error").wait_for(state="detached")
    nothing_is_lost(opened)


def test_k_above_the_number_of_records_is_refused_by_the_run(opened):
    opened.go("protect")
    opened.set_option("k", "301")
    opened.page.click("#run")
    refused(opened, "301")
    opened.set_option("k", "5")
    nothing_is_lost(opened)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("age >", "age >"), ("wage >= 3", "wage"), ("age = age", "age"), ("town >= 3", "town")],
)
def test_a_bad_constraint_says_why(opened, text, expected):
    opened.go("roles")
    opened.page.fill("#new-constraint", text)
    opened.page.click("#add-constraint")
    refused(opened, expected)
    remove = opened.page.locator("[id^=remove-constraint-]")
    if remove.count():
        remove.first.click()
        remove.first.wait_for(state="detached")
    nothing_is_lost(opened)


def test_a_count_of_violations_is_shown(opened):
    opened.go("roles")
    opened.page.fill("#new-constraint", "age >= 30")
    opened.page.click("#add-constraint")
    people = pl.read_csv(opened.folder / "people.csv")
    young = people.filter(pl.col("age") < 30).height
    opened.page.locator("#card-constraints", has_text=f"{young}").wait_for()
    opened.page.click("#remove-constraint-0")
    opened.page.locator("#remove-constraint-0").wait_for(state="detached")


def test_missing_values_are_refused_and_can_be_treated(opened, tmp_path):
    rows = [f"{i % 9 + 20},{'' if i % 7 == 0 else i * 31}" for i in range(60)]
    (tmp_path / "holes.csv").write_text("age,income\n" + "\n".join(rows) + "\n")
    opened.open(tmp_path / "holes.csv")
    opened.go("protect")
    opened.set_option("effort", "fast")
    opened.page.click("#run")
    refused(opened, "missing")
    opened.go("roles")
    opened.set_option("missing", "impute")
    opened.run()
    opened.has_release()
    opened.open(opened.folder / "people.csv")


def test_a_repeating_identifier_asks_whose_records_these_are(opened, tmp_path):
    rows = [f"P{i // 3:03d},{i % 9 + 20},{i * 31}" for i in range(90)]
    (tmp_path / "visits.csv").write_text("patient,age,income\n" + "\n".join(rows) + "\n")
    opened.open(tmp_path / "visits.csv")
    opened.go("roles")
    opened.set_role("patient", "identifier")
    opened.go("protect")
    opened.set_option("effort", "fast")
    opened.page.click("#run")
    refused(opened, "patient")
    opened.go("roles")
    opened.set_role("patient", "unit")
    opened.run()
    opened.has_release()


def test_bad_targets_and_plans_are_refused(opened, tmp_path):
    opened.open(write_people(tmp_path / "citizens.csv"))
    opened.go("roles")
    for column, role in ROLES.items():
        opened.set_role(column, role)
    opened.go("protect")
    opened.set_option("effort", "fast")
    opened.run()
    opened.has_release()
    opened.go("release")
    existing = tmp_path / "precious.csv"
    existing.write_text("precious")
    for target, expected in {
        tmp_path / "none" / "safe.csv": "does not exist",
        tmp_path / "safe.docx": "docx",
    }.items():
        opened.see("#target").fill(str(target))
        opened.page.press("#target", "Tab")
        opened.page.click("#save")
        refused(opened, expected)
    opened.see("#target").fill(str(tmp_path / "citizens.csv"))
    opened.page.press("#target", "Tab")
    refused(opened, "table itself")  # without being asked whether to replace it
    opened.see("#target").fill(str(existing))
    opened.page.press("#target", "Tab")
    opened.page.click("#save")
    opened.see("#ask-overwrite")
    assert existing.read_text() == "precious"
    opened.page.click("#save-anyway")
    opened.see("#saved")
    assert existing.read_text() != "precious"
    (tmp_path / "bad.toml").write_text("k = 0\ncolour = 'red'\n")
    opened.page.fill("#plan-path", str(tmp_path / "bad.toml"))
    opened.page.click("#load-plan")
    refused(opened, "bad.toml")
    nothing_is_lost(opened)
