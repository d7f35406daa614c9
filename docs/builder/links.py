"""Links between Markdown files, which change where a file moves."""

import os.path
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

_FENCE = re.compile(r"^ *(`{3,})[^\n]*\n.*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=\))")


class Link(NamedTuple):
    """What a page links to: a path relative to it, and an anchor there."""

    path: str
    anchor: str

    @classmethod
    def of(cls, target: str) -> "Link":
        """Return a target in its two parts."""
        path, _, anchor = target.partition("#")
        return cls(path, anchor)

    def __str__(self) -> str:
        return f"{self.path}#{self.anchor}" if self.anchor else self.path


def is_local(target: str) -> bool:
    """Whether a link leads to another file of the project."""
    return not re.match(r"[a-z]+:|#", target)


def targets(text: str) -> Iterator[str]:
    """Return what the prose of a page links to; links in code are no links."""
    for match in _LINK.finditer(_FENCE.sub("", text)):
        yield match["target"]


def relocated(text: str, old: str, new: str, moved: Callable[[str], str]) -> str:
    """Return the text of a page that moved from `old` to `new`, with links that follow.

    `moved` says where a file of the project is now; all paths are relative to the same folder.
    """

    def follow(match: re.Match[str]) -> str:
        target = match["target"]
        if not is_local(target):
            return target
        link = Link.of(target)
        found = moved(posixpath.normpath(posixpath.join(posixpath.dirname(old), link.path)))
        path = os.path.relpath(found, PurePosixPath(new).parent)
        return str(Link(path.replace(os.sep, "/"), link.anchor))

    return _LINK.sub(follow, text)
