"""`python -m benchmarks [NAME]...` runs all benchmarks, or those named."""

import sys
from importlib import import_module

NAMES = (
    "start_up",
    "mdav_speed",
    "univariate_speed",
    "path_cut_growth",
    "orderings_speed",
    "losses",
    "tsp_table",
)

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        sys.exit(f"benchmarks are {', '.join(NAMES)}; got {name}")
    import_module(f"benchmarks.{name}").main()
