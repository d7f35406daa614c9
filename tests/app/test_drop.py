"""Files that are dropped: into the private folder, under their own name, within a limit."""

import pytest

from microagg.app import guard
from tests.app.steward import Steward

pytestmark = pytest.mark.slow


@pytest.fixture
def steward(context, app):
    return Steward.enter(context, app)


def table(n=40):
    return "age,income\n" + "".join(f"{20 + i % 9},{1000 + 37 * i}\n" for i in range(n))


def dropped(app):
    return [path for own in app.workspaces for path in (own / "dropped").rglob("*.csv")]


def drop(steward, name, text):
    file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    steward.page.set_input_files("#dropped", file)


def test_a_dropped_file_is_opened_and_survives_a_reload(steward, app):
    drop(steward, "people of 2024.csv", table())
    steward.see("#card-described")
    assert "people of 2024.csv" in steward.text("#card-described")
    (kept,) = dropped(app)
    assert kept.stat().st_mode & 0o077 == 0 or kept.parent.stat().st_mode & 0o077 == 0
    steward.page.reload()
    steward.see("#card-described")
    assert dropped(app) == [kept]
    steward.go("protect")
    steward.set_option("effort", "fast")
    steward.run()
    steward.has_release()
    steward.go("data")
    assert "dropped" not in steward.text("#card-open"), "it is not among the recent files"


def test_a_file_that_is_too_large_is_refused_with_what_to_do(steward, app, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(guard.MOST_DROPPED + 1)
    before = dropped(app)
    steward.page.set_input_files("#dropped", large)
    steward.page.get_by_text("Open it by its path instead").first.wait_for()
    assert dropped(app) == before
    drop(steward, "small.csv", table())
    steward.see("#card-described")
