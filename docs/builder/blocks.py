"""Blocks of code in pages, for the tests that run them.

A block that cannot run says why in a comment before it, which no reader sees:
`<!-- not run: needs a cluster -->`.
"""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>[^\n]+?) -->\n+)?"
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\w*)(?P<rest>[^\n`]*)\n"
    r"(?P<code>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block: its language, code, line in the page, and why it is not to be run."""

    language: str
    code: str
    line: int
    why_not: str | None

    @property
    def is_console(self) -> bool:
        """Whether it shows a command after a prompt, and its output."""
        return not self.language and self.code.startswith("$ ")


def blocks(text: str) -> Iterator[Block]:
    """Return the fenced blocks of a page in order."""
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        is_signature = ".signature" in match["rest"]
        why = "it is a signature" if is_signature else match["why"]
        yield Block(match["language"], dedent(match["code"]), line, why)
