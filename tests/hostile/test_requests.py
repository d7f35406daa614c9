"""The generator knows every field of a plan, every method, and every option of each."""

from collections import Counter

from microagg import methods
from microagg.core.registry import NOT_OPTIONS
from microagg.plans.plan import Plan
from tests.hostile.cases import Case
from tests.hostile.columns import RECIPES
from tests.hostile.requests import FIELDS, OPTIONS, WRONG, request_for
from tests.hostile.stored import READABLE, WRITABLE
from tests.hostile.tables import any_table


def test_every_field_of_a_plan_has_right_and_wrong_values():
    assert set(FIELDS) == set(WRONG) == set(Plan.model_fields)


def test_every_option_of_a_method_has_values():
    known = {name for method in methods().values() for name in method.options}
    assert known - set(NOT_OPTIONS) - {"random_state"} == set(OPTIONS)


def test_every_method_and_kind_of_column_is_drawn():
    asked, kinds = Counter(), Counter()
    for number in range(1_500):
        chance = Case(1, "releases", number).chance
        table = any_table(chance)
        asked[str(request_for(chance, table)["method"])] += 1
        kinds.update(column.kind for column in table.columns)
    assert set(methods()) <= set(asked)
    assert {"number", "whole", "flag", "text", "category", "date", "time", "odd"} <= set(kinds)
    assert len(RECIPES) > 10


def test_every_format_is_tried():
    from microagg.files.formats import FORMATS

    read = {suffix for each in FORMATS for suffix in each.suffixes}
    written = {s for each in FORMATS if each.can_be_written for s in each.suffixes}
    assert set(WRITABLE) == written
    # Nothing writes SAS's own format, and .rda is another name.
    assert read - set(READABLE) == {".sas7bdat", ".rda"}
