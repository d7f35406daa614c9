"""`python -m benchmarks.papers` sets the papers' tables beside ours in docs/benchmarks.md."""

import sys

from benchmarks.harness import TABLES, benchmark_table
from benchmarks.page import run

NAMES = ("losses", "mdav", "reporder", "icsm", "hac", "integer", "classics")
INTRO = """## The papers' tables beside ours

Every figure of ours in this part is from one run of `make papers`. It had {system}.
Columns are standardised (mean 0, standard deviation 1, ddof = 1). IL is the information loss in per
cent, 100 SSE / SST; lower is better. A change in per cent is that of ours against the printed
figure, so below zero ours loses less.
"""

if __name__ == "__main__":
    if missing := [name for name in TABLES if benchmark_table(name) is None]:
        sys.exit(
            "make papers needs MICROAGG_DATA to name a folder with the tables "
            f"{', '.join(missing)} as .csv (see CONTRIBUTING.md); nothing was written."
        )
    run("make papers", "benchmarks.papers", NAMES, sys.argv[1:], INTRO)
