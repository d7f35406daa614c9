"""Every block of code in every page runs, or says why it does not."""

import warnings

import pytest

from docs.builder import reference
from docs.builder.blocks import blocks
from docs.builder.staging import PROJECT_PAGES, ROOT, written_pages
from tests.site import samples
from tests.site.running import Reader

WRITTEN = [*written_pages(), *PROJECT_PAGES, "README.md"]
# What a newcomer reads first: pages that make all they use.
ALONE = ("README.md", "SECURITY.md", "docs/index.md")
FIRST = [page for page in WRITTEN if page in ALONE or "/start/" in page]
WITH_SAMPLES = [page for page in WRITTEN if page not in FIRST]


def text_of(page):
    return (ROOT / page).read_text("utf-8")


def runs(text):
    return [block for block in blocks(text) if not block.why_not and Reader.does(block)]


@pytest.mark.parametrize("page", WRITTEN)
def test_languages_are_known(page):
    """A language that nothing runs would hide a block from the tests."""
    strange = {block.language for block in blocks(text_of(page))} - Reader.RUNNERS.keys()
    assert not strange


def read(page, text, names):
    """Run all blocks of a page, from top to bottom."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of privacy: the samples are small
        reader = Reader(names)
        for block in runs(text):
            try:
                reader.run(block)
            except BaseException as error:
                error.add_note(f"in {page}, line {block.line}")
                raise


@pytest.mark.slow
@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("page", [page for page in WITH_SAMPLES if runs(text_of(page))])
def test_every_block_of_a_written_page_runs(page):
    read(page, text_of(page), samples.names())


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in FIRST if runs(text_of(page))])
def test_first_pages_need_nothing_but_the_package(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read(page, text_of(page), {})


GENERATED = {name: text for name, text in reference.generated().items() if name.endswith(".md")}


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page, text in GENERATED.items() if runs(text)])
def test_every_block_of_a_generated_page_runs(page, desk):
    if page == "command-line.md":
        samples.write_plain_people(desk)
    read(page, GENERATED[page], samples.names())
