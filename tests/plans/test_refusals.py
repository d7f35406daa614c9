"""What is wrong with a plan is said in our own words, with the file and the column it is in."""

import datetime as dt
import math

import pytest
import tomlkit

from microagg.core.errors import MicroaggError, ParameterError
from microagg.plans.columns import ColumnPlan
from microagg.plans.plan import Plan

IN_TOML = (
    *(0, -1, 5, 1.5, math.inf, math.nan, True, "", "x", [], [1], ["x", "x"], [[1]], [["x"], 5]),
    *({}, {"x": 1}, [{"x": 1}], dt.date(2001, 2, 3), dt.time(4, 5)),
)
IN_PYTHON = (None, Ellipsis, b"x", {5: 1}, (None,), {1, 2}, 1j, range(3))
VALUES = [*IN_TOML, *IN_PYTHON]
# Words that the model's library uses, and nobody else.
FOREIGN = ("input", "instance", "pydantic", "columnplan", "dictionary", "valid ", "[key]", "lambda")


def refused(given):
    """The message about a plan, or None if there is nothing wrong with it."""
    try:
        Plan.of(**given)
    except MicroaggError as error:
        return str(error)
    return None


def is_a_sentence_of_ours(message):
    return (
        "\n" not in message
        and message.endswith((".", "?"))
        and not [word for word in FOREIGN if word in message.lower()]
    )


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("field", [*Plan.model_fields, "nothing"])
def test_no_foreign_words_about_a_plan(field, value):
    message = refused({"k": 3, field: value})
    assert message is None or is_a_sentence_of_ours(message), message
    assert field != "nothing" or message is not None


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("field", [*ColumnPlan.model_fields, "nothing"])
def test_no_foreign_words_about_a_column(field, value):
    message = refused({"k": 3, "columns": {"net pay": {field: value}}})
    assert message is None or (is_a_sentence_of_ours(message) and "'net pay'" in message), message
    assert field != "nothing" or message is not None


BAD = [
    given
    for field in (*ColumnPlan.model_fields, "nothing")
    for value in IN_TOML
    if refused(given := {"k": 3, "columns": {"net pay": {field: value}}})
]


@pytest.mark.parametrize("given", BAD, ids=lambda given: str(given["columns"]["net pay"]))
def test_a_file_and_the_table_in_it(given, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(tomlkit.dumps(given), encoding="utf-8")
    with pytest.raises(MicroaggError) as error:
        Plan.read(path)
    rest = refused(given).removeprefix("column 'net pay': ")
    assert str(error.value) in (f'{path}: [columns."net pay"] {rest}', f"{path}: {rest}")
    assert "net pay" in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = 0", "k must be a whole number of at least 1; got 0."),
        ("method = 'mdav'", "a plan needs 'k'. Add it."),
        ("k = 3\neffort = 'best'\nmethod = 'mdav'", "effort (--effort) is for 'auto'"),
        ("k = 3\n[columns.a]\norder = 5", "[columns.a] an order must be a list of text"),
        ("k = 3\n[columns]\na = { rol = 1 }", "[columns.a] there is no key 'rol'. Did you mean"),
        (
            "k = 3\nsensative = ['sex']",
            "a plan has no key 'sensative'. A role is given with its column: role = 'sensitive' in "
            "[columns.NAME]. Its keys are k,",
        ),
        ("k = 3\n[columns]\na = 5", "the entry of column 'a' must be a mapping"),
    ],
)
def test_messages_on_files(text, message, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(ParameterError) as error:
        Plan.read(path)
    assert str(error.value).startswith(f"{path}: {message}")


def test_a_sensitive_column_that_may_be_meant():
    columns = {"illness": {"role": "sensitive"}, "ilness": {"l_diversity": 2}}
    assert "'ilness' has no role. Did you mean 'illness'?" in refused({"k": 3, "columns": columns})
