"""Messages of the library on the page: what to do is said without options of the command line."""

import pytest

from microagg.app.words import without_flags
from microagg.core.errors import ParameterError
from microagg.files.formats import refuse_folder
from microagg.tables.dates import ambiguous
from tests.app.table import do, with_roles


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Name whom k should count (--unit 'n (id)', or unit='n (id)' in Python), or say so.",
            "Name whom k should count, or say so.",
        ),
        (
            "If the column names nobody, leave it out with --drop n (drop=['n']).",
            "If the column names nobody, leave it out by the role drop.",
        ),
        (
            "If texts in 'a' mean a missing value, name them: --na TEXT, or na=['TEXT'] in Python.",
            "If texts in 'a' mean a missing value, name them in the step Data.",
        ),
        (
            "No bound was computed (it takes long; --bound fast asks for it), so it is unknown.",
            "No bound was computed (it takes long; the bound fast asks for it), so it is unknown.",
        ),
        ("Column 'net (x=1)' has no role.", "Column 'net (x=1)' has no role."),
        (
            "-k takes whole numbers, as in 3,5; got 'x'.",
            "k takes whole numbers, as in 3,5; got 'x'.",
        ),
    ],
)
def test_controls_have_no_flags(text, shown):
    assert without_flags(text) == shown


def test_a_folder_is_refused_without_naming_commands(tmp_path):
    with pytest.raises(ParameterError) as refused:
        refuse_folder(str(tmp_path))
    shown = without_flags(str(refused.value))
    assert shown.endswith("is a folder, and a file is needed here. Name one of its files.")


def test_dates_are_explained_without_flags():
    shown = without_flags(str(ambiguous("born")))
    assert "us for 12/31/2024, eu for 31/12/2024, or keep it as text: choose the type" in shown


@pytest.mark.parametrize(
    ("changes", "constraint", "expected"),
    [
        ({"age": [None, *range(20, 59)]}, "", "impute fills them in with"),
        ({"name": ["A", "B"] * 20}, "", "leave it out by the role drop."),
        (
            {"income": [None, *range(20, 59)]},
            "income >= tax",
            "Use impute, or remove the constraint.",
        ),
    ],
)
def test_what_a_run_refuses_has_no_flags(tmp_path, changes, constraint, expected):
    desk = with_roles(tmp_path, **changes)
    if constraint:
        do(desk, "set_option", keyword="missing", value="value")
        do(desk, "add_constraint", text=constraint)
    do(desk, "run")
    shown = without_flags(desk.state.view.refusals["protect"].message)
    assert expected in shown
    assert "--" not in shown
    assert "=" not in shown
