"""The options of `protect_dataset` are those of `protect`, and a few of its own."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import microagg
from microagg.cli.main import main
from microagg.core.errors import ParameterError
from microagg.plans.options import options_of
from microagg.plans.plan import Plan
from microagg.scale.tasks.memory import BASE, FLOOR, PER_TASK, memory_limit, tasks_at_once
from tests.scale.datasets import people, sizes_of_classes, write_files

OWN = ("source", "target", "engine", "memory", "work_dir", "keep_work", "resume")
OWN += ("delimiter", "decimal", "encoding", "report", "public_report", "force")
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "datasets.md"


def defaults(function):
    return {name: p.default for name, p in inspect.signature(function).parameters.items()}


def test_those_of_a_table_and_its_own():
    whole, own = defaults(microagg.protect), defaults(microagg.protect_dataset)
    refused = {option.keyword for option in options_of(Plan) if option.on_datasets is None}
    assert {*OWN} <= own.keys() <= {*whole, *OWN}
    assert whole.keys() - own.keys() - {"table"} <= refused
    assert {name: own[name] for name in own if name not in OWN} == {
        name: whole[name] for name in own if name not in OWN
    }


@pytest.mark.parametrize("option", ["hybrid", "shuffle", "keep_margins"])
def test_what_datasets_do_not_have_is_refused_in_words(tmp_path, option):
    with pytest.raises(ParameterError, match=rf"^{option} .*not available for datasets"):
        microagg.protect_dataset(tmp_path, tmp_path / "out", k=3, **{option: True})


def test_every_parameter_is_described():
    text = microagg.protect_dataset.__doc__.partition("Parameters\n")[2]
    for name in defaults(microagg.protect_dataset):
        assert re.search(rf"\b{name}\b", text), name


def test_the_page_has_every_flag(capsys):
    with pytest.raises(SystemExit):
        main(["protect", "--help"])
    shown, page = capsys.readouterr().out, PAGE.read_text("utf-8")
    for flag in ("--memory", "--work-dir", "--keep-work", "--resume", "--scheduler", "--report"):
        assert flag in shown
        assert flag in page


@pytest.mark.parametrize(
    ("written", "size"),
    [("2GB", 2 * 10**9), ("1.5 GiB", 3 << 29), ("900mb", 9 * 10**8), (10**9, 10**9)],
)
def test_sizes(written, size):
    assert memory_limit(written) == size


@pytest.mark.parametrize("written", ["4 elephants", "", 4.5e9, True])
def test_what_is_no_size(written):
    with pytest.raises(ParameterError, match="memory must be a size such as 8GB or 500MB; got "):
        memory_limit(written)


def test_tasks_at_once():
    assert tasks_at_once(FLOOR, 0, 8) == 1
    assert tasks_at_once(BASE + 2 * PER_TASK, 0, 8) == 2
    assert tasks_at_once(None, 10**15, 3) == 3
    assert tasks_at_once(10**12, 1, 3) == 3


class TestTheCommandLine:
    ASKED = ("-k", "4", "--method", "mdav", "--identifier", "id", "--sensitive", "disease")

    def run(self, *words):
        with pytest.raises(SystemExit) as leaving:
            main(["protect", *map(str, words), *self.ASKED, "--quasi-identifier", "job"])
        return leaving.value.code

    @pytest.fixture
    def source(self, tmp_path):
        return write_files(people(600), tmp_path / "in", (200,))

    def test_a_folder(self, source, capsys):
        assert self.run(source) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "2 Parquet files; k holds for all of them together, not for each file" in out
        assert (source.parent / "in-protected").is_dir()

    def test_it_says_what_the_work_folder_takes(self, source, tmp_path, capsys):
        assert self.run(source, "-o", tmp_path / "a", "--json") == 0
        said = capsys.readouterr().err
        assert f"the work folder takes up to 0.1 GB in {str(tmp_path)!r}, where " in said
        assert self.run(source, "-o", tmp_path / "b", "--quiet") == 0
        assert not capsys.readouterr().err

    def test_the_folder_one_is_in(self, source, monkeypatch):
        monkeypatch.chdir(source)
        assert self.run(".") == 0
        assert (source.parent / "in-protected").is_dir()

    @pytest.mark.parametrize("command", [["plan"], ["compare", "-k", "3"], ["sweep", "-k", "3"]])
    def test_commands_that_take_files(self, source, capsys, command):
        with pytest.raises(SystemExit) as leaving:
            main([*command, str(source)])
        assert leaving.value.code == 2
        assert "is a folder, and a file is needed here" in capsys.readouterr().err

    def test_a_file_with_memory(self, source, tmp_path):
        target = tmp_path / "safe.parquet"
        assert self.run(source / "part-001.parquet", "-o", target, "--memory", "1GB") == 0
        assert sizes_of_classes(pl.read_parquet(target), ["age", "income", "height", "job"])[0] >= 4
        told = microagg.Manifest.load(f"{target}.manifest.json").command
        assert "--memory 1000000000" in told

    def test_as_json(self, source, tmp_path, capsys):
        assert self.run(source, "-o", tmp_path / "out", "--json") == 0
        assert '"dataset": {' in capsys.readouterr().out

    @pytest.mark.parametrize("option", ["--audit", "--delimiter"])
    def test_what_datasets_do_not_have(self, source, tmp_path, capsys, option):
        assert self.run(source, "-o", tmp_path / "out", option, ";") == 2
        assert option in capsys.readouterr().err

    def test_a_stream_is_no_dataset(self, source, capsys):
        assert self.run(source, "-o", "-") == 2
        assert "standard" in capsys.readouterr().err

    def test_resume_without_a_run(self, source, tmp_path, capsys):
        assert self.run(source, "-o", tmp_path / "out", "--resume") == 2
        assert "nothing to resume" in capsys.readouterr().err


def test_without_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import microagg\n"
        "try: microagg.protect_dataset\n"
        "except microagg.errors.ParameterError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'microagg[datasets]'" in done.stdout
