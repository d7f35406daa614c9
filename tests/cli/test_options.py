"""Options of the command line: lists of names, sections of the help, plans for every command."""

import json
import re
import shlex
import subprocess
import sys

import polars as pl
import pytest

from microagg.cli.command_plan import plan_from
from microagg.cli.options import plan_options
from microagg.plans.commands import quoted_name
from microagg.plans.options import Kind
from microagg.plans.texts import names_in

ROLES = ("--identifier", "name", "--sensitive", "code")
PLAN = """\
k = 4
method = "mdav"

[columns]
name = { role = "identifier" }
code = { role = "sensitive" }
"""
LEFTOVER = 'method_options = { leftover = "nearest" }\n'
ODD_NAMES = (
    *(
        "plain",
        "with space",
        "a,b",
        'say "x"',
        '"',
        " lead",
        "trail ",
        "=",
        "a=b",
        "-dash",
        "--json",
    ),
    *("né", "line\nend", "tab\there", "'", "\\", "$HOME", "*", "1"),
)


@pytest.fixture
def plan(folder):
    (folder / "p.toml").write_text(PLAN)
    return ("--plan", "p.toml")


def released(folder, name="people-protected.csv"):
    return pl.read_csv(folder / name, infer_schema=False)


class TestListsOfNames:
    @pytest.mark.parametrize(
        "given",
        [
            ("--sensitive", "code,height"),
            ("--sensitive", "code, height"),
            ("--sensitive", '"code","height"'),
            ("--sensitive", "code", "--sensitive", "height"),
            ("--sensitive", '"code"', "--sensitive=height"),
        ],
    )
    def test_in_one_option_or_in_several(self, run, folder, given):
        outcome = run(
            *("protect", "people.csv", "-k", "4", "--identifier", "name", "--method", "mdav"),
            *given,
        )
        assert outcome.code == 0, outcome.err
        before = pl.read_csv(folder / "people.csv", infer_schema=False)
        for name in ("code", "height"):
            assert released(folder)[name].equals(before[name])
        assert json.loads((folder / "people-protected.csv.manifest.json").read_text())[
            "sensitive"
        ] == [
            "height",
            "code",
        ]

    def test_a_name_with_a_comma_is_in_quotes(self, run, refused, folder):
        (folder / "t.csv").write_text('"city, country",age\nx,1\nx,1\ny,3\ny,3\n')
        argv = ("protect", "t.csv", "-k", "2", "--method", "mdav", "--sensitive")
        message = refused(2, *argv, "city, country")
        assert "no column 'city'. On the command line, put a name with a comma in double" in message
        assert """'"city, country"'.""" in message
        assert run(*argv, '"city, country"').code == 0
        assert released(folder, "t-protected.csv")["city, country"].to_list() == [
            "x",
            "x",
            "y",
            "y",
        ]

    @pytest.mark.parametrize("text", ['"age', '"age" x', 'a,"b"c'])
    def test_quotes_that_do_not_close(self, refused, text):
        message = refused(2, "protect", "people.csv", "-k", "4", "--sensitive", text)
        assert "a name with a comma in double quotes" in message

    @pytest.mark.parametrize("text", ["", " ", "age,", ",age", "age,,height"])
    @pytest.mark.parametrize("flag", ["--quasi-identifier", "--block"])
    def test_an_empty_name_is_refused(self, refused, text, flag):
        """An empty variable of the shell must not go unnoticed."""
        message = refused(2, "protect", "people.csv", "-k", "4", *ROLES, flag, text)
        assert f"must have no empty names; got {text!r}. Leave them out." in message

    def test_a_single_name_may_be_in_quotes(self, run, folder):
        (folder / "t.csv").write_text(
            '"a,b","c=""d",w,u\n' + "".join(f"{i},{i % 3},1,{i}\n" for i in range(12))
        )
        named = ("--quasi-identifier", '"a,b","c=""d"', "--weights", '"w"', "--unit", '"u"')
        typed = ("--type", '"a,b"=integer', "--digits", '"c=""d"=0')
        outcome = run("protect", "t.csv", "-k", "3", "--method", "mdav", *named, *typed, "--json")
        assert outcome.code == 0, outcome.err
        columns = json.loads(outcome.out)["plan"]["columns"]
        assert columns["a,b"]["type"] == "integer"
        assert columns['c="d']["digits"] == 0
        assert (columns["w"]["role"], columns["u"]["role"]) == ("weight", "unit")

    def test_the_help_says_how_to_write_a_name_with_a_comma(self, run):
        text = " ".join(run("protect", "--help").out.replace("│", " ").split())
        assert """in double quotes, as in '"city, country",age'.""" in text

    def test_blocks_and_orders(self, run, folder):
        (folder / "t.csv").write_text('a,"b,c",d\n' + '1,2,"S,s"\n1,2,M\n' * 4)
        order = 'd="S,s",M,L'
        argv = ("protect", "t.csv", "-k", "4", "--method", "mdav", "--block", 'a,"b,c"')
        outcome = run(*argv, "--order", order, "--type", "d=ordinal", "--json")
        assert outcome.code == 0, outcome.err
        facts = json.loads(outcome.out)
        assert facts["blocks"] == [["a", "b,c"], ["d"]]
        assert facts["plan"]["columns"]["d"]["order"] == ["S,s", "M", "L"]

    @pytest.mark.parametrize("name", ["", *ODD_NAMES])
    def test_any_name_can_be_written(self, name):
        assert names_in(quoted_name(name)) == [name]
        assert names_in(f"{quoted_name(name)},{quoted_name('a,b')}") == [name, "a,b"]

    def test_the_command_in_the_manifest_repeats_it(self, run, folder):
        names = [name for name in ODD_NAMES if name != "line\nend"]
        table = pl.DataFrame({name: [i % 3 for i in range(12)] for name in names})
        table.write_parquet(folder / "t.parquet")
        third = len(names) // 3
        groups = ("--identifier", "--sensitive", "--quasi-identifier")
        roles = [
            word
            for at, flag in enumerate(groups)
            for word in (flag, ",".join(map(quoted_name, names[at * third : (at + 1) * third])))
        ]
        argv = ("protect", "t.parquet", "-k", "4", "--method", "mdav", "-o", "out.csv", *roles)
        argv += ("--unit", "rows")
        assert run(*argv, "--column-weight", f"{names[-1]}=2").code == 0
        first = (folder / "out.csv").read_bytes()
        command = json.loads((folder / "out.csv.manifest.json").read_text())["command"]
        program, *words = shlex.split(command)
        assert program == "microagg"
        again = run(*words, "--force")
        assert again.code == 0, again.err
        assert (folder / "out.csv").read_bytes() == first


