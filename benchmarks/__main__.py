"""`python -m benchmarks` runs all and writes docs/benchmarks.md; with names, it runs those."""

import os
import platform
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from benchmarks.harness import RESULTS

NAMES = (
    "losses",
    "mdav_speed",
    "univariate_speed",
    "path_cut_growth",
    "orderings_speed",
    "kmeans_speed",
    "start_up",
    "tsp_table",
    "hac_speed",
)
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
INTRO = """# Benchmarks

Every figure below is from one run of `make bench`, which also writes them as JSON to
`benchmarks/results/`. This one had {system}.
Times depend on the machine and on what else it does; compare the columns of a table, which were
taken in turns in the same run. The plain scan is in `benchmarks/mdav_speed.py`; microagg1d is the
package of that name on PyPI. The tables census, tarragona and eia are read from the folder named by
`MICROAGG_DATA` (see CONTRIBUTING.md).
"""


def main(names: list[str]) -> None:
    for name in names:
        if name not in NAMES:
            sys.exit(f"benchmarks are {', '.join(NAMES)}; got {name}")
    for file in RESULTS.glob("*"):
        file.unlink()
    for name in names or NAMES:
        import_module(f"benchmarks.{name}").main()
    if not names:
        tables = sorted(RESULTS.glob("*.md"), key=lambda path: path.stat().st_mtime_ns)
        system = (
            f"Python {platform.python_version()}, NumPy {version('numpy')}, Numba "
            f"{version('numba')}, {os.cpu_count()} cores"
        )
        PAGE.write_text("\n".join([INTRO.format(system=system), *(t.read_text() for t in tables)]))


main(sys.argv[1:])
