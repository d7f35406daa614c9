"""docs/benchmarks.md: one part per command, rewritten only by that command."""

import os
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from benchmarks.harness import RESULTS, published

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def run(
    command: str, package: str, names: Sequence[str], chosen: Sequence[str], intro: str
) -> None:
    """Run benchmarks of a package; a run of all replaces the part of `command` in the page."""
    for name in chosen:
        if name not in names:
            sys.exit(f"the benchmarks of {command} are {', '.join(names)}; got {name}")
    for name in chosen or names:
        import_module(f"{package}.{name}").main()
    if not chosen:
        part = "\n".join([intro.format(system=system()), *published])
        PAGE.write_text(with_part(PAGE.read_text(), command, part))


def measured_so_far(tables: Iterable[str]) -> list[str]:
    """Return those sections that this run or an earlier one has measured."""
    files = [RESULTS / f"{table}.md" for table in tables]
    return [file.read_text() for file in files if file.is_file()]


def with_part(page: str, command: str, part: str) -> str:
    """Return the page with this part between the marks of the command; the rest is unchanged."""
    begin, end = (f"<!-- {edge} of {command} -->" for edge in ("begin", "end"))
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"the page must hold {begin} and, below it, {end}; put them back")
    return f"{before}{begin}\n{part}{end}{after}"


def system() -> str:
    return (
        f"Python {platform.python_version()}, NumPy {version('numpy')}, Numba {version('numba')}, "
        f"{os.cpu_count()} cores"
    )
