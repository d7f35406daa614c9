"""The Markdown of the whole site in one folder: written pages, and those that are generated."""

import shutil
from pathlib import Path

from docs.builder import drawings, formulas, gallery, reference
from docs.builder.links import relocated

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Files at the root of the project that are pages of the site, too.
PROJECT_PAGES = {
    "CHANGELOG.md": "docs/project/changes.md",
    "CONTRIBUTING.md": "docs/project/contributing.md",
    "SECURITY.md": "docs/project/security.md",
}
_NOT_PAGES = {"builder", "drawings", "__pycache__", "zensical.toml"}


def stage(pages: Path) -> None:
    """Fill a folder with all pages, as Markdown, and their pictures."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns(*_NOT_PAGES))
    for source, target in ({page: page for page in written_pages()} | PROJECT_PAGES).items():
        stage_page(pages, source, target)
    reference.write(pages / "reference")
    gallery.write(pages / "gallery")
    drawings.write(pages)
    (pages / "assets").mkdir()
    for style in (Path(__file__).parent / "assets").iterdir():
        shutil.copy(style, pages / "assets")
    formulas.write_font(pages / "assets")


def written_pages() -> list[str]:
    """Return the pages in docs/ by their paths in the project."""
    found = (path.relative_to(ROOT) for path in sorted(DOCS.rglob("*.md")))
    return [path.as_posix() for path in found if path.parts[1] not in _NOT_PAGES]


def stage_page(pages: Path, source: str, target: str) -> None:
    """Copy a page, by its paths in the project, with links to where pages are on the site."""
    text = (ROOT / source).read_text("utf-8")
    moved = relocated(text, source, target, lambda path: PROJECT_PAGES.get(path, path))
    (pages / Path(target).relative_to("docs")).write_text(moved, "utf-8")
