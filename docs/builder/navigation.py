"""The order of pages: a section's index lists them, and the menu follows it.

The words of the first link to a page are its name in the menu. A page that the index of its section
does not link to would be in no menu, so it stops the build.
"""

import re
from pathlib import Path

from docs.builder.errors import BuildError

SECTIONS = {
    "start": "Start",
    "guides": "Guides",
    "coming-from": "Coming from",
    "methods": "Methods",
    "gallery": "Gallery",
    "reference": "Reference",
    "benchmarks.md": "Benchmarks",
    "project": "Project",
}
Entry = dict[str, "str | list[Entry]"]
_LINK = re.compile(r"\[(?P<words>[^\]]+)\]\((?P<page>[\w.-]+\.md)(?:#[\w-]*)?\)")


def menu(pages: Path) -> list[Entry]:
    """Return the menu of all pages in a folder, in the form that Zensical and MkDocs read."""
    strange = {
        found.name for found in pages.iterdir() if found.is_dir() and any(found.rglob("*.md"))
    }
    if strange := strange - SECTIONS.keys():
        raise BuildError(f"no section of the site is called {', '.join(sorted(strange))}")
    entries: list[Entry] = [{"Home": "index.md"}]
    for name, title in SECTIONS.items():
        found = pages / name
        if found.is_dir():
            entries.append({title: section(found)})
        elif found.is_file():
            entries.append({title: name})
    return entries


def section(folder: Path) -> list[Entry]:
    """Return the menu of a section: its index, then its pages in the order of the index."""
    text = (folder / "index.md").read_text("utf-8")
    names: dict[str, str] = {}
    for match in _LINK.finditer(text):
        names.setdefault(match["page"], match["words"].replace("`", ""))
    pages = {page.name for page in folder.glob("*.md")} - {"index.md"}
    if unlisted := pages - names.keys():
        raise BuildError(
            f"{folder.name}/index.md must link to every page of its folder; it lacks "
            f"{', '.join(sorted(unlisted))}. Add a line about each."
        )
    title = text.partition("\n")[0].removeprefix("# ")
    inside = [{words: f"{folder.name}/{page}"} for page, words in names.items() if page in pages]
    return [{title: f"{folder.name}/index.md"}, *inside]
