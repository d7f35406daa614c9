"""Every option is declared once; the signature, its help, the docs and the flags agree with it."""

import inspect
import re
import tomllib
from pathlib import Path
from typing import get_type_hints

import polars as pl
import pytest

import microagg
from microagg.cli.main import main
from microagg.core.errors import ParameterError
from microagg.core.keywords import ALIASES
from microagg.plans.columns import (
    REQUIREMENT_OPTIONS,
    ROLE_OPTIONS,
    ColumnPlan,
    RequirementOptions,
    RoleOptions,
)
from microagg.plans.drafting import ROLE_HELP, draft, guess_columns
from microagg.plans.options import Section, options_of
from microagg.plans.plan import Plan
from microagg.plans.toml import toml_value
from microagg.release.protect import StudyOptions, TransformerOptions
from microagg.tables.frames import open_frame
from microagg.tables.roles import ROLES

OF_PLAN, OF_COLUMNS = list(options_of(Plan)), list(options_of(ColumnPlan))
OF_ROLES = list(ROLE_OPTIONS.values())
EVERY = [*OF_PLAN, *OF_ROLES, *OF_COLUMNS]
KEYWORDS = [*OF_PLAN, *OF_ROLES, *REQUIREMENT_OPTIONS]
NOT_OPTIONS = {"table", "plan", "progress"}
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "plan.md"


def defaults(function):
    return {name: p.default for name, p in inspect.signature(function).parameters.items()}


def same_default(own, declared):
    """Whether a default in a signature means what is declared; None may stand for nothing."""
    if declared is None or declared in ((), {}):
        return own is None or own == ()
    return own == declared and isinstance(declared, type(own))


def help_in(docstring):
    """What a numpydoc section of parameters says of each, in one line."""
    section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")[2]
    found = {}
    for names, text in re.findall(
        r"^([\w, ]+) : (.*(?:\n    .*)*)", section.partition("\n\n")[0], flags=re.MULTILINE
    ):
        found |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return found


def without_spaces(text):
    return re.sub(r"\s", "", text)


def help_of(command, capsys):
    with pytest.raises(SystemExit) as leaving:
        main([command, "--help"])
    assert leaving.value.code == 0
    return capsys.readouterr().out


def as_shown(option):
    """The line of an option in a help page, without spaces."""
    return without_spaces(f"{'/'.join(option.flags)}{option.flag.metavar}{option.help}")


