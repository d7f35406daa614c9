"""Several records of one person, in the app: their order, their categories, and counting them."""

import polars as pl
import pytest
import xlsxwriter

from microagg import verify
from microagg.app.answers import VerifyAnswer
from microagg.app.desk import CATEGORIES, IN_PASSING, PROTECT, VERIFY, Desk
from microagg.app.page import asked_for
from microagg.app.steps import explore, protect, release, roles
from microagg.core.errors import SEARCH_INTERRUPTED
from tests.app.table import do, new_desk, with_visits

ILL = ["flu", "cold", "gout", "flu"]  # each person's, so everybody shares them
RARE = ["mumps"] * 4  # the first person's only


def opened(folder, waiting=(), **columns):
    """Return a desk with four records of each of ten people, whom no name gives away."""
    visits = {
        "shelf": [100 + i // 4 for i in range(40)],
        "age": [20 + 7 * i % 31 for i in range(40)],
        "cost": [1000 + 37 * i for i in range(40)],
        "illness": RARE + ILL * 9,
        **columns,
    }
    path = folder / "visits.csv"
    pl.DataFrame(visits).write_csv(path)
    desk = new_desk(folder, waiting)
    do(desk, "open", {"path": str(path)}, place="path")
    return desk


def listed(desk, name="illness"):
    return next(own for own in desk.described.columns if own.name == name)


class TestCategories:
    def test_those_of_few_units_are_left_out_once_the_unit_is_chosen(self, tmp_path):
        desk = opened(tmp_path)
        assert desk.described.people == ()
        assert "mumps" in listed(desk).categories, "four records, as far as anybody knows"
        do(desk, "set_role", column="shelf", value="unit")
        assert listed(desk).categories == ("cold", "flu", "gout")
        assert listed(desk).n_rare == 1
        do(desk, "open_column", column="illness")
        do(desk, "take_order", column="illness")
        assert desk.state.plan.columns["illness"].order == ("cold", "flu", "gout")
        do(desk, "undo")
        do(desk, "undo")
        assert "mumps" in listed(desk).categories

    def test_none_is_listed_until_it_is_known(self, tmp_path):
        desk = opened(tmp_path, waiting=(CATEGORIES,))
        do(desk, "set_role", column="shelf", value="unit")
        assert desk.runs[CATEGORIES]
        assert (listed(desk).categories, listed(desk).n_rare) == ((), 0)
        assert CATEGORIES in IN_PASSING
        assert asked_for(desk) == [], "nobody has asked for it"

    def test_what_is_counted_by_already_is_not_counted_again(self, tmp_path):
        people = {"person_id": [f"p{i // 4}" for i in range(40)]}
        desk = opened(tmp_path, **people)
        assert desk.described.people == ("person_id",)
        assert "mumps" not in listed(desk).categories
        do(desk, "set_role", column="person_id", value="unit")
        assert CATEGORIES not in desk.jobs.tasks()

    def test_a_file_that_is_gone_lists_none(self, tmp_path):
        desk = opened(tmp_path)
        (tmp_path / "visits.csv").unlink()
        do(desk, "set_role", column="shelf", value="unit")
        assert listed(desk).categories == ()
        assert desk.jobs.tasks().count(CATEGORIES) == 1, "it is not tried for ever"


class TestOrder:
    def test_it_is_shuffled_where_it_is_warned_of(self, tmp_path):
        desk = with_visits(tmp_path)
        do(desk, "run")
        for view in (protect.view, explore.view):
            page = str(view(desk))
            assert "follow each other" in page
            assert 'id="run-with-shuffle"' in page
        assert "keep their order" in str(release.view(desk))
        do(desk, "run_with", keyword="shuffle")
        assert desk.state.plan.shuffle
        assert not any("follow each other" in own for own in desk.protected.warnings)
        assert 'id="run-with-shuffle"' not in str(protect.view(desk))
        assert "keep their order" not in str(release.view(desk))
        do(desk, "undo")
        assert any("follow each other" in own for own in desk.protected.warnings)

    def test_no_other_warning_has_a_button(self, tmp_path):
        desk = with_visits(tmp_path)
        do(desk, "set_option", keyword="k", value="1")
        do(desk, "run")
        assert any("k = 1 protects nobody" in text for text in desk.protected.warnings)
        do(desk, "set_option", keyword="shuffle", value=True)
        do(desk, "run")
        assert "run_with" not in str(protect.view(desk))


@pytest.mark.parametrize("by", ["hand", "the time budget"])
def test_that_a_search_was_ended_is_said_once_on_every_step(tmp_path, monkeypatch, by):
    desk = with_visits(tmp_path)
    do(desk, "set_option", keyword="shuffle", value=True)
    do(desk, "run")
    ended = f"The search was ended by {by}: these are the best groups found by then."
    told = (SEARCH_INTERRUPTED,) if by == "hand" else ()
    made = desk.protected.model_copy(update={"ended": ended, "warnings": told})
    monkeypatch.setattr(Desk, "protected", property(lambda _: made))
    for step in (protect, explore, release):
        assert str(step.view(desk)).count("best groups") == 1


class TestVerify:
    @pytest.fixture
    def desk(self, tmp_path):
        desk = with_visits(tmp_path)
        do(desk, "run")
        return desk

    def save(self, desk, tmp_path):
        target = tmp_path / "safe.csv"
        do(desk, "set_target", value=str(target))
        do(desk, "save")
        return target

    def verified(self, desk, path, **fields):
        fields = {f"verify-{name}": str(value) for name, value in fields.items()}
        do(desk, "verify", {"verify-path": str(path), **fields})
        assert not desk.state.view.refusals
        return desk.last(VERIFY, VerifyAnswer)

    def test_the_open_table_is_the_original_of_its_release(self, desk, tmp_path):
        target = self.save(desk, tmp_path)
        found = self.verified(desk, target)
        assert found.satisfied
        assert ("original", "visits.csv, which is open") in found.facts
        there = verify(target, original=tmp_path / "visits.csv")
        assert found.title == there.verdict

    def test_it_is_read_as_it_was_opened(self, tmp_path):
        path = tmp_path / "visits.xlsx"
        with xlsxwriter.Workbook(path) as book:
            pl.DataFrame({"note": ["see Data"]}).write_excel(book, "Read me")
            pl.DataFrame({"firm": [i // 4 for i in range(40)], "cost": [*range(40)]}).write_excel(
                book, "Data"
            )
        desk = new_desk(tmp_path)
        do(desk, "open", {"path": str(path)}, place="path")
        do(desk, "reopen", {"sheet": "Data"}, place="path")
        do(desk, "set_role", column="firm", value="unit")
        do(desk, "set_method", value="mdav")
        do(desk, "run")
        target = tmp_path / "safe.xlsx"
        do(desk, "set_target", value=str(target))
        do(desk, "save")
        found = self.verified(desk, target)
        assert found.satisfied
        assert ("original", "visits.xlsx, which is open") in found.facts
        assert self.verified(desk, target, original=path).satisfied

    def test_another_file_is_read_as_it_is_said_to_be_written(self, desk, tmp_path):
        path = tmp_path / "other.xlsx"
        with xlsxwriter.Workbook(path) as book:
            pl.DataFrame({"note": ["see Data"]}).write_excel(book, "Read me")
            pl.DataFrame({"cost": [1, 2] * 6}).write_excel(book, "Data")
        do(desk, "verify", {"verify-path": str(path), "verify-k": "6"}, id="verify")
        assert "has the sheets" in desk.state.view.refusals["verify"].message
        assert '<details id="verify-dialect" open' in release.view(desk).get_html_string()
        found = self.verified(desk, path, k=6, sheet="Data")
        assert found.satisfied

    def test_another_table_is_not(self, desk, tmp_path):
        target = self.save(desk, tmp_path)
        table = pl.read_csv(tmp_path / "visits.csv")
        table.with_columns(pl.col("cost") + 1).write_csv(tmp_path / "other.csv")
        do(desk, "open", {"path": str(tmp_path / "other.csv")}, place="path")
        found = self.verified(desk, target)
        assert not found.satisfied
        assert found.title.startswith("Cannot be checked without the original")

    def test_a_shuffled_one_takes_its_audit(self, desk, tmp_path):
        do(desk, "run_with", keyword="shuffle")
        do(desk, "set_output", output="audit", value=True)
        do(desk, "confirm_audit")
        target = self.save(desk, tmp_path)
        found = self.verified(desk, target)
        assert not found.satisfied
        assert dict(found.facts)["open table"].startswith("not used: the records were shuffled")
        audit = next(path for path in tmp_path.glob("*audit*"))
        assert self.verified(desk, target, audit=audit).satisfied

    def test_a_plan_and_k_are_checked_as_before(self, desk, tmp_path):
        target = self.save(desk, tmp_path)
        found = self.verified(desk, target, k=2, sensitive="cost")
        assert found.satisfied
        assert PROTECT not in desk.runs


class TestIdentifiersThatRepeat:
    @pytest.fixture
    def desk(self, tmp_path):
        desk = opened(tmp_path, name=[f"p{i // 4}" for i in range(40)], shelf=[1] * 40)
        do(desk, "set_role", column="name", value="identifier")
        do(desk, "set_role", column="illness", value="sensitive")
        do(desk, "set_method", value="mdav")
        return desk

    def test_whom_k_counts_is_asked_before_the_run(self, desk):
        for view in (roles.view, protect.view):
            page = str(view(desk))
            assert "name is an identifier that repeats" in page
            assert 'id="count-by-name"' in page
        do(desk, "run")
        assert "repeats" in desk.state.view.refusals["protect"].message, "it is not guessed"

    @pytest.mark.parametrize("unit", ["name", "rows"])
    def test_the_answer_is_a_choice(self, desk, unit):
        do(desk, "count_by", unit=unit)
        assert (desk.state.plan.unit_column, desk.state.plan.counts_rows) == (
            ("name", False) if unit == "name" else (None, True)
        )
        assert "repeats" not in str(protect.view(desk))
        do(desk, "run")
        assert desk.protected is not None
        do(desk, "undo")
        assert "repeats" in str(protect.view(desk))

    def test_one_that_does_not_repeat_is_no_question(self, tmp_path):
        desk = opened(tmp_path, name=[f"p{i}" for i in range(40)])
        do(desk, "set_role", column="name", value="identifier")
        assert "repeats" not in str(roles.view(desk))
