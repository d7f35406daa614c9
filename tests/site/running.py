"""Run the blocks of a page as a reader would: from top to bottom, in one folder."""

import contextlib
import doctest
import io
import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from docs.builder.blocks import Block
from microagg.cli.main import main

# Times are never the same.
_SECONDS = re.compile(r" +<?[0-9]+\.[0-9]{3}(?=  [#*+]|$)| +[0-9.]+ s$")


class Reader:
    """Runs blocks in the present folder; what one of them defines the next can use."""

    def __init__(self, names: dict[str, object]) -> None:
        self.names = {"__name__": "__page__", **names}

    @classmethod
    def does(cls, block: Block) -> bool:
        """Whether there is anything to run in a block."""
        return block.is_console or cls.RUNNERS.get(block.language) is not cls.nothing

    def run(self, block: Block) -> None:
        """Run a block, and fail as it does."""
        if block.is_console:
            self.console(block.code)
        else:
            self.RUNNERS[block.language](self, block.code)

    def python(self, code: str) -> None:
        """Run Python, with a prompt or without."""
        if ">>> " in code:
            self.prompts(code)
            return
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(code, "<page>", "exec"), self.names)

    def prompts(self, code: str) -> None:
        """Run what follows prompts, and compare what it prints."""
        test = doctest.DocTestParser().get_doctest(code, self.names, "page", None, None)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        said = io.StringIO()
        runner.run(test, out=said.write, clear_globs=False)
        self.names.update(test.globs)
        assert not runner.failures, said.getvalue()

    def shell(self, code: str) -> None:
        """Run commands of microagg."""
        for line in code.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words:
                self.command(words)

    def command(self, words: list[str]) -> str:
        """Run one command and return what it prints; `> file` at its end is understood."""
        program, *argv = words
        assert program == "microagg", (
            f"only microagg can be run here; got {program}: mark the block"
        )
        target = None
        if len(argv) > 2 and argv[-2] == ">":
            *argv, _, target = argv
        self.make_room(argv)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(argv)
            except SystemExit as leaving:
                code = leaving.code
        assert code == 0, f"microagg {shlex.join(argv)}: exit code {code}: {err.getvalue()}"
        if target:
            Path(target).write_text(out.getvalue())
        return out.getvalue()

    def make_room(self, argv: list[str]) -> None:
        """Remove a plan or a release that the samples had, so that a page can make it."""
        if argv[0] == "plan" and "-o" in argv:
            Path(argv[argv.index("-o") + 1]).unlink(missing_ok=True)
        if argv[0] == "protect" and "-o" in argv:
            folder = argv[argv.index("-o") + 1].rstrip("/")
            shutil.rmtree(folder, ignore_errors=True)
            Path(f"{folder}.manifest.json").unlink(missing_ok=True)
        if argv[0] == "protect" and "-o" not in argv:
            target = f"{Path(argv[1]).stem}-protected.csv"
            Path(target).unlink(missing_ok=True)
            Path(f"{target}.manifest.json").unlink(missing_ok=True)

    def console(self, code: str) -> None:
        """Run the command after the prompt, and compare its output but for times.

        The output may break off; what is shown must be its beginning.
        """
        command, output = re.fullmatch(
            r"\$ ((?:[^\n]*\\\n)*[^\n]*)\n(.*)", code, re.DOTALL
        ).groups()
        found = self.command(shlex.split(command.replace("\\\n", " ")))
        shown = _without_times(output)
        assert _without_times(found)[: len(shown)] == shown

    def toml(self, code: str) -> None:
        """Read TOML."""
        assert tomllib.loads(code)

    def json(self, code: str) -> None:
        """Read JSON."""
        assert json.loads(code)

    def nothing(self, code: str) -> None:
        """Text and formulas do not run."""

    RUNNERS: ClassVar[dict[str, Callable[["Reader", str], None]]] = {
        "python": python,
        "pycon": prompts,
        "sh": shell,
        "toml": toml,
        "json": json,
        "text": nothing,
        "math": nothing,
        "": nothing,
    }


def _without_times(text: str) -> list[str]:
    return [_SECONDS.sub("", line).rstrip() for line in text.strip().splitlines()]
