"""`python -m benchmarks.quality` shows how good `auto` is, for docs/benchmarks.md.

With names it measures only those parts; the page keeps the other tables.
"""

import sys
from importlib import import_module

from benchmarks.harness import TABLES, benchmark_table
from benchmarks.page import PAGE, measured_so_far, system, with_part

COMMAND = "make quality"
# Parts, and the tables that each of them writes.
PARTS = {
    "auto_cells": ("quality_fast", "quality_balanced", "quality_best", "quality_bounds"),
    "bound_gaps": ("quality_gaps",),
    "auto_beyond": ("quality_beyond",),
    "auto_large": ("quality_large",),
    "large_tables": ("quality_million",),
}
INTRO = """## How good `auto` is

Each table in this part is from one run of `make quality`, or of the script that writes it, the last
with {system}. IL is the information loss in per cent, 100 SSE / SST; lower is better. Columns are
standardised, `random_state=0`, all cores. Seconds are those of a fit, without compiling; CPU
seconds are those of all threads and mean more on a busy machine.

The constants of `auto` were chosen on census, tarragona and eia and on normal records with another
seed. The later tables are different data (`benchmarks/datasets.py`).
"""


def main(chosen: list[str]) -> None:
    """Run the parts one after another and write those available to the page."""
    for name in chosen:
        if name not in PARTS:
            sys.exit(f"the parts of {COMMAND} are {', '.join(PARTS)}; got {name}")
    if missing := [name for name in TABLES if benchmark_table(name) is None]:
        sys.exit(
            f"{COMMAND} needs MICROAGG_DATA to name a folder with the tables {', '.join(missing)} "
            "as .csv (see CONTRIBUTING.md); nothing was written."
        )
    for name in chosen or PARTS:
        import_module(f"benchmarks.{name}").main()
        PAGE.write_text(with_part(PAGE.read_text(), COMMAND, _part()))


def _part() -> str:
    tables = [table for own in PARTS.values() for table in own]
    return "\n".join([INTRO.format(system=system()), *measured_so_far(tables)])


if __name__ == "__main__":
    main(sys.argv[1:])
