"""`python -m benchmarks.papers` writes the papers' tables next to ours to docs/benchmarks.md."""

import sys

from benchmarks.harness import TABLES, benchmark_table
from benchmarks.page import run

NAMES = ("losses", "mdav", "reporder", "icsm", "hac", "integer", "classics", "tclose")
INTRO = """## The papers' tables next to ours

All our figures in this part are from one run of `make papers` with {system}.
Columns are standardised (mean 0, standard deviation 1, ddof = 1). IL is the information loss in per
cent, 100 SSE / SST; lower is better. Changes in per cent are relative to the printed
figure: below zero, ours loses less.
"""

if __name__ == "__main__":
    if missing := [name for name in TABLES if benchmark_table(name) is None]:
        sys.exit(
            "make papers needs MICROAGG_DATA to name a folder with the tables "
            f"{', '.join(missing)} as .csv (see CONTRIBUTING.md); nothing was written."
        )
    run("make papers", "benchmarks.papers", NAMES, sys.argv[1:], INTRO)