class TestSections:
    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("protect", "Arguments Files Protection Method Columns Output Options"),
            ("compare", "Arguments Protection Method Files Columns Output Options"),
            ("sweep", "Arguments Protection Method Columns Files Output Options"),
            ("measure", "Arguments Columns Files Method Output Options"),
            ("verify", "Arguments Files Protection Columns Output Options"),
            ("plan", "Arguments Files Protection Columns Output Options"),
        ],
    )
    def test_options_are_listed_in_sections(self, run, command, expected):
        text = run(command, "--help").out
        assert re.findall(r"^(\w+):$", text, re.MULTILINE) == expected.split()
        assert all(len(line) <= 80 for line in text.splitlines())
        assert not re.search(r"Default:\s+[(\[{]", text)  # an empty list goes without saying
        general = text.partition("\nOptions:\n")[2]
        assert re.findall(r"^  (-\S+)", general, re.MULTILINE) == ["--version", "-h,"]

    @pytest.mark.parametrize("command", ["protect", "compare", "sweep", "verify"])
    def test_every_flag_is_there_once(self, run, command):
        text = run(command, "--help").out.partition("\nArguments:\n")[2]
        flags = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
        assert len(flags) == len(set(flags))
        assert {"--sensitive", "--quasi-identifier", "--plan", "--json"} <= set(flags)


