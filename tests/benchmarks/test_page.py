"""Each command rewrites its own part of the page of benchmarks and nothing else."""

import os
import subprocess
import sys

import pytest

from benchmarks.page import PAGE, with_part

PART = """<!-- begin of make {0} -->
{1}
<!-- end of make {0} -->
"""


def page(papers: str, bench: str) -> str:
    return "# Benchmarks\n\n" + PART.format("papers", papers) + "\n" + PART.format("bench", bench)


def test_a_part_is_replaced_and_the_other_kept():
    after = with_part(page("old", "fast"), "make papers", "new\n")
    assert after == page("new", "fast")
    assert with_part(after, "make bench", "faster\n") == page("new", "faster")


def test_writing_the_same_part_again_changes_nothing():
    once = with_part(page("old", "fast"), "make bench", "new\n")
    assert with_part(once, "make bench", "new\n") == once


@pytest.mark.parametrize("torn", ["", "<!-- begin of make bench -->", page("a", "b")[:-10]])
def test_a_page_without_both_marks_is_refused(torn):
    with pytest.raises(ValueError, match="make bench"):
        with_part(torn, "make bench", "new\n")


@pytest.mark.parametrize("command", ["make papers", "make quality", "make bench"])
def test_the_page_holds_the_marks_of_every_command(command):
    part = "a new part\n"
    assert part in with_part(PAGE.read_text(), command, part)


@pytest.mark.parametrize("package", ["papers", "quality"])
def test_without_data_a_command_says_so_and_writes_nothing(package, tmp_path):
    before = PAGE.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{package}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=PAGE.parent.parent,
        env=os.environ | {"MICROAGG_DATA": str(tmp_path)},
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "MICROAGG_DATA" in done.stderr
    assert PAGE.read_bytes() == before
