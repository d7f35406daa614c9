"""Docstrings, written as numpydoc has them, as Markdown."""

import re
from collections.abc import Callable, Iterator, Mapping
from inspect import cleandoc
from typing import NamedTuple

_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*) : ?(?P<text>.*(?:\n+ +.*)*)", re.M)
_CODE = re.compile(r"(`[^`]*`)")
_LISTED = ("Parameters", "Attributes", "Raises")


class Docstring(NamedTuple):
    """What a docstring says: the prose at its head, and its sections by title."""

    head: str
    sections: Mapping[str, str]

    @classmethod
    def of(cls, text: str | None) -> "Docstring":
        """Take a docstring apart."""
        head, *parts = _SECTION.split(cleandoc(text or ""))
        return cls(head.strip(), dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True)))

    @property
    def summary(self) -> str:
        """Its first paragraph."""
        return self.head.partition("\n\n")[0].replace("\n", " ")

    @property
    def has_example(self) -> bool:
        """Whether it shows a call, which the tests run."""
        return ">>> " in self.head or ">>> " in self.sections.get("Examples", "")


Change = Callable[[str], str]


class Context(NamedTuple):
    """What the page knows of names: each is a change of a piece of text."""

    typed: Change  # a parameter gets its type and default
    link: Change  # a name in backticks gets a link
    complete: Change  # an example gets the imports that it needs


def as_markdown(doc: Docstring, context: Context) -> str:
    """Return a docstring as Markdown."""
    parts = [_prose(doc.head, context)]
    for title, text in doc.sections.items():
        if title in _LISTED:
            body = "\n\n".join(_entries(text, context))
        elif title == "References":
            body = _prose(re.sub(r"^\.\. \[(\d+)\] ", r"[\1] ", text, flags=re.M), context)
        else:
            body = _prose(text, context)
        parts.append(f"**{title}**\n\n{body}")
    return "\n\n".join(parts)


def _entries(text: str, context: Context) -> Iterator[str]:
    """Return each entry as one of a definition list: its name and type, then its meaning."""
    for match in _ENTRY.finditer(text):
        shown = "<br>".join(f"`{context.typed(name)}`" for name in match["names"].split(", "))
        meaning = " ".join(line.strip() for line in match["text"].splitlines())
        meaning = f"{meaning[:1].upper()}{meaning[1:]}".rstrip(".")
        yield f"{shown}\n:   {_plain(meaning, context)}."


def _prose(text: str, context: Context) -> str:
    """Return paragraphs; those that show Python or are indented are code."""
    return "\n\n".join(_paragraph(part, context) for part in _joined(text))


def _joined(text: str) -> Iterator[str]:
    """Return the paragraphs of a text; examples that follow each other are one."""
    shown: list[str] = []
    for paragraph in re.split(r"\n\n+", text):
        if paragraph.lstrip().startswith(">>>"):
            shown.append(paragraph)
            continue
        if shown:
            yield "\n\n".join(shown)
            shown = []
        yield paragraph
    if shown:
        yield "\n\n".join(shown)


def _paragraph(text: str, context: Context) -> str:
    if text.lstrip().startswith(">>>"):
        return f"```pycon\n{context.complete(cleandoc(text))}\n\n```"
    if all(line.startswith("    ") for line in text.splitlines()):
        return f"```text\n{cleandoc(text)}\n```"
    return _plain(text, context)


def _plain(text: str, context: Context) -> str:
    """Return prose in which nothing but backticks has a meaning, and names are links."""
    text = re.sub(r"\[(\d+)\]_", r"[\1]", text)
    parts = _CODE.split(text)
    for at, part in enumerate(parts):
        if part.startswith("`"):
            parts[at] = context.link(part)
        else:
            parts[at] = re.sub(r"([<*_])", _escaped, part)
    return "".join(parts)


def _escaped(match: re.Match[str]) -> str:
    return "&lt;" if match[1] == "<" else f"\\{match[1]}"