class TestPlanFiles:
    def test_compare(self, run, plan):
        facts = json.loads(run("compare", "people.csv", *plan, "--methods", "mdav", "--json").out)
        (row,) = facts["comparison"]
        assert row["k"] == 4
        done = json.loads(run("protect", "people.csv", *plan, "--json").out)
        assert row["information_loss"] == done["information_loss"]
        assert facts["quasi_identifiers"] == done["quasi_identifiers"]

    def test_compare_overrides_it(self, run, plan):
        argv = ("compare", "people.csv", *plan, "-k", "3,5", "--methods", "mdav,cbfs")
        facts = json.loads(run(*argv, "--sensitive", "code,height", "--json").out)
        assert [row["k"] for row in facts["comparison"]] == [3, 5, 3, 5]
        assert facts["quasi_identifiers"] == ["age", "income"]

    @pytest.mark.slow
    def test_sweep(self, run, plan, folder):
        argv = ("sweep", "people.csv", "-k", "3,5", "--seed", "2", "--json")
        by_plan = json.loads(run(*argv, *plan).out)
        by_flags = json.loads(run(*argv, *ROLES).out)
        for row in (*by_plan["sweep"], *by_flags["sweep"]):
            del row["seconds"]
        assert by_plan["sweep"] == by_flags["sweep"]
        assert by_plan["quasi_identifiers"] == ["age", "height", "income"]
        text = PLAN + 'height = { role = "weight" }\n'
        (folder / "weighted.toml").write_text(text)
        facts = json.loads(run(*argv, "--plan", "weighted.toml").out)
        assert [row["lower_bound"] for row in facts["sweep"]] == [None, None]

    def test_verify(self, run, plan, folder):
        assert run("protect", "people.csv", *plan, "-q").code == 0
        outcome = run("verify", "people-protected.csv", *plan)
        assert outcome.code == 0
        assert outcome.out.startswith("Yes: every combination stands for at least 4 records")
        assert "read from" not in outcome.out, "the plan was asked, not the manifest"
        assert run("verify", "people-protected.csv", *plan, "-k", "60", "-q").code == 4
        by_manifest = run("verify", "people-protected.csv")
        assert by_manifest.code == 0
        assert re.search(r"read from +people-protected.csv.manifest.json", by_manifest.out)
        (folder / "people-protected.csv.manifest.json").unlink()
        outcome = run("verify", "people-protected.csv")
        assert outcome.code == 2
        assert "Give k (-k), or a plan" in outcome.err

    @pytest.mark.filterwarnings("ignore::microagg.core.errors.PrivacyWarning")
    def test_verify_in_blocks(self, run, folder):
        (folder / "p.toml").write_text(f'blocks = [["age"], ["height"]]\n{PLAN}')
        assert run("protect", "people.csv", "--plan", "p.toml", "-q").code == 0
        for more in (("--plan", "p.toml"), ()):
            facts = json.loads(run("verify", "people-protected.csv", *more, "--json").out)
            assert facts["satisfied"]
            assert facts["blocks"] == [["age"], ["height"], ["income"]]

    def test_columns_beside_a_plan_are_refused_by_verify(self, run, refused, plan):
        assert run("protect", "people.csv", *plan, "-q").code == 0
        message = refused(2, "verify", "people-protected.csv", *plan, "--sensitive", "age")
        assert "given in addition to a plan" in message

    @pytest.mark.parametrize("command", ["verify", "measure"])
    def test_help_says_that_columns_beside_a_plan_are_refused(self, run, command):
        assert "are refused" in " ".join(run(command, "--help").out.split())

    @pytest.mark.parametrize(
        ("planned", "method", "not_used"),
        [
            ('effort = "fast"\n', "mdav", "effort"),
            ('effort = "fast"\noptions = { n_jobs = 1 }\n', "mdav", "method_options, effort"),
            ("time_budget = 9\n", "mdav", "time_budget"),
            ('method = "fcm"\nstrict_k = true\n', "mdav", "strict_k"),
            (
                'method = "mdav"\nmethod_options = { leftover = "nearest" }\n',
                "cbfs",
                "method_options",
            ),
            ('effort = "balanced"\ntime_budget = 9\n', "icsm", None),
            (f'method = "mdav"\n{LEFTOVER}', "mdav", None),
        ],
    )
    def test_options_of_the_method_that_is_overridden(self, run, folder, planned, method, not_used):
        (folder / "p.toml").write_text(planned + PLAN.replace('method = "mdav"\n', ""))
        outcome = run("protect", "people.csv", "--plan", "p.toml", "--method", method)
        assert outcome.code == 0, outcome.err
        found = re.search(r"not used +(.*) of the plan: for another method", outcome.out)
        assert (found and found[1]) == not_used

    def test_a_time_budget_for_a_tight_bound_is_kept(self, folder):
        (folder / "p.toml").write_text(f"time_budget = 9\n{PLAN}".replace("mdav", "auto"))
        given = {"plan": "p.toml", "method": "mdav"}
        assert plan_from({**given, "bound": "tight"}).plan.time_budget == 9
        assert plan_from({**given, "bound": "tight"}).not_used == ()
        assert plan_from({**given, "bound": "fast"}).not_used == ("time_budget",)

    def test_an_effort_beside_another_method_is_refused(self, refused, plan):
        argv = ("protect", "people.csv", *plan, "--method", "cbfs", "--effort", "fast")
        assert "effort (--effort) is for 'auto'" in refused(2, *argv)

    def test_an_effort_in_a_plan_does_not_keep_auto_in_a_comparison(self, run, refused, folder):
        (folder / "p.toml").write_text('effort = "fast"\n' + PLAN.replace('method = "mdav"\n', ""))
        argv = ("compare", "people.csv", "--plan", "p.toml", "--methods")
        outcome = run(*argv, "mdav")
        assert outcome.code == 0, outcome.err
        assert outcome.out.count("not used: effort (without effect here)\n") == 1
        assert json.loads(run(*argv, "mdav", "--json").out)["not_used"] == ["effort"]
        assert "not used" not in run(*argv, "mdav,auto").out
        assert "which is not among the methods" in refused(2, *argv, "mdav", "--effort", "best")

    @pytest.mark.parametrize(
        ("planned", "more"),
        [
            ("", ("--effort", "fast", "--methods", "auto,mdav")),
            (
                'method = "univariate"\nscale = "none"\noptions = { integer = true }\n',
                ("--scale", "rank", "--methods", "mdav"),
            ),
            ('method = "fcm"\nstrict_k = true\n', ("--effort", "fast", "--methods", "auto,mdav")),
            (
                'method = "icsm"\noptions = { random_state = 3 }\n',
                ("--seed", "4", "--methods", "icsm"),
            ),
        ],
        ids=["effort", "scale", "strict_k", "seed"],
    )
    def test_options_of_a_comparison_need_not_suit_the_method_of_the_plan(
        self, run, folder, planned, more
    ):
        rest = PLAN.replace('method = "mdav"\n', "") if planned else PLAN
        (folder / "p.toml").write_text(planned + rest)
        outcome = run("compare", "people.csv", "--plan", "p.toml", *more, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        assert json.loads(outcome.out)["seed"] in (None, 4) or "auto" in more[-1]

    def test_a_plan_whose_own_options_disagree_is_refused_by_a_comparison(self, refused, folder):
        (folder / "p.toml").write_text(f'effort = "fast"\n{PLAN}')
        argv = ("compare", "people.csv", "--plan", "p.toml", "--methods", "auto")
        assert "p.toml: effort" in refused(2, *argv)

    @pytest.mark.parametrize("switch", [o for o in plan_options() if o.kind is Kind.SWITCH])
    def test_a_switch_of_a_plan_can_be_turned_off(self, folder, switch):
        method = "mdav" if switch.keyword == "hybrid" else "fcm"
        (folder / "p.toml").write_text(
            f'k = 4\nmethod = "{method}"\n{switch.keyword} = true\n'
            '[columns]\nn.role = "identifier"\n'
        )
        given = {"plan": "p.toml"}
        assert getattr(plan_from(given).plan, switch.keyword) is True
        assert getattr(plan_from({**given, switch.dest: False}).plan, switch.keyword) is False

    def test_a_switch_is_turned_off_by_no(self, run, folder):
        (folder / "p.toml").write_text(f"keep_key = true\n{PLAN}")
        argv = ("protect", "people.csv", "--plan", "p.toml", "-q", "--force")
        assert run(*argv).code == 0
        assert "name" in released(folder).columns
        assert run(*argv, "--no-keep-key").code == 0
        assert "name" not in released(folder).columns

    @pytest.mark.parametrize("command", ["protect", "compare", "sweep", "verify", "measure"])
    def test_a_plan_that_is_none(self, refused, folder, command):
        (folder / "bad.toml").write_text("k = = 4")
        files = ("people.csv", "people.csv") if command == "measure" else ("people.csv",)
        if command == "measure":
            (folder / "other.csv").write_bytes((folder / "people.csv").read_bytes())
            files = ("people.csv", "other.csv")
        assert "does not exist" in refused(2, command, *files, "--plan", "none.toml")
        assert "not well-formed TOML" in refused(3, command, *files, "--plan", "bad.toml")


def loaded_by(*argv):
    """The modules that a command loads, in a process of its own."""
    script = (
        "import json, sys\n"
        "from microagg.cli.main import main\n"
        "try:\n"
        f"    main({list(argv)!r})\n"
        "finally:\n"
        "    print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr))


class TestQuick:
    """What is said without any work is said at once."""

    HEAVY = frozenset(("polars", "narwhals", "numba", "scipy", "sklearn", "pandas"))

    @pytest.mark.parametrize("argv", [["--help"], ["-h"], [], ["--version"]])
    def test_help_loads_neither_pydantic_nor_numpy(self, argv):
        loaded = loaded_by(*argv)
        others = {"pydantic", "numpy", "rich", "matplotlib", "jinja2", "tomlkit"}
        assert not loaded & (self.HEAVY | others)
        rooms = {name.split(".")[1] for name in loaded if name.startswith("microagg.")}
        assert rooms <= {"cli", "core"}

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "command", ["protect", "compare", "sweep", "verify", "plan", "measure"]
    )
    def test_help_of_a_command_loads_a_plan_and_nothing_that_compiles(self, command):
        assert not loaded_by(command, "--help") & self.HEAVY


class TestWhatIsWrong:
    """A message names the plan file if the problem is there, not in the options."""

    @pytest.mark.parametrize(
        ("text", "options", "message"),
        [
            ("[columns.age]\ntype = 'x'", (), "p.toml: [columns.age] a type must be one of"),
            ("[columns.age]\ntype = 'x'", ("-k", "3"), "p.toml: [columns.age] a type must be one"),
            ("scale = 'x'", ("--seed", "3"), "p.toml: scale must be one of"),
            ("", ("--scale", "x"), "scale must be one of"),
            ("", ("--type", "age=x"), "column 'age': a type must be one of"),
            ("scale = 'rank'", ("--scale", "x"), "scale must be one of"),
        ],
    )
    def test_the_file_is_named(self, refused, folder, text, options, message):
        (folder / "p.toml").write_text(f"k = 3\n{text}\n")
        found = refused(2, "protect", "people.csv", "--plan", "p.toml", *options)
        assert found.startswith(f"microagg: {message}")

    def test_no_k_anywhere(self, refused, folder):
        (folder / "p.toml").write_text("method = 'mdav'\n")
        assert "p.toml: a plan needs 'k'" in refused(2, "protect", "people.csv", "--plan", "p.toml")
