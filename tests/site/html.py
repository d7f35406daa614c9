"""What the tests of the built site need to know of a page."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path


@dataclass
class Page:
    """Anchors, links, what is loaded, images and lines of code, of one HTML page."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    images: list[dict[str, str | None]] = field(default_factory=list)
    code: str = ""
    has_paragraph_lists: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path) -> "Page":
        page = cls(path)
        _Reader(page).feed(path.read_text("utf-8"))
        return page


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self.in_paragraph = False
        self.in_code = False

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        page = self.page
        page.anchors |= {own for own in (found.get("id"), found.get("name")) if own}
        if tag == "a" and found.get("href"):
            page.links.append(found["href"])
        if tag in ("script", "img", "iframe") and found.get("src"):
            page.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            page.loaded.append(found.get("href") or "")
        if tag == "img":
            page.images.append(found)
        self.in_code |= tag == "pre"
        self.in_paragraph = tag == "p" or (self.in_paragraph and tag not in ("li", "div"))

    def handle_endtag(self, tag):
        self.in_paragraph &= tag != "p"
        self.in_code &= tag != "pre"

    def handle_data(self, data):
        """Note code, and lines of a paragraph that were meant to be items of a list."""
        if self.in_code:
            self.page.code += data
        if self.in_paragraph:
            lines = data.splitlines()
            marks = ("- ", "* ", "1. ", "2. ", "```", "| ")
            self.page.has_paragraph_lists += [own for own in lines if own.startswith(marks)]
