"""No public name without reference, no page of it without an example."""

import dataclasses
import html
import inspect
import re

import pytest

import microagg
from docs.builder import reference
from docs.builder.blocks import blocks
from docs.builder.reference import errors, figures, methods, names, schemas
from docs.builder.reference.docstrings import Context, Docstring, as_markdown
from docs.builder.staging import DOCS, ROOT, written_pages
from microagg import fuzzy, orderings, partitions, requirements
from microagg.app.samples import SAMPLES
from microagg.app.state import STEPS
from microagg.cli.commands import COMMANDS
from microagg.measures.measure import Risk, Utility
from microagg.plans.options import options_of
from microagg.plans.plan import ALIASES

pytestmark = pytest.mark.slow
GENERATED = reference.generated()
PUBLIC = [name for name in microagg.__all__ if name not in ("__version__", "errors")]
IN_PARTITIONS = [name for name in dir(partitions) if not name.startswith("_")]


@pytest.mark.parametrize("name", [*PUBLIC, *IN_PARTITIONS, *fuzzy.__all__, *requirements.__all__])
def test_every_public_name_has_its_section(name):
    assert f"\n## {name} {{#{name}}}\n" in GENERATED[names.HOMES[name]]


def test_every_ordering_has_its_section():
    for name in orderings.__all__:
        assert name in GENERATED["orderings.md"]


@pytest.mark.parametrize(
    "name",
    [*PUBLIC, *requirements.__all__, *(own.class_name for own in microagg.methods().values())],
)
def test_every_public_name_has_an_example(name):
    item = names.PAGES[names.HOMES[name]].names[name]
    assert Docstring.of(item.__doc__).has_example


@pytest.mark.parametrize("name", [n for n in PUBLIC if inspect.isfunction(getattr(microagg, n))])
def test_every_parameter_is_explained(name):
    function = getattr(microagg, name)
    text = Docstring.of(function.__doc__)
    if "Parameters" in text.sections:
        for parameter in inspect.signature(function).parameters:
            assert parameter in text.sections["Parameters"], parameter


def test_every_command_and_option_is_listed():
    page = GENERATED["command-line.md"]
    for command in COMMANDS:
        assert f"\n## microagg {command} {{#{command}}}\n" in page
    for option in options_of(microagg.Plan):
        assert option.flag.name in page
        assert option.help.replace("*", "\\*") in page


def test_options_are_shown_as_they_are_typed():
    page = GENERATED["command-line.md"]
    names = {html.unescape(own) for own in re.findall("<code>(.*?)</code>", page)}
    assert {"INPUT", "--dates us|eu"} <= names
    assert not any(own.endswith(">") for own in names)


def test_every_error_and_warning_has_its_meaning():
    found = errors.classes()
    assert found.keys() == set(microagg.errors.__all__)
    assert {"ParameterError", "GuaranteeError", "PrivacyWarning"} <= found.keys()
    for name, own in found.items():
        assert f"### {name} " in GENERATED["errors.md"]
        assert Docstring.of(own.__doc__).head in GENERATED["errors.md"]


@pytest.mark.parametrize(
    ("kind", "definitions"),
    [(Risk, figures.RISK_DEFINITIONS), (Utility, figures.UTILITY_DEFINITIONS)],
)
def test_every_figure_has_a_definition(kind, definitions):
    assert list(kind.__annotations__) == list(definitions)  # links are checked in the built site


def test_every_row_of_the_measures_is_on_the_page():
    found = figures.example()
    rows = [*found.risk.rows(), *found.utility.rows()]
    assert len(rows) > 20
    for row in rows:
        assert row.meaning in GENERATED["figures.md"]


def test_every_method_is_in_the_table():
    for name in microagg.methods():
        assert f"[`{name}`](../methods/{methods.explained_on(name)})" in GENERATED["methods.md"]


@pytest.mark.parametrize("model", [microagg.Plan, microagg.Manifest])
def test_schemas_list_every_field_and_nothing_of_the_command_line(model):
    found = schemas.schema(model)
    aliases = set(ALIASES) if model is microagg.Plan else set()
    assert set(found["properties"]) == {*model.model_fields, *aliases}
    assert "metavar" not in str(found)


def test_no_cell_of_the_tables_of_schemas_is_empty():
    """But for defaults: what is optional may have none to show."""
    rows = [line for line in GENERATED["schemas.md"].splitlines() if line.startswith("| `")]
    assert len(rows) > 100
    for row in rows:
        key, kind, _, meaning = re.split(r"(?<!\\) \| ", row.strip("| "))
        assert all((key, kind, meaning)), row
    assert "One of ." not in GENERATED["schemas.md"]
    assert "\n\n\n" not in GENERATED["schemas.md"]  # every part says what it is


@pytest.mark.parametrize("page", [name for name in GENERATED if name.endswith(".md")])
def test_every_generated_page_has_an_example(page):
    assert [own for own in blocks(GENERATED[page]) if own.language in ("python", "pycon", "sh")]


PLAIN = Context(str, str, str)
# Of objects and checks that have no name, of types that NumPy takes apart, and of tests.
INTERNAL = (" at 0x", "PydanticUndefined", "<factory>", "_Buffer", "ndarray[", "Annotated[")
OF_TESTS = ("<BLANKLINE>", "doctest:", "docs/reference/", "docs/guides/")


@pytest.mark.parametrize("page", GENERATED)
@pytest.mark.parametrize("remnant", INTERNAL + OF_TESTS)
def test_nothing_internal_is_shown(page, remnant):
    assert remnant not in GENERATED[page]


@pytest.mark.parametrize(
    "kind",
    [*(getattr(microagg, n) for n in ("Verification", "Measures", "Comparison")), Risk, Utility],
)
def test_results_list_their_attributes(kind):
    for field in dataclasses.fields(kind):
        assert f"\n- `{field.name}: " in GENERATED[names.HOMES[kind.__name__]]


def test_a_manifest_lists_what_its_entries_mean():
    for name in microagg.Manifest.model_fields:
        assert f"\n`{name}: " in GENERATED["plans.md"]


def test_the_schema_of_plans_has_no_example_in_its_description():
    assert ">>>" not in GENERATED["plan.schema.json"]


def test_a_plan_has_the_help_of_its_options():
    for name, field in microagg.Plan.model_fields.items():
        assert f"\n`{name}: " in GENERATED["plans.md"]
        assert as_markdown(Docstring(field.description, {}), PLAIN) in GENERATED["plans.md"]


WITH_PICTURES = {"docs/benchmarks.md"}


@pytest.mark.parametrize("page", [own for own in written_pages() if own not in WITH_PICTURES])
def test_every_written_page_has_an_example(page):
    assert any(
        own.language in ("python", "pycon", "sh", "toml") or own.is_console
        for own in blocks((ROOT / page).read_text("utf-8"))
    )


def test_the_page_of_the_app_has_its_steps_and_samples():
    text = (DOCS / "start" / "app.md").read_text("utf-8")
    shown = re.findall(r"^## \d\. (\w+)$", text, re.MULTILINE)
    assert tuple(name.lower() for name in shown) == STEPS
    for name in SAMPLES:
        assert f"*{name}*" in text


def test_the_index_of_the_reference_names_every_public_name():
    text = (DOCS / "reference" / "index.md").read_text("utf-8")
    for name in microagg.__all__:
        assert f"`{name}`" in text or f"`microagg.{name}`" in text, name