def sections(text):
    """The sections of a help page, without spaces: where lines break does not matter."""
    parts = re.split(r"^(\w+):\n", text, flags=re.MULTILINE)
    return {name: without_spaces(body) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


class TestThePlan:
    def test_every_field_is_an_option_but_for_columns_and_roles(self):
        assert {o.keyword for o in OF_PLAN} == Plan.model_fields.keys() - {"columns"}
        # The digits of a column are those of a plan, which may be given by column.
        expected = ColumnPlan.model_fields.keys() - {"role", "digits"}
        assert {o.keyword for o in OF_COLUMNS} == expected
        of_requirements = {o for o in OF_COLUMNS if o.flag.section is Section.PROTECTION}
        assert {*REQUIREMENT_OPTIONS} == of_requirements

    def test_no_two_options_share_a_flag(self):
        flags = [option.flag.name for option in EVERY]
        assert len(set(flags)) == len(flags)

    @pytest.mark.parametrize("option", EVERY, ids=lambda option: option.flag.name)
    def test_help_is_a_sentence(self, option):
        assert re.match(r"[A-Z].*\.$", option.help)
        assert "  " not in option.help


class TestTheSignature:
    def test_every_option_and_nothing_else(self):
        expected = {o.keyword for o in KEYWORDS} | {"columns"} | NOT_OPTIONS
        assert defaults(microagg.protect).keys() == expected

    @pytest.mark.parametrize("option", KEYWORDS, ids=lambda option: option.keyword)
    def test_the_default_is_that_of_the_model(self, option):
        assert same_default(defaults(microagg.protect)[option.keyword], option.default)

    def test_all_but_the_table_and_k_are_given_by_name(self):
        kinds = {n: p.kind for n, p in inspect.signature(microagg.protect).parameters.items()}
        assert {n for n, kind in kinds.items() if kind is not inspect.Parameter.KEYWORD_ONLY} == {
            "table",
            "k",
        }

    @pytest.mark.parametrize(
        "options", [RoleOptions, RequirementOptions, StudyOptions, TransformerOptions]
    )
    def test_others_take_the_same_types(self, options):
        of_protect = get_type_hints(microagg.protect)
        assert get_type_hints(options).items() <= of_protect.items()

    def test_roles_and_requirements(self):
        assert get_type_hints(RoleOptions).keys() == {o.keyword for o in OF_ROLES}
        expected = {o.keyword for o in REQUIREMENT_OPTIONS}
        assert get_type_hints(RequirementOptions).keys() == expected
        assert expected <= defaults(microagg.verify).keys()

    @pytest.mark.parametrize(
        ("study", "others"),
        [
            (microagg.compare, {"ks", "methods", "n_jobs"}),
            (microagg.sweep, {"ks", "n_jobs"}),
        ],
        ids=["compare", "sweep"],
    )
    def test_studies_take_some_of_them(self, study, others):
        own, all_of_them = defaults(study), defaults(microagg.protect)
        assert own.keys() - others <= all_of_them.keys()
        assert {o.keyword for o in (*OF_ROLES, *REQUIREMENT_OPTIONS)} | {"columns"} <= own.keys()
        declared = {option.keyword for option in OF_PLAN if study.__name__ in option.studies}
        with_own_default = {"effort", "bound"} if study is microagg.sweep else set()
        assert own.keys() & {o.keyword for o in OF_PLAN} == declared | with_own_default
        differing = {
            name: own[name] for name in own.keys() - others if own[name] != all_of_them[name]
        }
        # A sweep is many searches: unless the plan says otherwise, it makes less effort.
        assert differing == ({} if study is microagg.compare else {"effort": None, "bound": None})


class TestTheDocstring:
    def test_every_parameter_has_help(self):
        assert help_in(microagg.protect.__doc__).keys() == defaults(microagg.protect).keys()

    @pytest.mark.parametrize("option", KEYWORDS, ids=lambda option: option.keyword)
    def test_help_begins_with_that_of_the_model(self, option):
        assert help_in(microagg.protect.__doc__)[option.keyword].startswith(option.help)

    def test_columns(self):
        text = help_in(microagg.protect.__doc__)["columns"]
        assert text.startswith(Plan.model_fields["columns"].description)
        requirements = {option.keyword for option in REQUIREMENT_OPTIONS}
        assert all(f'"{key}"' in text for key in ColumnPlan.model_fields.keys() - requirements)
        assert text.endswith("and the requirements below.")

    @pytest.mark.parametrize(
        "function", [microagg.compare, microagg.sweep, microagg.verify, microagg.Microaggregator]
    )
    def test_of_others(self, function):
        assert help_in(function.__doc__).keys() == defaults(function).keys()

    @pytest.mark.parametrize(
        ("function", "options"),
        [
            (microagg.compare, StudyOptions),
            (microagg.sweep, StudyOptions),
            (microagg.verify, RequirementOptions),
            (microagg.Microaggregator, TransformerOptions),
        ],
    )
    def test_help_on_options_of_others(self, function, options):
        found = help_in(function.__doc__)
        for option in KEYWORDS:
            if option.keyword in get_type_hints(options):
                assert found[option.keyword].startswith(option.help)


class TestThePage:
    """The tables in docs/guides/plan.md."""

    @staticmethod
    def rows(*header):
        lines = PAGE.read_text("utf-8").splitlines()
        tables, table = [], []
        for line in [*lines, ""]:
            if line.startswith("|"):
                table.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
            elif table:
                tables.append(table)
                table = []
        return [table[2:] for table in tables if table[0] == header]

    @staticmethod
    def row(option):
        default = "" if option.default is None else f"`{toml_value(option.default)}`"
        is_required = option.keyword == "k"
        return (
            f"`{option.keyword}`",
            "required" if is_required else default,
            f"`{option.flag.name}`",
            option.help,
        )

    def test_options_of_plans_and_of_columns(self):
        found = self.rows("key", "default", "on the command line", "what it says")
        assert found == [[self.row(o) for o in OF_PLAN], [self.row(o) for o in OF_COLUMNS]]

    def test_roles(self):
        header = ("role", "on the command line", "in Python", "what becomes of the column")
        expected = [
            (f'`"{role}"`', f"`{option.flag.name}`", f"`{option.keyword}`", option.help)
            for role, option in ROLE_HELP.items()
        ]
        assert self.rows(*header) == [expected]

    def test_other_names(self):
        text = PAGE.read_text("utf-8")
        for alias, name in ALIASES.items():
            assert f"`{alias}`" in text
            assert f"`{name}`" in text


class TestTheCommandLine:
    @pytest.mark.parametrize("width", ["80", "50"])
    def test_every_flag_is_in_its_section_with_its_help(self, width, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", width)
        found = sections(help_of("protect", capsys))
        for option in EVERY:
            assert as_shown(option) in found[option.flag.section], option.flag.name

    def test_sections_come_in_order(self, capsys):
        order = ["Arguments", "Files", *("Protection", "Method", "Columns"), "Output", "Options"]
        assert list(sections(help_of("protect", capsys))) == order
        assert {*Section} <= {*order}

    def test_defaults_are_shown(self, capsys):
        text = without_spaces(help_of("protect", capsys))
        for option in OF_PLAN:
            if isinstance(option.default, str):
                assert without_spaces(f"{option.help} Default: {option.default}.") in text

    @pytest.mark.parametrize("command", ["compare", "sweep"])
    def test_studies_take_the_same_flags_as_in_python(self, command, capsys):
        text = without_spaces(help_of(command, capsys))
        keywords = defaults(getattr(microagg, command)).keys()
        own = {"effort", "bound"} if command == "sweep" else set()  # of another default
        for option in (*OF_PLAN, *OF_ROLES):
            if option.keyword in own:
                continue
            assert (as_shown(option) in text) == (option.keyword in keywords), option.keyword
        for option in OF_COLUMNS:
            assert as_shown(option) in text
        assert {option.keyword for option in REQUIREMENT_OPTIONS} <= keywords


class TestPlanFiles:
    def test_other_names(self):
        assert Plan.of(k=3, method="fcm", strict_k=True, seed=5).random_state == 5
        found = Plan.of(k=3, method="mdav", options={"leftover": "nearest"})
        assert found.method_options == {"leftover": "nearest"}
        assert found == Plan.of(k=3, method="mdav", method_options={"leftover": "nearest"})

    @pytest.mark.parametrize(("alias", "name"), ALIASES.items())
    def test_a_name_and_its_other_name(self, alias, name):
        assert name in Plan.model_fields
        with pytest.raises(ParameterError, match=f"{alias} is another name for {name}"):
            Plan.of(k=3, **{alias: None, name: None})

    def test_what_is_written_has_the_names_of_python(self):
        plan = Plan.of(k=3, seed=5, options={"n_jobs": 2})
        assert plan.as_dict() == {"k": 3, "random_state": 5, "method_options": {"n_jobs": 2}}

    @pytest.mark.parametrize("alias", ["seed", "random_state"])
    def test_a_flag_overrides_either_name(self, alias, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        pl.DataFrame({"a": range(6)}).write_csv("t.csv")
        Path("p.toml").write_text(f'k = 2\nmethod = "reporder"\n{alias} = 5\n')
        with pytest.raises(SystemExit):
            main(["protect", "t.csv", "--plan", "p.toml", "--seed", "8", "--json"])
        assert '"random_state": 8' in capsys.readouterr().out


class TestDrafts:
    TEXT = draft(
        guess_columns(open_frame(pl.DataFrame({"a": [1.5, 2.5]}))),
        Plan.of(k=7),
        source="t.csv",
        n_records=2,
    )

    @pytest.mark.parametrize("option", OF_PLAN, ids=lambda option: option.keyword)
    def test_a_draft_names_every_option_with_its_help(self, option):
        pattern = rf"^(# )?{option.keyword} = .*# {re.escape(option.help)}$"
        assert re.search(pattern, self.TEXT, flags=re.MULTILINE)

    def test_and_every_role(self):
        assert ROLE_HELP.keys() == {*ROLES}
        for role, option in ROLE_HELP.items():
            assert re.search(rf"^#   {role} +{re.escape(option.help)}$", self.TEXT, re.MULTILINE)

    def test_what_it_leaves_out_is_the_default(self):
        """Lines that are comments say what holds without them."""
        awake = re.sub(r"^# (\w+ = [^# ])", r"\1", self.TEXT, flags=re.MULTILINE)
        given = tomllib.loads(awake)
        assert {o.keyword for o in OF_PLAN if o.default is not None} <= given.keys()
        assert Plan.of(**given) == Plan.of(**tomllib.loads(self.TEXT))
