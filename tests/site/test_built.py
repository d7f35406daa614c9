"""The built site: every link and anchor leads somewhere, and nothing comes from another host."""

import json
import re
from urllib.parse import unquote, urldefrag

import pytest

from docs.builder.errors import BuildError
from docs.builder.navigation import section
from tests.site.html import Page

pytestmark = pytest.mark.slow
LONGEST = 101  # characters that a screen of 1280 pixels shows without scrolling sideways


@pytest.fixture(scope="module")
def pages(built):
    found = {path: Page.of(path) for path in built.rglob("*.html") if path.name != "404.html"}
    assert len(found) > 50
    return found


def is_remote(link):
    return re.match(r"[a-z]+:|//", link) is not None


def test_every_link_and_anchor_leads_somewhere(pages):
    dead = []
    for path, page in pages.items():
        for link in page.links:
            if is_remote(link):
                continue
            name, anchor = urldefrag(unquote(link))
            target = (path.parent / name).resolve() if name else path
            if not target.is_file() or (
                anchor and target in pages and anchor not in pages[target].anchors
            ):
                dead.append(f"{path.name}: {link}")
    assert not dead


def test_nothing_is_loaded_from_another_host(built, pages):
    for path, page in pages.items():
        assert not [own for own in page.loaded if is_remote(own)], path.name
    for style in built.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", style.read_text("utf-8")), style.name


def test_every_image_has_text_and_is_there(pages):
    count = 0
    for path, page in pages.items():
        for image in page.images:
            count += 1
            assert (image.get("alt") or "").strip(), (path.name, image)
            assert (path.parent / image["src"]).is_file(), (path.name, image)
    assert count >= 3


def test_every_page_has_an_example(built, pages):
    """Code or a picture; only the list of changes does without."""
    without = {
        path.relative_to(built).as_posix()
        for path, page in pages.items()
        if not (page.code or page.images)
    }
    assert without <= {"project/changes.html"}


def test_lines_of_code_fit_beside_the_menus(built, pages):
    wide = {
        path.relative_to(built).as_posix(): line
        for path, page in pages.items()
        for line in page.code.splitlines()
        if len(line) > LONGEST
    }
    assert not wide


def test_lists_and_tables_are_what_they_look_like(pages):
    """Another renderer than that of the site may take them for text, or the other way round."""
    for path, page in pages.items():
        assert not page.has_paragraph_lists, path.name


def test_search_knows_every_page(built, pages):
    found = json.loads((built / "search.json").read_text("utf-8"))
    known = {item["location"].partition("#")[0] for item in found["items"]}
    names = {path.relative_to(built).as_posix() for path in pages}
    assert names <= {name or "index.html" for name in known}


def test_a_page_that_no_index_lists_stops_the_build(tmp_path):
    (tmp_path / "index.md").write_text("# Guides\n\n- [One](one.md): first\n")
    (tmp_path / "one.md").write_text("# One\n")
    assert [*section(tmp_path)[1]] == ["One"]
    (tmp_path / "two.md").write_text("# Two\n")
    with pytest.raises(BuildError, match=r"it lacks two\.md"):
        section(tmp_path)
