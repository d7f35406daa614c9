"""`python -m benchmarks` measures speed for docs/benchmarks.md; with names, it runs only those."""

import sys

from benchmarks.page import run

NAMES = (
    "mdav_speed",
    "univariate_speed",
    "path_cut_growth",
    "orderings_speed",
    "kmeans_speed",
    "hac_speed",
    "search_speed",
    "sweep_speed",
    "requirements_speed",
    "constraints_speed",
    "fuzzy_speed",
    "tables_speed",
    "wide_tables",
    "margins",
    "linkage_speed",
    "start_up",
)
INTRO = """## Speed

All figures in this part are from one run of `make bench` with {system}.
Times depend on the machine and what else it is doing; compare the columns of a table, which were
measured alternately in the same run. The plain scan is in `benchmarks/mdav_speed.py`; microagg1d is
the package of that name on PyPI.
"""

if __name__ == "__main__":
    run("make bench", "benchmarks", NAMES, sys.argv[1:], INTRO)
